//! Facts of real namespaces against what was planted in them with iproute2, ethtool and sysctl.

mod namespace;
mod others;
mod recorded;
