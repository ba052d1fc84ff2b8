//! Losses ranked by what they cost: bytes and seconds, not how many segments were sent again.

use std::time::Duration;

use model::series::field::Field;
use serde::{Deserialize, Serialize};
use units::{ByteCount, PacketCount};

use super::stream::{Setting, Stream};
use crate::exact::scale;

/// All episodes of loss of one direction.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LossEvents {
    /// How many there were.
    pub episodes: u64,
    /// Segments sent again in all of them.
    #[serde(rename = "retransmits_segments")]
    pub retransmits: PacketCount,
    /// Of those, segments that had arrived already, as the receiver reported (DSACK, RFC 2883).
    #[serde(rename = "spurious_segments", default)]
    pub spurious: PacketCount,
    /// Times that the senders' kernels saw segments overtaken by others (`tcpi_reord_seen`).
    #[serde(default)]
    pub reordering_events: u64,
    /// Payload that they cost together.
    #[serde(rename = "lost_bytes")]
    pub lost: ByteCount,
    /// Segments sent again in the median episode: one where packets are lost one by one, many where a queue overflows.
    #[serde(rename = "typical_segments")]
    pub typical: PacketCount,
    /// The costliest ones, that which cost most first.
    pub worst: Vec<LossEpisode>,
}

/// One loss, from the first segment sent again until the rate was back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LossEpisode {
    /// Number of the stream, from 1.
    pub stream: u32,
    /// When it began.
    #[serde(rename = "start_us", with = "units::duration::as_us")]
    #[cfg_attr(feature = "schema", schemars(with = "u64"))]
    pub start: Duration,
    /// How long segments were sent again.
    #[serde(rename = "recovery_us", with = "units::duration::as_us")]
    #[cfg_attr(feature = "schema", schemars(with = "u64"))]
    pub recovery: Duration,
    /// Until rate or congestion window were back, or the next loss came, or the run ended.
    #[serde(rename = "until_us", with = "units::duration::as_us")]
    #[cfg_attr(feature = "schema", schemars(with = "u64"))]
    pub until: Duration,
    /// Whether the rate came back.
    pub end: LossEnd,
    /// Segments sent again.
    #[serde(rename = "retransmits_segments")]
    pub retransmits: PacketCount,
    /// Congestion window before.
    #[serde(rename = "cwnd_before_bytes", default, skip_serializing_if = "Option::is_none")]
    pub cwnd_before: Option<ByteCount>,
    /// Congestion window once nothing more was sent again.
    #[serde(rename = "cwnd_after_bytes", default, skip_serializing_if = "Option::is_none")]
    pub cwnd_after: Option<ByteCount>,
    /// Payload short of what the rate before would have delivered.
    #[serde(rename = "lost_bytes")]
    pub lost: ByteCount,
    /// The time that these bytes take at the rate before.
    #[serde(rename = "lost_us", with = "units::duration::as_us")]
    #[cfg_attr(feature = "schema", schemars(with = "u64"))]
    pub lost_time: Duration,
}

/// How an episode of loss ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum LossEnd {
    /// Rate or congestion window reached what they were.
    Back,
    /// The next loss came first.
    NextLoss,
    /// The run ended first.
    EndOfRun,
}

/// What a step of a stream has to do with loss.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    /// Nothing.
    Clear,
    /// Segments are being sent again.
    Recovery,
    /// The rate is not back yet.
    Aftermath,
}

/// The episodes of a stream, and the phase of each of its steps.
pub(super) fn of_stream(
    stream: &Stream<'_>,
    steps: &[(i64, i64)],
    setting: &Setting<'_>,
) -> (Vec<LossEpisode>, Vec<Phase>) {
    let mut watch = Watch::new(stream, setting);
    let phases = steps.iter().map(|step| watch.step(*step)).collect();
    let end = steps.last().map_or(0, |step| step.1);
    watch.close(end, LossEnd::EndOfRun);
    (watch.episodes, phases)
}

impl LossEvents {
    /// The costliest of `episodes`.
    pub(super) fn rank(mut episodes: Vec<LossEpisode>) -> Self {
        episodes.sort_by_key(|episode| std::cmp::Reverse((episode.lost, episode.lost_time, episode.retransmits)));
        let mut sizes: Vec<PacketCount> = episodes.iter().map(|episode| episode.retransmits).collect();
        sizes.sort_unstable();
        let sum = |part: fn(&LossEpisode) -> u64| episodes.iter().map(part).fold(0, u64::saturating_add);
        Self {
            episodes: episodes.len() as u64,
            retransmits: PacketCount::new(sum(|episode| episode.retransmits.get())),
            spurious: PacketCount::ZERO,
            reordering_events: 0,
            lost: ByteCount::new(sum(|episode| episode.lost.get())),
            typical: sizes.get(sizes.len() / 2).copied().unwrap_or_default(),
            worst: episodes.into_iter().take(LISTED).collect(),
        }
    }
}

