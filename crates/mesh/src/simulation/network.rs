//! Messages, and what becomes of them.

use std::time::Duration;

use path::random::SeededRng;

use crate::board::{AgentReply, AgentRequest, Delivery};
use crate::run::{LeaseName, Verdict};

/// What is sent between an agent and a hub.
#[derive(Debug, Clone)]
pub(super) enum Message {
    /// An agent asks for work.
    Request(AgentRequest),
    /// A hub answers.
    Reply(AgentReply),
    /// An agent delivers a result.
    Delivery(Delivery),
    /// A hub has it.
    Acknowledgement(LeaseName, Verdict),
}

/// Which agent and which hub a message is between.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Link {
    pub(super) agent: usize,
    pub(super) hub: usize,
}

/// What connects agents and hubs.
#[derive(Debug)]
pub(super) struct Network {
    /// Of each agent, a bit for each hub that it cannot reach.
    pub(super) cut: Vec<u32>,
    /// Whether messages are lost, late and doubled.
    pub(super) is_healed: bool,
}

impl Network {
    pub(super) fn new(agents: usize) -> Self {
        Self { cut: vec![0; agents], is_healed: false }
    }

    /// When copies of a message arrive; none where it is lost.
    pub(super) fn delays(&self, link: Link, rng: &mut SeededRng) -> Vec<Duration> {
        let usual = Duration::from_millis(1 + rng.below(200));
        if self.is_healed {
            return vec![usual];
        }
        if self.cut[link.agent] & (1 << link.hub) != 0 || rng.hits(LOST) {
            return Vec::new();
        }
        // A copy may come long after: a proxy that tries again, a connection that hung.
        let late = |rng: &mut SeededRng| Duration::from_millis(rng.below(60_000));
        let first = if rng.hits(LATE) { late(rng) } else { usual };
        if rng.hits(DOUBLED) { vec![first, late(rng)] } else { vec![first] }
    }
}

const LOST: f64 = 0.02;
const LATE: f64 = 0.02;
const DOUBLED: f64 = 0.03;
