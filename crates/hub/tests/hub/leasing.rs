//! A plan is leased run by run, each with tickets for both ends, and a result is stored once.

use std::time::Duration;

use hub::agent::connection::{Call, CallError, Connection};
use hub::api::Nothing;
use hub::api::mesh::{IncidentList, Pairs, PlanInfo, PlanText};
use hub::api::order::{LeaseName, PartnerKind, Role};
use hub::api::record::{Delivery, Receipt, Record, RecordKind, RunResult, Verdict};
use hub::api::runs::{RunProgress, Runs};
use hub::api::work::{AgentHealth, WorkReply, WorkRequest};
use hub::trust::ticket::{Claims, TicketError};
use hub::trust::token::Purpose;
use linux::clock;
use mesh::run::RunState;
use model::played::Finding;
use tempfile::TempDir;
use units::WallTime;

use crate::running::{Running, TwoHosts};

const PATIENCE: Duration = Duration::from_secs(60);
const WORK: Call<'_> = Call { method: "POST", path: "/api/v1/agent/work", patience: PATIENCE };
const RECORDS: Call<'_> = Call { method: "POST", path: "/api/v1/agent/records", patience: PATIENCE };
const SET_PLAN: Call<'_> = Call { method: "POST", path: "/api/v1/plan", patience: PATIENCE };

const PLAN: TwoHosts = TwoHosts { times: "every = \"10s\"\ngap = \"0s\"", test: "kind = \"tcp\"\ntime = \"1s\"" };

/// An agent that asks by hand.
struct Agent {
    connection: Connection,
    number: u64,
}

impl Agent {
    fn ask(&mut self, room: u32, inventory: Vec<LeaseName>) -> WorkReply {
        self.number += 1;
        let request = WorkRequest {
            boots: 1,
            number: self.number,
            room,
            inventory: Some(inventory),
            health: AgentHealth::default(),
            patience_ms: None,
            standing: None,
        };
        self.connection.call(&WORK, &request).unwrap()
    }
}

fn planned() -> (Running, [TempDir; 2]) {
    let hub = Running::start();
    let homes = [TempDir::new().unwrap(), TempDir::new().unwrap()];
    for (home, name) in homes.iter().zip(["a", "b"]) {
        hub.join(home.path(), name, hub.token(Purpose::Join)).unwrap();
    }
    let mut person = hub.person(&hub.token(Purpose::Operate));
    let info: PlanInfo = person.call(&SET_PLAN, &PlanText { text: PLAN.text() }).unwrap();
    assert_eq!(info.agents, ["a", "b"]);
    (hub, homes)
}

fn agent(hub: &Running, home: &TempDir) -> Agent {
    Agent { connection: hub.agent(home.path()), number: 0 }
}

/// Asks for both until one of them has a run; which one, and its lease.
fn leased(agents: &mut [Agent; 2]) -> (usize, WorkReply) {
    let mut turn = 0;
    loop {
        // Both are heard, and nothing is begun where nobody has room.
        agents[1 - turn].ask(0, Vec::new());
        let reply = agents[turn].ask(1, Vec::new());
        if !reply.leases.is_empty() {
            return (turn, reply);
        }
        turn = 1 - turn;
    }
}

fn result(lease: &LeaseName) -> Record {
    let finding = Finding::Nothing { detail: "tried".to_owned() };
    let content = serde_json::to_vec(&RunResult { began: WallTime::from_unix_nanos(1), finding }).unwrap();
    let kind = RecordKind::Result { lease: lease.clone() };
    Record::pack(format!("result-{lease}"), kind, &content, None).unwrap()
}

#[test]
fn run_is_leased_once_with_tickets_for_both_ends_and_its_result_is_stored_once() {
    let (hub, homes) = planned();
    let mut agents = [agent(&hub, &homes[0]), agent(&hub, &homes[1])];
    let (turn, reply) = leased(&mut agents);
    let names = ["a", "b"];
    let seal = hub.hub.ticket_key.seal();
    let claims: Claims = seal.check(&reply.leases[0].ticket, names[turn], hub.hub.now()).unwrap();
    assert_eq!((claims.role, claims.assignment.partner), (Role::Client, PartnerKind::Agent));
    assert_eq!(claims.assignment.peer, names[1 - turn]);
    // The other end is given its own, and neither opens the other's.
    let other = agents[1 - turn].ask(0, Vec::new());
    let served = seal.check(&other.serve[0], names[1 - turn], hub.hub.now()).unwrap();
    assert_eq!((served.role, &served.lease), (Role::Server, &claims.lease));
    assert_eq!(
        seal.check(&other.serve[0], names[turn], hub.hub.now()).unwrap_err(),
        TicketError::OtherAgent(names[1 - turn].to_owned())
    );
    // While it runs, neither host is in another test.
    assert!(agents[turn].ask(1, vec![claims.lease.clone()]).leases.is_empty());
    assert!(agents[1 - turn].ask(1, Vec::new()).leases.is_empty());
    let delivery = Delivery { records: vec![result(&claims.lease), result(&claims.lease)] };
    let receipt: Receipt = agents[turn].connection.call(&RECORDS, &delivery).unwrap();
    assert_eq!(receipt.verdicts, [Verdict::Stored, Verdict::Duplicate]);
    // The same after a restart of the hub.
    let hub = Running::open(hub.stop());
    let receipt: Receipt = hub.agent(homes[turn].path()).call(&RECORDS, &delivery).unwrap();
    assert_eq!(receipt.verdicts, [Verdict::Duplicate, Verdict::Duplicate]);
}

