//! What was tested besides, and why.

use std::fmt::Write;

use diagnose::next::examination::{Examination, RequestedTest};
use units::duration::show;

use super::wrap;

/// One test, when it is asked for.
pub fn asks(says: &str) -> String {
    wrap::text(&capital(says), 2)
}

/// All of it, when it is over.
pub fn text(examination: &Examination) -> String {
    let mut text = String::new();
    let count = match examination.asked.len() {
        0 => "No further test was run".to_owned(),
        1 => format!("1 further test, in {}", show(rounded(examination.elapsed))),
        count => format!("{count} further tests, in {}", show(rounded(examination.elapsed))),
    };
    // Writing to a text does not fail.
    let _ = writeln!(text, "{count}: {}.", examination.ended.says());
    for RequestedTest { says, .. } in &examination.asked {
        text.push_str(&wrap::text(&format!("- {says}"), 2));
    }
    text
}

/// To a tenth of a second.
fn rounded(time: std::time::Duration) -> std::time::Duration {
    let tenths = u64::try_from(time.as_millis() / 100).unwrap_or(u64::MAX);
    std::time::Duration::from_millis(tenths.saturating_mul(100))
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
