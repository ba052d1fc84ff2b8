//! Other people's packets in the same queue: they take its room and its time, and nobody sends or receives them.

use std::num::NonZeroU32;
use std::time::Duration;

use serde::Deserialize;
use units::{ByteCount, DataRate, MonoTime};

use crate::random::{Seed, SeededRng};
use crate::spec::{SpecError, check_dscp, check_not_zero};
use crate::train::{Ecn, Edits, FlowHash, FrameId, PacketKind, Spacing, Train};

/// Cross traffic as it is written in files.
#[derive(Debug, Clone, PartialEq, Deserialize, Default)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct CrossSpec {
    /// Size of its packets on the link, in bytes; 1,514 without.
    #[serde(default)]
    pub packet_bytes: Option<NonZeroU32>,
    /// Its class of service.
    #[serde(default)]
    pub dscp: u8,
    /// When it comes and how fast.
    #[serde(default)]
    pub bursts: Vec<Burst>,
}

/// A time during which cross traffic comes at a constant rate, once or again and again.
///
/// Model: it does not slow down when it is dropped.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Burst {
    /// How fast it comes.
    #[serde(deserialize_with = "units::text::read")]
    pub rate: DataRate,
    /// When it begins, counted from the start of the chain.
    #[serde(default, deserialize_with = "units::duration::text::read")]
    pub start: Duration,
    /// How long it lasts; for ever without.
    #[serde(default, deserialize_with = "units::duration::text::read_some")]
    pub length: Option<Duration>,
    /// From one beginning to the next; once without.
    #[serde(default, deserialize_with = "units::duration::text::read_some")]
    pub period: Option<Duration>,
    /// By how much later than that a burst may begin, evenly drawn.
    #[serde(default, deserialize_with = "units::duration::text::read")]
    pub jitter: Duration,
}

impl CrossSpec {
    /// # Errors
    /// A burst of no rate, one that would begin again before it ends, or a class of service above 63.
    pub fn check(&self) -> Result<(), SpecError> {
        check_dscp("cross", "dscp", self.dscp)?;
        for burst in &self.bursts {
            check_not_zero("cross", "rate", burst.rate)?;
            burst.length.map_or(Ok(()), |length| check_not_zero("cross", "length", length))?;
            if let Some(period) = burst.period
                && burst.length.is_none_or(|length| length + burst.jitter > period)
            {
                return Err(SpecError::Overlap);
            }
        }
        Ok(())
    }
}

/// See [`CrossSpec`].
#[derive(Debug)]
pub(crate) struct Cross {
    spec: CrossSpec,
    sources: Vec<Source>,
    /// When packets come next, which is asked for more often than it changes.
    next: Option<MonoTime>,
    rng: SeededRng,
    start: MonoTime,
    /// The link's rate, by which packets are put together.
    link: DataRate,
}

#[derive(Debug, Clone, Copy)]
struct Source {
    burst: usize,
    /// When its next packets come; `None` when it is over.
    next: Option<MonoTime>,
    /// The beginning of this burst by the period, without jitter.
    began: MonoTime,
    /// When this burst ends.
    ends: Option<MonoTime>,
    packets: NonZeroU32,
    spacing: Duration,
}

impl Cross {
    pub(crate) fn new(spec: CrossSpec, link: DataRate, seed: Seed, start: MonoTime) -> Self {
        let mut cross = Self { spec, sources: Vec::new(), next: None, rng: SeededRng::new(seed), start, link };
        cross.lay_out();
        cross
    }

    /// Goes on with other bursts, or the same on a link of another rate.
    pub(crate) fn adopt(&mut self, spec: &CrossSpec, link: DataRate, now: MonoTime) {
        self.link = link;
        if *spec != self.spec {
            self.spec = spec.clone();
            self.lay_out();
            self.skip_to(now);
        }
    }

    /// Leaves out what would have come before `now`.
    pub(crate) fn skip_to(&mut self, now: MonoTime) {
        for source in &mut self.sources {
            source.skip_to(now, &self.spec.bursts[source.burst], &mut self.rng);
        }
        self.note_next();
    }

    /// When packets come next.
    #[inline]
    pub(crate) fn next(&self) -> Option<MonoTime> {
        self.next
    }

