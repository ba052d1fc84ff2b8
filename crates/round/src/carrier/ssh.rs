//! Another machine, by the system's `ssh`.
//!
//! Nothing is asked for (`BatchMode`): keys or an agent let this user in, as for any other use of ssh, and
//! `~/.ssh/config` says what is particular about a host. All programs of one host share one connection, which is made with
//! the first and ends with the [`Ssh`] at the latest.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, PoisonError};

use foreign::shell::{exact_word, joined};

use super::{Call, Carrier, guard};

/// Another machine, by the system's `ssh`.
#[derive(Debug)]
pub struct Ssh {
    target: String,
    shared: Mutex<Shared>,
}

impl Ssh {
    /// The way to `HOST` or `USER@HOST`, or what `~/.ssh/config` knows by that name. Nothing is sent yet.
    #[must_use]
    pub fn new(target: impl Into<String>) -> Self {
        Self { target: target.into(), shared: Mutex::new(Shared::NotYet) }
    }

    /// `ssh` with all but the words that run there.
    fn command(&self, options: &[&str]) -> Command {
        let mut command = Command::new("ssh");
        command.args(USUAL).args(options);
        command
    }

    /// The options by which a program uses the shared connection, and makes its own where there is none (yet).
    fn socket(&self) -> Option<PathBuf> {
        let mut shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        if matches!(*shared, Shared::NotYet) {
            *shared = Connection::open(self).map_or(Shared::Without, Shared::Open);
        }
        match &*shared {
            Shared::Open(connection) => Some(connection.socket()),
            Shared::NotYet | Shared::Without => None,
        }
    }
}

impl Carrier for Ssh {
    fn start(&self, call: &Call<'_>) -> io::Result<Child> {
        let socket = self.socket().map(|socket| format!("ControlPath={}", socket.display()));
        let mut options = vec!["-o", "ControlMaster=no"];
        options.extend(socket.iter().flat_map(|socket| ["-o", socket]));
        let mut command = self.command(&options);
        let words: Vec<&OsStr> = [call.program].into_iter().chain(call.arguments.iter().map(AsRef::as_ref)).collect();
        command.args(["--", &self.target, &guarded(&words)]).stdin(Stdio::piped());
        call.listen(&mut command).spawn().map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => io::Error::other("`ssh` is not installed on this host"),
            _ => error,
        })
    }

    fn place(&self) -> String {
        format!("ssh {}", self.target)
    }
}

/// What programs of one host share.
#[derive(Debug)]
enum Shared {
    NotYet,
    Open(Connection),
    /// There is no place for its socket.
    Without,
}

/// A connection that others use. It ends with this value, and by itself when this process ends: its input is closed then.
#[derive(Debug)]
struct Connection {
    process: Child,
    directory: PathBuf,
}

impl Connection {
    fn open(ssh: &Ssh) -> Option<Self> {
        let random = u128::from_ne_bytes(linux::random::bytes().ok()?);
        // The path of a socket has at most 107 bytes (unix(7)), and ssh adds 17 while it makes one.
        let directory = std::env::temp_dir().join(format!("linerate-{random:032x}"));
        fs::DirBuilder::new().mode(0o700).create(&directory).ok()?;
        let socket = format!("ControlPath={}", directory.join(SOCKET).display());
        let mut command = ssh.command(&["-o", "ControlMaster=yes", "-o", &socket, "--", &ssh.target, "cat"]);
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
        match command.spawn() {
            Ok(process) => Some(Self { process, directory }),
            Err(_) => {
                // Whoever starts a program next meets the same error, and tells it.
                let _ = fs::remove_dir_all(&directory);
                None
            }
        }
    }

    fn socket(&self) -> PathBuf {
        self.directory.join(SOCKET)
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        // It fails only where it has ended already.
        let _ = self.process.kill();
        let _ = self.process.wait();
        let _ = fs::remove_dir_all(&self.directory);
    }
}

const SOCKET: &str = "socket";

/// No questions, no terminal, and a machine that has vanished is noticed within a quarter of a minute.
const USUAL: [&str; 9] = [
    "-T",
    "-o",
    "BatchMode=yes",
    "-o",
    "ConnectTimeout=10",
    "-o",
    "ServerAliveInterval=5",
    "-o",
    "ServerAliveCountMax=3",
];

/// The line that the shell there runs: the words, which are asked to end when our end of the connection closes. Without a
/// terminal nobody else would tell them.
fn guarded(words: &[&OsStr]) -> String {
    format!(
        "exec sh -c {} linerate {}",
        exact_word(guard::SCRIPT),
        joined(words.iter().map(|word| word.to_string_lossy()))
    )
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead, BufReader, Read};

    use super::*;

    /// The line run by a shell, whose input stays open until the outputs have ended.
    fn run(words: &[&str]) -> (String, Option<i32>) {
        let line = guarded(&words.iter().map(OsStr::new).collect::<Vec<_>>());
        let mut shell = Command::new("sh");
        let mut shell = shell.args(["-c", &line]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let held = shell.stdin.take();
        let mut said = String::new();
        shell.stdout.take().unwrap().read_to_string(&mut said).unwrap();
        let code = shell.try_wait().unwrap().or_else(|| shell.wait().ok()).and_then(|status| status.code());
        drop(held);
        (said, code)
    }

    #[test]
    fn words_arrive_at_the_program_as_they_were_given() {
        let words = ["printf", "<%s>", "a b", "it's", "$HOME", "", "x*"];
        assert_eq!(run(&words), ("<a b><it's><$HOME><><x*>".to_owned(), Some(0)));
    }

    #[test]
    fn code_of_the_program_is_the_code_of_the_line() {
        assert_eq!(run(&["sh", "-c", "exit 7"]), (String::new(), Some(7)));
        assert_eq!(run(&["/no/such/program"]).1, Some(127));
    }

    #[test]
    fn program_is_asked_to_end_when_the_connection_closes() {
        let words = ["sh", "-c", "trap 'echo asked; exit 0' TERM; echo up; while :; do :; done"];
        let line = guarded(&words.map(OsStr::new));
        let mut shell = Command::new("sh");
        let mut shell = shell.args(["-c", &line]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut said = BufReader::new(shell.stdout.take().unwrap());
        let mut first = String::new();
        said.read_line(&mut first).unwrap();
        drop(shell.stdin.take());
        let mut rest = String::new();
        said.read_to_string(&mut rest).unwrap();
        assert_eq!((first.as_str(), rest.as_str()), ("up\n", "asked\n"));
        shell.wait().unwrap();
    }
}
