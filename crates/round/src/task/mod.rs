//! One test between two hosts.
//!
//! The host that asks runs `linerate test` or `linerate probe`; a flow needs a partner at the other one, `linerate serve
//! --once`, which is started for it unless one stands there already. A host on which nothing can be started, as one that has
//! an iperf3 server and no login, still sends and receives: the other end asks for both directions.
//!
//! * [`run`]: from an [`Errand`] to what was [`Done`]
//! * [`arguments`]: a flow as the arguments of `linerate test`
//! * `site`: a host as tests see it
//! * `partner`: the partner of a flow
//! * `question`: what a test is in the words of a command line, and its answer

mod arguments;
mod partner;
mod question;
mod site;

use std::fmt;
use std::path::Path;
use std::time::Duration;

use measure::stop::Stop;
use model::played::Finding;
use model::series::RunSamples;
use model::spec::{Direction, Family};
use plan::task::{Flow, Task, Weight};

use crate::carrier::{Call, Voice};
use crate::program::{self, Ended};

pub use arguments::arguments;
pub use partner::LISTENING;
use question::Question;
pub use site::{End, Partner, Site, cannot_start, no_version, silence};

/// A test to run.
#[derive(Debug, Clone, Copy)]
pub struct Errand<'a> {
    /// What is measured.
    pub task: &'a Task,
    /// The host that should ask.
    pub from: End<'a>,
    /// The host that should answer.
    pub to: End<'a>,
    /// By which of its addresses the host that answers is asked; by its first where it is [`None`].
    pub family: Option<Family>,
    /// The archive, as the host that asks sees it, that a run is kept in. Without one its samples come back instead.
    pub archive: Option<&'a Path>,
    /// A file with what a hub has signed for this test, as the host that asks sees it.
    pub ticket: Option<&'a Path>,
    /// Where progress is shown.
    pub voice: Voice,
    /// When a test is ended that has not ended by itself.
    pub limit: Duration,
    /// The wish to end it before.
    pub stop: &'a Stop,
}

/// What came of a test.
#[derive(Debug)]
pub struct Done {
    /// What was found, or why nothing was.
    pub finding: Finding,
    /// The samples of a run, unless an archive has them.
    pub samples: Option<Box<RunSamples>>,
    /// Who asked.
    pub asked: Side,
    /// What was wrong with a host, and not with the path between the two.
    pub trouble: Option<Trouble>,
}

/// One of the two hosts of a test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// The one that should ask.
    From,
    /// The one that should answer.
    To,
}

/// Why a host could not take part in a test.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trouble {
    /// Which.
    pub side: Side,
    /// Why, in a sentence that names the host.
    pub why: String,
}

/// Runs a test. What fails is part of what comes back.
#[must_use]
pub fn run(errand: &Errand<'_>) -> Done {
    match who_asks(errand) {
        Some(Side::From) => ask(errand, errand.task, Side::From),
        Some(Side::To) => ask(errand, &turned(errand.task), Side::To),
        None => {
            let [from, to] = [errand.from.site.name, errand.to.site.name];
            let why = format!(
                "nothing can be started at {from}{}",
                if errand.to.site.carrier.is_none() { format!(", nor at {to}") } else { String::new() }
            );
            Done::not(Side::From, None, why)
        }
    }
}

/// The end at which something can be started. Round trips and flows can be asked for by either end; the way there, and
/// what a server of files gives, only by the one.
fn who_asks(errand: &Errand<'_>) -> Option<Side> {
    let can = |end: &End<'_>| end.site.carrier.is_some();
    match (can(&errand.from), can(&errand.to)) {
        (true, _) => Some(Side::From),
        (false, true) if errand.task.either_end_may_ask() => Some(Side::To),
        (false, _) => None,
    }
}

/// The same as the other end asks for it.
fn turned(task: &Task) -> Task {
    let turn = |flow: &Flow| {
        let mut flow = flow.clone();
        flow.spec.direction = match flow.spec.direction {
            Direction::Forward => Direction::Reverse,
            Direction::Reverse => Direction::Forward,
            Direction::Bidirectional => Direction::Bidirectional,
        };
        flow
    };
    match task {
        Task::Tcp(flow) => Task::Tcp(turn(flow)),
        Task::Udp(flow) => Task::Udp(turn(flow)),
        Task::Ping(_) | Task::Mtu | Task::Http(_) | Task::Hops => task.clone(),
    }
}

/// Has one end ask the other.
fn ask(errand: &Errand<'_>, task: &Task, asked: Side) -> Done {
    let (asker, answerer) = match asked {
        Side::From => (errand.from, errand.to),
        Side::To => (errand.to, errand.from),
    };
    let Some(carrier) = asker.site.carrier else { return Done::not(asked, None, "nobody asks".to_owned()) };
    // One deadline for the partner, the test and both together.
    let clock = carrier.clock();
    let deadline = clock.now() + errand.limit;
    let needs_partner = task.weight() == Weight::Heavy && !matches!(task, Task::Http(_));
    let partner = match (needs_partner, answerer.site.partner) {
        (true, Partner::Started) => match partner::start(&answerer.site, errand.limit, errand.stop) {
            Ok(partner) => partner,
            Err(why) => {
                let trouble = (!errand.stop.is_stopped()).then(|| Trouble { side: asked.other(), why: why.clone() });
                return Done::not(asked, trouble, why);
            }
        },
        (true, Partner::Standing) | (false, _) => None,
    };
    let question =
        Question { task, peer: &answerer, family: errand.family, archive: errand.archive, ticket: errand.ticket };
    let arguments = question.arguments();
    let call = Call { program: asker.site.program, arguments: &arguments, voice: errand.voice };
    let said = program::run(carrier, &call, deadline.since(clock.now()), errand.stop);
    if let Some(partner) = partner {
        // Its result has come by the one that asked; one that hangs is waited for as long as one that is overdue.
        let _ = partner.end(Some(Ended::Overdue(errand.limit)));
    }
    match said {
        Err(error) => {
            let why = cannot_start(&asker.site, &error);
            Done::not(asked, Some(Trouble { side: asked, why: why.clone() }), why)
        }
        Ok(said) => match question.understood(&said) {
            Some((finding, samples)) => Done { finding, samples, asked, trouble: None },
            None => {
                let (why, is_of_host) = silence(&asker.site, &said);
                let trouble = is_of_host.then(|| Trouble { side: asked, why: why.clone() });
                Done::not(asked, trouble, why)
            }
        },
    }
}

impl Done {
    fn not(asked: Side, trouble: Option<Trouble>, detail: String) -> Self {
        Self { finding: Finding::Nothing { detail }, samples: None, asked, trouble }
    }
}

impl Side {
    /// The other one.
    #[must_use]
    pub const fn other(self) -> Self {
        match self {
            Self::From => Self::To,
            Self::To => Self::From,
        }
    }
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.why)
    }
}
