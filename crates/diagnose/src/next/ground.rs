//! What could be tested here: every kind of test between hosts that take part.

use model::round::{Endpoint, Passage, Round};

use super::Means;
use super::asking::{Asking, Stretch};
use super::kind::{self, Kind, Reach};
use crate::diagnosis::{FaultLocation, Hypothesis, Standing};
use crate::signs::Flow;
use crate::signs::flow::FlowKind as Carries;

/// What tests are chosen for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ground<'a> {
    pub(super) round: &'a Round,
    pub(super) flows: &'a [Flow],
    /// The flow that the problem is told by.
    pub(super) subject: &'a Flow,
    pub(super) means: &'a Means,
}

/// The flow that suffers most: of TCP where there is one, since most is seen of those.
pub(super) fn subject<'a>(flows: &'a [Flow], standing: &Standing<'_>) -> Option<&'a Flow> {
    let order = |flow: &Flow| match flow.kind {
        Carries::Tcp => 0,
        Carries::Http => 1,
        Carries::Udp => 2,
        Carries::Echo => 3,
    };
    let suffering = standing.suffering.iter().filter_map(|number| flows.get(*number));
    suffering.min_by(|a, b| {
        let (attained_a, attained_b) = (a.attained.unwrap_or(1.0), b.attained.unwrap_or(1.0));
        order(a).cmp(&order(b)).then(attained_a.total_cmp(&attained_b))
    })
}

impl<'a> Ground<'a> {
    /// Everything that could be asked, and was not.
    pub(super) fn askings(&self) -> Vec<Asking<'a>> {
        kind::all().iter().flat_map(|kind| self.of_kind(kind)).collect()
    }

    fn of_kind(&self, kind: &'a Kind) -> Vec<Asking<'a>> {
        let subject = self.compared(kind);
        if kind.about.is_some() && subject.is_none() {
            return Vec::new();
        }
        let unseen =
            |flow: &Flow| kind.shows.iter().any(|sign| !flow.observations.iter().any(|o| o.seen.sign == *sign));
        if !kind.shows.is_empty() && !subject.is_some_and(unseen) {
            return Vec::new();
        }
        let stretches = match kind.reach {
            Reach::Ends => vec![self.whole()],
            Reach::Back => vec![self.whole().turned(self.round)],
            Reach::Parts => self.parts(),
        };
        let can_run = stretches.into_iter().filter(|stretch| self.can_run(stretch));
        let askings = can_run.filter_map(|stretch| Asking::new(kind, stretch, self));
        askings.filter(|asking| !self.was_asked(asking)).collect()
    }

    /// The flow that tests of this kind are compared with.
    fn compared(&self, kind: &Kind) -> Option<&'a Flow> {
        let wanted = kind.about?;
        if self.subject.kind == wanted {
            return Some(self.subject);
        }
        self.flows.iter().find(|flow| flow.kind == wanted && flow.is_bad() && flow.is_same_pair(self.subject))
    }

    fn whole(&self) -> Stretch {
        let flow = self.subject;
        Stretch { from: flow.sender.clone(), to: flow.receiver.clone(), way: self.way() }
    }

    /// The way of the flow that suffers; of echoes, only that there.
    fn way(&self) -> Vec<Passage> {
        let flow = self.subject;
        if flow.kind == Carries::Echo {
            return self.round.tests.get(flow.test).map(|tested| tested.way.clone()).unwrap_or_default();
        }
        flow.way.clone()
    }

    /// From any host on the way to any later one, the whole way included.
    fn parts(&self) -> Vec<Stretch> {
        let way = self.way();
        let mut hosts = vec![self.subject.sender.clone()];
        hosts.extend(way.iter().map(|passage| Endpoint { host: passage.towards.clone(), network: None }));
        let mut parts = vec![self.whole()];
        for from in 0..hosts.len() {
            for to in from + 1..hosts.len() {
                if (from, to) != (0, hosts.len() - 1) {
                    let inner = |at: usize| Endpoint { network: None, ..hosts[at].clone() };
                    parts.push(Stretch { from: inner(from), to: inner(to), way: way[from..to].to_vec() });
                }
            }
        }
        parts
    }

    fn can_run(&self, stretch: &Stretch) -> bool {
        let ends = [&stretch.from.host, &stretch.to.host];
        ends.iter().all(|host| self.means.hosts.contains(*host))
            && ends.iter().any(|host| self.means.starting.contains(*host))
    }

    /// Whether a test of the same kind has gone past the same of the places in question.
    pub(super) fn has_like(&self, asking: &Asking<'_>, believed: &[&Hypothesis<'_>]) -> bool {
        let leading: Vec<&Hypothesis<'_>> =
            believed.iter().copied().filter(|hypothesis| hypothesis.probability >= LEADING).collect();
        let passed = |way: &[Passage], ends: [&str; 2]| -> Vec<bool> {
            let meets = |place: &FaultLocation| match place {
                FaultLocation::Segment { name, towards } => way.iter().any(|passage| {
                    passage.segment == *name && towards.as_ref().is_none_or(|towards| *towards == passage.towards)
                }),
                FaultLocation::Host { name } => ends.contains(&name.as_str()),
                FaultLocation::Path { from, to } => ends == [from.as_str(), to.as_str()],
                FaultLocation::Balancer => false,
            };
            leading.iter().map(|hypothesis| meets(&hypothesis.place)).collect()
        };
        let own = passed(&asking.way, [&asking.from.host, &asking.to.host]);
        asking.kind.shows.is_empty()
            && self
                .flows
                .iter()
                .filter(|flow| asking.kind.load.is_like(flow.kind))
                .any(|flow| passed(&flow.way, [&flow.sender.host, &flow.receiver.host]) == own)
    }

    /// Whether the round has it, or a test that says the same.
    fn was_asked(&self, asking: &Asking<'_>) -> bool {
        self.round.tests.iter().any(|tested| tested.label == asking.label)
    }
}

/// A place that is less likely is not in question.
const LEADING: f64 = 0.03;
