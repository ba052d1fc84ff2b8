//! A path as it is written in a file.

use std::path::Path;

use anyhow::Context;
use path::{ElementSpec, PathElement};
use serde::Deserialize;

use crate::exit::{Complaint, Exit};

/// The elements of a path, in the words of docs/path.md.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct PathFile {
    /// The way there.
    chain: Vec<ElementSpec>,
    /// The way back; the delays of the way there where it is absent.
    back: Option<Vec<ElementSpec>>,
}

/// Largest file that is read: far more than any path has elements.
const LARGEST: u64 = 1 << 20;

pub fn read(file: &Path) -> anyhow::Result<(Vec<PathElement>, Vec<PathElement>)> {
    let place = || format!("{} cannot be read as a path", file.display());
    let size = std::fs::metadata(file).with_context(|| Complaint::new(Exit::NotFound, place()))?.len();
    if size > LARGEST {
        return Err(Complaint::new(Exit::NotFound, place())
            .hint(format!("it has {size} bytes; a path has fewer than {LARGEST}"))
            .into());
    }
    let text = std::fs::read_to_string(file).with_context(|| Complaint::new(Exit::NotFound, place()))?;
    let read: PathFile = toml::from_str(&text).with_context(|| {
        Complaint::new(Exit::NotFound, place()).hint(
            "it has `chain = [...]` with elements of docs/path.md, such as { delay = { time = \"50ms\" } }, and perhaps `back`",
        )
    })?;
    let back = read.back.unwrap_or_else(|| {
        let is_delay = |element: &&ElementSpec| matches!(element, ElementSpec::Delay(_));
        read.chain.iter().filter(is_delay).cloned().collect()
    });
    let stages = |elements: Vec<ElementSpec>| elements.into_iter().map(PathElement::from).collect();
    Ok((stages(read.chain), stages(back)))
}
