//! TCP connections of a network namespace, interval by interval.
//!
//! Each interval one walk over the kernel's table (`NETLINK_SOCK_DIAG`) shows every connection; the busiest are asked for one
//! by one in between; the kernel sends the last word on each as it dies. Nothing is sent on the network.
//!
//! * [`watcher`]: the loop
//!
//! Inside: `sighting` translates the kernel's names, `owners` finds the processes, `expectations` says what flows should
//! reach, `interval` puts an interval together.

mod expectations;
mod interval;
mod owners;
mod request;
mod sighting;
pub mod watcher;

pub use request::Request;
pub use watcher::{FlowWatchError, watch};
