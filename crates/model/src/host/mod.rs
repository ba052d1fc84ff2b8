//! Hosts: who measured, and what is known of a host at one moment.
//!
//! * [`HostIdentity`]: the little that a run keeps of each side
//! * [`snapshot`]: all facts of one host at one moment
//! * [`fact`]: a fact with its source, or why it is not known
//! * [`machine`]: which host it is: kernel, boot, processors, product
//! * [`change`]: the change log: what was changed, when, by whom and why
//! * [`cpu`]: what each processor is set to and has received
//! * [`namespace`]: a network namespace: sysctls, routes, counters, interfaces
//! * [`interface`]: one network device: link, driver, offloads, queues, interrupts, counters
//! * [`qdisc`]: queueing disciplines with their options
//! * [`recorded`]: facts of hardware that a host of a lab does not have
//! * [`route`]: routes, addresses, what TCP remembers of destinations
//! * [`service`]: programs that change settings by themselves
//! * [`provenance`]: which file sets a value at boot, and which of several wins
//! * [`tracked`]: the sysctls a snapshot holds
//! * [`drops`]: what a host dropped, interval by interval
//! * [`fix`]: steps that change settings, the old values, and the journal

pub mod change;
pub mod connection;
pub mod cpu;
pub mod drops;
pub mod fact;
pub mod fix;
pub mod interface;
mod link_speed;
pub mod machine;
mod measurer;
pub mod namespace;
pub mod provenance;
pub mod qdisc;
pub mod recorded;
pub mod route;
pub mod service;
pub mod shaping;
pub mod snapshot;
pub mod storage;
pub mod tracked;

pub use measurer::{BufferSizes, Device, HostIdentity, TcpBuffers};
