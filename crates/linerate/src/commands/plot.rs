//! `--plot`: a picture of a run, next to its text.

use std::path::{Path, PathBuf};

use anyhow::Context;
use chart::Form;
use model::run::Run;
use model::series::RunSamples;

use super::file;
use crate::exit::{Complaint, Exit};

/// Finds out whether the picture can be written, before anybody waits for the run that it is to show.
pub fn check(path: &Path) -> anyhow::Result<()> {
    if path.is_dir() {
        return Err(Complaint::new(Exit::Local, format!("cannot write {}", path.display()))
            .hint("that is a folder; name a file in it: it ends in .svg or .png")
            .into());
    }
    file::check(path).with_context(|| {
        Complaint::new(Exit::Local, format!("cannot write {}", path.display()))
            .hint("the picture needs a folder that is there and that you may write to")
    })
}

/// Writes the picture.
pub fn write(path: &Path, run: &Run, samples: &RunSamples) -> anyhow::Result<()> {
    // The argument parser has let only names of known forms pass.
    let form = Form::of(path).unwrap_or(Form::Svg);
    let picture = chart::run::picture(run, samples, form)?;
    file::write(path, &picture)
}

/// The file of one run among several: `path.svg` becomes `path-3.svg`.
pub fn numbered(path: &Path, number: usize) -> PathBuf {
    let part = |part: Option<&std::ffi::OsStr>| part.unwrap_or_default().to_string_lossy().into_owned();
    path.with_file_name(format!("{}-{number}.{}", part(path.file_stem()), part(path.extension())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_of_a_repeated_test_are_numbered() {
        assert_eq!(numbered(Path::new("a/path.svg"), 3), Path::new("a/path-3.svg"));
        assert_eq!(numbered(Path::new("v1.2.png"), 12), Path::new("v1.2-12.png"));
    }
}
