//! Readers of what a peer of NDT7 sends.

use std::str::FromStr;

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
