//! A program, until it ends or is ended.

use std::io::{self, Read};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use super::{Tool, Version};
use crate::stop::Stop;
use import::limits::MAX_BYTES;

/// What a program printed, and how it ended.
#[derive(Debug)]
pub(super) struct Output {
    pub(super) stdout: Vec<u8>,
    pub(super) stderr: Vec<u8>,
    pub(super) ended: Ended,
}

/// How a program ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ended {
    /// By itself.
    By(ExitStatus),
    /// The user wanted it.
    Stopped,
    /// It took too long.
    Overdue,
}

/// Runs a command until it ends, `stop` is set or `limit` is over. Both outputs are read to the reader's limit.
pub(super) fn run(command: &[String], limit: Duration, stop: &Stop) -> io::Result<Output> {
    let [program, arguments @ ..] = command else { return Err(io::ErrorKind::InvalidInput.into()) };
    let mut child = Command::new(program)
        .args(arguments)
        .env("LC_ALL", "C")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        // Ctrl-C reaches us alone, so that the program hears of it once, in good order.
        .process_group(0)
        .spawn()?;
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    thread::scope(|scope| {
        let stdout = scope.spawn(|| read(stdout));
        let stderr = scope.spawn(|| read(stderr));
        let ended = wait(&mut child, limit, stop);
        let joined = |reader: thread::ScopedJoinHandle<'_, Vec<u8>>| reader.join().unwrap_or_default();
        Ok(Output { stdout: joined(stdout), stderr: joined(stderr), ended: ended? })
    })
}

/// The program's version, as it tells it.
pub(super) fn version(tool: Tool) -> io::Result<Version> {
    let command = [tool.program().to_owned(), tool.version_option().to_owned()];
    let output = run(&command, Duration::from_secs(10), &Stop::default())?;
    let text = String::from_utf8_lossy(&output.stdout);
    find_version(&text).ok_or_else(|| io::Error::other(format!("`{}` reports no version", command.join(" "))))
}

/// The first word with a number and a point: `iperf 3.12 (cJSON 1.7.15)`, `nuttcp-6.1.2`.
fn find_version(text: &str) -> Option<Version> {
    text.split([' ', '-', '\n']).find_map(|word| {
        let mut parts = word.trim_end_matches('+').split('.').map(|part| part.parse().ok());
        Some(Version { major: parts.next()??, minor: parts.next()??, patch: parts.next().flatten().unwrap_or(0) })
    })
}

/// Waits for the end. A program that is to end early may first tell what it has; then it is killed.
fn wait(child: &mut Child, limit: Duration, stop: &Stop) -> io::Result<Ended> {
    /// Between two looks at whether it has ended; nothing is measured meanwhile by this process.
    const LOOK: Duration = Duration::from_millis(20);
    /// For the last words.
    const FAREWELL: Duration = Duration::from_secs(3);
    let start = Instant::now();
    let mut early: Option<(Ended, Instant)> = None;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(early.map_or(Ended::By(status), |(why, _)| why));
        }
        match early {
            None if stop.is_stopped() => early = Some((Ended::Stopped, interrupt(child))),
            None if start.elapsed() > limit => early = Some((Ended::Overdue, interrupt(child))),
            Some((why, since)) if since.elapsed() > FAREWELL => {
                child.kill()?;
                child.wait()?;
                return Ok(why);
            }
            _ => {}
        }
        thread::sleep(LOOK);
    }
}

/// Asks it to end; tells when.
fn interrupt(child: &Child) -> Instant {
    // Where it has ended meanwhile, the next look finds out.
    if let Some(pid) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
        let _ = kill_process(pid, Signal::INT);
    }
    Instant::now()
}

fn read(output: Option<impl Read>) -> Vec<u8> {
    let mut bytes = Vec::new();
    if let Some(mut output) = output {
        let limit = u64::try_from(MAX_BYTES).unwrap_or(u64::MAX);
        // What was read until an error is what there is.
        let _ = output.by_ref().take(limit).read_to_end(&mut bytes);
        // A program that prints on is not to wait for us.
        let _ = io::copy(&mut output, &mut io::sink());
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(text: &str) -> [String; 3] {
        ["sh", "-c", text].map(str::to_owned)
    }

    #[test]
    fn both_outputs_and_the_code_come_back() {
        let output = run(&shell("echo out; echo err >&2; exit 3"), Duration::from_secs(60), &Stop::default()).unwrap();
        assert_eq!((output.stdout.as_slice(), output.stderr.as_slice()), (&b"out\n"[..], &b"err\n"[..]));
        assert!(matches!(output.ended, Ended::By(status) if status.code() == Some(3)));
    }

    #[test]
    fn a_program_that_does_not_end_is_ended() {
        let stop = Stop::default();
        stop.stop();
        let output =
            run(&shell("trap 'echo last words; exit 0' INT; while :; do :; done"), Duration::MAX, &stop).unwrap();
        assert_eq!(output.ended, Ended::Stopped);
        let overdue = run(&shell("while :; do :; done"), Duration::ZERO, &Stop::default()).unwrap();
        assert_eq!(overdue.ended, Ended::Overdue);
    }

    #[test]
    fn versions_are_found_in_what_programs_print() {
        let version = |text| find_version(text).map(|version| version.to_string());
        assert_eq!(version("iperf 3.12 (cJSON 1.7.15)\nLinux").as_deref(), Some("3.12"));
        assert_eq!(version("iperf 3.21+ (cJSON 1.7.15)").as_deref(), Some("3.21"));
        assert_eq!(version("nuttcp-6.1.2\n").as_deref(), Some("6.1.2"));
        assert_eq!(version("hello"), None);
    }
}
