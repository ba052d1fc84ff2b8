//! Controlled delay: packets are dropped or marked when all have waited too long for a while, and then ever faster until
//! they do not (RFC 8289).

use std::time::Duration;

use serde::Deserialize;
use units::MonoTime;

use super::line::{Batch, Line};
use crate::chain::is_exempt;
use crate::outlet::Outlet;
use crate::reason::{Drop, Mark};
use crate::spec::{SpecError, check_not_zero};
use crate::train::{Ecn, FrameId, Train};

/// Controlled delay as it is written in files.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct CoDelSpec {
    /// How long packets may wait.
    #[serde(default = "target", deserialize_with = "units::duration::text::read")]
    pub target: Duration,
    /// For how long they may wait longer than that, before the first is dropped; as long as round trips are.
    #[serde(default = "interval", deserialize_with = "units::duration::text::read")]
    pub interval: Duration,
    /// Mark packets that understand it, instead of dropping them.
    #[serde(default)]
    pub ecn: bool,
}

/// What RFC 8289 recommends in section 4.
fn target() -> Duration {
    Duration::from_millis(5)
}

/// What RFC 8289 recommends in section 4.
fn interval() -> Duration {
    Duration::from_millis(100)
}

impl CoDelSpec {
    /// # Errors
    /// Times of zero, or a target that is not below the interval.
    pub fn check(&self) -> Result<(), SpecError> {
        check_not_zero("codel", "target", self.target)?;
        if self.target >= self.interval {
            return Err(SpecError::Order { element: "codel", lower: "target", upper: "interval" });
        }
        Ok(())
    }
}

/// See [`CoDelSpec`]. The names of its state are those of RFC 8289 section 5.
#[derive(Debug)]
pub(super) struct CoDel {
    spec: CoDelSpec,
    /// When packets will have waited too long for an interval; `None` while they do not.
    first_above_time: Option<MonoTime>,
    dropping: bool,
    /// When the next packet is dropped, while dropping.
    drop_next: MonoTime,
    /// Drops since dropping began.
    count: u32,
    /// What `count` began with.
    last_count: u32,
    /// The largest packet seen, for the interface's MTU.
    max_packet: u64,
}

impl CoDel {
    pub(super) fn new(spec: CoDelSpec) -> Self {
        Self {
            spec,
            first_above_time: None,
            dropping: false,
            drop_next: MonoTime::from_nanos(0),
            count: 0,
            last_count: 0,
            max_packet: 0,
        }
    }

    pub(super) fn adopt(&mut self, spec: CoDelSpec) {
        self.spec = spec;
    }

    /// Takes packets of one train from the front, after dropping those that must be.
    ///
    /// The law is asked once for a batch: its packets came at one instant and leave at one, so what holds for the first
    /// that stays holds for the others.
    #[inline(never)]
    pub(super) fn take(&mut self, line: &mut Line, batch: Batch, now: MonoTime, out: &mut Outlet<'_>) -> Option<Train> {
        let first = self.dequeue(line, now, out)?;
        let batch =
            Batch { bytes: batch.bytes.saturating_sub(first.bytes().get()), packets: batch.packets.saturating_sub(1) };
        let goes_on = |front: &Train| first.joined(front).is_some() && front.packets_within(batch.bytes) > 0;
        if batch.packets == 0 || !line.front().is_some_and(goes_on) {
            return Some(first);
        }
        let others = line.pop(batch)?;
        if line.bytes() <= self.max_packet {
            self.first_above_time = None;
            self.dropping = false;
        }
        first.joined(&others)
    }

    /// `dequeue` of RFC 8289 section 5.
    fn dequeue(&mut self, line: &mut Line, now: MonoTime, out: &mut Outlet<'_>) -> Option<Train> {
        let (mut packet, mut too_long) = self.next(line, now)?;
        if self.dropping {
            self.dropping = too_long;
            while self.dropping && now >= self.drop_next {
                self.count = self.count.saturating_add(1);
                if let Some(marked) = self.condemn(packet, out) {
                    self.drop_next = self.control_law(self.drop_next);
                    return Some(marked);
                }
                (packet, too_long) = self.next(line, now)?;
                self.dropping = too_long;
                if too_long {
                    self.drop_next = self.control_law(self.drop_next);
                }
            }
            return Some(packet);
        }
        if !too_long {
            return Some(packet);
        }
        let marked = self.condemn(packet, out);
        self.begin_dropping(now);
        if marked.is_some() {
            return marked;
        }
        self.next(line, now).map(|(packet, _)| packet)
    }

    /// Begins with the rate at which it ended before, where that was not long ago.
    fn begin_dropping(&mut self, now: MonoTime) {
        let delta = self.count.saturating_sub(self.last_count);
        let recent = now.since(self.drop_next) < self.spec.interval * 16;
        self.dropping = true;
        self.count = if delta > 1 && recent { delta } else { 1 };
        self.last_count = self.count;
        self.drop_next = self.control_law(now);
    }

    /// `dodequeue` of RFC 8289 section 5: the packet at the front, and whether all have waited too long for an
    /// interval.
    fn next(&mut self, line: &mut Line, now: MonoTime) -> Option<(Train, bool)> {
        let Some(packet) = line.pop(Batch::ONE) else {
            self.first_above_time = None;
            self.dropping = false;
            return None;
        };
        self.max_packet = self.max_packet.max(packet.bytes().get());
        if now.since(packet.came) < self.spec.target || line.bytes() <= self.max_packet {
            self.first_above_time = None;
            return Some((packet, false));
        }
        let first = *self.first_above_time.get_or_insert(now + self.spec.interval);
        Some((packet, now >= first && !is_exempt(&packet)))
    }

    /// Marks and returns a packet, or drops it.
    fn condemn(&self, packet: Train, out: &mut Outlet<'_>) -> Option<Train> {
        if packet.frame == FrameId::PHANTOM {
            return None;
        }
        if self.spec.ecn && packet.ecn.may_be_marked() {
            return Some(out.mark(packet, Ecn::Marked, Mark::Sojourn));
        }
        out.drop(packet, Drop::Sojourn);
        None
    }

    /// `control_law` of RFC 8289 section 5: the time between drops falls with the square root of their number.
    fn control_law(&self, from: MonoTime) -> MonoTime {
        from + self.spec.interval.div_f64(f64::from(self.count.max(1)).sqrt())
    }
}
