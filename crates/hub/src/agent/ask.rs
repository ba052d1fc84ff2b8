//! Requests for work, and what comes of the answers: runs begun, tests of others answered, facts delivered.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::Scope;
use std::time::Duration;

use linux::clock;
use mesh::run::{Outcome, RequestNumber};
use round::carrier::Here;
use round::facts;
use round::task::{Partner, Site};

use super::backoff::Backoff;
use super::carrying::{Carrying, RunRecord};
use super::connection::{Call, CallError, Connection};
use super::deliver::shown;
use super::journal::Journal;
use super::serving::{Answering, Partner as TestPartner, Taken, answer};
use super::shared::{Shared, random_bits};
use crate::api::order::{LeaseName, Role};
use crate::api::record::{Record, RecordKind};
use crate::api::work::{Facts, LONGEST_WAIT, StandingOrders, WorkReply, WorkRequest};
use crate::trust::ticket::{Claims, Ticket, TicketSeal};

/// What an agent has to do.
#[derive(Debug)]
pub struct Work {
    journal: Mutex<Journal>,
    standing: Mutex<Option<StandingOrders>>,
    /// Rings when either changes.
    bell: Condvar,
    partner: TestPartner,
}

impl Work {
    /// What its disk has.
    #[must_use]
    pub fn new(journal: Journal) -> Self {
        Self {
            journal: Mutex::new(journal),
            standing: Mutex::new(None),
            bell: Condvar::new(),
            partner: TestPartner::default(),
        }
    }

    /// Wakes who waits.
    pub fn ring(&self) {
        self.bell.notify_all();
    }

    /// The hub has a record.
    pub fn acknowledged(&self, shared: &Shared<'_>, record: &Record) {
        if let RecordKind::Result { lease } = &record.kind
            && let Err(error) = self.journal().acknowledged(lease)
        {
            // It stays in the inventory until the next start, which drops it.
            shared.say(&format!("{lease} stays in the journal: {error}"));
        }
    }

    /// The thread that carries out heavy runs, one at a time.
    pub fn carry_out(&self, carrying: &Carrying<'_>, seal: &TicketSeal) {
        let shared = carrying.shared;
        while !shared.stop.is_stopped() {
            let next = self.journal().begin();
            let (lease, ticket) = match next {
                Ok(Some(next)) => next,
                Ok(None) => {
                    self.wait(GLANCE);
                    continue;
                }
                Err(error) => {
                    shared.say(&format!("nothing is begun: {error}"));
                    shared.pause(AFTER_FAILURE);
                    continue;
                }
            };
            let name = lease.name();
            let named = LeaseName::from(&name);
            let record = match permission(carrying, seal, &ticket, Role::Client) {
                Ok(claims) if claims.lease == named => carrying.heavy(&claims.lease, &ticket, &claims.assignment),
                Ok(_) => RunRecord::nothing(shared.calendar.now(), "the ticket is for another run".to_owned()),
                Err(why) => RunRecord::nothing(shared.calendar.now(), why),
            };
            if let Some(outcome) = keep(shared, &named, record)
                && let Err(error) = self.journal().finished(&name, outcome)
            {
                // The spool has it, which counts after a restart; the journal is written with its next change.
                shared.say(&format!("{named} is not marked as finished: {error}"));
            }
            self.ring();
        }
    }

