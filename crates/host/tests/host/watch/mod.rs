//! A watcher of real namespaces, whose settings are changed with sysctl, ip, tc and ethtool.

mod changes;
mod troubles;
mod watcher;
