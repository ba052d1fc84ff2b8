//! Round-trip time under load: small probes beside the bulk flow, by the Simple Two-Way Active Measurement Protocol
//! (RFC 8762), so that foreign STAMP senders are answered too.
//!
//! * [`packet`]: the two packets
//! * [`reflector`]: answers probes, keeps no state
//! * [`prober`]: sends them and keeps what came back

pub mod packet;
pub mod prober;
pub mod reflector;
