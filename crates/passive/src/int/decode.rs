//! From a datagram to reports.

use super::bytes::Bytes;
pub use super::bytes::Malformed;
use super::report::IntReport;
use super::{version1, version2};

/// Hands every report of a datagram to `each`. A version 2 datagram may hold several.
///
/// # Errors
/// [`Malformed`] where a report cannot be; those before it were handed over.
pub fn datagram(payload: &[u8], mut each: impl FnMut(IntReport)) -> Result<(), Malformed> {
    let version = payload.first().map(|first| first >> 4);
    match version {
        Some(1) => version1::report(Bytes::new(payload)).map(each),
        Some(2) => version2::reports(Bytes::new(payload), &mut each),
        Some(_) => Err(Malformed { at: 0, what: "neither version 1 nor version 2 of a telemetry report" }),
        None => Err(Malformed { at: 0, what: "an empty datagram" }),
    }
}
