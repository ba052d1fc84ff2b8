//! What a direction did over time, in a bounded number of columns: the input of pictures.

use std::ops::Range;

use super::changes::Changes;
use super::owner::Owner;

/// Columns of equal width; when a trace grows beyond the last one, each two become one.
#[derive(Debug, Clone)]
pub struct Series {
    /// Start of the first column.
    pub from_ns: i64,
    /// Width of a column.
    pub width_ns: i64,
    /// In order, without gaps.
    pub columns: Vec<Column>,
    /// Columns stay as wide as they are: what is later is left out.
    is_fixed: bool,
    max_columns: usize,
    /// From the first data to the first column.
    offset_ns: i64,
    /// What was given to another owner behind a point of an index, where one is made.
    pub(crate) changes: Option<Box<Changes>>,
}

/// What happened within the width of a column. Sequence numbers count from the first byte.
#[derive(Debug, Clone, Copy, Default)]
pub struct Column {
    /// Lowest and highest byte that was sent for the first time or again.
    pub sent: Extent,
    /// Acknowledgment numbers.
    pub acked: Extent,
    /// Right edge of the receiver's window.
    pub window_right: Extent,
    /// Retransmitted bytes.
    pub retransmitted: Extent,
    /// Packets retransmitted.
    pub retransmits: u32,
    /// Selectively acknowledged bytes.
    pub sacked: Extent,
    /// RTT from sender to receiver and back, in nanoseconds.
    pub rtt_ns: Extent,
    /// Bytes in flight after a segment was sent or acknowledged.
    pub flight: Extent,
    /// Congestion experienced marks.
    pub ce_marks: u32,
    /// Time of each owner, in the order of [`Owner::ALL`].
    pub owned_ns: [i64; Owner::ALL.len()],
}

/// Least and greatest of some values; none where `low` is above `high`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Extent {
    /// Least value of the column.
    pub low: u64,
    /// Greatest value of the column, not below the least.
    pub high: u64,
}

impl Default for Extent {
    fn default() -> Self {
        Self { low: u64::MAX, high: 0 }
    }
}

impl Extent {
    /// The least and the greatest, where there is one.
    #[must_use]
    pub fn get(self) -> Option<(u64, u64)> {
        (self.low <= self.high).then_some((self.low, self.high))
    }

    #[inline]
    pub(crate) fn take(&mut self, low: u64, high: u64) {
        (self.low, self.high) = (self.low.min(low), self.high.max(high));
    }

    fn merge(&mut self, other: Self) {
        (self.low, self.high) = (self.low.min(other.low), self.high.max(other.high));
    }
}

/// The span of a picture, where not all of a trace is wanted; times count from the first data of a transfer, as those of its events do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Zoom {
    /// Start.
    pub from_ns: i64,
    /// End; without one the picture goes on to the end of the trace.
    pub to_ns: Option<i64>,
}

const FIRST_WIDTH_NS: i64 = 100_000;

impl Series {
    pub(crate) fn new(first_ns: i64, max_columns: usize, zoom: Option<Zoom>) -> Self {
        let max_columns = max_columns.max(16);
        let offset_ns = zoom.map_or(0, |zoom| zoom.from_ns);
        let span_ns = zoom.and_then(|zoom| Some(zoom.to_ns?.saturating_sub(zoom.from_ns).max(1)));
        let each_ns = |span_ns: i64| (span_ns / i64::try_from(max_columns).unwrap_or(i64::MAX)).max(1);
        let width_ns = span_ns.map_or(FIRST_WIDTH_NS, each_ns);
        let from_ns = first_ns.saturating_add(offset_ns);
        Self {
            from_ns,
            width_ns,
            columns: Vec::new(),
            is_fixed: span_ns.is_some(),
            max_columns,
            offset_ns,
            changes: None,
        }
    }

    /// The first data: from it times count, and what was before it is not drawn.
    pub(super) fn start(&mut self, first_data_ns: i64) {
        self.from_ns = first_data_ns.saturating_add(self.offset_ns);
        self.columns.clear();
    }

    #[inline]
    fn column(&mut self, time_ns: i64) -> Option<&mut Column> {
        let since_ns = time_ns.checked_sub(self.from_ns).filter(|since_ns| *since_ns >= 0)?;
        let mut index = usize::try_from(since_ns / self.width_ns).ok()?;
        if index >= self.max_columns {
            if self.is_fixed {
                return None;
            }
            while index >= self.max_columns {
                self.halve();
                index = usize::try_from(since_ns / self.width_ns).ok()?;
            }
        }
        if index >= self.columns.len() {
            self.columns.resize(index + 1, Column::default());
        }
        self.columns.get_mut(index)
    }

