//! Drops that are planted in network namespaces, and what is said of them.

mod planted;
mod unknown_vlan;