    /// What of it comes in a time from `now` on, and what has come before of the packets that are taken next.
    pub(crate) fn around(&self, now: MonoTime, time: Duration) -> (ByteCount, ByteCount) {
        let mut around = (ByteCount::ZERO, ByteCount::ZERO);
        for source in &self.sources {
            let until = source.next.map_or(Duration::MAX, |next| next.since(now));
            if let Some(since) = source.spacing.checked_sub(until) {
                let rate = self.spec.bursts[source.burst].rate;
                around = (around.0 + rate * time, around.1 + rate * since);
            }
        }
        around
    }

    fn note_next(&mut self) {
        self.next = self.sources.iter().filter_map(|source| source.next).min();
    }

    /// The packets that come next.
    pub(crate) fn take(&mut self) -> Train {
        let next = self.next;
        let mut packets = NonZeroU32::MIN;
        if let Some(source) = self.sources.iter_mut().find(|source| source.next == next) {
            packets = source.packets;
            source.step(&self.spec.bursts[source.burst], &mut self.rng);
            self.note_next();
        }
        let size = self.packet_bytes();
        Train {
            frame: FrameId::PHANTOM,
            first: 0,
            count: packets,
            size,
            last_size: size,
            flow: FlowHash(0),
            kind: PacketKind::Other,
            dscp: self.spec.dscp,
            ecn: Ecn::NotCapable,
            whole: true,
            edits: Edits::default(),
            spacing: Spacing::NONE,
            came: next.unwrap_or(self.start),
        }
    }

    fn packet_bytes(&self) -> u32 {
        self.spec.packet_bytes.map_or(1_514, NonZeroU32::get)
    }

    fn lay_out(&mut self) {
        let size = self.packet_bytes();
        // Model: on fast links packets come in groups, since single ones would cost more to reckon with than those that are
        // really sent. A full queue takes a little more or less of a group than of single packets.
        let together = |time: Duration| u32::try_from((self.link * time).get() / u64::from(size)).unwrap_or(u32::MAX);
        let packets = together(SHORTEST_GROUP).max(FEWEST.min(together(LONGEST_GROUP)));
        let packets = NonZeroU32::new(packets).unwrap_or(NonZeroU32::MIN);
        let group = ByteCount::new(u64::from(size) * u64::from(packets.get()));
        self.sources = self
            .spec
            .bursts
            .iter()
            .enumerate()
            .map(|(burst, spec)| Source {
                burst,
                next: None,
                began: self.start + spec.start,
                ends: None,
                packets,
                spacing: spec.rate.time_for(group).unwrap_or(Duration::MAX).max(Duration::from_nanos(1)),
            })
            .collect();
        for source in &mut self.sources {
            source.begin(&self.spec.bursts[source.burst], &mut self.rng);
        }
        self.note_next();
    }
}

impl Source {
    fn begin(&mut self, burst: &Burst, rng: &mut SeededRng) {
        let jitter = units::duration::nanos(burst.jitter);
        let begins = self.began + Duration::from_nanos(rng.below(jitter.saturating_add(1)));
        self.next = Some(begins);
        self.ends = burst.length.map(|length| begins + length);
    }

    fn skip_to(&mut self, now: MonoTime, burst: &Burst, rng: &mut SeededRng) {
        if let Some(period) = burst.period.filter(|_| self.began < now) {
            let nanos = now.since(self.began).as_nanos() / period.as_nanos().max(1) * period.as_nanos();
            self.began = self.began + Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX));
            self.begin(burst, rng);
        }
        if self.next.is_some_and(|next| next < now) {
            self.go_to(now, burst, rng);
        }
    }

    fn step(&mut self, burst: &Burst, rng: &mut SeededRng) {
        if let Some(next) = self.next {
            self.go_to(next + self.spacing, burst, rng);
        }
    }

    /// Has packets come next at `next`, or when the burst after this one begins, if this is over by then.
    fn go_to(&mut self, next: MonoTime, burst: &Burst, rng: &mut SeededRng) {
        if self.ends.is_some_and(|ends| next >= ends) {
            self.next = None;
            if let Some(period) = burst.period {
                self.began = self.began + period;
                self.begin(burst, rng);
            }
        } else {
            self.next = Some(next);
        }
    }
}

/// The time on the link of packets that come together.
const SHORTEST_GROUP: Duration = Duration::from_micros(2);

/// The fewest packets of cross traffic that come together, where they take the link no longer than [`LONGEST_GROUP`]. On slow links
/// each comes by itself: there a queue holds few, and a group would lose more of its own than single packets do.
const FEWEST: u32 = 4;
const LONGEST_GROUP: Duration = Duration::from_micros(5);