impl LossEvents {
    /// With what the senders' kernels counted of segments that had not been lost.
    pub(super) fn with_reordering(mut self, streams: &[Stream<'_>]) -> Self {
        let sum = |field| {
            let grown =
                |stream: &Stream<'_>| stream.sent(field).map(|count| count.last().saturating_sub(count.first()));
            streams.iter().filter_map(grown).fold(0, u64::saturating_add)
        };
        self.spurious = PacketCount::new(sum(Field::DsackDups));
        self.reordering_events = sum(Field::ReordSeen);
        self
    }

    /// Whether nearly all that was retransmitted had arrived, behind segments that overtook it: then the path reorders, and
    /// loses hardly anything.
    #[must_use]
    pub fn is_reordering(&self) -> bool {
        let (spurious, all) = (self.spurious.get(), self.retransmits.get());
        self.reordering_events > 0 && all > 0 && u128::from(spurious) * 100 >= u128::from(all) * REORDERING_PERCENT
    }
}

/// Some reports are lost on their way, and the retransmissions of the last RTT have none yet.
const REORDERING_PERCENT: u128 = 80;

/// Episodes that are listed; more of them fit on no page.
const LISTED: usize = 10;

/// Goes through a stream step by step.
struct Watch<'a> {
    stream: &'a Stream<'a>,
    window: i64,
    open: Option<Open>,
    episodes: Vec<LossEpisode>,
}

/// An episode that has not ended.
#[derive(Debug, Clone, Copy)]
struct Open {
    start: i64,
    recovered: Option<i64>,
    retransmits: u64,
    cwnd_before: u64,
    cwnd_after: Option<u64>,
    /// Payload a second before, and the window then: what counts as back. Of a loss that follows one which was not back
    /// yet, those before the first.
    goal: Goal,
    lost: u64,
}

#[derive(Debug, Clone, Copy)]
struct Goal {
    per_second: u64,
    cwnd: u64,
}

impl<'a> Watch<'a> {
    fn new(stream: &'a Stream<'a>, setting: &Setting<'_>) -> Self {
        Self { stream, window: setting.window(), open: None, episodes: Vec::new() }
    }

    fn step(&mut self, (from, to): (i64, i64)) -> Phase {
        let again = self.stream.sent(Field::TotalRetrans).map_or(0, |count| count.growth(from, to));
        let repairing = self.stream.sent(Field::CaState).is_some_and(|state| state.state(to) >= RECOVERY);
        let losing = again > 0 || repairing;
        if losing && self.open.is_none_or(|open| open.recovered.is_some()) {
            let goal = self.open.map(|open| open.goal);
            self.close(from, LossEnd::NextLoss);
            self.open = Some(self.begin(from, goal));
        }
        let Some(mut open) = self.open else { return Phase::Clear };
        open.retransmits = open.retransmits.saturating_add(again);
        open.lost = open.lost.saturating_add(self.short_of(open.goal, (from, to)));
        if !losing && open.recovered.is_none() {
            open.recovered = Some(from);
            open.cwnd_after = Some(self.cwnd(to));
        }
        self.open = Some(open);
        if self.is_back(&open, to) {
            self.close(to, LossEnd::Back);
        }
        if losing { Phase::Recovery } else { Phase::Aftermath }
    }

    fn begin(&self, at: i64, earlier: Option<Goal>) -> Open {
        let cwnd = self.cwnd(at);
        let goal = earlier.unwrap_or_else(|| Goal { per_second: self.rate_until(at), cwnd });
        Open { start: at, recovered: None, retransmits: 0, cwnd_before: cwnd, cwnd_after: None, goal, lost: 0 }
    }

    fn is_back(&self, open: &Open, at: i64) -> bool {
        let Some(recovered) = open.recovered else { return false };
        let rate_is_back = at.saturating_sub(recovered) >= self.window
            && u128::from(self.rate_until(at)) * 100 >= u128::from(open.goal.per_second) * BACK_PERCENT;
        self.cwnd(at) >= open.goal.cwnd || rate_is_back
    }

    fn close(&mut self, at: i64, end: LossEnd) {
        let Some(open) = self.open.take() else { return };
        let segment = self.stream.sent(Field::SndMss).map(|mss| mss.last());
        let bytes = |cwnd: u64| segment.map(|segment| ByteCount::new(cwnd.saturating_mul(segment)));
        let lost_us = scale(open.lost, 1_000_000, open.goal.per_second);
        self.episodes.push(LossEpisode {
            stream: self.stream.number,
            start: span(0, open.start),
            recovery: span(open.start, open.recovered.unwrap_or(at)),
            until: span(open.start, at),
            end,
            retransmits: PacketCount::new(open.retransmits),
            cwnd_before: bytes(open.cwnd_before),
            cwnd_after: open.cwnd_after.and_then(bytes),
            lost: ByteCount::new(open.lost),
            lost_time: Duration::from_micros(lost_us),
        });
    }

    fn cwnd(&self, at: i64) -> u64 {
        self.stream.sent(Field::SndCwnd).map_or(0, |cwnd| cwnd.state(at))
    }

    /// Payload a second over the window that ends at `at`.
    fn rate_until(&self, at: i64) -> u64 {
        let from = at.saturating_sub(self.window).max(0);
        let grown = self.stream.delivered().map_or(0, |delivered| delivered.growth(from, at));
        scale(grown, 1_000_000, u64::try_from(at.saturating_sub(from)).unwrap_or(0))
    }

    fn short_of(&self, goal: Goal, (from, to): (i64, i64)) -> u64 {
        let time = u64::try_from(to.saturating_sub(from)).unwrap_or(0);
        let grown = self.stream.delivered().map_or(0, |delivered| delivered.growth(from, to));
        scale(goal.per_second, time, 1_000_000).saturating_sub(grown)
    }
}

fn span(from: i64, to: i64) -> Duration {
    Duration::from_micros(u64::try_from(to.saturating_sub(from)).unwrap_or(0))
}

/// `TCP_CA_Recovery`; `TCP_CA_Loss` is 4 (include/uapi/linux/tcp.h).
const RECOVERY: u64 = 3;
/// A rate this close to the one before is the same rate, measured again.
const BACK_PERCENT: u128 = 95;
