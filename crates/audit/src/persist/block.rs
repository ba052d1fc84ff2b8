//! Files of blocks, one a fix. What somebody else writes between the blocks stays.

use super::Product;

/// A file with the lines of a fix at its end. `before` is what it held, if it was there.
#[must_use]
pub fn with(before: Option<&str>, product: Product, fix: u64, lines: &[String]) -> String {
    let mut text = match before {
        Some(text) => without(text, fix).unwrap_or_else(|| opening(product)),
        None => opening(product),
    };
    if !text.ends_with('\n') {
        text.push('\n');
    }
    text.push_str(&format!("{}\n{}\n{}\n", begin(fix), lines.join("\n"), end(fix)));
    text
}

/// A file without the lines of a fix; [`None`] where then nothing is left that anybody wrote by hand, nor another fix.
#[must_use]
pub fn without(text: &str, fix: u64) -> Option<String> {
    let (begin, end) = (begin(fix), end(fix));
    let mut kept = String::new();
    let mut inside = false;
    for line in text.split_inclusive('\n') {
        let bare = line.trim_end();
        if bare == begin {
            inside = true;
        } else if inside && bare == end {
            inside = false;
        } else if !inside {
            kept.push_str(line);
        }
    }
    let has_more = kept.lines().any(|line| !line.trim().is_empty() && !is_ours(line));
    has_more.then_some(kept)
}

/// Whether a file has lines of a fix.
#[must_use]
pub fn holds(text: &str, fix: u64) -> bool {
    text.lines().any(|line| line.trim_end() == begin(fix))
}

fn opening(product: Product) -> String {
    format!("{}{OPENING}\n", product.head())
}

/// Whether a line outside of blocks is what this program begins a file with.
fn is_ours(line: &str) -> bool {
    line == OPENING || line == "#!/bin/sh"
}

fn begin(fix: u64) -> String {
    format!("# fix {fix} begins")
}

fn end(fix: u64) -> String {
    format!("# fix {fix} ends")
}

const OPENING: &str = "# Written by `linerate host fix --persist`. `linerate host undo N` takes out what fix N put in.";
