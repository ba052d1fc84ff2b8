//! Rows that are done, kept beside their result until that is written.

use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;
use sweep::Share;

use super::result;
use crate::exit::{Complaint, Exit};

/// A row that is kept as a line.
pub trait KeptRow: Sized {
    /// Its line, with the end of line.
    fn line(&self) -> String;
    /// Reads a line; [`None`] of anything else, such as the half of one.
    fn of_line(line: &str) -> Option<Self>;
    /// Its number in the experiment.
    fn index(&self) -> u64;
}

impl KeptRow for sweep::Row {
    fn line(&self) -> String {
        self.line()
    }

    fn of_line(line: &str) -> Option<Self> {
        Self::of_line(line)
    }

    fn index(&self) -> u64 {
        self.index
    }
}

impl KeptRow for gateways::experiment::row::Row {
    fn line(&self) -> String {
        self.line()
    }

    fn of_line(line: &str) -> Option<Self> {
        Self::of_line(line)
    }

    fn index(&self) -> u64 {
        self.index
    }
}

/// What the rows are of.
#[derive(Debug, Clone)]
pub struct Work {
    /// The experiment: `sweep 1` or `gateways 1`, and its digest.
    pub experiment: String,
    /// How many rows it has.
    pub rows: u64,
    /// Which of them are to be done.
    pub share: Share,
}

impl Work {
    /// Transfers of a sweep.
    pub fn of_sweep(sweep: &sweep::Sweep, share: Share) -> Self {
        Self { experiment: format!("sweep 1 {}", sweep.experiment.digest()), rows: sweep.experiment.len(), share }
    }

    fn header(&self) -> String {
        format!("linerate {} {} {}\n", self.experiment, self.share, result::program())
    }
}

/// A file that grows by a line for each row.
pub struct Journal {
    path: PathBuf,
    file: File,
}

impl Journal {
    /// Opens that of a result, or begins one, with the rows that it has. The half of a line that a crash has left is cut off.
    pub fn open<R: KeptRow>(output: &Path, work: &Work) -> anyhow::Result<(Self, Vec<R>)> {
        let path = PathBuf::from(beside(output));
        let cannot = || {
            Complaint::new(Exit::Local, format!("cannot write to {}", path.display()))
                .hint("what is done is kept there until the result is written: it needs a folder that you may write to")
        };
        let options = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path);
        let mut file = options.with_context(cannot)?;
        if file.try_lock().is_err() {
            return Err(Complaint::new(Exit::Busy, format!("{} is in use", path.display()))
                .hint("another process is simulating this share; let it, or name another --output")
                .into());
        }
        let header = work.header();
        let (rows, good) = read(&file, work).with_context(cannot)?.ok_or_else(|| {
            Complaint::new(
                Exit::Local,
                format!("{} is of another experiment, share or version of this program", path.display()),
            )
            .hint("remove it to begin anew, or name another --output")
        })?;
        file.set_len(good).and_then(|()| file.seek(SeekFrom::End(0))).with_context(cannot)?;
        if good == 0 {
            file.write_all(header.as_bytes()).with_context(cannot)?;
        }
        Ok((Self { path, file }, rows))
    }

    /// Keeps a row.
    pub fn keep(&mut self, row: &impl KeptRow) -> anyhow::Result<()> {
        self.file.write_all(row.line().as_bytes()).with_context(|| self.lost())
    }

    /// Makes sure that what was kept outlives the machine.
    pub fn flush(&self) -> anyhow::Result<()> {
        self.file.sync_data().with_context(|| self.lost())
    }

    /// Path of the file, for messages.
    pub fn name(&self) -> String {
        self.path.display().to_string()
    }

    /// Removes it, now that the result is written.
    pub fn remove(self) -> anyhow::Result<()> {
        std::fs::remove_file(&self.path).with_context(|| format!("cannot remove {}", self.path.display()))
    }

    fn lost(&self) -> Complaint {
        Complaint::new(Exit::Local, format!("cannot write to {}", self.path.display()))
            .hint("when there is room again, the same command goes on from what was kept")
    }
}

/// In the same folder, so that who looks for the result sees it.
fn beside(output: &Path) -> OsString {
    let mut beside = output.as_os_str().to_owned();
    beside.push(".partial");
    beside
}

