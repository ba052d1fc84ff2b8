//! Transfers, several at once.

use std::io::IsTerminal;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use measure::stop::Stop;

use crate::cli::Common;

/// Makes `count` things on several threads, and hands each to `keep` as it comes, with its number. Ends early where it was
/// stopped; says how many were made.
pub fn run<T: Send>(
    count: usize,
    jobs: usize,
    stop: &Stop,
    make: &(dyn Fn(usize) -> anyhow::Result<T> + Sync),
    keep: &mut dyn FnMut(usize, T) -> anyhow::Result<()>,
) -> anyhow::Result<usize> {
    let next = AtomicUsize::new(0);
    let (done, comes) = mpsc::channel();
    thread::scope(|scope| {
        for _ in 0..jobs.min(count) {
            let (done, next) = (done.clone(), &next);
            scope.spawn(move || {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    let is_over = number >= count || stop.is_stopped();
                    if is_over || done.send((number, make(number))).is_err() {
                        break;
                    }
                }
            });
        }
        drop(done);
        let mut made = 0;
        for (number, one) in comes {
            // On an error the channel closes, and the threads end with what they are at.
            keep(number, one?)?;
            made += 1;
        }
        Ok(made)
    })
}

/// How many are made at once where nothing is said.
pub fn cpu_count() -> usize {
    thread::available_parallelism().map_or(1, NonZeroUsize::get)
}

/// How far it is: a bar on terminals, a line now and then elsewhere.
pub struct Progress {
    bar: Option<ProgressBar>,
    what: &'static str,
    is_quiet: bool,
    done: usize,
    of: usize,
    said: usize,
    has_begun: bool,
}

/// Lines that are said where there is no terminal.
const LINES: usize = 10;

impl Progress {
    /// Begins where some of them are there already; `what` says of what.
    pub fn new(common: &Common, what: &'static str, steps: Steps) -> Self {
        let Steps { done, of } = steps;
        let bar = (!common.quiet && std::io::stderr().is_terminal()).then(|| bar(what, steps));
        Self { bar, what, is_quiet: common.quiet, done, of, said: done * LINES / of.max(1), has_begun: false }
    }

    /// One more.
    pub fn step(&mut self) {
        self.done += 1;
        if let Some(bar) = &self.bar {
            bar.inc(1);
            return;
        }
        let now = self.done * LINES / self.of.max(1);
        // The first one tells that it goes on at all.
        let is_first = !std::mem::replace(&mut self.has_begun, true);
        if (now > self.said || is_first) && !self.is_quiet {
            self.said = now;
            eprintln!("{} of {} {}", self.done, self.of, self.what);
        }
    }

    /// Leaves the terminal as it was.
    pub fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// How far it is.
#[derive(Debug, Clone, Copy)]
pub struct Steps {
    pub done: usize,
    pub of: usize,
}

fn bar(what: &'static str, steps: Steps) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(steps.of as u64), ProgressDrawTarget::stderr());
    if let Ok(style) = ProgressStyle::with_template(&format!("{{bar:40}} {{pos}} of {{len}} {what}, {{eta}} left")) {
        bar.set_style(style.progress_chars("=> "));
    }
    bar.set_position(steps.done as u64);
    bar.reset_eta();
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}
