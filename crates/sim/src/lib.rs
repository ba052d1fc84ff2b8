//! What a path does to a bulk transfer, before anybody has one to spare for it: TCP as Linux does it, in virtual time.
//!
//! * [`flow`]: one transfer: what is asked, and what comes of it
//! * [`shared`]: several of them over one path
//! * [`report`]: the same for programs, with its schema
//! * [`spread`]: what chance makes of it, over several seeds
//! * [`sender`], [`receiver`]: the two hosts and their settings
//! * [`hosts`]: settings where nobody set anything
//! * [`Kernel`]: releases of Linux, as far as transfers differ by them
//! * [`congestion`]: the algorithms
//! * [`TcpInfo`]: what the kernels of both hosts would tell of a connection while it runs
//! * [`tap`], [`pcap`]: what a packet capture at one of both hosts would hold
//! * [`Turns`]: programs that run for a part of the time only
//!
//! Segments go over the elements of the crate `path`, the same that the lab drives in real time between kernels. Each is
//! queued, dropped and marked by itself; what costs time is reckoned for all segments of a frame at once. The same
//! settings and the same seed give the same run on every machine.

pub mod congestion;
mod engine;
pub mod flow;
pub mod hosts;
mod kernel;
mod packet;
pub mod pcap;
pub mod receiver;
pub mod report;
mod run;
pub mod sender;
pub mod shared;
pub mod spread;
pub mod tap;
mod tcp_info;
mod turns;

pub use congestion::Algorithm;
pub use flow::{Flow, Outcome, Sample};
pub use kernel::{Kernel, UnknownRelease};
pub use report::Report;
pub use run::ProbeTimes;
pub use shared::Shared;
pub use tcp_info::TcpInfo;
pub use turns::Turns;
