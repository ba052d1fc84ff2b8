//! Opening the archive, with the way out where it cannot be.

use anyhow::Context;
use archive::Archive;
use model::run::Run;
use model::series::RunSamples;

use crate::cli::Common;
use crate::exit::{Complaint, Exit};

/// Opens the archive that the user names, or the usual one.
pub fn open(common: &Common) -> anyhow::Result<Archive> {
    let opened = match &common.archive {
        Some(path) => Archive::open(path).map_err(anyhow::Error::from),
        None => Archive::open_default().map_err(anyhow::Error::from),
    };
    opened.context(
        Complaint::new(Exit::Local, "the archive of runs cannot be opened")
            .hint("name another file with --archive, or keep nothing with --no-archive"),
    )
}

/// Opens the archive to read what is in it. A file that the user names is not made: it is more likely a slip.
pub fn open_to_read(common: &Common) -> anyhow::Result<Archive> {
    match &common.archive {
        // What cannot even be looked at is told by opening it.
        Some(path) if path.try_exists().is_ok_and(|exists| !exists) => Err(anyhow::anyhow!(
            "there is no file {}",
            path.display()
        )
        .context(Complaint::new(Exit::NotFound, "no archive of runs").hint(
            "name the right file with --archive or LINERATE_ARCHIVE; `linerate test HOST` makes one that is not there",
        ))),
        _ => open(common),
    }
}

/// Keeps a run. It is on disk when this returns.
pub fn keep(archive: &mut Archive, run: &Run, samples: &RunSamples) -> anyhow::Result<()> {
    archive.store(run, samples).context(Complaint::new(Exit::Local, "the run cannot be kept"))
}