/// The rows, and where the last good line ends; [`None`] where the file is of something else.
fn read<R: KeptRow>(file: &File, work: &Work) -> std::io::Result<Option<(Vec<R>, u64)>> {
    let header = work.header();
    let mut lines = BufReader::new(file);
    let mut line = String::new();
    lines.read_line(&mut line)?;
    if !line.ends_with('\n') && header.starts_with(&line) {
        return Ok(Some((Vec::new(), 0)));
    }
    if line != header {
        return Ok(None);
    }
    let mut good = line.len() as u64;
    let mut rows: Vec<R> = Vec::new();
    let mut seen = std::collections::HashSet::new();
    loop {
        line.clear();
        let bytes = lines.read_line(&mut line)?;
        let Some(row) = R::of_line(&line) else { break };
        let index = row.index();
        if index >= work.rows || !work.share.has(index) || !seen.insert(index) {
            break;
        }
        good += bytes as u64;
        rows.push(row);
    }
    Ok(Some((rows, good)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use sweep::{Row, Sweep};

    const TEXT: &str = "name = \"x\"\nrepetitions = 6\n[set]\nrate = \"1Gbit/s\"\nrtt = \"1ms\"\nbytes = \"1kB\"";

    fn row(index: u64) -> Row {
        Row { index, numbers: std::array::from_fn(|place| place as u64 + index) }
    }

    #[test]
    fn what_was_kept_is_there_again_and_half_a_line_is_cut_off() {
        let folder = tempfile::tempdir().unwrap();
        let output = folder.path().join("x.parquet");
        let sweep = Sweep::read(TEXT).unwrap();
        let (mut journal, rows) = Journal::open::<Row>(&output, &Work::of_sweep(&sweep, Share::WHOLE)).unwrap();
        assert!(rows.is_empty());
        journal.keep(&row(4)).unwrap();
        journal.keep(&row(1)).unwrap();
        let path = journal.path.clone();
        drop(journal);
        let whole = std::fs::read(&path).unwrap();
        let mut cut = whole.clone();
        cut.extend_from_slice(&row(2).line().as_bytes()[..20]);
        std::fs::write(&path, cut).unwrap();
        let (mut journal, rows) = Journal::open::<Row>(&output, &Work::of_sweep(&sweep, Share::WHOLE)).unwrap();
        assert_eq!(rows, [row(4), row(1)]);
        assert_eq!(std::fs::read(&path).unwrap(), whole);
        journal.keep(&row(2)).unwrap();
        drop(journal);
        let (journal, rows) = Journal::open::<Row>(&output, &Work::of_sweep(&sweep, Share::WHOLE)).unwrap();
        assert_eq!(rows, [row(4), row(1), row(2)]);
        journal.remove().unwrap();
        assert!(!path.exists());
    }

    #[test]
    fn a_crash_before_the_first_line_was_whole_begins_anew() {
        let folder = tempfile::tempdir().unwrap();
        let output = folder.path().join("x.parquet");
        let sweep = Sweep::read(TEXT).unwrap();
        std::fs::write(beside(&output), "linerate sw").unwrap();
        let (journal, rows) = Journal::open::<Row>(&output, &Work::of_sweep(&sweep, Share::WHOLE)).unwrap();
        assert!(rows.is_empty());
        assert!(std::fs::read_to_string(&journal.path).unwrap().starts_with("linerate sweep 1 "));
    }

    #[test]
    fn that_of_another_experiment_or_share_or_in_use_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let output = folder.path().join("x.parquet");
        let sweep = Sweep::read(TEXT).unwrap();
        let (journal, _) = Journal::open::<Row>(&output, &Work::of_sweep(&sweep, Share::WHOLE)).unwrap();
        assert!(Journal::open::<Row>(&output, &Work::of_sweep(&sweep, Share::WHOLE)).is_err(), "in use");
        drop(journal);
        assert!(
            Journal::open::<Row>(&output, &Work::of_sweep(&sweep, "1/2".parse().unwrap())).is_err(),
            "another share"
        );
        let other = Sweep::read(&TEXT.replace("1kB", "2kB")).unwrap();
        assert!(Journal::open::<Row>(&output, &Work::of_sweep(&other, Share::WHOLE)).is_err(), "another experiment");
        assert!(Journal::open::<Row>(&output, &Work::of_sweep(&sweep, Share::WHOLE)).is_ok());
    }
}