#[test]
fn lease_that_never_arrived_is_leased_again_and_one_of_another_agent_is_not_delivered() {
    let (hub, homes) = planned();
    let mut agents = [agent(&hub, &homes[0]), agent(&hub, &homes[1])];
    let (turn, reply) = leased(&mut agents);
    let seal = hub.hub.ticket_key.seal();
    let names = ["a", "b"];
    let first = seal.check(&reply.leases[0].ticket, names[turn], hub.hub.now()).unwrap().lease;
    // A stranger to the run may not end it.
    let foreign: Receipt =
        agents[1 - turn].connection.call(&RECORDS, &Delivery { records: vec![result(&first)] }).unwrap();
    assert!(matches!(foreign.verdicts[..], [Verdict::Refused { .. }]), "{foreign:?}");
    // The reply was lost: the next request does not name the lease.
    let mut again = agents[turn].ask(1, Vec::new());
    while again.leases.is_empty() {
        again = agents[turn].ask(1, Vec::new());
    }
    let second = seal.check(&again.leases[0].ticket, names[turn], hub.hub.now()).unwrap().lease;
    assert!(second.run != first.run || second.attempt == first.attempt + 1, "{first} {second}");
}

#[test]
fn run_of_an_agent_that_vanished_is_given_up_and_its_late_result_is_taken_once() {
    let (hub, homes) = planned();
    let mut agents = [agent(&hub, &homes[0]), agent(&hub, &homes[1])];
    let (turn, reply) = leased(&mut agents);
    let seal = hub.hub.ticket_key.seal();
    let lease = seal.check(&reply.leases[0].ticket, ["a", "b"][turn], hub.hub.now()).unwrap().lease;
    let store = hub.hub.store.as_ref();
    let state = || store.runs(std::slice::from_ref(&lease.run)).unwrap().remove(0).state;
    let tick = |later| hub.hub.schedule.tick(store, hub.hub.now(), clock::now() + later).unwrap();
    tick(Duration::ZERO);
    assert!(matches!(state(), RunState::Leased { .. }), "{:?}", state());
    assert!(agents[1 - turn].ask(1, Vec::new()).leases.is_empty(), "its host is still in use");
    tick(reply.leases[0].ttl + Duration::from_secs(60));
    assert!(matches!(state(), RunState::Missing { .. }), "{:?}", state());
    // Its host is free for the other's runs, and the result that the agent had on its disk counts all the same.
    while agents[1 - turn].ask(1, Vec::new()).leases.is_empty() {}
    let delivery = Delivery { records: vec![result(&lease), result(&lease)] };
    let receipt: Receipt = agents[turn].connection.call(&RECORDS, &delivery).unwrap();
    assert_eq!(receipt.verdicts, [Verdict::Stored, Verdict::Duplicate]);
    assert!(matches!(state(), RunState::Done { .. }), "{:?}", state());
}

#[test]
fn run_under_way_is_listed_before_those_that_wait_and_not_once_it_is_over() {
    let (hub, homes) = planned();
    let mut agents = [agent(&hub, &homes[0]), agent(&hub, &homes[1])];
    let (turn, reply) = leased(&mut agents);
    let seal = hub.hub.ticket_key.seal();
    let lease = seal.check(&reply.leases[0].ticket, ["a", "b"][turn], hub.hub.now()).unwrap().lease;
    let mut person = hub.person(&hub.token(Purpose::View));
    let mut listed = || {
        let call = Call { method: "GET", path: "/api/v1/runs", patience: PATIENCE };
        person.call::<Runs>(&call, &Nothing {}).unwrap()
    };
    let runs = listed().runs;
    assert_eq!((&runs[0].id.0, runs[0].progress), (&lease.run, RunProgress::Running));
    assert!(runs.len() > 1 && runs[1..].iter().all(|run| run.progress == RunProgress::Waiting), "{runs:#?}");
    assert!(runs[1..].is_sorted_by_key(|run| run.not_before), "{runs:#?}");
    let delivery = Delivery { records: vec![result(&lease)] };
    agents[turn].connection.call::<Receipt>(&RECORDS, &delivery).unwrap();
    assert!(listed().runs.iter().all(|run| run.id.0 != lease.run));
}

#[test]
fn plan_that_does_not_fit_is_refused_and_views_answer_before_there_is_one() {
    let hub = Running::start();
    let mut person = hub.person(&hub.token(Purpose::Operate));
    let text = TwoHosts { times: "every = \"1s\"\ngap = \"0s\"", ..PLAN }.text();
    let refused = person.call::<PlanInfo>(&SET_PLAN, &PlanText { text });
    assert!(matches!(refused, Err(CallError::Refused { status: 400, .. })), "{refused:?}");
    let call = |path| Call { method: "GET", path, patience: PATIENCE };
    assert_eq!(person.call::<Pairs>(&call("/api/v1/pairs"), &Nothing {}).unwrap(), Pairs::default());
    let list: IncidentList = person.call(&call("/api/v1/incidents"), &Nothing {}).unwrap();
    assert!(list.incidents.is_empty());
    let missing = person.call::<serde_json::Value>(&call("/api/v1/incident?id=I1"), &Nothing {});
    assert!(matches!(missing, Err(CallError::Refused { status: 404, .. })), "{missing:?}");
}
