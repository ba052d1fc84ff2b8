//! Which test to run next: the one that best tells apart what may be wrong and where, for each second that it takes.
//!
//! What is known is a probability for each cause at each place. A test that may be asked for has a few possible outcomes, and
//! the catalogue says how likely each is under each cause; a test towards a host on the way passes some places and not
//! others. From both follows how much the outcome is expected to tell, in bits. It is arithmetic: nothing is measured here.
//!
//! * [`next`]: from a round to a [`Next`]
//! * `kind`: the kinds of tests, as data
//! * `ground`: between which hosts they could run here
//! * `asking`: one of them made ready
//! * `outlook`: how likely each outcome is
//! * `gain`: what that is expected to tell
//! * `words`: why it is asked for
//! * [`examination`]: all that was asked, for whoever reads it afterwards

mod asking;
pub mod examination;
mod gain;
mod ground;
mod kind;
mod outlook;
mod words;

use std::collections::BTreeSet;
use std::time::Duration;

use model::round::{Endpoint, Round};
use plan::task::Task;
use serde::{Deserialize, Serialize};
use units::DataRate;

use crate::diagnosis::{Standing, Weighing};
use asking::Asking;
use gain::Belief;

/// What can be done.
#[derive(Debug, Clone, Default)]
pub struct Means {
    /// Hosts that take part in tests: they can start one, or they answer.
    pub hosts: BTreeSet<String>,
    /// Of these, the hosts that can start a test.
    pub starting: BTreeSet<String>,
    /// Time that a test takes besides what it sends.
    pub around: Duration,
    /// Time that is left.
    pub left: Duration,
}

/// What to do next.
#[derive(Debug, Clone, PartialEq)]
pub enum Next {
    /// Run this.
    Test(Box<Proposal>),
    /// Nothing more.
    Enough(Ending),
}

/// A test that is worth its time.
#[derive(Debug, Clone, PartialEq)]
pub struct Proposal {
    /// What to call it.
    pub label: String,
    /// Who asks, and sends.
    pub from: Endpoint,
    /// Who answers.
    pub to: Endpoint,
    /// What is measured, one after the other.
    pub tasks: Vec<Task>,
    /// The rate that it should reach.
    pub expected: Option<DataRate>,
    /// How long it takes.
    pub takes: Duration,
    /// How much it is expected to tell.
    pub bits: f64,
    /// Why it is asked for, in a sentence.
    pub says: String,
}

/// Why no more tests are asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Ending {
    /// Nothing suffers.
    Healthy,
    /// One cause at one place stands out.
    Certain,
    /// What would tell more takes more time than there is.
    NoTime,
    /// No test that can be run here would tell enough.
    NothingLeft,
    /// Whoever asked wanted to stop.
    Stopped,
}

/// What to test next, where `weighing` is what is known of the round.
#[must_use]
pub fn next(round: &Round, weighing: &Weighing<'_>, means: &Means) -> Next {
    let mut ending = Ending::Healthy;
    for standing in weighing.standings.iter().filter(|standing| !standing.suffering.is_empty()) {
        if stands_out(standing) {
            ending = ending.or(Ending::Certain);
            continue;
        }
        match of_problem(round, weighing, standing, means) {
            Next::Enough(other) => ending = ending.or(other),
            test @ Next::Test(_) => return test,
        }
    }
    Next::Enough(ending)
}

/// Whether one cause at one place is as good as certain.
#[must_use]
pub fn stands_out(standing: &Standing<'_>) -> bool {
    standing.hypotheses.iter().any(|hypothesis| hypothesis.probability >= CERTAIN)
}

fn of_problem(round: &Round, weighing: &Weighing<'_>, standing: &Standing<'_>, means: &Means) -> Next {
    let Some(subject) = ground::subject(&weighing.flows, standing) else { return Next::Enough(Ending::NothingLeft) };
    let ground = ground::Ground { round, flows: &weighing.flows, subject, means };
    let belief = Belief::of(standing);
    let mut best: Option<(f64, f64, Asking<'_>)> = None;
    let mut too_long = false;
    for asking in ground.askings() {
        let bits = belief.gain(&asking, &ground);
        if bits < WORTH_BITS {
            continue;
        }
        let takes = asking.takes + means.around;
        if takes > means.left {
            too_long = true;
            continue;
        }
        let per_second = bits / takes.as_secs_f64().max(0.1);
        if best.as_ref().is_none_or(|(most, ..)| per_second > *most) {
            best = Some((per_second, bits, asking));
        }
    }
    let Some((_, bits, asking)) = best else {
        return Next::Enough(if too_long { Ending::NoTime } else { Ending::NothingLeft });
    };
    let says = words::why(&asking, &belief, &ground);
    Next::Test(Box::new(Proposal {
        label: asking.label,
        from: asking.from,
        to: asking.to,
        tasks: asking.tasks,
        expected: asking.expected,
        takes: asking.takes + means.around,
        bits,
        says,
    }))
}

impl Ending {
    /// What is said of several problems: that of the one that is least settled.
    fn or(self, other: Self) -> Self {
        let order = [Self::Healthy, Self::Certain, Self::NothingLeft, Self::NoTime, Self::Stopped];
        let rank = |ending| order.iter().position(|known| *known == ending);
        if rank(other) > rank(self) { other } else { self }
    }

    /// In a sentence.
    #[must_use]
    pub const fn says(self) -> &'static str {
        match self {
            Self::Healthy => "no flow is slow",
            Self::Certain => "one cause at one place stands out",
            Self::NoTime => "the time is used up: what would tell more takes longer than what is left",
            Self::NothingLeft => "no further test between these hosts would tell enough to be worth its time",
            Self::Stopped => "stopped",
        }
    }
}

/// From here on a cause at a place is as good as certain.
pub const CERTAIN: f64 = 0.9;
/// A test that is expected to tell less is not worth the load.
const WORTH_BITS: f64 = 0.04;
