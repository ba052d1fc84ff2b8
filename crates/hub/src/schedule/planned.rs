//! A plan, and what follows from it: when each test is due, what it is in an agent's words.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;
use std::time::Duration;

use baseline::expectation::Expectation;
use mesh::fit::Unfit;
use mesh::incident::{Element, Series};
use mesh::rules::Rules;
use mesh::run::{RunId, RunRow};
use mesh::timetable::{StandingTest, Timetable};
use path::Seed;
use plan::Plan;
use plan::PlanError;

use crate::api::order::{Assignment, PartnerKind, Role, RunSide, TaskOrder};
use crate::api::work::{StandingOrder, StandingOrders};
use crate::schedule::crossed::Crossed;
use crate::trust::digest::Fingerprint;

/// A plan that fits, for the agents that there are.
#[derive(Debug)]
pub struct Planned {
    text: String,
    plan: Plan,
    agents: BTreeSet<String>,
    timetable: Timetable,
    crossed: Crossed,
    /// The light tests of each agent, which every request for work asks for.
    standing: OnceLock<BTreeMap<String, StandingOrders>>,
}

/// A test by the names that the plan has for it.
#[derive(Debug, Clone, Copy)]
pub struct TestName<'a> {
    /// What results of it are called.
    pub label: &'a str,
    /// The group of hosts whose test it is.
    pub group: &'a str,
}

