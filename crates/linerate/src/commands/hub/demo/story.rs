//! What happens in the demonstration, in its order.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::Context;
use diagnose::diagnosis::{Diagnosis, FaultLocation};
use hub::api::mesh::{IncidentDetail, IncidentList, Pairs};
use hub::server::directory::{Directory, IncidentSettings, Settings};
use hub::store::sqlite::Sqlite;
use linux::clock;
use measure::stop::Stop;
use mesh::incident::{Explanation, Incident, Metric, Status};
use tokio::sync::watch;
use units::MonoTime;

use super::super::pages::Pages;
use super::fleet::{At, Fleet};
use super::{PLAN, WATCHED_FOR, operator};
use crate::cli::Common;
use crate::commands::print_as_it_is;
use crate::commands::scratch::ScratchDirectory;
use crate::exit::{Complaint, Exit};
use crate::show::hub_demo as show;

/// How it ended.
pub enum Ending {
    /// The incident is closed.
    Closed(Box<IncidentDetail>),
    /// Somebody wanted to stop.
    Stopped,
}

/// The demonstration while it runs.
pub struct Story<'a> {
    pub common: &'a Common,
    pub fleet: Fleet<'a>,
    pub scratch: &'a ScratchDirectory,
    /// Directory of the hub.
    pub hub: PathBuf,
    pub stop: &'a Stop,
    pub began: MonoTime,
    pub pages: Afterwards,
    pub fixes: FixedBy,
}

/// Who finds the fault and fixes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FixedBy {
    /// The demonstration, as the hub's diagnosis says.
    Demonstration,
    /// Whoever looks at the pages.
    Person,
}

/// What follows once the incident is closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Afterwards {
    /// The demonstration ends, and nothing of it is left.
    End,
    /// The hub goes on, and its pages are shown until somebody wants to stop.
    Pages,
}

/// Somebody wanted to stop.
struct Stopped;

