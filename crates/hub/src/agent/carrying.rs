//! A run carried out: within what the ticket permits, within what the agent permits, and its result spooled.

use std::io;
use std::net::{IpAddr, SocketAddr, TcpStream, ToSocketAddrs};
use std::time::{Duration, Instant};

use mesh::run::Outcome;
use model::played::Finding;
use model::run::{FailureKind, Outcome as TestOutcome};
use model::series::RunSamples;
use model::series::packed;
use round::carrier::{Here, Voice};
use round::task::{self, Done, End, Errand, Partner, Side, Site};
use units::WallTime;

use super::directory::Settings;
use super::guard::{self, DayUse, Refusal};
use super::options::Options;
use super::shared::Shared;
use crate::api::order::{Assignment, LeaseName, PartnerKind, RunSide, TaskOrder};
use crate::api::record::{Record, RecordKind, RunResult};
use crate::trust::secret;
use crate::trust::ticket::Ticket;

/// What carries runs out.
pub struct Carrying<'a> {
    /// Spool, journal, wish to stop.
    pub shared: &'a Shared<'a>,
    /// What the agent is called, and permits.
    pub settings: &'a Settings,
    /// Its directory and program.
    pub options: &'a Options,
}

impl Carrying<'_> {
    /// Carries out what a ticket permits.
    #[must_use]
    pub fn heavy(&self, lease: &LeaseName, ticket: &Ticket, assignment: &Assignment) -> RunRecord {
        let began = self.shared.calendar.now();
        if let Err(refusal) = self.permitted(assignment, began) {
            self.shared.refuse();
            return RunRecord::nothing(began, format!("{}: {refusal}", self.settings.name));
        }
        let file = self.options.directory.join("ticket");
        let text = serde_json::to_string(ticket).unwrap_or_default();
        if let Err(error) = secret::write(&file, text.as_bytes()) {
            return RunRecord::nothing(began, format!("{}: no room for the ticket: {error}", self.settings.name));
        }
        if assignment.partner == PartnerKind::Agent
            && matches!(assignment.task, TaskOrder::Tcp(_) | TaskOrder::Udp(_))
            && let Err(why) = self.wait_for(assignment)
        {
            return RunRecord::nothing(self.shared.calendar.now(), format!("{}: {why}", assignment.peer));
        }
        let ticket = (assignment.partner == PartnerKind::Agent).then_some(file.as_path());
        let mut done = self.run(lease, assignment, ticket);
        // The partner of the test before may have listened still: it takes no ticket but its own.
        let until = Instant::now() + PARTNER;
        while ticket.is_some() && is_turned_away(&done) && Instant::now() < until && !self.shared.stop.is_stopped() {
            std::thread::sleep(BETWEEN);
            done = self.run(lease, assignment, ticket);
        }
        let record = RunRecord { began, finding: done.finding, samples: done.samples };
        self.charge(&record, began);
        record
    }

    /// Carries out a light test.
    #[must_use]
    pub fn light(&self, lease: &LeaseName, assignment: &Assignment) -> RunRecord {
        let began = self.shared.calendar.now();
        if let Err(refusal) = self.permitted(assignment, began) {
            self.shared.refuse();
            return RunRecord::nothing(began, format!("{}: {refusal}", self.settings.name));
        }
        let done = self.run(lease, assignment, None);
        RunRecord { began, finding: done.finding, samples: done.samples }
    }

    /// Puts what came of a run into the spool. It is on disk when this returns.
    ///
    /// # Errors
    /// What packing or writing gives.
    pub fn spool(&self, lease: &LeaseName, record: RunRecord) -> io::Result<Outcome> {
        spool(self.shared, lease, record)
    }

    fn run(&self, lease: &LeaseName, assignment: &Assignment, ticket: Option<&std::path::Path>) -> Done {
        let task = assignment.task.task();
        let own = Site {
            name: &self.settings.name,
            carrier: Some(&Here),
            program: &self.options.program,
            partner: Partner::Standing,
            port: assignment.port,
            http_port: assignment.task.http_port(),
        };
        let peer = Site { name: &assignment.peer, carrier: None, ..own };
        let here = End { site: own, address: "" };
        let there = End { site: peer, address: &assignment.address };
        let (from, to) = if assignment.side == RunSide::From { (here, there) } else { (there, here) };
        let done = task::run(&Errand {
            task: &task,
            from,
            to,
            family: assignment.family,
            archive: None,
            ticket,
            voice: Voice::Silent,
            limit: assignment.limit.min(self.settings.limits.max_time),
            stop: self.shared.stop,
        });
        if let Some(trouble) = done.trouble.as_ref().filter(|trouble| trouble.side == Side::From) {
            self.shared.say(&format!("{lease}: {trouble}"));
        }
        done
    }

    fn permitted(&self, assignment: &Assignment, now: WallTime) -> Result<(), Refusal> {
        let addresses = addresses(&assignment.address, assignment.port);
        guard::permit(&self.settings.limits, assignment, &addresses, self.day_use().on(now))
    }

    fn day_use(&self) -> DayUse {
        let text = std::fs::read(self.options.directory.join(DAY)).unwrap_or_default();
        serde_json::from_slice(&text).unwrap_or_default()
    }

    fn charge(&self, record: &RunRecord, now: WallTime) {
        let bytes = match &record.finding {
            Finding::Run(run) => {
                let totals = run.measurement.iter().flat_map(|measurement| &measurement.totals);
                totals.filter_map(|total| total.sent.or(total.received)).map(units::ByteCount::get).sum()
            }
            Finding::Downloads(downloads) => downloads.iter().map(|one| one.body.get()).sum(),
            _ => return,
        };
        let used = self.day_use().on(now).with(units::ByteCount::new(bytes));
        let text = serde_json::to_vec(&used).unwrap_or_default();
        if let Err(error) = secret::write(&self.options.directory.join(DAY), &text) {
            self.shared.say(&format!("the bytes of today cannot be counted: {error}"));
        }
    }

    /// Waits until the partner listens: its agent learns of the test at about the same time.
    fn wait_for(&self, assignment: &Assignment) -> Result<(), String> {
        let addresses = sockets(&assignment.address, assignment.port);
        let until = Instant::now() + PARTNER;
        let mut why = "it has no address".to_owned();
        while !self.shared.stop.is_stopped() {
            for address in &addresses {
                match TcpStream::connect_timeout(address, Duration::from_secs(2)) {
                    Ok(_) => return Ok(()),
                    Err(error) => why = error.to_string(),
                }
            }
            if Instant::now() >= until {
                return Err(format!("no test partner listens on port {}: {why}", assignment.port));
            }
            std::thread::sleep(BETWEEN);
        }
        Err("the agent stops".to_owned())
    }
}

