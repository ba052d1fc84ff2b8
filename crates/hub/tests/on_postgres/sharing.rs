//! Several hubs on one database: whichever is asked, each run is carried out once, and no host is in two.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::mpsc::RecvTimeoutError;
use std::sync::{Mutex, MutexGuard};
use std::thread;
use std::time::{Duration, Instant};

use hub::agent::connection::{Call, CallError, Connection};
use hub::api::mesh::{AskedRuns, PlanText, RunWish, Step};
use hub::api::order::LeaseName;
use hub::api::record::{Delivery, Receipt, Record, RecordKind, RunResult, Verdict};
use hub::api::work::{AgentHealth, WorkReply, WorkRequest};
use hub::segments::layout::SegmentFolder;
use hub::server::directory::{DatabaseUrl, Directory, Settings};
use hub::store::open::open;
use hub::store::rows::{Arrival, Delivered, Judging, JudgingClaim, RecordQuery, StoredRecord};
use hub::store::segments::{Closing, SegmentRun, SortedRuns};
use hub::store::turn::{Changes, TurnRequest};
use hub::trust::token::Purpose;
use mesh::incident::Status;
use mesh::run::{RunRow, RunState};
use model::played::Finding;
use tempfile::TempDir;
use units::WallTime;

use crate::cluster::Cluster;
use crate::running::{Running, settings};
use crate::watching::{Mesh, incidents, receiver};

pub const PATIENCE: Duration = Duration::from_secs(90);
pub const WORK: Call<'_> = Call { method: "POST", path: "/api/v1/agent/work", patience: PATIENCE };
pub const RECORDS: Call<'_> = Call { method: "POST", path: "/api/v1/agent/records", patience: PATIENCE };
const HOSTS: [&str; 6] = ["a", "b", "c", "d", "e", "f"];

fn plan() -> String {
    let hosts: String =
        (1..).zip(HOSTS).map(|(n, host)| format!("[hosts.{host}]\naddress = \"192.0.2.{n}\"\n")).collect();
    format!(
        "title = \"six\"\n[times]\nevery = \"10min\"\ngap = \"0s\"\n{hosts}[groups.all]\nmesh = {HOSTS:?}\n\
         [[tests]]\nkind = \"tcp\"\ntime = \"1s\"\n"
    )
}

/// An agent that asks one hub after the other.
struct Agent {
    name: &'static str,
    connections: Vec<Connection>,
    number: u64,
}

impl Agent {
    fn of(hubs: &[&Running], home: &TempDir, name: &'static str) -> Self {
        Self { name, connections: hubs.iter().map(|hub| hub.agent(home.path())).collect(), number: 0 }
    }

    fn ask(&mut self, room: u32, inventory: Vec<LeaseName>) -> Result<WorkReply, CallError> {
        self.number += 1;
        let request = WorkRequest {
            boots: 1,
            number: self.number,
            room,
            inventory: Some(inventory),
            health: AgentHealth::default(),
            patience_ms: Some(20),
            standing: None,
        };
        self.any().call(&WORK, &request)
    }

    /// Delivers until a hub has it on disk.
    fn deliver(&mut self, lease: &LeaseName) -> Verdict {
        let finding = Finding::Nothing { detail: self.name.to_owned() };
        let content = serde_json::to_vec(&RunResult { began: WallTime::from_unix_nanos(1), finding }).unwrap();
        let kind = RecordKind::Result { lease: lease.clone() };
        let delivery =
            Delivery { records: vec![Record::pack(format!("result-{lease}"), kind, &content, None).unwrap()] };
        loop {
            self.number += 1;
            if let Ok(receipt) = self.any().call::<Receipt>(&RECORDS, &delivery) {
                return receipt.verdicts[0].clone();
            }
        }
    }

    fn any(&mut self) -> &mut Connection {
        let place = usize::try_from(self.number).unwrap() % self.connections.len();
        &mut self.connections[place]
    }
}

pub fn row(reply: &WorkReply) -> (RunRow, LeaseName) {
    let row: RunRow = serde_json::from_value(reply.leases[0].row.clone()).unwrap();
    let lease = LeaseName { run: row.id.0.clone(), attempt: row.attempts };
    (row, lease)
}

/// What is true, whatever hubs believe.
#[derive(Default)]
struct Ledger {
    in_use: BTreeSet<String>,
    begun: BTreeMap<String, u32>,
    wrong: Vec<String>,
}