/// Why a plan is not taken.
#[derive(Debug, thiserror::Error)]
pub enum PlanRefusal {
    /// It is not understood.
    #[error(transparent)]
    Wrong(#[from] PlanError),
    /// It asks for more time or bytes than there are.
    #[error(transparent)]
    Unfit(#[from] Unfit),
}

impl Planned {
    /// Reads a plan. `joined` are the agents, by the names that their hosts have in the plan.
    ///
    /// # Errors
    /// See [`PlanRefusal`].
    pub fn new(text: String, joined: &BTreeSet<String>) -> Result<Self, PlanRefusal> {
        let plan = Plan::parse("plan", &text)?;
        let agents = plan.hosts.iter().map(|host| &host.name).filter(|name| joined.contains(*name)).cloned().collect();
        let timetable = Timetable::new(&plan, &agents, SEED)?;
        let crossed = Crossed::of(&plan);
        Ok(Self { text, plan, agents, timetable, crossed, standing: OnceLock::new() })
    }

    /// As it was given.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// As it was read.
    #[must_use]
    pub const fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Hosts of the plan that have an agent.
    #[must_use]
    pub const fn agents(&self) -> &BTreeSet<String> {
        &self.agents
    }

    /// When each test is due.
    #[must_use]
    pub const fn timetable(&self) -> &Timetable {
        &self.timetable
    }

    /// Budgets and maintenance.
    #[must_use]
    pub fn rules(&self) -> Rules {
        Rules::of(&self.plan)
    }

    /// Sites and segments that a series crosses beyond its hosts; none of hosts that are not in the plan.
    #[must_use]
    pub fn crossed_by(&self, series: &Series) -> Vec<Element> {
        self.crossed.by(&self.plan, series)
    }

    /// What the results of a series should be, where the plan says so.
    #[must_use]
    pub fn expected_of(&self, series: &Series) -> Option<Expectation> {
        self.crossed.expected(&self.plan, series)
    }

    /// The period of heavy tests; the longest where there are several.
    #[must_use]
    pub fn period(&self) -> Duration {
        let periods = (0..self.plan.tests.len()).map(|test| self.plan.period(test));
        periods.max().unwrap_or(Duration::from_secs(43_200))
    }

    /// The test of this label in this group.
    #[must_use]
    pub fn test(&self, name: TestName<'_>) -> Option<usize> {
        let is_it =
            |test: &plan::plan::Test| test.label == name.label && self.plan.groups[test.group].name == name.group;
        self.plan.tests.iter().position(is_it)
    }

    /// What one of the two agents of a run is to do; [`None`] where the plan has no such test any more.
    #[must_use]
    pub fn assignment(&self, row: &RunRow, role: Role) -> Option<Assignment> {
        let test = self.test(TestName { label: &row.test, group: &row.group })?;
        let client = if row.agent == row.from { RunSide::From } else { RunSide::To };
        let side = if role == Role::Client { client } else { client.other() };
        let ends = [self.plan.host(&row.from)?, self.plan.host(&row.to)?];
        let limit = row.keep.saturating_add(LINGER);
        self.order(test, Ends { own: side, from: ends[0], to: ends[1] }, role).map(|order| Assignment {
            limit,
            bytes: row.bytes,
            ..order
        })
    }

    /// The agent that answers a run, where that is one that starts a partner for it.
    #[must_use]
    pub fn answering(&self, row: &RunRow) -> Option<String> {
        let peer = if row.agent == row.from { &row.to } else { &row.from };
        let test = &self.plan.tests[self.test(TestName { label: &row.test, group: &row.group })?];
        let needs_one = matches!(test.task, plan::task::Task::Tcp(_) | plan::task::Task::Udp(_));
        let host = &self.plan.hosts[self.plan.host(peer)?];
        (needs_one && !host.serves && self.agents.contains(peer)).then(|| peer.clone())
    }

    /// The light tests that an agent repeats.
    #[must_use]
    pub fn standing(&self, agent: &str) -> StandingOrders {
        let known = self.standing.get_or_init(|| self.all_standing()).get(agent);
        known.cloned().unwrap_or_else(|| orders(Vec::new()))
    }

    /// By what an agent says that it has them.
    #[must_use]
    pub fn standing_digest(&self, agent: &str) -> String {
        let known = self.standing.get_or_init(|| self.all_standing()).get(agent);
        known.map_or_else(|| orders(Vec::new()).digest, |known| known.digest.clone())
    }

    fn all_standing(&self) -> BTreeMap<String, StandingOrders> {
        // Those without one have an entry as well.
        let mut tests: BTreeMap<String, Vec<StandingOrder>> =
            self.agents.iter().map(|agent| (agent.clone(), Vec::new())).collect();
        for test in self.timetable.all_standing() {
            tests.entry(test.agent.clone()).or_default().extend(self.standing_order(test));
        }
        tests.into_iter().map(|(agent, tests)| (agent, orders(tests))).collect()
    }

    /// The light test of an agent that a run is of, by its name.
    #[must_use]
    pub fn light(&self, agent: &str, run: &RunId) -> Option<&StandingTest> {
        let (name, second) = run.0.rsplit_once('/')?;
        second.parse::<u64>().ok()?;
        self.timetable.all_standing().find(|test| test.agent == agent && test.name() == name)
    }

    fn standing_order(&self, standing: &StandingTest) -> Option<StandingOrder> {
        let test = self.test(TestName { label: &standing.test, group: &standing.group })?;
        let own = if standing.agent == standing.from { RunSide::From } else { RunSide::To };
        let ends = Ends { own, from: self.plan.host(&standing.from)?, to: self.plan.host(&standing.to)? };
        let assignment = self.order(test, ends, Role::Client)?;
        Some(StandingOrder { name: standing.name(), assignment, every: standing.every, phase: standing.phase })
    }

    fn order(&self, test: usize, ends: Ends, role: Role) -> Option<Assignment> {
        let test = &self.plan.tests[test];
        let network = self.plan.groups[test.group].network;
        let (own, peer) = if ends.own == RunSide::From { (ends.from, ends.to) } else { (ends.to, ends.from) };
        // The port is that of whoever answers.
        let answers = &self.plan.hosts[if role == Role::Client { peer } else { own }];
        let is_agents = self.agents.contains(&answers.name) && !answers.serves;
        let peer_host = &self.plan.hosts[peer];
        Some(Assignment {
            side: ends.own,
            peer: peer_host.name.clone(),
            address: self.plan.address(peer, network)?.to_owned(),
            port: answers.port.unwrap_or(measure::DEFAULT_PORT),
            partner: if is_agents { PartnerKind::Agent } else { PartnerKind::Standing },
            family: test.family,
            task: TaskOrder::of(&test.task, peer_host.http_port.unwrap_or(80)),
            limit: LIGHT,
            bytes: None,
        })
    }
}

fn orders(tests: Vec<StandingOrder>) -> StandingOrders {
    let digest = Fingerprint::of(&serde_json::to_vec(&tests).unwrap_or_default()).to_string();
    StandingOrders { digest, tests }
}

#[derive(Clone, Copy)]
struct Ends {
    own: RunSide,
    from: usize,
    to: usize,
}

impl RunSide {
    /// The other end.
    #[must_use]
    pub const fn other(self) -> Self {
        match self {
            Self::From => Self::To,
            Self::To => Self::From,
        }
    }
}

/// Equal on every hub, so that all give runs the same names and times.
const SEED: Seed = Seed(0x6c69_6e65);
/// A process may take this much longer than its test is planned for.
const LINGER: Duration = Duration::from_secs(6);
/// A light test that takes longer hangs.
const LIGHT: Duration = Duration::from_secs(60);
