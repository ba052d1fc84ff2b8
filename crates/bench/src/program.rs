//! Running a program, and what it costs.

use std::fs;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};
use linux::{affinity, clock};

/// A program that runs. It ends with this, if not before.
#[derive(Debug)]
pub(crate) struct Program {
    child: Option<Child>,
    name: String,
}

/// A program that has ended.
#[derive(Debug)]
pub(crate) struct Ended {
    /// What it printed.
    pub(crate) stdout: Vec<u8>,
    /// Processor time of all its threads, start and end included (`getrusage`).
    pub(crate) cpu_s: f64,
}

/// Where a program runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Seat {
    /// Where the kernel puts it.
    Anywhere,
    /// On the first processor. Where there are two, one end of a test sits on each: the kernel changes its mind about
    /// whether to put them together, and what a byte costs changes with it.
    First,
    /// On the second.
    Second,
}

/// No program here should take so long to listen.
const PATIENCE: Duration = Duration::from_secs(10);

impl Program {
    /// Starts `command`, its output kept for [`Self::ended`].
    pub(crate) fn start(mut command: Command, seat: Seat) -> anyhow::Result<Self> {
        let name = command.get_program().to_string_lossy().into_owned();
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // A child inherits the processors of the thread that starts it.
        let spawned = thread::scope(|scope| {
            let starter = scope.spawn(|| {
                seat.take();
                command.spawn()
            });
            starter.join()
        });
        let child = spawned.map_err(|_| anyhow::anyhow!("the starting thread is gone"))?;
        let child = child.with_context(|| format!("`{name}` cannot be started"))?;
        Ok(Self { child: Some(child), name })
    }

    /// Its process id.
    pub(crate) fn pid(&self) -> u32 {
        self.child.as_ref().map_or(0, Child::id)
    }

    /// Waits until it listens on a TCP port.
    pub(crate) fn await_listening(&mut self, port: u16) -> anyhow::Result<()> {
        let deadline = Instant::now() + PATIENCE;
        while !listens(self.pid(), port) {
            let gone = self.child.as_mut().is_none_or(|child| !matches!(child.try_wait(), Ok(None)));
            ensure!(!gone, "`{}` ended before it listened on port {port}", self.name);
            ensure!(Instant::now() < deadline, "`{}` does not listen on port {port}", self.name);
            thread::sleep(Duration::from_millis(2));
        }
        Ok(())
    }

    /// Waits for its end.
    pub(crate) fn ended(mut self) -> anyhow::Result<Ended> {
        let Some(child) = self.child.take() else { bail!("`{}` has ended before", self.name) };
        // One child is waited for at a time, so what the ended ones used grows by what this one used.
        let before = clock::ended_children_cpu_times()?.total();
        let output = child.wait_with_output().with_context(|| format!("`{}` was lost", self.name))?;
        let after = clock::ended_children_cpu_times()?.total();
        let said = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "`{}` failed: {}", self.name, said.trim());
        Ok(Ended { stdout: output.stdout, cpu_s: after.saturating_sub(before).as_secs_f64() })
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            // It may have ended by itself.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

impl Seat {
    fn take(self) {
        let cpus = affinity::allowed_cpus().unwrap_or_default();
        let wanted = match self {
            Self::Anywhere => None,
            Self::First => cpus.first(),
            Self::Second => cpus.get(1).or(cpus.first()),
        };
        if let Some(cpu) = wanted {
            // Where it is refused, the kernel chooses, which costs precision only.
            let _ = affinity::pin_current_thread(&[*cpu]);
        }
    }
}

/// Whether a TCP socket of the process's network namespace listens on the port.
fn listens(pid: u32, port: u16) -> bool {
    let end = format!(":{port:04X}");
    ["tcp", "tcp6"].iter().any(|table| {
        let table = fs::read_to_string(format!("/proc/{pid}/net/{table}")).unwrap_or_default();
        table.lines().any(|line| {
            let mut words = line.split_ascii_whitespace().skip(1);
            words.next().is_some_and(|local| local.ends_with(&end)) && words.nth(1) == Some(LISTEN)
        })
    })
}

/// `TCP_LISTEN` as `/proc/net/tcp` writes it.
const LISTEN: &str = "0A";
