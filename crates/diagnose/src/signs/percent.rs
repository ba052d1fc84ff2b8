//! A part of something, in words.

/// A part in words: `3.1 %`, `0.02 %`.
pub(crate) fn percent(part: f64) -> String {
    let percent = part * 100.0;
    match percent {
        percent if percent >= 10.0 || percent == 0.0 => format!("{percent:.0} %"),
        percent if percent >= 0.1 => format!("{percent:.1} %"),
        percent => format!("{percent:.4} %"),
    }
}