impl Story<'_> {
    pub fn play(mut self) -> anyhow::Result<Ending> {
        self.say(match self.fixes {
            FixedBy::Demonstration => show::INTRODUCTION,
            FixedBy::Person => show::INTRODUCTION_BY_HAND,
        })?;
        let hub = self.hub.to_string_lossy().into_owned();
        let Ok(()) = self.begin(&hub)? else { return Ok(Ending::Stopped) };
        let (over, stopped) = watch::channel(false);
        let mut address = None;
        if self.pages == Afterwards::Pages {
            let pages = Pages::start(&Directory::at(hub.as_ref()), ([127, 0, 0, 1], 0).into(), stopped)?;
            self.step(&show::pages(pages.address))?;
            address = Some(pages.address);
        }
        let ending = match self.fixes {
            FixedBy::Demonstration => self.incident(&hub)?,
            FixedBy::Person => self.by_hand(&hub)?,
        };
        if let (Some(address), Ok(detail)) = (address, &ending) {
            self.step(&show::goes_on(address, &detail.incident.id.0))?;
            while !self.stop.is_stopped() {
                self.fleet.check()?;
                std::thread::sleep(GLANCE);
            }
        }
        // Pages that have ended by themselves need no wish to end.
        let _ = over.send(true);
        match ending {
            Ok(detail) => Ok(Ending::Closed(Box::new(detail))),
            Err(Stopped) => Ok(Ending::Stopped),
        }
    }

    /// The hub, its agents, its plan.
    fn begin(&mut self, hub: &str) -> anyhow::Result<Result<(), Stopped>> {
        let settings = Settings {
            incidents: IncidentSettings { watched_for: Some(WATCHED_FOR), ..IncidentSettings::default() },
            ..Settings::new(([0, 0, 0, 0], 8443).into(), vec![HUB.to_owned()])
        };
        let unwritable = || Complaint::new(Exit::Local, format!("the hub cannot be made in {hub}"));
        Directory::at(hub.as_ref()).init(&settings, None).with_context(unwritable)?;
        Sqlite::open(&Directory::at(hub.as_ref()).database()).with_context(unwritable)?;
        let plan = self.scratch.file("mesh.toml");
        let text = match self.fixes {
            FixedBy::Demonstration => PLAN.to_owned(),
            FixedBy::Person => operator::plan(PLAN, &HOSTS)?,
        };
        fs::write(&plan, text).with_context(unwritable)?;
        self.fleet.start(At { host: HUB, arguments: &["hub", "run", hub] })?;
        for host in HOSTS {
            let token = self.fleet.run(At { host: HUB, arguments: &["hub", "token", hub] })?;
            let directory = self.scratch.file(host).to_string_lossy().into_owned();
            let url = format!("https://{HUB}:8443");
            let join = ["agent", "join", &url, token.trim(), "--directory", &directory];
            let joined = self.until("the hub to answer", || self.fleet.run(At { host, arguments: &join }).map(Some))?;
            if joined.is_err() {
                return Ok(Err(Stopped));
            }
            self.fleet.start(At { host, arguments: &["agent", "run", "--directory", &directory] })?;
        }
        self.step("a hub runs, and 5 agents have joined it by tokens")?;
        let plan = plan.to_string_lossy().into_owned();
        self.fleet.run(At { host: HUB, arguments: &["hub", "plan", hub, &plan] })?;
        self.step("plan: TCP of 1 s from each archive to each site every 6 s; RTT and loss every 15 s")?;
        Ok(Ok(()))
    }

    /// What each pair usually has, once that is known of all.
    fn learn(&self, hub: &str) -> anyhow::Result<Result<Pairs, Stopped>> {
        let learnt = self.until("a baseline of all pairs", || {
            let pairs: Pairs = self.hub(hub, &["pairs"], &[])?;
            Ok(baseline(&pairs).is_enough().then_some(pairs))
        })?;
        let Ok(pairs) = learnt else { return Ok(Err(Stopped)) };
        let usual = baseline(&pairs);
        self.step(&show::baseline(usual.results, usual.goodput))?;
        Ok(Ok(pairs))
    }

    /// The fault is planted, and a person does the rest: nobody here says what it is.
    fn by_hand(&self, hub: &str) -> anyhow::Result<Result<IncidentDetail, Stopped>> {
        if self.learn(hub)?.is_err() {
            return Ok(Err(Stopped));
        }
        self.fleet.set(At { host: FAULTY, arguments: &[FAULT] })?;
        self.step(show::YOURS)?;
        loop {
            if self.stop.is_stopped() {
                return Ok(Err(Stopped));
            }
            self.fleet.check()?;
            let list: anyhow::Result<IncidentList> = self.hub(hub, &["incidents"], &["--all"]);
            // A request that a busy machine does not answer is asked again.
            let closed = list.ok().and_then(|list| {
                list.incidents
                    .into_iter()
                    .find(|incident| incident.status == Status::Closed && incident.verified.is_some())
            });
            if let Some(incident) = closed {
                return self.detail(hub, |incident| incident.status == Status::Closed, &incident.id.0);
            }
            std::thread::sleep(ASKED_EVERY);
        }
    }

    fn incident(&self, hub: &str) -> anyhow::Result<Result<IncidentDetail, Stopped>> {
        let Ok(pairs) = self.learn(hub)? else { return Ok(Err(Stopped)) };
        self.fleet.set(At { host: FAULTY, arguments: &[FAULT] })?;
        self.step(&format!("{}: {FAULT}", show::fault(FAULTY)))?;
        let Ok(opened) = self.until("an incident", || self.worst(hub))? else { return Ok(Err(Stopped)) };
        self.step(&show::opened(&opened))?;

        // What is worse may be found later, by then with what was found first as a part of it.
        let explained = self.until("a cause of the worst incident", || {
            Ok(self.worst(hub)?.filter(|incident| incident.explanation.is_some()))
        })?;
        let Ok(explained) = explained else { return Ok(Err(Stopped)) };
        if explained.id != opened.id {
            self.step(&show::opened(&explained))?;
        }
        let id = explained.id.0;
        let Ok(explained) = self.detail(hub, |_| true, &id)? else { return Ok(Err(Stopped)) };
        let explanation = explained.incident.explanation.clone().context("it was there a moment ago")?;
        self.step(&show::explained(&explanation))?;
        self.fix(&pairs, &explained, &explanation)?;

        let Ok(verified) = self.detail(hub, |incident| incident.verified.is_some(), &id)? else {
            return Ok(Err(Stopped));
        };
        self.step(&show::verified(&verified.incident))?;
        self.detail(hub, |incident| incident.status == Status::Closed, &id)
    }

    /// The incident that an operator looks at first: that which costs most of the rate.
    fn worst(&self, hub: &str) -> anyhow::Result<Option<Incident>> {
        let list: IncidentList = self.hub(hub, &["incidents"], &[])?;
        let bad = list.incidents.into_iter().filter(|incident| incident.status.is_bad());
        Ok(bad.max_by(|one, other| one.severity().total_cmp(&other.severity())))
    }

    /// What the diagnosis proposes, on the host that it names.
    fn fix(&self, pairs: &Pairs, detail: &IncidentDetail, explanation: &Explanation) -> anyhow::Result<()> {
        let diagnosis: Diagnosis = model::value::read(detail.diagnosis.as_ref().context("there is no diagnosis")?)?;
        let mut rankings = diagnosis.problems.iter().flat_map(|problem| &problem.ranking);
        let ranked = rankings.find(|ranked| ranked.cause == explanation.cause);
        let place = ranked.and_then(|ranked| ranked.places.first()).map(|likely| &likely.place);
        let (Some(ranked), Some(FaultLocation::Host { name: host })) = (ranked, place) else {
            let elsewhere = format!("{explanation} is no setting of a host");
            return Err(Complaint::new(Exit::Found, elsewhere).into());
        };
        let rtt = usual(pairs, Metric::RttMin).map_or_else(String::new, |us| format!("{:.0}ms", us / 1e3));
        for rule in &ranked.fix {
            let arguments =
                ["host", "fix", rule, "--role", "sender,receiver", "--rtt", &rtt, "--target-rate", "50Mbit/s", "--yes"];
            if self.fleet.run(At { host, arguments: &arguments }).is_ok() {
                return self.step(&show::fixed(host, &arguments));
            }
        }
        Err(Complaint::new(Exit::Found, format!("no rule fixes {} on {host}", explanation.cause)).into())
    }

    fn detail(
        &self,
        hub: &str,
        is_it: impl Fn(&Incident) -> bool,
        id: &str,
    ) -> anyhow::Result<Result<IncidentDetail, Stopped>> {
        self.until("the incident to go on", || {
            let detail: IncidentDetail = self.hub(hub, &["incidents"], &[id])?;
            Ok(is_it(&detail.incident).then_some(detail))
        })
    }

    fn hub<T: serde::de::DeserializeOwned>(&self, hub: &str, what: &[&str], rest: &[&str]) -> anyhow::Result<T> {
        let arguments = [&["hub"], what, &[hub], rest, &["--json"]].concat();
        self.fleet.ask(At { host: HUB, arguments: &arguments })
    }

    /// Looks again and again, for as long as a slow machine may need.
    fn until<T>(
        &self,
        what: &str,
        mut look: impl FnMut() -> anyhow::Result<Option<T>>,
    ) -> anyhow::Result<Result<T, Stopped>> {
        let began = clock::now();
        loop {
            if self.stop.is_stopped() {
                return Ok(Err(Stopped));
            }
            self.fleet.check()?;
            let looked = look();
            if let Ok(Some(found)) = looked {
                return Ok(Ok(found));
            }
            if clock::now().since(began) > PATIENCE {
                let late = Complaint::new(Exit::Found, format!("{what}: not within {} s", PATIENCE.as_secs()))
                    .hint("a machine that is busy with other things measures itself; try again when it is not");
                return Err(match looked {
                    Err(error) => error.context(late),
                    Ok(_) => late.into(),
                });
            }
            std::thread::sleep(ASKED_EVERY);
        }
    }

    fn step(&self, text: &str) -> anyhow::Result<()> {
        let age = clock::now().since(self.began).as_secs();
        self.say(&show::line(age, text))
    }

    fn say(&self, text: &str) -> anyhow::Result<()> {
        if !self.common.json {
            print_as_it_is(text.as_bytes())?;
        }
        Ok(())
    }
}

