//! Other hosts, watched at the same time: each runs `linerate host drops --json`, and its lines are read here.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use host::drops::lines::{self, MAX_LINE_BYTES};
use measure::stop::Stop;
use model::host::drops::DropInterval;
use units::duration;

use crate::cli::host::drops::DropsArgs;
use crate::commands::host::transport::Transport;

/// All others.
pub(super) struct Others {
    hosts: Vec<Host>,
    files: Vec<String>,
    ends: bool,
    interval: Duration,
}

/// A host that is watched over the transport.
struct Host {
    name: String,
    child: Child,
    lines: Receiver<Result<DropInterval, String>>,
    /// Whether it, or the transport, has said anything on standard error, which is shown as it comes.
    has_talked: Arc<AtomicBool>,
    complaints: Vec<String>,
    intervals: usize,
}

impl Others {
    /// Starts watching every one that is no file.
    pub(super) fn start(args: &DropsArgs) -> anyhow::Result<Self> {
        let (files, names): (Vec<&String>, Vec<&String>) = args.with.iter().partition(|name| Path::new(name).is_file());
        let hosts = names.into_iter().map(|name| Host::start(name, args)).collect::<anyhow::Result<Vec<_>>>()?;
        let files = files.into_iter().cloned().collect();
        Ok(Self { hosts, files, ends: args.duration.is_some(), interval: args.interval })
    }

    /// What the files hold.
    pub(super) fn recorded(&self) -> anyhow::Result<Vec<DropInterval>> {
        let read = self.files.iter().map(|file| super::read(Path::new(file))).collect::<anyhow::Result<Vec<_>>>()?;
        Ok(read.into_iter().flatten().collect())
    }

    /// What has come since the last call.
    pub(super) fn so_far(&mut self) -> Vec<DropInterval> {
        self.hosts.iter_mut().flat_map(Host::so_far).collect()
    }

    /// What comes until all have ended, each of which has some time to do so by itself.
    pub(super) fn rest(&mut self, stop: &Stop) -> Vec<DropInterval> {
        let patience = if self.ends && !stop.is_stopped() { self.interval + PATIENCE } else { Duration::ZERO };
        self.hosts.iter_mut().flat_map(|host| host.rest(patience)).collect()
    }

    /// Says what went wrong on each host.
    pub(super) fn complain(&self) {
        for host in &self.hosts {
            for complaint in &host.complaints {
                eprintln!("warning: {}: {}", host.name, foreign::terminal::line(complaint));
            }
            if host.intervals == 0 && !host.has_talked.load(Ordering::Acquire) {
                eprintln!("warning: {} told nothing; is linerate installed there?", host.name);
            }
        }
    }
}

impl Host {
    fn start(name: &str, args: &DropsArgs) -> anyhow::Result<Self> {
        let transport = Transport::to(name, &args.transport)?;
        let mut words = ["host", "drops", "--json", "--interval", &exact(args.interval)].map(str::to_owned).to_vec();
        if let Some(time) = args.duration {
            words.extend(["--for".to_owned(), exact(time)]);
        }
        words.extend(args.frames.then(|| "--frames".to_owned()));
        let mut command = transport.command(&transport.program("linerate")?, &words)?;
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = transport.spawned(&mut command)?;
        let lines = lines_of(child.stdout.take());
        let has_talked = Arc::new(AtomicBool::new(false));
        talk_of(name, child.stderr.take(), Arc::clone(&has_talked));
        Ok(Self { name: name.to_owned(), child, lines, has_talked, complaints: Vec::new(), intervals: 0 })
    }

    fn so_far(&mut self) -> Vec<DropInterval> {
        let come: Vec<_> = self.lines.try_iter().collect();
        come.into_iter().filter_map(|line| self.take(line)).collect()
    }

    fn rest(&mut self, patience: Duration) -> Vec<DropInterval> {
        let mut intervals = self.so_far();
        loop {
            match self.lines.recv_timeout(patience) {
                Ok(line) => intervals.extend(self.take(line)),
                Err(RecvTimeoutError::Disconnected | RecvTimeoutError::Timeout) => return intervals,
            }
        }
    }

    fn take(&mut self, line: Result<DropInterval, String>) -> Option<DropInterval> {
        match line {
            Ok(mut interval) => {
                self.intervals += 1;
                // Hosts of one image may call themselves alike; the name that was typed tells them apart.
                self.name.clone_into(&mut interval.host);
                Some(interval)
            }
            Err(reason) => {
                if self.complaints.len() < MOST_COMPLAINTS {
                    self.complaints.push(reason);
                }
                None
            }
        }
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        // It fails only where the process has ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Shows what a host says on standard error, line by line. A stranger's text is shown and not obeyed.
fn talk_of(name: &str, talk: Option<impl Read + Send + 'static>, has_talked: Arc<AtomicBool>) {
    let Some(talk) = talk else { return };
    let name = name.to_owned();
    thread::spawn(move || {
        let mut input = BufReader::new(talk);
        let mut line = Vec::new();
        loop {
            line.clear();
            match input.by_ref().take(MAX_TALK_BYTES).read_until(b'\n', &mut line) {
                Ok(0) | Err(_) => return,
                Ok(_) => {}
            }
            has_talked.store(true, Ordering::Release);
            let text = String::from_utf8_lossy(&line);
            eprintln!("{name}: {}", foreign::terminal::line(text.trim_end()));
        }
    });
}

fn lines_of(output: Option<impl Read + Send + 'static>) -> Receiver<Result<DropInterval, String>> {
    let (send, receive) = channel();
    if let Some(output) = output {
        thread::spawn(move || {
            let mut input = BufReader::new(output);
            let mut line = Vec::new();
            loop {
                line.clear();
                let limit = u64::try_from(MAX_LINE_BYTES).unwrap_or(u64::MAX);
                match input.by_ref().take(limit).read_until(b'\n', &mut line) {
                    Ok(0) | Err(_) => return,
                    Ok(_) => {}
                }
                let parsed = lines::parse(&line).map_err(|reason| format!("a line that is not understood: {reason}"));
                if send.send(parsed).is_err() {
                    return;
                }
            }
        });
    }
    receive
}

/// A time that reads back as the same.
fn exact(time: Duration) -> String {
    let shown = duration::show(time).replace(' ', "");
    if duration::parse(&shown) == Ok(time) { shown } else { format!("{}ns", time.as_nanos()) }
}

/// How long a host may take to end after this one has.
const PATIENCE: Duration = Duration::from_secs(5);
/// The longest line that is shown as one.
const MAX_TALK_BYTES: u64 = 4096;
const MOST_COMPLAINTS: usize = 3;
