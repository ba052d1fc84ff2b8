//! Asking the helper: over a socket where one listens, or of a child started for it.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use model::host::fix::Step;
use model::host::fix::captured::Difference;
use model::host::fix::journal::{Entry, FixId};
use model::host::fix::talk::{Answer, LONGEST_LINE, Order, Others, Question, Refusal, VERSION};

/// A connection to the helper.
#[derive(Debug)]
pub struct Client {
    stream: BufReader<UnixStream>,
}

/// A fix as it stands, with what it has changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fixed {
    /// Its entry in the journal.
    pub entry: Entry,
    /// What it has changed, setting by setting.
    pub changes: Vec<Difference>,
}

/// Who the helper is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Greeting {
    /// Name and version of its program, such as `linerate 0.9.0`.
    pub software: String,
    /// The user it runs as.
    pub uid: u32,
    /// The number of the network namespace in which steps happen that name none.
    pub namespace_inode: u64,
}

/// Why the helper did not do it.
#[derive(Debug, thiserror::Error)]
pub enum AskError {
    /// Nobody listens there, or the caller may not connect.
    #[error("cannot reach the helper at {}", path.display())]
    Unreachable {
        /// Unix socket on which the helper should listen.
        path: std::path::PathBuf,
        /// What the kernel said.
        source: io::Error,
    },
    /// The connection broke.
    #[error("the connection to the helper broke")]
    Broken(#[source] io::Error),
    /// It said something that is no answer to this.
    #[error("the helper said something that is not understood: {reason}")]
    Misunderstood {
        /// What is wrong with it.
        reason: String,
    },
    /// It does not do it.
    #[error("{}", .0.reason)]
    Refused(Refusal),
}

impl Client {
    /// Connects to the helper that listens at `path`. Each connection is a new one, as [`Client::confirm`] wants it.
    ///
    /// # Errors
    /// [`AskError::Unreachable`].
    pub fn connect(path: &Path) -> Result<Self, AskError> {
        let unreachable = |source| AskError::Unreachable { path: path.to_owned(), source };
        let stream = UnixStream::connect(path).map_err(unreachable)?;
        Self::over(stream).map_err(unreachable)
    }

    /// Speaks over a connection that is there.
    ///
    /// # Errors
    /// What setting its time limit gives.
    pub fn over(stream: UnixStream) -> io::Result<Self> {
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        Ok(Self { stream: BufReader::new(stream) })
    }

    /// Who is there.
    ///
    /// # Errors
    /// See [`AskError`]; [`AskError::Misunderstood`] for a helper of another version.
    pub fn hello(&mut self) -> Result<Greeting, AskError> {
        match self.ask(&Question::Hello {})? {
            Answer::Hello { version: VERSION, software, uid, namespace_inode } => {
                Ok(Greeting { software, uid, namespace_inode })
            }
            Answer::Hello { version, .. } => {
                Err(AskError::Misunderstood { reason: format!("it speaks version {version}, this program {VERSION}") })
            }
            other => Err(misunderstood(&other)),
        }
    }

    /// The present values of all that these steps would touch. Nothing is changed.
    ///
    /// # Errors
    /// See [`AskError`].
    pub fn preview(&mut self, steps: Vec<Step>) -> Result<Vec<Difference>, AskError> {
        match self.ask(&Question::Preview { steps })? {
            Answer::Preview { settings } => Ok(settings),
            other => Err(misunderstood(&other)),
        }
    }

    /// Has all steps applied, or none.
    ///
    /// # Errors
    /// See [`AskError`].
    pub fn apply(&mut self, order: Order) -> Result<Fixed, AskError> {
        self.fix(&Question::Apply(order))
    }

    /// Keeps a fix. It is refused on the connection over which the fix was applied: that a new one can be made is what
    /// shows that the host can still be reached.
    ///
    /// # Errors
    /// See [`AskError`].
    pub fn confirm(&mut self, fix: FixId) -> Result<Fixed, AskError> {
        self.fix(&Question::Confirm { fix })
    }

    /// Takes a fix back, the last that holds where `fix` is absent.
    ///
    /// # Errors
    /// See [`AskError`].
    pub fn undo(&mut self, fix: Option<FixId>, others: Others) -> Result<Fixed, AskError> {
        self.fix(&Question::Undo { fix, others })
    }

    /// The journal, the newest fix last.
    ///
    /// # Errors
    /// See [`AskError`].
    pub fn journal(&mut self) -> Result<Vec<Entry>, AskError> {
        self.whole_journal().map(|(entries, _)| entries)
    }

    /// The journal, and files of it that cannot be read.
    ///
    /// # Errors
    /// See [`AskError`].
    pub fn whole_journal(&mut self) -> Result<(Vec<Entry>, Vec<String>), AskError> {
        match self.ask(&Question::List {})? {
            Answer::Journal { entries, unreadable } => Ok((entries, unreadable)),
            other => Err(misunderstood(&other)),
        }
    }

    fn fix(&mut self, question: &Question) -> Result<Fixed, AskError> {
        match self.ask(question)? {
            Answer::Fix { entry, changes } => Ok(Fixed { entry: *entry, changes }),
            other => Err(misunderstood(&other)),
        }
    }

    fn ask(&mut self, question: &Question) -> Result<Answer, AskError> {
        let mut line = serde_json::to_vec(question).map_err(|error| AskError::Broken(error.into()))?;
        line.push(b'\n');
        self.stream.get_mut().write_all(&line).map_err(AskError::Broken)?;
        line.clear();
        let limit = u64::try_from(LONGEST_ANSWER).unwrap_or(u64::MAX);
        (&mut self.stream).take(limit).read_until(b'\n', &mut line).map_err(AskError::Broken)?;
        if line.last() != Some(&b'\n') {
            return Err(AskError::Broken(io::ErrorKind::UnexpectedEof.into()));
        }
        match serde_json::from_slice(&line) {
            Ok(Answer::Refused(refusal)) => Err(AskError::Refused(refusal)),
            Ok(answer) => Ok(answer),
            Err(error) => Err(AskError::Misunderstood { reason: error.to_string() }),
        }
    }
}

fn misunderstood(answer: &Answer) -> AskError {
    let said = serde_json::to_string(answer).unwrap_or_default();
    AskError::Misunderstood { reason: said.chars().take(200).collect() }
}

/// How long the helper may take for one question: a driver may need seconds for each ring.
const PATIENCE: Duration = Duration::from_secs(120);

/// A journal holds many fixes.
const LONGEST_ANSWER: usize = 64 * LONGEST_LINE;
