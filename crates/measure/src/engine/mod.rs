//! The test engine: one plain thread a stream, no lock and no allocation in its loop, no clock read per write.
//!
//! * [`streams`]: the streams of one test, started, watched and stopped together
//! * `tcp_send` and `handover`, `tcp_receive` and `low_water`, `udp_send`, `udp_receive`: what a stream's thread does
//! * [`sampler`] and [`recorder`]: the kernel's state of every stream, recorded at a steady pace
//! * [`budget`], [`gate`], [`counters`], [`schedule`]: how much, from when, how far, how fast
//! * [`datagram`], [`sequence`]: numbered datagrams and what became of them

pub mod budget;
pub mod counters;
pub mod datagram;
pub mod gate;
mod handover;
mod low_water;
pub mod recorder;
pub mod sampler;
pub mod schedule;
pub mod sequence;
pub mod streams;
mod tcp_receive;
mod tcp_send;
mod udp_receive;
mod udp_send;
