//! Asking the person at the terminal for a yes.

use std::io::{BufRead, IsTerminal, Write};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use measure::stop::Stop;

/// What came back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reply {
    /// `y` or `yes`.
    Yes,
    /// Anything else.
    No,
    /// The user pressed Ctrl-C.
    Interrupted,
    /// Nobody said anything in time.
    Silence,
}

/// Whether somebody can be asked.
pub fn can_ask() -> bool {
    std::io::stdin().is_terminal()
}

/// Asks, and waits so long.
pub fn ask(question: &str, patience: Duration, stop: &Stop) -> Reply {
    eprintln!("{question} [y/N]");
    let _ = std::io::stderr().flush();
    let (said, hears) = channel();
    // It may wait for a line for ever; it ends with the process.
    std::thread::spawn(move || {
        let mut line = String::new();
        let _ = std::io::stdin().lock().read_line(&mut line);
        let _ = said.send(line);
    });
    let until = Instant::now() + patience;
    loop {
        if stop.is_stopped() {
            return Reply::Interrupted;
        }
        match hears.recv_timeout(LOOK.min(until.saturating_duration_since(Instant::now()))) {
            Ok(line) if matches!(line.trim(), "y" | "yes") => return Reply::Yes,
            Ok(_) | Err(RecvTimeoutError::Disconnected) => return Reply::No,
            Err(RecvTimeoutError::Timeout) if Instant::now() >= until => return Reply::Silence,
            Err(RecvTimeoutError::Timeout) => {}
        }
    }
}

/// How often Ctrl-C is looked for.
const LOOK: Duration = Duration::from_millis(50);
