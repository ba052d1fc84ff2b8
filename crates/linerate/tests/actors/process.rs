//! Processes that are waited for, and that never outlive the test that started them.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

/// After this a test that waits fails instead of waiting for ever. No claim rests on it.
pub const PATIENCE: Duration = Duration::from_secs(120);

/// A process that ends with its owner.
#[derive(Debug)]
pub struct Process(Child);

impl Process {
    /// Starts `command` with its output piped.
    pub fn start(command: &mut Command) -> Self {
        let program = command.get_program().to_string_lossy().into_owned();
        let spawned = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        match spawned {
            Ok(child) => Self(child),
            Err(error) => panic!("{program} cannot be started ({error}): run scripts/setup test"),
        }
    }

    /// Its id.
    pub fn id(&self) -> u32 {
        self.0.id()
    }

    /// What it writes to standard output, line by line.
    pub fn stdout(&mut self) -> Lines {
        Lines::of(self.0.stdout.take().unwrap())
    }

    /// Closes its standard output, as a reader that has gone.
    pub fn abandon_stdout(&mut self) {
        drop(self.0.stdout.take());
    }

    /// What it writes to standard error, line by line.
    pub fn stderr(&mut self) -> Lines {
        Lines::of(self.0.stderr.take().unwrap())
    }

    /// Ends it at once, as a power cut would.
    pub fn kill(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }

    /// Sends it a signal by the name that `kill` knows.
    pub fn signal(&self, name: &str) {
        let sent = Command::new("kill").args([&format!("-{name}"), &self.id().to_string()]).status().unwrap();
        assert!(sent.success(), "the process was gone before its signal");
    }

    /// Whether it has not ended yet.
    pub fn is_running(&mut self) -> bool {
        self.0.try_wait().unwrap().is_none()
    }

    /// Waits for its end.
    pub fn wait(&mut self) -> ExitStatus {
        self.0.wait().unwrap()
    }

    /// Waits for its end, and returns everything that it wrote since nobody else has read it.
    pub fn finish(mut self) -> Ended {
        let (stdout, stderr) = (self.0.stdout.take(), self.0.stderr.take());
        let stdout = thread::spawn(|| read_all(stdout));
        let stderr = thread::spawn(|| read_all(stderr));
        let (done, over) = channel();
        thread::spawn(move || done.send((stdout.join().unwrap(), stderr.join().unwrap())));
        let Ok((stdout, stderr)) = over.recv_timeout(PATIENCE) else {
            panic!("{self:?} still runs after {PATIENCE:?}");
        };
        Ended { code: self.wait().code(), stdout, stderr }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It fails only where the process has ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A process that has ended.
#[derive(Debug)]
pub struct Ended {
    /// Its exit code; `None` where a signal ended it.
    pub code: Option<i32>,
    /// Everything on standard output.
    pub stdout: String,
    /// Everything on standard error.
    pub stderr: String,
}

fn read_all(stream: Option<impl Read>) -> String {
    let mut bytes = Vec::new();
    if let Some(mut stream) = stream {
        stream.read_to_end(&mut bytes).unwrap();
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Lines of a running process, as they come.
#[derive(Debug)]
pub struct Lines(Receiver<String>);

impl Lines {
    fn of(stream: impl Read + Send + 'static) -> Self {
        let (send, receive) = channel();
        thread::spawn(move || {
            for line in BufReader::new(stream).lines() {
                let Ok(line) = line else { return };
                // A test that has seen enough no longer listens.
                if send.send(line).is_err() {
                    return;
                }
            }
        });
        Self(receive)
    }

    /// Waits for the next line for which `wanted` holds, and returns it.
    pub fn wait_for(&self, what: &str, wanted: impl Fn(&str) -> bool) -> String {
        let mut seen = Vec::new();
        loop {
            match self.0.recv_timeout(PATIENCE) {
                Ok(line) if wanted(&line) => return line,
                Ok(line) => seen.push(line),
                Err(RecvTimeoutError::Disconnected) => panic!("the output ended without {what}: {seen:#?}"),
                Err(RecvTimeoutError::Timeout) => panic!("{PATIENCE:?} without {what}: {seen:#?}"),
            }
        }
    }

    /// All lines up to the end of the process, which must come.
    pub fn rest(&self) -> Vec<String> {
        let mut seen = Vec::new();
        loop {
            match self.0.recv_timeout(PATIENCE) {
                Ok(line) => seen.push(line),
                Err(RecvTimeoutError::Disconnected) => return seen,
                Err(RecvTimeoutError::Timeout) => panic!("{PATIENCE:?} without an end: {seen:#?}"),
            }
        }
    }
}
