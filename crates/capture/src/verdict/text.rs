//! Quantities in sentences.

/// A time in a sentence.
pub(super) fn time(ns: i64) -> String {
    match ns.max(0) {
        ns @ 0..1_000_000 => format!("{:.0} us", ns as f64 / 1e3),
        ns @ 1_000_000..100_000_000 => format!("{:.1} ms", ns as f64 / 1e6),
        ns @ 100_000_000..1_000_000_000 => format!("{:.0} ms", ns as f64 / 1e6),
        ns => format!("{:.2} s", ns as f64 / 1e9),
    }
}

/// An amount in a sentence.
#[expect(clippy::cast_precision_loss, reason = "three digits")]
pub(super) fn bytes(bytes: u64) -> String {
    match bytes {
        0..10_000 => format!("{bytes} B"),
        10_000..1_000_000 => format!("{:.0} kB", bytes as f64 / 1e3),
        1_000_000..100_000_000 => format!("{:.2} MB", bytes as f64 / 1e6),
        100_000_000..1_000_000_000 => format!("{:.0} MB", bytes as f64 / 1e6),
        _ => format!("{:.2} GB", bytes as f64 / 1e9),
    }
}

/// A rate in a sentence, from bytes a second.
pub(super) fn rate(bytes_per_second: f64) -> String {
    let bits = bytes_per_second * 8.0;
    if bits >= 1e9 {
        format!("{:.2} Gbit/s", bits / 1e9)
    } else if bits >= 1e6 {
        format!("{:.1} Mbit/s", bits / 1e6)
    } else {
        format!("{:.1} kbit/s", bits / 1e3)
    }
}

pub(super) fn percent(share: f64) -> String {
    format!("{:.0} %", share * 100.0)
}
