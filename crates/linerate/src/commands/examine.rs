//! Testing on until one cause at one place stands out: the same in the lab and in the field.

use std::collections::BTreeSet;
use std::time::Duration;

use audit::Rules;
use diagnose::causes::Catalogue;
use diagnose::diagnosis::{conclude, weigh};
use diagnose::next::examination::{Examination, RequestedTest};
use diagnose::next::{Ending, Means, Next, Proposal, next};
use linux::clock;
use model::round::Round;
use units::MonoTime;

use super::print;
use crate::cli::Common;
use crate::exit::Exit;
use crate::show;

/// How the time goes that tests may take.
enum ExaminerClock {
    /// As it does here, from the first question on.
    OfMachine(Option<MonoTime>),
    /// Tests take what they were expected to take: nobody waits for simulated ones.
    OfTests(Duration),
}

impl ExaminerClock {
    fn elapsed(&self) -> Duration {
        match self {
            Self::OfMachine(began) => began.map_or(Duration::ZERO, |began| clock::now().since(began)),
            Self::OfTests(spent) => *spent,
        }
    }

    fn start(&mut self) {
        if let Self::OfMachine(began) = self {
            began.get_or_insert_with(clock::now);
        }
    }

    fn asked(&mut self, proposal: &Proposal) {
        if let Self::OfTests(spent) = self {
            *spent += proposal.takes;
        }
    }
}

/// Chooses tests for as long as they tell something and there is time.
pub struct Examiner {
    rules: Rules,
    /// Hosts that take part, and those of them that can start a test; everybody where nobody said so.
    hosts: Option<(BTreeSet<String>, BTreeSet<String>)>,
    budget: Duration,
    clock: ExaminerClock,
    asked: Vec<RequestedTest>,
    ended: Option<Ending>,
}

impl Examiner {
    /// With so much time, in a round whose every host can start tests.
    pub fn new(budget: Duration) -> Self {
        let clock = ExaminerClock::OfMachine(None);
        Self { rules: Rules::built_in(), hosts: None, budget, clock, asked: Vec::new(), ended: None }
    }

    /// The same in virtual time.
    pub fn in_virtual_time(budget: Duration) -> Self {
        Self { clock: ExaminerClock::OfTests(Duration::ZERO), ..Self::new(budget) }
    }

    /// The same among these hosts: all that take part, and those that can start a test.
    pub fn among(self, hosts: BTreeSet<String>, starting: BTreeSet<String>) -> Self {
        Self { hosts: Some((hosts, starting)), ..self }
    }

    /// What to test next, by all that a round has until now. The time runs from the first call.
    pub fn next(&mut self, round: &Round) -> Option<Box<Proposal>> {
        self.clock.start();
        let left = self.budget.saturating_sub(self.clock.elapsed());
        let weighing = weigh(round, Catalogue::built_in(), &self.rules);
        match next(round, &weighing, &self.means(round, left)) {
            Next::Test(proposal) => {
                self.asked.push(RequestedTest::from(proposal.as_ref()));
                self.clock.asked(&proposal);
                Some(proposal)
            }
            Next::Enough(ending) => {
                self.ended = Some(ending);
                None
            }
        }
    }

    /// What it came to.
    pub fn examination(self, round: &Round) -> Examination {
        Examination {
            elapsed: self.clock.elapsed(),
            asked: self.asked,
            ended: self.ended.unwrap_or(Ending::Stopped),
            diagnosis: conclude(round, weigh(round, Catalogue::built_in(), &self.rules)),
        }
    }

    fn means(&self, round: &Round, left: Duration) -> Means {
        let everybody = || {
            let well = round.members.iter().filter(|member| member.failure.is_none());
            well.map(|member| member.name.clone()).collect::<BTreeSet<String>>()
        };
        let (hosts, starting) = self.hosts.clone().unwrap_or_else(|| (everybody(), everybody()));
        Means { hosts, starting, around: AROUND_A_TEST, left }
    }
}

/// Prints what is wrong, and what was tested to know it.
pub fn report(common: &Common, round: &Round, examination: &Examination) -> anyhow::Result<Exit> {
    if common.json {
        return print(&show::json::document(examination)?);
    }
    let diagnosis = show::why::text(round, &examination.diagnosis, Catalogue::built_in());
    print(format!("\n{diagnosis}\n{}", show::examine::text(examination)).as_bytes())
}

/// As long as somebody waits for an answer without getting coffee.
pub const USUAL_BUDGET: Duration = Duration::from_secs(30);
/// Connections are made and closed, and what is on its way arrives.
const AROUND_A_TEST: Duration = Duration::from_secs(1);
