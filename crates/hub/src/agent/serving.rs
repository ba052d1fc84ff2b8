//! A test of another agent answered: a partner that listens for as long as its ticket says, and takes that ticket alone.

use std::collections::VecDeque;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use linux::clock;
use measure::serve::policy::{Policy, TicketCheck};
use measure::serve::{Config, Event, Once, serve};
use measure::stop::Stop;
use model::spec::{Direction, Limit, Protocol, TestSpec};

use super::carrying::addresses;
use super::directory::Settings;
use super::guard::{self, DayUse};
use super::shared::Shared;
use crate::api::order::{Assignment, Role, TaskOrder};
use crate::trust::ticket::{Claims, Ticket, TicketSeal};

/// Leases whose tickets were taken, the newest last: each is taken once, whichever hub has signed the copy. They expire within
/// the hour: more than this are not remembered.
#[derive(Debug, Default)]
pub struct Taken(VecDeque<String>);

impl Taken {
    /// Whether a ticket is taken now for the first time.
    pub fn is_new(&mut self, claims: &Claims) -> bool {
        let name = format!("{} {:?}", claims.lease, claims.role);
        if self.0.contains(&name) {
            return false;
        }
        self.0.push_back(name);
        if self.0.len() > MOST_TAKEN {
            self.0.pop_front();
        }
        true
    }
}

/// The partner that an agent has now. One listens at a time: who has a newer ticket knows that the test before it is over.
#[derive(Debug, Default)]
pub struct Partner {
    newest: Mutex<Stop>,
    turn: Mutex<()>,
}

impl Partner {
    /// Ends the partner of before, and waits until its port is free.
    fn take_over(&self, ends: &Stop) -> MutexGuard<'_, ()> {
        let before = std::mem::replace(&mut *locked(&self.newest), ends.clone());
        before.stop();
        locked(&self.turn)
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What an agent answers by.
#[derive(Clone, Copy)]
pub struct Answering<'a> {
    /// Spool, journal, wish to stop.
    pub shared: &'a Shared<'a>,
    /// What the agent permits.
    pub settings: &'a Settings,
    /// What tickets are signed by.
    pub seal: &'a TicketSeal,
    /// The partner of the test before.
    pub partner: &'a Partner,
}

/// Answers one test, if the agent permits it: returns when it is over, or nobody came.
///
/// # Errors
/// Why not, in a sentence.
pub fn answer(answering: Answering<'_>, claims: &Claims) -> Result<(), String> {
    let Answering { shared, settings, partner, .. } = answering;
    let assignment = &claims.assignment;
    let peers = addresses(&assignment.address, assignment.port);
    guard::permit(&settings.limits, assignment, &peers, DayUse::default()).map_err(|refusal| {
        shared.refuse();
        refusal.to_string()
    })?;
    let config = Config {
        port: assignment.port,
        policy: policy(answering, claims, peers),
        once: Once::Yes,
        ..Config::default()
    };
    let ends = Stop::default();
    let _turn = partner.take_over(&ends);
    let (over, is_over) = channel::<()>();
    std::thread::scope(|scope| {
        let (ends_too, within) = (ends.clone(), assignment.limit.saturating_add(PATIENCE));
        scope.spawn(move || {
            let until = clock::now() + within;
            while clock::now() < until && !shared.stop.is_stopped() {
                if is_over.recv_timeout(GLANCE) != Err(RecvTimeoutError::Timeout) {
                    return;
                }
            }
            ends_too.stop();
        });
        let report = |event: Event| {
            if let Event::Refused { peer, reason } = event {
                shared.refuse();
                shared.say(&format!("{}: a test of {peer} is refused: {reason}", claims.lease));
            }
        };
        let served = serve(&config, &ends, &report);
        drop(over);
        served
    })
    .map_err(|error| super::deliver::shown(&error))
}

fn policy(answering: Answering<'_>, claims: &Claims, peers: Vec<std::net::IpAddr>) -> Policy {
    let Answering { shared, settings, seal, .. } = answering;
    let (seal, calendar) = (seal.clone(), Arc::clone(&shared.calendar));
    let (served, port) = (claims.clone(), claims.assignment.port);
    let client = claims.assignment.peer.clone();
    let check = move |shown: Option<&str>, spec: &TestSpec| {
        let shown = shown.ok_or("this partner takes a hub's ticket alone")?;
        let ticket: Ticket = serde_json::from_str(shown).map_err(|_| "the ticket is not one".to_owned())?;
        let theirs = seal.check(&ticket, &client, calendar.now()).map_err(|error| error.to_string())?;
        let is_its = theirs.lease == served.lease && theirs.role == Role::Client && theirs.assignment.port == port;
        if !is_its {
            return Err("the ticket is for another test".to_owned());
        }
        within(&theirs.assignment, spec)
    };
    Policy {
        allow: peers.into_iter().map(|peer| peer.to_canonical().into()).collect(),
        max_rate: settings.limits.max_rate,
        max_time: claims.assignment.limit,
        max_queue: 1,
        ticket: Some(TicketCheck(Arc::new(check))),
        ..Policy::default()
    }
}

