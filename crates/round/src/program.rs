//! A program at a host, until it ends or is ended, and what it printed.

use std::io::{self, Read};
use std::process::{Child, ExitStatus};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

use linux::clock;
use linux::namespaces::process::{Process, start_of};
use measure::stop::Stop;
use units::MonoTime;

use crate::carrier::{Call, Carrier};

/// What a program printed, and how it ended.
#[derive(Debug)]
pub struct Said {
    /// Its standard output, at most [`MAX_OUTPUT`] bytes.
    pub stdout: Vec<u8>,
    /// Its standard error as text, at most [`MAX_TALK`] bytes; empty where somebody else heard it.
    pub stderr: String,
    /// How it ended.
    pub ended: Ended,
}

/// How a program ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// By itself.
    By(ExitStatus),
    /// Somebody wanted it.
    Stopped,
    /// It took longer than this.
    Overdue(Duration),
}

/// Starts a program and waits until it has ended: by itself, since somebody wants to stop, or after `limit`.
///
/// # Errors
/// Where it cannot be started.
pub fn run(carrier: &dyn Carrier, call: &Call<'_>, limit: Duration, stop: &Stop) -> io::Result<Said> {
    let begun = clock::now();
    let mut running = Running::start(carrier, call)?;
    let why = running.listen(begun + limit, stop, |_| false);
    running.end(match why {
        OutputEnd::Enough | OutputEnd::All => None,
        OutputEnd::Stopped => Some(Ended::Stopped),
        OutputEnd::Overdue => Some(Ended::Overdue(limit)),
    })
}

/// How long a program that took longer than `limit` may take for its last words: a fifth of that, one to ten seconds. So
/// nothing is waited for longer than the limit and a fifth of it.
fn farewell(limit: Duration) -> Duration {
    (limit / 5).clamp(Duration::from_secs(1), FAREWELL)
}

/// A program that runs. It ends with this value.
#[derive(Debug)]
pub struct Running {
    child: Child,
    process: Option<Process>,
    pieces: Receiver<Piece>,
    stdout: Vec<u8>,
    stderr: Vec<u8>,
}

/// Why listening to a program has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutputEnd {
    /// What was waited for has come.
    Enough,
    /// It says no more.
    All,
    /// Somebody wants to stop.
    Stopped,
    /// It was waited for long enough.
    Overdue,
}

impl Running {
    /// Starts a program.
    ///
    /// # Errors
    /// Where it cannot be started.
    pub fn start(carrier: &dyn Carrier, call: &Call<'_>) -> io::Result<Self> {
        let mut child = carrier.start(call)?;
        let process = start_of(child.id()).and_then(|started| Process::find(child.id(), started));
        // A host that floods waits until what it said is read.
        let (sender, pieces) = sync_channel(PIECES);
        let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
        let running = Self { child, process, pieces, stdout: Vec::new(), stderr: Vec::new() };
        // Threads of their own: whatever a program leaves behind may hold its outputs open, and nobody waits for that.
        if let Some(stdout) = stdout {
            read("output", stdout, sender.clone(), Piece::Output)?;
        }
        if let Some(stderr) = stderr {
            read("talk", stderr, sender, Piece::Talk)?;
        }
        Ok(running)
    }

    /// What it has said on standard error so far.
    #[must_use]
    pub fn talk(&self) -> String {
        String::from_utf8_lossy(&self.stderr).trim().to_owned()
    }

    /// Listens until `enough` has come, it says no more, or somebody or the deadline ends it.
    pub fn listen(&mut self, deadline: MonoTime, stop: &Stop, enough: impl Fn(&Self) -> bool) -> OutputEnd {
        /// Between two looks at the wish to stop, and at whether it has ended while something holds its outputs open.
        const GLANCE: Duration = Duration::from_millis(50);
        let mut ended: Option<MonoTime> = None;
        loop {
            if enough(self) {
                return OutputEnd::Enough;
            }
            let now = clock::now();
            if stop.is_stopped() {
                return OutputEnd::Stopped;
            }
            if now >= deadline {
                return OutputEnd::Overdue;
            }
            match self.pieces.recv_timeout(GLANCE.min(deadline.since(now))) {
                Ok(piece) => self.keep(piece),
                Err(RecvTimeoutError::Disconnected) => return OutputEnd::All,
                Err(RecvTimeoutError::Timeout) => {
                    if ended.is_none() && matches!(self.child.try_wait(), Ok(Some(_))) {
                        ended = Some(now);
                    }
                    if ended.is_some_and(|since| now.since(since) > LINGER) {
                        return OutputEnd::All;
                    }
                }
            }
        }
    }

    /// Waits for its end, which `why` asks for, if anything does; by force where that takes too long.
    ///
    /// # Errors
    /// What waiting for a process gives.
    pub fn end(mut self, why: Option<Ended>) -> io::Result<Said> {
        // One deadline for its last words and for its end.
        let until = clock::now() + if let Some(Ended::Overdue(limit)) = why { farewell(limit) } else { FAREWELL };
        if why.is_some() {
            self.ask_to_end()?;
            self.listen(until, &Stop::default(), |_| false);
        }
        // One that says no more is at its end, or hides that it goes on.
        let is_over = match &self.process {
            Some(process) => process.wait(until.since(clock::now()))?,
            None => true,
        };
        if !is_over {
            self.child.kill()?;
        }
        let status = self.child.wait()?;
        while let Ok(piece) = self.pieces.try_recv() {
            self.keep(piece);
        }
        let stdout = std::mem::take(&mut self.stdout);
        Ok(Said { stdout, stderr: self.talk(), ended: why.unwrap_or(Ended::By(status)) })
    }