impl Ledger {
    fn begins(&mut self, run: &RunRow) {
        *self.begun.entry(run.id.0.clone()).or_default() += 1;
        for host in [&run.from, &run.to] {
            if !self.in_use.insert(host.clone()) {
                self.wrong.push(format!("{} while another run uses {host}", run.id));
            }
        }
    }

    fn ends(&mut self, run: &RunRow) {
        for host in [&run.from, &run.to] {
            self.in_use.remove(host);
        }
    }
}

/// A hub on a database with a plan, and all hosts as agents of it.
fn first(database: Option<String>) -> (Running, Vec<TempDir>) {
    let hub = match database {
        Some(url) => Running::of(&Settings { database: Some(DatabaseUrl(url)), ..settings() }),
        None => Running::start(),
    };
    let homes: Vec<TempDir> = HOSTS.iter().map(|_| TempDir::new().unwrap()).collect();
    for (home, name) in homes.iter().zip(HOSTS) {
        hub.join(home.path(), name, hub.token(Purpose::Join)).unwrap();
    }
    (hub, homes)
}

/// Another hub of the same database.
pub fn beside(hub: &Running) -> Running {
    let directory = TempDir::new().unwrap();
    let first = Directory::at(hub.directory.path());
    Directory::at(directory.path()).init(&first.settings().unwrap(), Some(&first)).unwrap();
    Running::open(directory)
}

fn set_plan(hub: &Running) {
    let call = Call { method: "POST", path: "/api/v1/plan", patience: PATIENCE };
    hub.person(&hub.token(Purpose::Operate)).call::<serde_json::Value>(&call, &PlanText { text: plan() }).unwrap();
}

fn wish(hub: &Running, from: &str, to: &str) -> Vec<String> {
    let wish = RunWish { test: "tcp".to_owned(), from: from.to_owned(), to: to.to_owned() };
    let call = Call { method: "POST", path: "/api/v1/run", patience: PATIENCE };
    hub.person(&hub.token(Purpose::Operate)).call::<AskedRuns>(&call, &wish).unwrap().runs
}

#[test]
fn run_that_one_hub_leases_is_answered_by_another_and_delivered_to_any() {
    let (one, homes) = first(None);
    let other = beside(&one);
    set_plan(&other);
    let asked = wish(&one, "a", "b");
    let mut agents = [Agent::of(&[&one], &homes[0], "a"), Agent::of(&[&other], &homes[1], "b")];
    let until = Instant::now() + PATIENCE;
    let (turn, reply) = 'leased: loop {
        for turn in 0..2 {
            agents[1 - turn].ask(0, Vec::new()).unwrap();
            let reply = agents[turn].ask(1, Vec::new()).unwrap();
            if reply.leases.iter().any(|lease| lease.row["id"] == asked[0].as_str()) {
                break 'leased (turn, reply);
            }
        }
        assert!(Instant::now() < until, "nobody is leased {asked:?}");
    };
    let (run, lease) = row(&reply);
    let served = loop {
        let reply = agents[1 - turn].ask(0, Vec::new()).unwrap();
        assert!(Instant::now() < until, "the other hub does not say what is to be answered");
        if let Some(ticket) = reply.serve.first() {
            break ticket.clone();
        }
    };
    let seal = one.hub.ticket_key.seal();
    let claims = seal.check(&served, agents[1 - turn].name, one.hub.now()).unwrap();
    assert_eq!((&claims.lease, claims.agent.as_str()), (&lease, agents[1 - turn].name));
    assert_ne!(claims.agent, run.agent);
    // Delivered to the hub that has not leased it, then to the other.
    let home = &homes[if run.agent == "a" { 0 } else { 1 }];
    for (hub, verdict) in [(if turn == 0 { &other } else { &one }, Verdict::Stored), (&one, Verdict::Duplicate)] {
        assert_eq!(Agent::of(&[hub], home, HOSTS[turn]).deliver(&lease), verdict);
    }
}

/// Asks and carries out until `over` says that all is done.
fn work(mut agent: Agent, ledger: &Mutex<Ledger>, over: &dyn Fn() -> bool) {
    let locked = || -> MutexGuard<'_, Ledger> { ledger.lock().unwrap() };
    let mut is_lossy = agent.name == "a";
    while !over() {
        let Ok(reply) = agent.ask(1, Vec::new()) else {
            thread::park_timeout(Duration::from_millis(50));
            continue;
        };
        if reply.leases.is_empty() {
            continue;
        }
        // A reply that was lost: the run is leased again.
        if std::mem::take(&mut is_lossy) {
            continue;
        }
        let (run, lease) = row(&reply);
        locked().begins(&run);
        thread::park_timeout(Duration::from_millis(10));
        locked().ends(&run);
        let verdict = agent.deliver(&lease);
        if !matches!(verdict, Verdict::Stored | Verdict::Duplicate) {
            locked().wrong.push(format!("{lease}: {verdict:?}"));
        }
    }
}

