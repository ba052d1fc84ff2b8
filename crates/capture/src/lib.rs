//! Packet captures: files read, packets decoded, TCP connections explained. Nothing here does I/O.
//!
//! * [`mod@file`]: pcap and pcapng, bytes in, packets out
//! * [`decode`]: from a packet to the TCP segment in it
//! * `stream`: both, and packets in the order of their times (`order`)
//! * `fragments`, `tags`: packets that were cut, and tags that differ by direction, put together
//! * `connection`, `direction`: the state of each connection, direction by direction
//! * [`verdict`]: what limited a transfer, by rules over that state
//! * `sharing`: what several transfers between two hosts say together
//! * [`ends`]: two captures of one connection, and what lies between them
//! * [`mod@write`]: segments as a capture file
//! * [`xplot`]: a time-sequence graph as xplot and tcptrace users know it
//! * [`trace`]: all of it together; [`live`]: the same for packets as they pass; [`report`]: what comes of it
//!
//! A trace of any length is read in bounded memory: what grows has a named limit, and what a limit leaves out is counted.

#[macro_use]
pub mod index;
mod connection;
pub mod decode;
mod direction;
pub mod ends;
pub mod file;
mod fragments;
pub mod live;
mod order;
pub mod report;
mod sequence;
mod sharing;
mod stream;
mod tags;
pub mod trace;
pub mod verdict;
pub mod write;
pub mod xplot;

pub use direction::event::EventType;
pub use direction::owner::Owner;
pub use direction::series::{Column, Extent, Series, Zoom};
pub use order::OrderFaults;
pub use trace::{Trace, TraceOptions};