    #[cold]
    fn halve(&mut self) {
        self.width_ns = self.width_ns.saturating_mul(2);
        let pairs = self.columns.len().div_ceil(2);
        for index in 0..pairs {
            let mut merged = self.columns.get(2 * index).copied().unwrap_or_default();
            if let Some(second) = self.columns.get(2 * index + 1) {
                merged.merge(second);
            }
            if let Some(column) = self.columns.get_mut(index) {
                *column = merged;
            }
        }
        self.columns.truncate(pairs);
    }

    #[inline]
    pub(super) fn sent(&mut self, time_ns: i64, from: u64, to: u64, flight: u64) {
        if let Some(column) = self.column(time_ns) {
            column.sent.take(from, to);
            column.flight.take(flight, flight);
        }
    }

    pub(super) fn retransmitted(&mut self, time_ns: i64, from: u64, to: u64) {
        if let Some(column) = self.column(time_ns) {
            column.retransmitted.take(from, to);
            column.retransmits = column.retransmits.saturating_add(1);
        }
    }

    #[inline]
    pub(super) fn acknowledged(&mut self, time_ns: i64, ack: u64, right: u64, flight: u64) {
        if let Some(column) = self.column(time_ns) {
            column.flight.take(flight, flight);
            column.acked.take(ack, ack);
            column.window_right.take(right, right);
        }
    }

    pub(super) fn sacked(&mut self, time_ns: i64, from: u64, to: u64) {
        if let Some(column) = self.column(time_ns) {
            column.sacked.take(from, to);
        }
    }

    pub(super) fn rtt(&mut self, time_ns: i64, rtt_ns: i64) {
        if let Some(column) = self.column(time_ns) {
            column.rtt_ns.take(rtt_ns.max(0).unsigned_abs(), rtt_ns.max(0).unsigned_abs());
        }
    }

    pub(crate) fn marked(&mut self, time_ns: i64) {
        if let Some(column) = self.column(time_ns) {
            column.ce_marks = column.ce_marks.saturating_add(1);
        }
    }

    /// An interval has an owner; it may cover many columns.
    pub(super) fn owned(&mut self, from_ns: i64, to_ns: i64, owner: Owner) {
        if self.column(to_ns).is_none() && !self.is_fixed {
            return;
        }
        self.each_part(from_ns..to_ns, |column, part_ns| column.add(owner, part_ns));
    }

    /// An interval that had one owner has another.
    pub(crate) fn reassign(&mut self, interval: Range<i64>, from: Owner, to: Owner) {
        if let Some(changes) = &mut self.changes {
            changes.note(&interval, from, to);
        }
        self.each_part(interval, |column, part_ns| {
            column.add(from, -part_ns);
            column.add(to, part_ns);
        });
    }

    /// All that had one owner has another.
    pub(crate) fn reassign_all(&mut self, from: Owner, to: Owner) {
        if let Some(changes) = &mut self.changes {
            changes.of_all = Some((from, to));
        }
        for column in &mut self.columns {
            let owned_ns = column.owned_ns.get_mut(from as usize).map(std::mem::take).unwrap_or_default();
            column.add(to, owned_ns);
        }
    }

    fn each_part(&mut self, interval: Range<i64>, mut take: impl FnMut(&mut Column, i64)) {
        let mut at_ns = interval.start.max(self.from_ns);
        while at_ns < interval.end {
            let column_end_ns = at_ns - (at_ns - self.from_ns) % self.width_ns + self.width_ns;
            let until_ns = column_end_ns.min(interval.end);
            let Some(column) = self.column(at_ns) else { return };
            take(column, until_ns - at_ns);
            at_ns = until_ns;
        }
    }
}

impl Column {
    fn add(&mut self, owner: Owner, span_ns: i64) {
        if let Some(owned) = self.owned_ns.get_mut(owner as usize) {
            *owned += span_ns;
        }
    }

    fn merge(&mut self, other: &Self) {
        self.sent.merge(other.sent);
        self.acked.merge(other.acked);
        self.window_right.merge(other.window_right);
        self.retransmitted.merge(other.retransmitted);
        self.sacked.merge(other.sacked);
        self.rtt_ns.merge(other.rtt_ns);
        self.flight.merge(other.flight);
        self.retransmits = self.retransmits.saturating_add(other.retransmits);
        self.ce_marks = self.ce_marks.saturating_add(other.ce_marks);
        for (owned, more) in self.owned_ns.iter_mut().zip(other.owned_ns) {
            *owned += more;
        }
    }

    /// Who owned most of it.
    #[must_use]
    pub fn owner(&self) -> Option<Owner> {
        let most = Owner::ALL.into_iter().zip(self.owned_ns).max_by_key(|(_, owned_ns)| *owned_ns)?;
        (most.1 > 0).then_some(most.0)
    }
}
