//! Networks of namespaces over modelled paths, with known faults: the ground on which diagnosis is tested, shown and
//! taught.
//!
//! Hosts are network namespaces of this machine, with the kernel's own TCP. Links are pairs of TAP devices, and what lies
//! between them is a [`path::Chain`] for each direction, driven in real time.
//!
//! * [`scenario`]: the file that describes a network, its faults, its tests and the truth
//! * [`blueprint`]: the same, worked out: every address, route and device
//! * [`network`]: namespaces, devices and processes made from a blueprint, and gone without a trace
//! * [`services`]: file servers and proxies that run on hosts
//! * [`relay`]: what carries frames through chains
//! * [`check`]: what this machine can do of all that
//! * [`live`]: a scenario that is up, with its services and its faults
//! * [`gateways`]: a real cluster of XRootD gateways behind cmsd
//! * [`play`]: all of it together: a scenario from its first host to its last test

pub use ::scenario::blueprint;
pub mod check;
pub mod gateways;
pub mod live;
pub mod network;
pub mod play;
pub mod relay;
pub mod scenario;
pub mod services;
