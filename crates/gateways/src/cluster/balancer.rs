//! What the balancer knows.

use crate::cmsd::load::Reported;
use crate::cmsd::node::{Refused, Selection, State, Table};

/// What a balancer knows of its gateways.
#[derive(Debug, Clone)]
pub struct Board {
    /// cmsd's table: loads, reference counts, who is there.
    pub table: Table,
    /// What is known beyond it, in the same order.
    pub known: Vec<GatewayView>,
    /// `fuzz` and `maxload`.
    pub selection: Selection,
    /// The moment, seconds.
    pub now_s: f64,
    /// How often reports are expected, seconds.
    pub expected_every_s: f64,
}

/// What is known of a gateway beyond cmsd's table.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct GatewayView {
    /// Its weight: what its NIC moves, 1 for 1.2 GB/s.
    pub capacity: f64,
    /// What it reported last.
    pub reported: Reported,
    /// When the balancer heard that, seconds.
    pub heard_s: f64,
    /// Requests that were sent to it since then.
    pub sent: u32,
    /// Requests that were sent to it in about the last minute.
    pub recent: f64,
    /// What is in flight there just now. Only policies that ask before each choice may look.
    pub in_flight: u32,
}

/// The time over which [`GatewayView::recent`] forgets, seconds.
const RECENT_S: f64 = 60.0;

impl Board {
    /// Who is there, in the table's order.
    pub fn online(&self) -> impl Iterator<Item = usize> + '_ {
        self.table.nodes.iter().enumerate().filter(|(_, node)| node.state == State::Online).map(|(at, _)| at)
    }

    /// How long ago a gateway was heard of, in expected reports.
    #[must_use]
    pub fn missed_reports(&self, gateway: usize) -> f64 {
        (self.now_s - self.known[gateway].heard_s) / self.expected_every_s
    }

    /// A report arrives.
    pub(super) fn hear(&mut self, gateway: usize, reported: Reported, load: i32) {
        self.table.nodes[gateway].load = load;
        let known = &mut self.known[gateway];
        known.reported = reported;
        known.heard_s = self.now_s;
        known.sent = 0;
    }

    /// A request was sent to a gateway.
    pub(crate) fn send(&mut self, gateway: usize) {
        let known = &mut self.known[gateway];
        known.sent += 1;
        known.recent += 1.0;
        known.in_flight += 1;
    }

    /// Time goes on.
    pub(super) fn forget(&mut self, for_s: f64) {
        let kept = (-for_s / RECENT_S).exp();
        self.known.iter_mut().for_each(|known| known.recent *= kept);
    }
}

/// Where a request goes, or why it waits.
pub type Choice = Result<usize, Refused>;