/// Whether a client asks for no more than its ticket permits.
fn within(permitted: &Assignment, spec: &TestSpec) -> Result<(), String> {
    let (TaskOrder::Tcp(flow) | TaskOrder::Udp(flow)) = &permitted.task else {
        return Err("the ticket is for no flow".to_owned());
    };
    let most = &flow.spec;
    let is_longer = match (&spec.limit, &most.limit) {
        (Limit::Time(asked), Limit::Time(most_time)) => *asked > *most_time || spec.omit > most.omit,
        (Limit::Bytes(asked), Limit::Bytes(most)) => asked > most,
        (Limit::Blocks(asked), Limit::Blocks(most)) => asked > most,
        _ => true,
    };
    let is_faster = |asked: Option<units::DataRate>, most: Option<units::DataRate>| {
        most.is_some_and(|most| asked.is_none_or(|asked| asked > most))
    };
    // A pace is between the client and its own kernel; what the client calls its rate is what the partner sees.
    let is_beyond = is_longer
        || spec.streams > most.streams
        || (spec.protocol == Protocol::Udp) != (most.protocol == Protocol::Udp)
        || (spec.direction == Direction::Bidirectional && most.direction != Direction::Bidirectional)
        || is_faster(spec.rate, most.rate);
    if is_beyond { Err("the test asks for more than its ticket permits".to_owned()) } else { Ok(()) }
}

/// How long after its time a test is waited for.
const PATIENCE: Duration = Duration::from_secs(5);
const GLANCE: Duration = Duration::from_millis(100);
const MOST_TAKEN: usize = 4096;

#[cfg(test)]
mod tests {
    use units::WallTime;

    use super::*;
    use crate::api::order::{FlowOrder, LeaseName, PartnerKind, RunSide};

    fn claims(attempt: u32) -> Claims {
        let flow = FlowOrder {
            spec: TestSpec { rate: Some("10Mbit/s".parse().unwrap()), ..TestSpec::default() },
            expect: None,
        };
        Claims {
            agent: "b".to_owned(),
            lease: LeaseName { run: "t@all/a/b/1".to_owned(), attempt },
            role: Role::Server,
            from: WallTime::from_unix_nanos(1),
            until: WallTime::from_unix_nanos(2),
            assignment: Assignment {
                side: RunSide::To,
                peer: "a".to_owned(),
                address: "192.0.2.7".to_owned(),
                port: 5201,
                partner: PartnerKind::Agent,
                family: None,
                task: TaskOrder::Tcp(flow),
                limit: Duration::from_secs(30),
                bytes: None,
            },
        }
    }

    #[test]
    fn a_replayed_ticket_is_not_taken_again() {
        let mut taken = Taken::default();
        assert!(taken.is_new(&claims(1)));
        assert!(!taken.is_new(&claims(1)));
        let by_another_hub = Claims { from: WallTime::from_unix_nanos(2), ..claims(1) };
        assert!(!taken.is_new(&by_another_hub), "a copy that another hub has signed later");
        assert!(taken.is_new(&claims(2)), "another attempt has a ticket of its own");
    }

    #[test]
    fn a_test_beyond_its_ticket_is_refused() {
        let permitted = claims(1).assignment;
        let TaskOrder::Tcp(flow) = permitted.task.clone() else { panic!("{permitted:?}") };
        let most = flow.spec;
        assert_eq!(within(&permitted, &most), Ok(()));
        let Limit::Time(time) = most.limit else { panic!("{most:?}") };
        for spec in [
            TestSpec { rate: Some("11Mbit/s".parse().unwrap()), ..most.clone() },
            TestSpec { rate: None, ..most.clone() },
            TestSpec { streams: most.streams + 1, ..most.clone() },
            TestSpec { direction: Direction::Bidirectional, ..most.clone() },
            TestSpec { protocol: Protocol::Udp, ..most.clone() },
            TestSpec { limit: Limit::Time(time + Duration::from_secs(1)), ..most.clone() },
            TestSpec { limit: Limit::Bytes(units::ByteCount::new(1)), ..most.clone() },
        ] {
            assert!(within(&permitted, &spec).is_err(), "{spec:?}");
        }
    }
}
