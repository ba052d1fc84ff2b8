//! `linerate why --test`: a plan, or this host and another one, tested until one cause at one place stands out.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use archive::rounds::has_result;
use diagnose::next::Proposal;
use model::played::Finding;
use model::round::{Round, Tested};
use model::spec::{Direction, Limit, TestSpec};
use plan::Plan;
use plan::plan::{Group, Host, Reach, Shape, Test, Times};
use plan::schedule::Slot;
use plan::task::{Flow, Ping, Task, Weight};
use round::leader::besides::{self, Wanted};
use round::leader::roster::Roster;
use round::leader::{Audience, Lead, lead};
use units::DataRate;

use super::examine::{Examiner, USUAL_BUDGET, report};
use super::round::reading;
use super::round::ready::{Limits, Ready};
use crate::cli::Common;
use crate::cli::why::WhyArgs;
use crate::exit::{Complaint, Exit};
use crate::show::{examine, played};

pub fn run(common: &Common, args: &WhyArgs) -> anyhow::Result<Exit> {
    let (plan, known) = wanted(common, args)?;
    let ready = Ready::new(&plan)?;
    let leading = ready.lead(Limits { patience: PATIENCE, overtime: OVERTIME, repeats: REPEATS }, None, None);
    let mut screen = Screen { plan: &plan, is_quiet: common.quiet || common.json };
    let mut round = known.map_or_else(|| lead(&leading, &mut screen), |known| *known);
    if !ready.stop.is_stopped() {
        check(&plan, &round)?;
    }
    let (hosts, starting) = taking_part(&plan, &ready.roster, &round);
    let mut examiner = Examiner::new(args.budget.unwrap_or(USUAL_BUDGET)).among(hosts, starting);
    let mut asked = 0;
    while !ready.stop.is_stopped() {
        let Some(proposal) = examiner.next(&round) else { break };
        screen.say(&examine::asks(&proposal.says));
        let known = round.tests.len();
        ask(&leading, &proposal, &mut round);
        round.tests.iter().skip(known).for_each(|tested| screen.found(&tested.finding));
        asked += 1;
    }
    if asked > 0 {
        besides::look_again(&leading, &mut round);
    }
    if let Some(path) = &args.output {
        super::file::write(path, &crate::show::json::round(&round)?)?;
    }
    let examination = examiner.examination(&round);
    report(common, &round, &examination)?;
    Ok(match (ready.stop.is_stopped(), examination.diagnosis.is_healthy()) {
        (true, _) => Exit::Interrupted,
        (false, true) => Exit::Success,
        (false, false) => Exit::Found,
    })
}

/// Where flows were to be measured and none was, nothing is known: that is not to be taken for health.
fn check(plan: &Plan, round: &Round) -> anyhow::Result<()> {
    let is_flow =
        |tested: &&Tested| !matches!(tested.finding, Finding::Echo(_) | Finding::PathMtu(_) | Finding::Hops(_));
    let mut flows = round.tests.iter().filter(is_flow);
    if plan.tests.iter().all(|test| test.task.weight() == Weight::Light) || flows.any(|flow| has_result(&flow.finding))
    {
        return Ok(());
    }
    let first = round.tests.iter().find(is_flow);
    let exit = match first.map(|tested| &tested.finding) {
        Some(Finding::Run(run)) => Exit::of_outcome(&run.outcome),
        _ => Exit::Unreachable,
    };
    let why = first.and_then(|tested| played::finding(&tested.finding, None).into_iter().next());
    let why = why.map_or_else(String::new, |why| format!("; the first {why}"));
    let what = format!("nothing can be said, for no flow was measured{why}");
    Err(Complaint::new(exit, what).hint("`linerate serve` (or `iperf3 -s`) has to run at the other end").into())
}

/// What to test, and the round that is known already.
fn wanted(common: &Common, args: &WhyArgs) -> anyhow::Result<(Plan, Option<Box<Round>>)> {
    match args.what.as_slice() {
        [host] if !Path::new(host).is_file() => Ok((pair(host, args.port, args.expect), None)),
        [plan] => Ok((reading::plan(common, Path::new(plan))?, None)),
        [plan, round] => Ok((
            reading::plan(common, Path::new(plan))?,
            Some(Box::new(reading::round(common, &PathBuf::from(round))?)),
        )),
        _ => Err(Complaint::new(Exit::Usage, "--test takes one plan and at most one round of it, or one host")
            .hint("linerate why --test PLAN, linerate why --test PLAN ROUND, linerate why --test HOST")
            .into()),
    }
}

