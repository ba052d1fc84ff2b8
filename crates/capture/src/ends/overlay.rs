//! Both ends of a transfer over time, in a bounded number of columns: the input of a picture.

use std::net::SocketAddr;

use super::between::{Passages, Towards};
use super::clock::{ClockDifference, Clocks};
use super::recording::{Passage, Recording};
use super::{Paired, Pairing};
use crate::direction::series::{Extent, Zoom};

/// The direction with the most segments of the connection with the most.
#[derive(Debug, Clone)]
pub struct Overlay {
    /// Who sends.
    pub from: SocketAddr,
    /// Who receives.
    pub to: SocketAddr,
    /// Whether the first recording is the one nearer to the sender.
    pub is_first_at_sender: bool,
    /// Segments lost between the two.
    pub lost: u64,
    /// Segments that passed the place nearer to the sender.
    pub sent: u64,
    /// By how much the receiver's clock is ahead, as far as it is known.
    pub clock: ClockDifference,
    /// Width of a column, in nanoseconds.
    pub width_ns: i64,
    /// From when the first column is, after the first segment.
    pub from_ns: i64,
    /// In order, without gaps.
    pub columns: Vec<OverlayColumn>,
}

/// What happened within the width of a column, by the sender's clock. Sequence numbers count from the first byte.
#[derive(Debug, Clone, Copy, Default)]
pub struct OverlayColumn {
    /// Bytes that passed near the sender.
    pub sent: Extent,
    /// Bytes that passed near the receiver.
    pub arrived: Extent,
    /// Bytes that passed near the sender and never near the receiver.
    pub lost: Extent,
    /// Segments of these.
    pub lost_segments: u32,
    /// One-way delay of what was sent then, in nanoseconds.
    pub delay_ns: Extent,
}

/// How fine a picture is, and what of the transfer it shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct View {
    /// Columns at most.
    pub columns: usize,
    /// The span, where not all is wanted.
    pub zoom: Option<Zoom>,
}

/// Draws nothing: puts both recordings on one axis of time. None where they have no connection in common.
#[must_use]
pub fn overlay(first: &Recording, second: &Recording, clocks: Clocks, view: View) -> Option<Overlay> {
    let common = first.connections.iter().filter_map(|one| {
        let other = second.connections.iter().find(|other| other.is_same(one))?;
        Some((one, other))
    });
    let count = |sent: &[super::recording::Sent; 2]| sent.iter().map(|each| each.segments.len()).max();
    let (one, other) = common.max_by_key(|(one, _)| count(&one.directions))?;
    let paired = Paired::of(one, other, clocks);
    let is_out = paired.to_server.near.len() >= paired.to_client.near.len();
    let (pairing, towards) =
        if is_out { (&paired.to_server, Towards::Server) } else { (&paired.to_client, Towards::Client) };
    let (from, to) = if is_out { (one.client, one.server) } else { (one.server, one.client) };
    let passages = Passages { pairing, clocks: &paired.clock, towards };
    let lost = passages.sent().lost;
    let mut canvas = Canvas::new(pairing, view)?;
    pairing.near.iter().for_each(|near| canvas.put(near, near.time_ns, |column| &mut column.sent));
    for (_, near, far, _) in passages.pairs() {
        let delay_ns = passages.delay_ns(near, far);
        canvas.put(near, near.time_ns.saturating_add(delay_ns), |column| &mut column.arrived);
        canvas.delay(near, delay_ns);
    }
    for one in &lost {
        canvas.put(one, one.time_ns, |column| &mut column.lost);
        canvas.count_loss(one.time_ns);
    }
    Some(Overlay {
        from,
        to,
        is_first_at_sender: paired.is_first_at_client == is_out,
        lost: lost.len() as u64,
        sent: pairing.near.len() as u64,
        clock: paired.clock,
        width_ns: canvas.width_ns,
        from_ns: canvas.from_ns - canvas.start_ns,
        columns: canvas.columns,
    })
}

/// Columns that are being filled.
struct Canvas {
    start_ns: i64,
    from_ns: i64,
    width_ns: i64,
    first: u64,
    columns: Vec<OverlayColumn>,
}

impl Canvas {
    fn new(pairing: &Pairing<'_>, view: View) -> Option<Self> {
        let start_ns = pairing.near.first()?.time_ns;
        let end_ns = pairing.near.last()?.time_ns;
        let from_ns = start_ns.saturating_add(view.zoom.map_or(0, |zoom| zoom.from_ns));
        let to_ns = view.zoom.and_then(|zoom| zoom.to_ns).map_or(end_ns, |to_ns| start_ns.saturating_add(to_ns));
        let count = i64::try_from(view.columns.max(16)).unwrap_or(i64::MAX);
        // What was sent last arrives a little later.
        let width_ns = (to_ns.saturating_sub(from_ns) / (count - 1)).max(1);
        let first = pairing.near.iter().map(|near| near.from).min()?;
        Some(Self { start_ns, from_ns, width_ns, first, columns: vec![OverlayColumn::default(); view.columns.max(16)] })
    }

    fn column(&mut self, at_ns: i64) -> Option<&mut OverlayColumn> {
        let since_ns = at_ns.checked_sub(self.from_ns).filter(|since_ns| *since_ns >= 0)?;
        self.columns.get_mut(usize::try_from(since_ns / self.width_ns).ok()?)
    }

    fn put(&mut self, passage: &Passage, at_ns: i64, extent: impl Fn(&mut OverlayColumn) -> &mut Extent) {
        let (from, to) = (passage.from - self.first, passage.to() - self.first);
        if let Some(column) = self.column(at_ns) {
            extent(column).take(from, to);
        }
    }

    fn delay(&mut self, sent: &Passage, delay_ns: i64) {
        let delay = delay_ns.max(0).unsigned_abs();
        if let Some(column) = self.column(sent.time_ns) {
            column.delay_ns.take(delay, delay);
        }
    }

    fn count_loss(&mut self, at_ns: i64) {
        if let Some(column) = self.column(at_ns) {
            column.lost_segments = column.lost_segments.saturating_add(1);
        }
    }
}
