//! `linerate trace FILE --plot GRAPH.xpl`.

use std::path::Path;

use capture::xplot::{Drawn, Xplot};

use super::super::file;
use super::source;
use crate::exit::{Complaint, Exit};

/// What is drawn before it goes to the file.
const PIECE_BYTES: usize = 1 << 20;

/// Whether a picture is one for xplot.
pub fn is_named(picture: &Path) -> bool {
    picture.extension().is_some_and(|extension| extension == "xpl")
}

/// Reads the capture once more, and draws every packet of a transfer.
pub fn write(capture: &Path, picture: &Path, drawn: Drawn) -> anyhow::Result<()> {
    if capture == Path::new("-") {
        return Err(Complaint::new(Exit::Usage, "a graph for xplot needs the capture twice, and a pipe is read once")
            .hint("keep the capture in a file; or draw .svg or .png")
            .into());
    }
    file::fill(picture, |to| {
        let mut text = String::new();
        let mut graph = Xplot::new(drawn, &mut text);
        let mut failed = None;
        let rest = source::feed(capture, |bytes| {
            let used = graph.read(bytes, &mut text);
            if text.len() >= PIECE_BYTES {
                failed = failed.take().or(to.write_all(text.as_bytes()).err());
                text.clear();
            }
            used
        })?;
        graph.end(&rest, &mut text);
        failed.map_or(Ok(()), Err)?;
        Ok(to.write_all(text.as_bytes())?)
    })
}
