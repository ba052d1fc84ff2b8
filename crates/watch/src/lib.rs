//! Real traffic of a host, watched without test traffic.
//!
//! * [`flows`]: every TCP connection of a network namespace: what it moves, what limits it, finished transfers
//! * [`bursts`]: what passes a device in buckets of a millisecond or less
//! * [`int`]: a collector of what switches report of packets
//!
//! Inside: `tcp_events` takes losses and retransmissions as TCP notices them.
//!
//! Reads the kernel and keeps time; what the numbers mean is decided in `passive`.

pub mod bursts;
pub mod flows;
pub mod int;
mod tcp_events;
