//! In-band network telemetry (INT): what switches report of packets that pass them, in datagrams to a collector.
//!
//! * [`report`]: one report of one packet, whatever its format
//! * [`decode`]: Telemetry Report v1.0 with INT v1.0 (also as AmLight has it) and Telemetry Report v2.0 with INT v2.1
//! * [`collector`]: sequence gaps counted, queues and latencies by hop
//!
//! Inside: `bytes` reads with limits, `inner` finds the INT headers in a packet. Layouts: the P4.org documents "Telemetry Report
//! Format" 1.0 and 2.0 and "INT Dataplane Specification" 1.0 and 2.1.

mod bytes;
pub mod collector;
pub mod decode;
pub mod generate;
mod inner;
pub mod report;
#[cfg(test)]
mod tests;
mod version1;
mod version2;

pub(crate) use inner::flow_of;