#[test]
fn three_hubs_of_which_one_ends_and_a_database_that_is_killed_lose_no_run_and_run_none_twice() {
    let cluster = Cluster::start();
    let (one, homes) = first(Some(cluster.database()));
    let (two, three) = (beside(&one), beside(&one));
    set_plan(&two);
    let hubs = [&one, &two, &three];
    let pairs = HOSTS.iter().flat_map(|from| HOSTS.iter().filter(move |to| *to != from).map(move |to| (from, to)));
    let asked: Vec<String> = pairs.zip(hubs.iter().cycle()).flat_map(|((from, to), hub)| wish(hub, from, to)).collect();
    assert_eq!(asked.len(), 30);
    let agents: Vec<Agent> = homes.iter().zip(HOSTS).map(|(home, name)| Agent::of(&hubs, home, name)).collect();
    let ledger = Mutex::new(Ledger::default());
    let (until, is_over) = (Instant::now() + PATIENCE, Mutex::new(false));
    let done = || {
        let rows = one.hub.store.runs(&asked).unwrap_or_default();
        rows.iter().filter(|run| matches!(run.state, RunState::Done { .. })).count()
    };
    thread::scope(|scope| {
        for agent in agents {
            let (ledger, is_over) = (&ledger, &is_over);
            scope.spawn(move || work(agent, ledger, &|| *is_over.lock().unwrap() || Instant::now() > until));
        }
        let wait_for = |count| {
            while done() < count && Instant::now() < until {
                thread::park_timeout(Duration::from_millis(20));
            }
        };
        wait_for(5);
        cluster.kill();
        thread::park_timeout(Duration::from_millis(500));
        cluster.run();
        wait_for(15);
        drop(three);
        wait_for(asked.len());
        *is_over.lock().unwrap() = true;
    });
    let ledger = ledger.into_inner().unwrap();
    assert_eq!(done(), asked.len(), "{}\n{}", one.log(), two.log());
    assert!(ledger.wrong.is_empty(), "{:#?}", ledger.wrong);
    assert!(ledger.begun.values().all(|times| *times == 1), "{:#?}", ledger.begun);
    let query = RecordQuery { kind: "result", agent: None, since: WallTime::default(), most: 1000 };
    let results = two.hub.store.newest(query).unwrap();
    let runs: BTreeSet<&String> = results.iter().filter_map(|record| record.run.as_ref()).collect();
    assert_eq!(runs.len(), results.len(), "no result is there twice");
    assert!(asked.iter().all(|run| runs.contains(run)));
}

#[test]
fn incident_is_opened_once_whichever_hub_results_come_to_and_its_steps_are_told_once() {
    let (route, told) = receiver();
    let mut mesh = Mesh::start(route);
    let other = beside(&mesh.hub);
    // Half of the agents speak to each hub.
    for place in [1, 3] {
        mesh.agents[place] = other.agent(mesh.homes[place].path());
    }
    (0..14).for_each(|_| mesh.round("c", 0));
    (0..6).for_each(|_| mesh.round("c", 20_000));
    let opened = told.recv_timeout(PATIENCE).unwrap();
    assert_eq!(opened.status, Status::Open, "{opened:?}");
    let until = Instant::now() + PATIENCE;
    while incidents(&other).len() != 1 || incidents(&mesh.hub).len() != 1 {
        assert!(Instant::now() < until, "{:#?}\n{:#?}", incidents(&mesh.hub), incidents(&other));
        thread::park_timeout(Duration::from_millis(100));
    }
    // A person acts at one hub after the other; the last of them ends.
    let id = opened.incident.0.clone();
    for hub in [&other, &mesh.hub, &other] {
        let noted = crate::watching::step(hub, &id, Step::Note);
        assert_eq!(noted.incident.id.0, id);
    }
    drop(other);
    for (place, home) in mesh.homes.iter().enumerate() {
        mesh.agents[place] = mesh.hub.agent(home.path());
    }
    (0..4).for_each(|_| mesh.round("c", 0));
    let verified = told.recv_timeout(PATIENCE).unwrap();
    assert_eq!((&verified.incident.0, verified.status), (&id, Status::Verified));
    let known = incidents(&mesh.hub);
    assert_eq!(known.len(), 1);
    let notes =
        known[0].timeline.iter().filter(|entry| matches!(entry.occurrence, mesh::incident::Occurrence::Note { .. }));
    assert_eq!(notes.count(), 3, "{:#?}", known[0].timeline);
    assert!(matches!(told.recv_timeout(Duration::from_secs(2)), Err(RecvTimeoutError::Timeout)));
}