    /// The light tests of this agent, waited for if there are none.
    pub(super) fn standing(&self) -> Option<StandingOrders> {
        self.standing.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Waits until something changes, for some time at most.
    pub(super) fn wait(&self, most: Duration) {
        let journal = self.journal();
        drop(self.bell.wait_timeout(journal, most));
    }

    fn journal(&self) -> MutexGuard<'_, Journal> {
        self.journal.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Spools what came of a run, as often as it takes: a full disk may have room later, and a run that was carried out is not
/// carried out again. [`None`] where the agent stops before; its next start reports the run as interrupted.
fn keep(shared: &Shared<'_>, lease: &LeaseName, record: RunRecord) -> Option<Outcome> {
    let (outcome, record) = match record.pack(lease) {
        Ok(packed) => packed,
        Err(error) => {
            shared.say(&format!("the result of {lease} cannot be packed: {error}"));
            return None;
        }
    };
    let mut said = false;
    while let Err(error) = shared.keep(&record) {
        if !std::mem::replace(&mut said, true) {
            shared.say(&format!("the result of {lease} is not on disk yet: {error}"));
        }
        shared.pause(AFTER_FAILURE);
        if shared.stop.is_stopped() {
            return None;
        }
    }
    Some(outcome)
}

/// What a ticket permits this agent now.
fn permission(carrying: &Carrying<'_>, seal: &TicketSeal, ticket: &Ticket, role: Role) -> Result<Claims, String> {
    let checked = seal.check(ticket, &carrying.settings.name, carrying.shared.calendar.now());
    let checked = checked.map_err(|error| error.to_string()).and_then(|claims| {
        if claims.role == role { Ok(claims) } else { Err("the ticket is for the other end".to_owned()) }
    });
    checked.inspect_err(|why| {
        carrying.shared.refuse();
        carrying.shared.say(&format!("a ticket is refused: {why}"));
    })
}

/// The thread that asks for work.
#[derive(Clone, Copy)]
pub struct Asking<'scope, 'env> {
    /// What carries runs out.
    pub carrying: &'env Carrying<'env>,
    /// What there is to do.
    pub work: &'env Work,
    /// What tickets are signed by.
    pub seal: &'env TicketSeal,
    /// How often the agent has started.
    pub boots: u64,
    /// Where tests of others are answered.
    pub scope: &'scope Scope<'scope, 'env>,
}

impl<'scope, 'env: 'scope> Asking<'scope, 'env> {
    /// Asks until somebody wants to stop.
    pub fn ask(&self, mut connection: Connection) {
        let shared = self.carrying.shared;
        let (mut backoff, mut taken) = (Backoff::default(), Taken::default());
        let mut is_away = true;
        while !shared.stop.is_stopped() {
            let (number, request) = self.request();
            let call = Call { method: "POST", path: "/api/v1/agent/work", patience: LONGEST_WAIT + PATIENCE };
            match connection.call::<WorkReply>(&call, &request) {
                Ok(reply) => {
                    backoff.reset();
                    if let Some(now) = reply.now {
                        shared.calendar.hear(now);
                    }
                    shared.answered();
                    shared.want_transfers(reply.transfers_every_ms.map(Duration::from_millis));
                    if std::mem::replace(&mut is_away, false) {
                        let settings = self.carrying.settings;
                        shared.say(&format!("{} is connected to {}", settings.name, settings.hub));
                        if let Some(apart) = shared.calendar.apart() {
                            shared.say(&format!(
                                "the clock of this host is {apart} the hub's, which results are dated by"
                            ));
                        }
                    }
                    self.obey(number, &reply, &mut taken);
                    // A hub that has nothing and does not wait is not asked without end.
                    let is_empty = reply.leases.is_empty() && reply.serve.is_empty() && reply.standing.is_none();
                    if request.room == 0 || (is_empty && reply.waited < SHORTEST_WAIT) {
                        self.work.wait(SHORTEST_WAIT);
                    }
                }
                Err(_) if shared.stop.is_stopped() => {}
                Err(error) => {
                    if !std::mem::replace(&mut is_away, true) || request.number == 1 {
                        shared.say(&shown(&error));
                    }
                    // Where the hub has heard it all the same, the next request says what has arrived.
                    let is_refused = matches!(error, CallError::Refused { .. });
                    shared.pause(backoff.next(random_bits()).max(if is_refused {
                        SHORTEST_WAIT
                    } else {
                        Duration::ZERO
                    }));
                }
            }
        }
    }

    fn request(&self) -> (RequestNumber, WorkRequest) {
        let shared = self.carrying.shared;
        let has_room = shared.spool().has_room();
        let mut journal = self.work.journal();
        let room = if has_room { journal.room() } else { 0 };
        let (number, inventory) = journal.request(room);
        let request = WorkRequest {
            boots: self.boots,
            number: number.number,
            room: u32::try_from(room).unwrap_or(0),
            inventory: Some(inventory),
            health: shared.health(),
            // Who is busy asks again when it is not.
            patience_ms: (room == 0).then_some(0),
            standing: self.work.standing().map(|orders| orders.digest),
        };
        (number, request)
    }

    fn obey(&self, number: RequestNumber, reply: &WorkReply, taken: &mut Taken) {
        let shared = self.carrying.shared;
        if let Err(error) = self.work.journal().reply(number, reply) {
            shared.say(&format!("what the hub has given is not kept: {error}"));
        }
        if let Some(orders) = &reply.standing {
            *self.work.standing.lock().unwrap_or_else(PoisonError::into_inner) = Some(orders.clone());
        }
        self.work.ring();
        for ticket in &reply.serve {
            // What was answered already is given again where the hub does not know that yet.
            let Ok(claims) = permission(self.carrying, self.seal, ticket, Role::Server) else { continue };
            if taken.is_new(&claims) {
                let Self { carrying, seal, work, .. } = *self;
                self.scope.spawn(move || {
                    let partner = &work.partner;
                    let answering = Answering { shared: carrying.shared, settings: carrying.settings, seal, partner };
                    if let Err(why) = answer(answering, &claims) {
                        carrying.shared.say(&format!("{} is not answered: {why}", claims.lease));
                    }
                });
            }
        }
        if reply.facts == Facts::Wanted && shared.spool().has_room() {
            self.report_facts();
        }
    }

    /// All facts of this host, for the hub.
    fn report_facts(&self) {
        let Carrying { shared, settings, options } = *self.carrying;
        let here = Site {
            name: &settings.name,
            carrier: Some(&Here),
            program: &options.program,
            partner: Partner::Standing,
            port: measure::DEFAULT_PORT,
            http_port: 80,
        };
        let kept = facts::snapshot(&here, FACTS, shared.stop).and_then(|snapshot| {
            let name = format!("snapshot-{}-{}", self.boots, clock::wall_now().unix_nanos());
            let content = snapshot.to_json().map_err(|error| error.to_string())?;
            let record = Record::pack(name, RecordKind::Snapshot, &content, None);
            record.and_then(|record| shared.keep(&record)).map_err(|error| error.to_string())
        });
        if let Err(why) = kept
            && !shared.stop.is_stopped()
        {
            shared.say(&format!("the facts of this host are not known: {why}"));
        }
    }
}

/// How long the hub may take beyond its wait.
const PATIENCE: Duration = Duration::from_secs(20);
/// The least time from one request to the next, where the one before brought nothing.
const SHORTEST_WAIT: Duration = Duration::from_secs(1);
/// How long reading all facts of a host may take.
const FACTS: Duration = Duration::from_secs(60);
/// How soon the wish to stop is seen.
const GLANCE: Duration = Duration::from_millis(250);
/// A disk that takes nothing is tried again.
const AFTER_FAILURE: Duration = Duration::from_secs(10);
