//! STAMP's test packets, unauthenticated (RFC 8762 §4.2.1, §4.3.1): those of `owamp`, 44 bytes each way.

pub use owamp::estimate::ErrorEstimate;
pub use owamp::packet::{ReflectedPacket as Answer, SenderPacket as Question};
pub use owamp::time::NtpTime;

/// Length of both packets, so that an answer is never longer than its question.
pub const PACKET_LEN: usize = 44;

/// Length of a packet that shows what links need for large ones: with headers it fits into tunnels of an MTU of 1,500.
pub const LARGE_LEN: usize = 1_400;
