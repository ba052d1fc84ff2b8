//! Opening the archive, with the way out where it cannot be.

use std::path::PathBuf;

use anyhow::Context;
use archive::Archive;
use archive::location;
use archive::schema::OpenError;
use archive::spill::Spill;
use archive::store::StoreError;
use model::run::Run;
use model::series::RunSamples;

use crate::cli::Common;
use crate::exit::{Complaint, Exit};

/// Opens the archive that the user names, or the usual one, and stores what has been waiting.
pub fn open(common: &Common) -> anyhow::Result<Archive> {
    let path = path(common)?;
    let mut archive = Archive::open(&path).map_err(cannot_open)?;
    take_in(&path, &mut archive);
    Ok(archive)
}

/// Where a run goes once it has been shown: into the archive, or into a file until the archive can take it. What was
/// measured is never lost for want of a disk.
pub struct RunStore {
    path: PathBuf,
    /// Why it cannot be written to now, where it cannot.
    archive: Result<Archive, String>,
}

impl RunStore {
    /// Opens the archive to write to it, and stores what has been waiting. A disk that is full or takes no writes, and an
    /// archive that another process holds, are told and do not keep anybody from measuring.
    ///
    /// # Errors
    /// If the file is no archive of this version, or no place for it is known.
    pub fn open(common: &Common) -> anyhow::Result<Self> {
        let path = path(common)?;
        let archive = match Archive::open(&path) {
            Ok(mut archive) => {
                take_in(&path, &mut archive);
                Ok(archive)
            }
            Err(error) if error.is_of_the_disk() && path.exists() => Err(chain(&error)),
            Err(error) => return Err(cannot_open(error)),
        };
        Ok(Self { path, archive })
    }

    /// The archive, where it can be used.
    pub const fn archive(&self) -> Option<&Archive> {
        match &self.archive {
            Ok(archive) => Some(archive),
            Err(_) => None,
        }
    }

    /// Keeps a run. It is on disk when this returns, in the archive or in a file that is named on standard error.
    ///
    /// # Errors
    /// If no disk takes it, or a run of its name is there already.
    pub fn keep(&mut self, run: &Run, samples: &RunSamples) -> anyhow::Result<()> {
        let why = match &mut self.archive {
            Err(why) => why.clone(),
            Ok(archive) => match archive.store(run, samples) {
                Ok(()) => return Ok(()),
                Err(error @ StoreError::Database { .. }) => chain(&error),
                Err(error) => return Err(cannot_keep(error)),
            },
        };
        let spill = Spill::beside(&self.path, &std::env::temp_dir());
        let file =
            spill.write(run.clone(), samples.clone()).map_err(|error| cannot_keep(error).context(why.clone()))?;
        eprintln!("warning: {why}");
        eprintln!("hint: the run waits in {}, and is stored when the archive can take it", file.display());
        Ok(())
    }
}

/// Stores what could not be stored before.
fn take_in(path: &std::path::Path, archive: &mut Archive) {
    for taken in Spill::beside(path, &std::env::temp_dir()).take_in(archive) {
        match taken.failure {
            None => eprintln!("stored the run that waited in {}", taken.file.display()),
            Some(failure) => eprintln!("warning: {} waits to be stored: {failure}", taken.file.display()),
        }
    }
}

fn cannot_keep(error: impl std::error::Error + Send + Sync + 'static) -> anyhow::Error {
    anyhow::Error::from(error).context(Complaint::new(Exit::Local, "the run cannot be kept"))
}

fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(&format!(": {error}"));
        cause = error.source();
    }
    text
}

fn path(common: &Common) -> anyhow::Result<PathBuf> {
    match common.archive() {
        Some(path) => Ok(path.to_owned()),
        None => location::default_path().context(
            Complaint::new(Exit::Local, "the archive of runs cannot be opened")
                .hint("name another file with --archive, or keep nothing with --no-archive"),
        ),
    }
}

fn cannot_open(error: OpenError) -> anyhow::Error {
    anyhow::Error::from(error).context(
        Complaint::new(Exit::Local, "the archive of runs cannot be opened")
            .hint("name another file with --archive, or keep nothing with --no-archive"),
    )
}

/// Opens the archive to remove from it, on a full disk too.
pub fn open_to_free(common: &Common) -> anyhow::Result<Archive> {
    is_there(common)?;
    Archive::open_to_free(path(common)?).map_err(cannot_open)
}

/// Opens the archive to read what is in it, from a disk that is full or takes no writes too. A file that the user names is
/// not made: it is more likely a slip.
pub fn open_to_read(common: &Common) -> anyhow::Result<Archive> {
    is_there(common)?;
    let path = path(common)?;
    // What could not be stored before is looked for here first.
    if path.exists()
        && Spill::beside(&path, &std::env::temp_dir()).has_any()
        && let Ok(mut archive) = Archive::open(&path)
    {
        take_in(&path, &mut archive);
    }
    Archive::open_to_read(path).map_err(cannot_open)
}

/// Opens the archive to read what a name stands for that may be that of a file as well. Where there is no archive, `nowhere` says what
/// the name is not, since a file was meant more likely than not.
pub fn open_for_name(common: &Common, nowhere: impl Fn() -> Complaint) -> anyhow::Result<Archive> {
    is_there(common).with_context(nowhere)?;
    open_to_read(common)
}

fn is_there(common: &Common) -> anyhow::Result<()> {
    match common.archive() {
        // What cannot even be looked at is told by opening it.
        Some(path) if path.try_exists().is_ok_and(|exists| !exists) => Err(anyhow::anyhow!(
            "there is no file {}",
            path.display()
        )
        .context(Complaint::new(Exit::NotFound, "no archive of runs").hint(
            "name the right file with --archive or LINERATE_ARCHIVE; `linerate test HOST` makes one that is not there",
        ))),
        _ => Ok(()),
    }
}

/// Keeps a run. It is on disk when this returns.
pub fn keep(archive: &mut Archive, run: &Run, samples: &RunSamples) -> anyhow::Result<()> {
    archive.store(run, samples).context(Complaint::new(Exit::Local, "the run cannot be kept"))
}