    fn ask_to_end(&mut self) -> io::Result<()> {
        match (self.child.stdin.take(), &self.process) {
            (Some(input), _) => drop(input),
            (None, Some(process)) => process.ask_to_end()?,
            (None, None) => {}
        }
        Ok(())
    }

    fn keep(&mut self, piece: Piece) {
        let (kept, bytes, most) = match piece {
            Piece::Output(bytes) => (&mut self.stdout, bytes, MAX_OUTPUT),
            Piece::Talk(bytes) => (&mut self.stderr, bytes, MAX_TALK),
        };
        let room = most.saturating_sub(kept.len()).min(bytes.len());
        kept.extend_from_slice(&bytes[..room]);
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It fails only where it has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Some bytes of one of its outputs.
#[derive(Debug)]
enum Piece {
    Output(Vec<u8>),
    Talk(Vec<u8>),
}

fn read(
    name: &str,
    mut from: impl Read + Send + 'static,
    to: SyncSender<Piece>,
    piece: impl Fn(Vec<u8>) -> Piece + Send + 'static,
) -> io::Result<()> {
    let work = move || {
        let mut buffer = vec![0; 1 << 16];
        while let Ok(count @ 1..) = from.read(&mut buffer) {
            if to.send(piece(buffer[..count].to_vec())).is_err() {
                return;
            }
        }
    };
    thread::Builder::new().name(name.to_owned()).spawn(work).map(drop)
}

/// The most that is kept of a program's output: a test of an hour with all its samples. The rest is dropped.
pub const MAX_OUTPUT: usize = 128 << 20;
/// Pieces of 64 KiB between reading and keeping.
const PIECES: usize = 16;
/// The most that is kept of its talk.
pub const MAX_TALK: usize = 64 << 10;
/// How long a program that is asked to end may take for its last words.
const FAREWELL: Duration = Duration::from_secs(10);
/// How long the outputs of a program that has ended are read on, where something holds them open.
const LINGER: Duration = Duration::from_secs(5);

#[cfg(test)]
mod tests {
    use std::ffi::{OsStr, OsString};

    use super::*;
    use crate::carrier::{Here, Voice};

    fn shell(text: &str, limit: Duration, stop: &Stop) -> Said {
        let arguments = ["-c", text].map(OsString::from);
        let call = Call { program: OsStr::new("sh"), arguments: &arguments, voice: Voice::Silent };
        run(&Here, &call, limit, stop).unwrap()
    }

    #[test]
    fn both_outputs_and_the_code_come_back() {
        let said = shell("echo out; echo err >&2; exit 3", Duration::from_secs(600), &Stop::default());
        assert_eq!((said.stdout.as_slice(), said.stderr.as_str()), (&b"out\n"[..], "err"));
        assert!(matches!(said.ended, Ended::By(status) if status.code() == Some(3)));
    }

    #[test]
    fn program_that_does_not_end_is_ended_and_its_last_words_are_heard() {
        let text = "trap 'echo last words; exit 0' TERM; echo up >&2; while :; do :; done";
        let arguments = ["-c", text].map(OsString::from);
        let call = Call { program: OsStr::new("sh"), arguments: &arguments, voice: Voice::Silent };
        let mut running = Running::start(&Here, &call).unwrap();
        let deadline = clock::now() + Duration::from_secs(600);
        assert_eq!(running.listen(deadline, &Stop::default(), |said| said.talk() == "up"), OutputEnd::Enough);
        let stop = Stop::default();
        stop.stop();
        assert_eq!(running.listen(deadline, &stop, |_| false), OutputEnd::Stopped);
        let said = running.end(Some(Ended::Stopped)).unwrap();
        assert_eq!((said.stdout.as_slice(), said.ended), (&b"last words\n"[..], Ended::Stopped));
        assert_eq!(farewell(Duration::from_secs(5)), Duration::from_secs(1));
        assert_eq!(farewell(Duration::from_secs(600)), FAREWELL);
        let overdue = shell("while :; do :; done", Duration::ZERO, &Stop::default());
        assert_eq!(overdue.ended, Ended::Overdue(Duration::ZERO));
    }

    #[test]
    fn output_that_a_descendant_holds_open_is_not_waited_for() {
        // The descendant ends once its input does, which is when the test has its answer.
        let (held, hold) = io::pipe().unwrap();
        let mut command = std::process::Command::new("sh");
        command.args(["-c", "exec 3<&0; cat <&3 & echo done"]).stdin(held).stdout(std::process::Stdio::piped());
        #[derive(Debug)]
        struct Once(std::sync::Mutex<Option<std::process::Command>>);
        impl Carrier for Once {
            fn start(&self, _: &Call<'_>) -> io::Result<Child> {
                self.0.lock().unwrap().take().unwrap().spawn()
            }
            fn place(&self) -> String {
                String::new()
            }
        }
        let carrier = Once(std::sync::Mutex::new(Some(command)));
        let call = Call { program: OsStr::new(""), arguments: &[], voice: Voice::Silent };
        let said = run(&carrier, &call, Duration::from_secs(600), &Stop::default()).unwrap();
        assert_eq!(said.stdout, b"done\n");
        drop(hold);
    }
}