#[test]
fn two_hubs_that_close_segments_at_the_same_time_give_each_run_one_segment() {
    let cluster = Cluster::start();
    let (one, homes) = first(Some(cluster.database()));
    let other = beside(&one);
    let mut arrivals = Vec::new();
    for number in 0..400_u64 {
        let content = serde_json::to_vec(&RunResult {
            began: WallTime::from_unix_nanos(number),
            finding: Finding::Nothing { detail: String::new() },
        });
        let lease = LeaseName { run: format!("tcp@all/a/b/{number}"), attempt: 1 };
        let kind = RecordKind::Result { lease };
        let record = Record::pack(format!("r{number}"), kind, &content.unwrap(), Some(b"samples")).unwrap();
        let unpacked = record.unpack().unwrap();
        arrivals.push(Arrival { record, unpacked });
    }
    let delivered = vec![Delivered { agent: "a".to_owned(), arrivals, at: WallTime::from_unix_nanos(1) }];
    let (_, turn) = one.hub.store.turn(TurnRequest::default()).unwrap();
    turn.commit(Changes { delivered, ..Changes::default() }).unwrap();
    let records = one.hub.store.unjudged(0, 1_000).unwrap();
    let folder = SegmentFolder { day: 0, pair: 0 };
    let run = |record: &StoredRecord| SegmentRun { record: record.key, folder, bytes: 7, received: record.received };
    let closing = Closing { folder, most_runs: 7, most_bytes: 1 << 20, owner: "o".to_owned() };
    let closed: u64 = thread::scope(|scope| {
        let close = |hub: &Running| {
            let store = hub.hub.store.as_ref();
            for some in records.chunks(30) {
                let upto = some.last().map_or(0, |record| record.key);
                store.sort(SortedRuns { upto, runs: some.iter().map(run).collect() }).unwrap();
            }
            let closed =
                std::iter::from_fn(|| Some(store.close(closing.clone()).unwrap().runs)).take_while(|runs| *runs > 0);
            closed.sum::<u64>()
        };
        let both = [&one, &other].map(|hub| scope.spawn(move || close(hub)));
        both.into_iter().map(|one| one.join().unwrap()).sum()
    });
    assert_eq!(closed, 400, "each once");
    let mut seen = BTreeSet::new();
    while let Some(segment) = one.hub.store.unwritten().unwrap() {
        assert!(segment.records.len() <= 7);
        for record in segment.records {
            assert!(seen.insert(record.key), "record {} is in two segments", record.key);
        }
        other.hub.store.written(segment.key, Vec::new()).unwrap();
    }
    assert_eq!(seen.len(), 400);
    drop(homes);
}

#[test]
fn incident_is_found_and_told_once_when_the_hub_that_judges_is_gone_without_a_word() {
    let (route, told) = receiver();
    let mut mesh = Mesh::start(route);
    (0..14).for_each(|_| mesh.round("c", 0));
    let directory = Directory::at(mesh.hub.directory.path());
    let dead = open(&directory, &directory.settings().unwrap()).unwrap();
    assert!(matches!(dead.judging(JudgingClaim::TakeOver).unwrap(), Judging::Own(_)));
    // As after `kill -9`: it says neither that it is there nor that it leaves.
    std::mem::forget(dead);
    (0..6).for_each(|_| mesh.round("c", 20_000));
    let opened = told.recv_timeout(PATIENCE).unwrap();
    assert_eq!(opened.status, Status::Open, "{opened:?}");
    assert!(matches!(told.recv_timeout(Duration::from_secs(2)), Err(RecvTimeoutError::Timeout)));
    assert_eq!(incidents(&mesh.hub).len(), 1);
    (0..4).for_each(|_| mesh.round("c", 0));
    let verified = told.recv_timeout(PATIENCE).unwrap();
    assert_eq!((verified.incident, verified.status), (opened.incident, Status::Verified));
}