/// This host and another one, at which a `linerate serve` or an `iperf3 -s` stands: echoes, and a stream each way.
fn pair(host: &str, port: Option<u16>, expect: Option<DataRate>) -> Plan {
    let stream = |direction| {
        let spec = TestSpec { direction, limit: Limit::Time(FOR_A_STREAM), ..TestSpec::default() };
        Task::Tcp(Flow { spec, expect })
    };
    let test = |label: &str, task| Test {
        label: label.to_owned(),
        group: 0,
        task,
        family: None,
        expect: None,
        every: None,
        trigger: plan::operation::Trigger::default(),
    };
    let here = Host {
        name: HERE.to_owned(),
        address: Some("localhost".to_owned()),
        reach: Some(Reach::Here),
        rate: expect,
        ..Host::default()
    };
    let there = Host {
        name: host.to_owned(),
        address: Some(host.to_owned()),
        serves: true,
        port,
        rate: expect,
        ..Host::default()
    };
    Plan {
        title: format!("{HERE} and {host}"),
        about: None,
        times: Times { gap: Duration::ZERO, ..Times::default() },
        hosts: vec![here, there],
        networks: Vec::new(),
        segments: Vec::new(),
        ways: Vec::new(),
        groups: vec![Group {
            name: "pair".to_owned(),
            shape: Shape::List(vec![(0, 1)]),
            network: None,
            without: BTreeSet::new(),
        }],
        tests: vec![
            test("echoes", Task::Ping(Ping::default())),
            test("a stream", stream(Direction::Forward)),
            test("a stream back", stream(Direction::Reverse)),
        ],
        expectations: Vec::new(),
        maintenance: Vec::new(),
        budgets: Vec::new(),
    }
}

/// The hosts that can be tested, and those at which a test can be started.
fn taking_part(plan: &Plan, roster: &Roster, round: &Round) -> (BTreeSet<String>, BTreeSet<String>) {
    let failed = |name: &str| round.members.iter().any(|member| member.name == name && member.failure.is_some());
    let (mut hosts, mut starting) = (BTreeSet::new(), BTreeSet::new());
    for (number, host) in plan.hosts.iter().enumerate() {
        if host.address.is_none() || failed(&host.name) || roster.lost(number).is_some() {
            continue;
        }
        hosts.insert(host.name.clone());
        if roster.site(plan, number).carrier.is_some() {
            starting.insert(host.name.clone());
        }
    }
    (hosts, starting)
}

fn ask(leading: &Lead<'_>, proposal: &Proposal, round: &mut Round) {
    for task in &proposal.tasks {
        let began = besides::since(round);
        let wanted = Wanted {
            label: &proposal.label,
            from: &proposal.from,
            to: &proposal.to,
            task,
            expected: proposal.expected,
            takes: proposal.takes,
        };
        besides::add(leading, &wanted, began, round);
    }
}

/// Tells on standard error how it goes.
struct Screen<'a> {
    plan: &'a Plan,
    is_quiet: bool,
}

impl Screen<'_> {
    fn say(&self, text: &str) {
        if !self.is_quiet {
            eprint!("{text}");
        }
    }
}

impl Screen<'_> {
    /// What came of a test.
    fn found(&self, finding: &Finding) {
        for line in played::finding(finding, None) {
            self.say(&format!("         {line}\n"));
        }
    }
}

impl Audience for Screen<'_> {
    fn mustered(&mut self, _round: &Round) {}

    fn begins(&mut self, slot: &Slot, at: Duration) {
        let name = |host: usize| &self.plan.hosts[host].name;
        let (label, from, to) = (&self.plan.tests[slot.test].label, name(slot.pair.from), name(slot.pair.to));
        self.say(&format!("{:5.1} s  {label}, {from} to {to}\n", at.as_secs_f64()));
    }

    fn ended(&mut self, _slot: &Slot, tested: &Tested) {
        self.found(&tested.finding);
    }

    fn failed(&mut self, _host: usize, why: &str) {
        self.say(&format!("{why}\n"));
    }
}

/// What this host is called beside the one that was named.
const HERE: &str = "this-host";
const FOR_A_STREAM: Duration = Duration::from_secs(6);
/// How long a host may take to answer.
const PATIENCE: Duration = Duration::from_secs(30);
/// How much longer than planned the first round may take.
const OVERTIME: Duration = Duration::from_secs(120);
const REPEATS: Duration = Duration::from_secs(30);
