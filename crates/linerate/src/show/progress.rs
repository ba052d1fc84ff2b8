//! Progress on a terminal, lines elsewhere; all of it on standard error.

use std::io::IsTerminal;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use measure::session::client::{Event, Request};
use model::measurement::Interval;
use model::spec::{Limit, TestSpec};
use units::duration::show;

use super::intervals;

/// How much to say while a test goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Talk {
    /// What happens.
    Progress,
    /// Nothing besides the result.
    Nothing,
}

/// What is shown while a test goes on.
pub struct Progress {
    bar: Option<ProgressBar>,
    quiet: bool,
    spec: TestSpec,
    moved: u64,
}

impl Progress {
    /// Begins with the first word.
    pub fn new(request: &Request, talk: Talk) -> Self {
        let quiet = talk == Talk::Nothing;
        let watched = !quiet && std::io::stderr().is_terminal();
        // A terminal that cannot move its cursor (TERM=dumb) gets lines, as a file does.
        let bar = watched.then(|| bar(&request.spec)).filter(|bar| !bar.is_hidden());
        let progress = Self { bar, quiet, spec: request.spec.clone(), moved: 0 };
        progress.message(&format!("connecting to {}", request.host));
        progress
    }

    /// Shows what has happened.
    pub fn event(&mut self, event: &Event) {
        match event {
            Event::Connected { address } => self.message(&format!("{address} answers")),
            Event::Queued { ahead, wait } => {
                let tests = if *ahead == 1 { "1 test comes" } else { &format!("{ahead} tests come") };
                self.say(&format!("waiting in the queue: {tests} first, about {}", show(*wait)));
            }
            Event::Idle(idle) => {
                if let Some(least) = idle.min_us {
                    self.say(&format!("idle RTT min {}", show(Duration::from_micros(least))));
                }
            }
            Event::Started => self.message(""),
            Event::Progress(cut) => self.intervals(cut),
            Event::Draining => self.message("waiting for what is on the way"),
        }
    }

    /// Leaves the terminal as it was.
    pub fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }

    fn intervals(&mut self, cut: &[Interval]) {
        for interval in cut {
            self.say(&intervals::line(interval));
        }
        self.moved += cut.iter().map(|interval| interval.bytes.get()).sum::<u64>();
        let Some((bar, last)) = self.bar.as_ref().zip(cut.last()) else { return };
        let position = match self.spec.limit {
            Limit::Time(_) => last.end.as_millis(),
            Limit::Bytes(_) | Limit::Blocks(_) => u128::from(self.moved),
        };
        bar.set_position(u64::try_from(position).unwrap_or(u64::MAX));
    }

    /// A line that stays.
    fn say(&self, line: &str) {
        match &self.bar {
            Some(bar) => bar.println(line),
            None if self.quiet => {}
            None => eprintln!("{line}"),
        }
    }

    /// A line that passes.
    fn message(&self, text: &str) {
        if let Some(bar) = &self.bar {
            bar.set_message(text.to_owned());
        }
    }
}

fn bar(spec: &TestSpec) -> ProgressBar {
    let length = match spec.limit {
        Limit::Time(time) => u64::try_from((time + spec.omit).as_millis()).unwrap_or(u64::MAX),
        Limit::Bytes(bytes) => bytes.get(),
        // How large a block is shows only on the path.
        Limit::Blocks(_) => 0,
    };
    let bar = ProgressBar::with_draw_target(Some(length), ProgressDrawTarget::stderr());
    if let Ok(style) = ProgressStyle::with_template("{bar:40} {elapsed} {wide_msg}") {
        bar.set_style(style.progress_chars("=> "));
    }
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}
