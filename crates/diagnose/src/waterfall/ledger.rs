//! The gap of one direction, byte by byte, to the reason that owns it.

use model::series::field::Field;

use super::cause::Reason;
use super::check::ClockSums;
use super::line::Framing;
use super::losses::{self, LossEpisode, Phase};
use super::split::{Split, Splitter};
use super::stream::{Setting, Stream};
use super::view::View;
use crate::exact::{apportion, scale};

/// Wire bytes by reason, summed over streams. They are weights: the gap itself is split exactly in their proportion.
#[derive(Debug)]
pub(super) struct Ledger {
    pub(super) wire: Vec<u64>,
    pub(super) clocks: ClockSums,
    pub(super) episodes: Vec<LossEpisode>,
}

/// What one stream may use, in wire bytes a second.
#[derive(Debug, Clone, Copy)]
pub(super) struct Allowance {
    /// Its equal part of the line rate.
    pub(super) line: u64,
    /// Its equal part of what the path passes, where that is known to be less.
    pub(super) path: Option<u64>,
    pub(super) framing: Framing,
}

/// One step of a stream.
struct Entry {
    /// The line's bytes less the delivered ones; negative where more was delivered than the line passes, which came
    /// out of a buffer that earlier steps had filled.
    short: i128,
    /// Of those, what retransmissions took.
    again: u64,
    /// Of those, what the path cannot pass.
    path: u64,
    split: Split,
}

impl Ledger {
    pub(super) fn new() -> Self {
        Self { wire: vec![0; Reason::ALL.len()], clocks: ClockSums::default(), episodes: Vec::new() }
    }

    /// Adds a stream.
    pub(super) fn add(&mut self, view: &View<'_>, setting: &Setting<'_>, allowance: Allowance) {
        let (stream, start_end) = (view.stream, view.start_end);
        let steps = steps(stream, setting);
        let (episodes, phases) = losses::of_stream(stream, &steps, setting);
        self.episodes.extend(episodes);
        let mut splitter = Splitter::new(view, setting);
        let entries: Vec<Entry> = steps
            .iter()
            .zip(phases)
            .map(|(step, phase)| entry(stream, &mut splitter, (*step, phase), (start_end, allowance)))
            .collect();
        let mut ahead = 0_i128;
        for entry in entries.iter().rev() {
            let short = entry.short + ahead;
            ahead = short.min(0);
            self.book(entry, u64::try_from(short.max(0)).unwrap_or(u64::MAX));
        }
        self.count_clocks(stream, setting);
    }

    /// Gives the bytes of one step to their owners.
    fn book(&mut self, entry: &Entry, short: u64) {
        let again = short.min(entry.again);
        self.give(Reason::SentAgain, again);
        let left = short - again;
        let path = left.min(entry.path);
        let is_in_host = entry.split.parts.iter().any(|(reason, time)| *reason == Reason::HostQueue && *time > 0);
        self.give(if is_in_host { Reason::HostQueue } else { Reason::StandingQueue }, path);
        let amounts = entry.split.parts.map(|(_, time)| time);
        for ((reason, _), bytes) in entry.split.parts.iter().zip(apportion(left - path, &amounts)) {
            self.give(*reason, bytes);
        }
        let kept = |time: u64| if path == 0 { time } else { scale(time, left - path, left) };
        let [idle, window, buffer, rest] = amounts;
        let clocks = &mut self.clocks;
        clocks.total = sum([clocks.total, idle, window, buffer, rest]);
        clocks.table_busy = sum([clocks.table_busy, window, buffer, rest]);
        clocks.table_window = sum([clocks.table_window, kept(window)]);
        clocks.table_buffer = sum([clocks.table_buffer, kept(buffer)]);
        clocks.to_path = sum([clocks.to_path, window - kept(window), buffer - kept(buffer)]);
    }

    /// Gives bytes to their owner.
    pub(super) fn give(&mut self, reason: Reason, bytes: u64) {
        if let Some(sum) = self.wire.get_mut(reason.index()) {
            *sum = sum.saturating_add(bytes);
        }
    }

    /// The kernel's own sums, not step by step: from its first to its last word within the run.
    fn count_clocks(&mut self, stream: &Stream<'_>, setting: &Setting<'_>) {
        let grown = |field| stream.sent(field).map(|clock| clock.growth(0, setting.end));
        let all = (grown(Field::BusyTime), grown(Field::RwndLimited), grown(Field::SndbufLimited));
        let (Some(busy), Some(window), Some(buffer)) = all else {
            self.clocks = ClockSums::default();
            return;
        };
        let clocks = &mut self.clocks;
        clocks.kernel_busy = sum([clocks.kernel_busy, busy]);
        clocks.kernel_window = sum([clocks.kernel_window, window]);
        clocks.kernel_buffer = sum([clocks.kernel_buffer, buffer]);
    }
}

fn entry(
    stream: &Stream<'_>,
    splitter: &mut Splitter<'_>,
    (step, phase): ((i64, i64), Phase),
    (start_end, allowance): (i64, Allowance),
) -> Entry {
    let (from, to) = step;
    let time = u64::try_from(to.saturating_sub(from)).unwrap_or(0);
    let payload = stream.delivered().map_or(0, |delivered| delivered.growth(from, to));
    let again = stream.sent(Field::BytesRetrans).map_or(0, |bytes| bytes.growth(from, to));
    let split = splitter.step(step, phase);
    let beyond_path =
        allowance.path.filter(|_| from >= start_end).map_or(0, |path| allowance.line.saturating_sub(path));
    Entry {
        short: i128::from(scale(allowance.line, time, 1_000_000)) - i128::from(allowance.framing.wire(payload)),
        again: allowance.framing.wire(again),
        path: scale(beyond_path, split.busy_us, 1_000_000),
        split,
    }
}

/// The steps of a stream: from sample to sample of the end that tells more, within the run.
fn steps(stream: &Stream<'_>, setting: &Setting<'_>) -> Vec<(i64, i64)> {
    let times = stream.sender.as_ref().or(stream.receiver.as_ref()).map(|track| track.times()).unwrap_or_default();
    let inside = times.iter().copied().filter(|at| (1..setting.end).contains(at));
    let edges: Vec<i64> = std::iter::once(0).chain(inside).chain([setting.end]).collect();
    edges.windows(2).filter_map(|pair| Some((*pair.first()?, *pair.last()?))).filter(|(from, to)| from < to).collect()
}

fn sum<const N: usize>(parts: [u64; N]) -> u64 {
    parts.into_iter().fold(0, u64::saturating_add)
}
