//! Small files of the kernel as facts.

use std::io;
use std::path::Path;
use std::str::FromStr;

use linux::{Reason, Unavailable};
use model::host::fact::{Fact, Missing, Source};

use crate::files::read_bounded;

/// The content without the blanks around it.
pub(super) fn text(path: impl AsRef<Path>) -> Fact<String> {
    let path = path.as_ref();
    let reading = read_bounded(path).map(|bytes| String::from_utf8_lossy(&bytes).trim().to_owned());
    Fact { reading: reading.map_err(|error| missing(&error)), source: Source::file(path.display()) }
}

/// The content as a value; `None` for one that the kernel uses to say that there is none.
pub(super) fn parsed<T: FromStr>(path: impl AsRef<Path>) -> Fact<T> {
    let Fact { reading, source } = text(path);
    let parse =
        |text: String| text.parse().map_err(|_| Missing::Failed { reason: format!("`{text}` is not understood") });
    Fact { reading: reading.and_then(parse), source }
}

/// The content, where it is there.
pub(super) fn optional(path: impl AsRef<Path>) -> Option<String> {
    text(path).reading.ok().filter(|text| !text.is_empty())
}

pub(super) fn missing(error: &io::Error) -> Missing {
    match error.kind() {
        io::ErrorKind::NotFound => Missing::Absent,
        io::ErrorKind::PermissionDenied => Missing::Denied,
        io::ErrorKind::Unsupported => Missing::Unsupported,
        _ => Missing::Failed { reason: error.to_string() },
    }
}

/// What the kernel answered, as a fact.
pub(crate) fn answered<T>(answer: Result<T, Unavailable>, source: Source) -> Fact<T> {
    let missing = |unavailable: Unavailable| match unavailable.reason {
        Reason::Unsupported => Missing::Unsupported,
        Reason::Denied => Missing::Denied,
        Reason::Absent => Missing::Absent,
        Reason::Failed { message } => Missing::Failed { reason: message },
    };
    Fact { reading: answer.map_err(missing), source }
}
