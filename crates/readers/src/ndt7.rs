//! Readers of what a peer of NDT7 sends.

use std::str::FromStr;

use measure::ndt7::frames::{self, LARGEST_MESSAGE, Side};
use measure::ndt7::report::Ndt7Report;
use measure::ndt7::url::Ndt7Url;

/// Reports in text messages: what was read is written and read again as it was. Addresses: they name a host and a port.
pub fn ndt7_report(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    if let Some(report) = Ndt7Report::read(&text) {
        let known = Ndt7Report { uuid: None, ..report };
        assert_eq!(Ndt7Report::read(&known.write(None)), Some(known));
    }
    if let Ok(url) = Ndt7Url::from_str(&text) {
        assert!(!url.host().is_empty() && url.port() > 0, "{url:?}");
    }
}

/// Handshake and frames, to either side: no more payload than bytes, no message beyond its limit, and answers no longer than what
/// was asked, but for those of the handshake.
pub fn ndt7_frames(bytes: &[u8]) {
    for side in [Side::Client, Side::Server] {
        let found = frames::read(bytes, side);
        assert!(found.payload <= bytes.len() as u64 && found.longest <= LARGEST_MESSAGE, "{found:?}");
        // A pong is its ping with a mask, and the answer to the request has some lines.
        assert!(found.answered <= 4 * bytes.len() as u64 + 512, "{found:?}");
        assert!(found.reports.len() <= bytes.len(), "{found:?}");
    }
}
