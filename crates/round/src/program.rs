//! A program at a host, until it ends or is ended, and what it printed.

use std::io;
use std::process::ExitStatus;
use std::time::Duration;

use measure::stop::Stop;
use units::MonoTime;

use crate::carrier::{Call, Carrier};
use crate::clock::Clock;
use crate::process::{Next, Piece, Process};

/// What a program printed, and how it ended.
#[derive(Debug)]
pub struct Said {
    /// Its standard output; nothing of one that printed more than it may.
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
    /// It printed more bytes than this.
    Flooded(usize),
}

/// What a program may take.
#[derive(Debug, Clone, Copy)]
pub struct Allowance {
    /// How long.
    pub time: Duration,
    /// How many bytes of standard output.
    pub output: usize,
}

/// Starts a program and waits until it has ended: by itself, since somebody wants to stop, or after `limit`.
///
/// # Errors
/// Where it cannot be started.
pub fn run(carrier: &dyn Carrier, call: &Call<'_>, limit: Duration, stop: &Stop) -> io::Result<Said> {
    ask(carrier, call, Allowance { time: limit, output: MAX_OUTPUT }, stop)
}

/// The same of one whose answer is short.
///
/// # Errors
/// Where it cannot be started.
pub fn ask(carrier: &dyn Carrier, call: &Call<'_>, allowed: Allowance, stop: &Stop) -> io::Result<Said> {
    let begun = carrier.clock().now();
    let mut running = Running { most: allowed.output, ..Running::start(carrier, call)? };
    let why = running.listen(begun + allowed.time, stop, |_| false);
    running.end(match why {
        OutputEnd::Enough | OutputEnd::All => None,
        OutputEnd::Stopped => Some(Ended::Stopped),
        OutputEnd::Overdue => Some(Ended::Overdue(allowed.time)),
        OutputEnd::Flooded => Some(Ended::Flooded(allowed.output)),
    })
}

/// How long a program that took longer than `limit` may take for its last words: a fifth of that, one to ten seconds. So
/// nothing is waited for longer than the limit and a fifth of it.
fn farewell(limit: Duration) -> Duration {
    (limit / 5).clamp(Duration::from_secs(1), FAREWELL)
}

/// A program that runs. It ends with this value.
#[derive(Debug)]
pub struct Running<'c> {
    clock: &'c dyn Clock,
    process: Box<dyn Process>,
    stdout: Vec<u8>,
    stderr: Vec<u8>,
    /// Bytes of standard output that it may print.
    most: usize,
    has_flooded: bool,
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
    /// It printed more than it may.
    Flooded,
}

impl<'c> Running<'c> {
    /// Starts a program.
    ///
    /// # Errors
    /// Where it cannot be started.
    pub fn start(carrier: &'c dyn Carrier, call: &Call<'_>) -> io::Result<Self> {
        let process = carrier.process(call)?;
        let clock = carrier.clock();
        Ok(Self { clock, process, stdout: Vec::new(), stderr: Vec::new(), most: MAX_OUTPUT, has_flooded: false })
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
            if self.has_flooded {
                return OutputEnd::Flooded;
            }
            let now = self.clock.now();
            if stop.is_stopped() {
                return OutputEnd::Stopped;
            }
            if now >= deadline {
                return OutputEnd::Overdue;
            }
            match self.process.next(GLANCE.min(deadline.since(now))) {
                Next::Piece(piece) => self.keep(piece),
                Next::All => return OutputEnd::All,
                Next::Nothing => {
                    if ended.is_none() && self.process.has_ended() {
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
        let last_words = match why {
            Some(Ended::Overdue(limit)) => farewell(limit),
            Some(Ended::Flooded(_)) => Duration::ZERO,
            _ => FAREWELL,
        };
        let until = self.clock.now() + last_words;
        if why.is_some() {
            self.process.ask_to_end()?;
            self.listen(until, &Stop::default(), |_| false);
        }
        // One that says no more is at its end, or hides that it goes on.
        if !self.process.wait(until.since(self.clock.now()))? {
            self.process.kill()?;
        }
        let status = self.process.status()?;
        // Who was ended has closed its outputs: what it said before that is on its way through threads of ours.
        let until = self.clock.now() + if why.is_some() { LAST_PIECES } else { Duration::ZERO };
        while let Next::Piece(piece) = self.process.next(until.since(self.clock.now())) {
            self.keep(piece);
        }
        let stdout = std::mem::take(&mut self.stdout);
        Ok(Said { stdout, stderr: self.talk(), ended: why.unwrap_or(Ended::By(status)) })
    }

    fn keep(&mut self, piece: Piece) {
        match piece {
            Piece::Output(_) if self.has_flooded => {}
            // Half of a document is none, and its memory is for what other hosts say.
            Piece::Output(bytes) if bytes.len() > self.most - self.stdout.len() => {
                self.has_flooded = true;
                self.stdout = Vec::new();
            }
            Piece::Output(bytes) => self.stdout.extend_from_slice(&bytes),
            Piece::Talk(bytes) => {
                let room = MAX_TALK.saturating_sub(self.stderr.len()).min(bytes.len());
                self.stderr.extend_from_slice(&bytes[..room]);
            }
        }
    }
}

/// The most that a program may print: a test of an hour with all its samples.
pub const MAX_OUTPUT: usize = 128 << 20;
/// The most that is kept of its talk.
pub const MAX_TALK: usize = 64 << 10;
/// How long a program that is asked to end may take for its last words.
const FAREWELL: Duration = Duration::from_secs(10);
/// How long what a program said before it was ended may take to be read on a busy host.
const LAST_PIECES: Duration = Duration::from_secs(1);
/// How long the outputs of a program that has ended are read on, where something holds them open.
const LINGER: Duration = Duration::from_secs(5);

#[cfg(test)]
mod tests {
    use std::ffi::{OsStr, OsString};
    use std::process::Child;

    use linux::clock;

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
    fn program_that_floods_is_ended_and_nothing_of_it_is_kept() {
        let arguments = ["-c", "echo why >&2; while :; do echo 0123456789; done"].map(OsString::from);
        let call = Call { program: OsStr::new("sh"), arguments: &arguments, voice: Voice::Silent };
        let allowed = Allowance { time: Duration::from_secs(600), output: 10_000 };
        let said = ask(&Here, &call, allowed, &Stop::default()).unwrap();
        assert_eq!((said.ended, said.stdout.capacity()), (Ended::Flooded(10_000), 0));
        // Some shells say that they were ended as well.
        assert!(["why", "why\nTerminated"].contains(&said.stderr.as_str()), "{}", said.stderr);
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