/// What came of a run, not spooled yet.
#[derive(Debug)]
pub struct RunRecord {
    /// When it began.
    pub began: WallTime,
    /// What was found.
    pub finding: Finding,
    /// Samples of the run, absent where it failed before the first.
    pub samples: Option<Box<RunSamples>>,
}

impl RunRecord {
    /// A run without a result.
    #[must_use]
    pub const fn nothing(began: WallTime, detail: String) -> Self {
        Self { began, finding: Finding::Nothing { detail }, samples: None }
    }

    /// As it is delivered, and what the schedule has to know of it.
    ///
    /// # Errors
    /// What packing gives.
    pub fn pack(self, lease: &LeaseName) -> io::Result<(Outcome, Record)> {
        let outcome = match &self.finding {
            Finding::Nothing { detail } => Outcome::Failed { reason: detail.clone() },
            _ => Outcome::Measured { bytes: units::ByteCount::new(0) },
        };
        let samples = self.samples.as_deref().map(packed::pack);
        let content = serde_json::to_vec(&RunResult { began: self.began, finding: self.finding })?;
        let kind = RecordKind::Result { lease: lease.clone() };
        let record = Record::pack(format!("result-{lease}"), kind, &content, samples.as_deref())?;
        Ok((outcome, record))
    }
}

/// Puts what came of a run into the spool. It is on disk when this returns.
///
/// # Errors
/// What packing or writing gives.
pub fn spool(shared: &Shared<'_>, lease: &LeaseName, record: RunRecord) -> io::Result<Outcome> {
    let (outcome, record) = record.pack(lease)?;
    shared.keep(&record)?;
    Ok(outcome)
}

/// Whether the partner was there and did not want this test, or another one was under way.
fn is_turned_away(done: &Done) -> bool {
    let Finding::Run(run) = &done.finding else { return false };
    let TestOutcome::Failed(failure) = &run.outcome else { return false };
    matches!(failure.kind, FailureKind::Refused | FailureKind::Busy | FailureKind::Lost) && run.measurement.is_none()
}

/// The addresses of a peer, as the resolver has them.
#[must_use]
pub fn addresses(host: &str, port: u16) -> Vec<IpAddr> {
    sockets(host, port).into_iter().map(|address| address.ip()).collect()
}

fn sockets(host: &str, port: u16) -> Vec<SocketAddr> {
    (host, port).to_socket_addrs().map(Iterator::collect).unwrap_or_default()
}

const DAY: &str = "day.json";
/// How long a partner may take to listen after its lease.
const PARTNER: Duration = Duration::from_secs(5);
/// From one look at it to the next.
const BETWEEN: Duration = Duration::from_millis(50);
