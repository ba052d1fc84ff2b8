//! What is seen of traffic without testing, as state machines that are given what others read.
//!
//! * [`flows`]: TCP connections of a host: what each moved, what limits it, finished transfers
//! * [`bursts`]: what passed a device in buckets of time: bursts, their distribution, the queue they would fill
//! * [`int`]: telemetry of switches: reports decoded, queues and latencies by hop
//! * [`owner`]: whose a socket is: control groups and users, from the kernel's texts
//!
//! Pure: readings, times and texts come in as arguments. `watch` reads them from the kernel.

pub mod bursts;
pub mod flows;
pub mod int;
pub mod owner;