/// What is known of all pairs.
struct Baseline {
    pairs: usize,
    /// Of the pair that has the fewest.
    results: u64,
    goodput: f64,
}

impl Baseline {
    const fn is_enough(&self) -> bool {
        self.pairs == PAIRS && self.results >= LEAST_RESULTS
    }
}

fn baseline(pairs: &Pairs) -> Baseline {
    let goodput = || pairs.series.iter().filter(|info| info.series.metric == Metric::Goodput);
    Baseline {
        pairs: goodput().count(),
        results: goodput().map(|info| info.results).min().unwrap_or(0),
        goodput: usual(pairs, Metric::Goodput).unwrap_or(0.0),
    }
}

/// The median over the pairs of what each usually has.
fn usual(pairs: &Pairs, metric: Metric) -> Option<f64> {
    let of_metric = pairs.series.iter().filter(|info| info.series.metric == metric);
    let mut usual: Vec<f64> = of_metric.filter_map(|info| info.usual).collect();
    usual.sort_by(f64::total_cmp);
    usual.get(usual.len() / 2).copied()
}

const HUB: &str = "hub";
const HOSTS: [&str; 5] = ["archive-1", "archive-2", "archive-3", "site-a", "site-b"];
/// Each archive to each site.
const PAIRS: usize = 6;
/// Where the setting goes wrong, and how. Nothing after it uses either.
const FAULTY: &str = "site-b";
const FAULT: &str = "echo 4096 16384 32768 > /proc/sys/net/ipv4/tcp_rmem";
/// Fewer results are no baseline: what follows is held against 10 at least.
const LEAST_RESULTS: u64 = 14;
/// How long a step may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(240);
/// How soon the wish to stop is seen.
const GLANCE: Duration = Duration::from_millis(500);
/// Between two questions to the hub, each of which is a program that starts.
const ASKED_EVERY: Duration = Duration::from_secs(1);
