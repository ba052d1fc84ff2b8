//! Many agents at three hubs, of which one ends, on a database that is killed: every run that was begun has one result, and no
//! host was in two. `LINERATE_AGENTS` and `LINERATE_SECONDS` make it larger, and times of answers are printed.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

use hub::agent::connection::Call;
use hub::api::mesh::PlanText;
use hub::api::order::LeaseName;
use hub::api::record::{Delivery, Receipt, Record, RecordKind, RunResult, Verdict};
use hub::api::work::{AgentHealth, Facts, WorkReply, WorkRequest};
use hub::server::directory::{DatabaseUrl, Settings};
use hub::trust::token::Purpose;
use mesh::run::{RunRow, RunState};
use model::played::Finding;
use tempfile::TempDir;
use units::WallTime;

use crate::cluster::Cluster;
use crate::running::{Running, settings};
use crate::sharing::{PATIENCE, RECORDS, WORK, beside, row};

/// Pairs that test each other, both ways in each period.
fn plan(pairs: usize) -> String {
    let hosts: String = (0..2 * pairs).map(|n| format!("[hosts.h{n}]\naddress = \"192.0.2.1\"\n")).collect();
    let groups: String =
        (0..pairs).map(|n| format!("[groups.g{n}]\nmesh = [\"h{}\", \"h{}\"]\n", 2 * n, 2 * n + 1)).collect();
    let tests: String =
        (0..pairs).map(|n| format!("[[tests]]\nkind = \"tcp\"\ntime = \"1s\"\ngroup = \"g{n}\"\n")).collect();
    format!("title = \"pairs\"\n[times]\nevery = \"16s\"\ngap = \"0s\"\nlight-every = \"1h\"\n{hosts}{groups}{tests}")
}

/// What agents have seen.
#[derive(Default)]
struct Seen {
    in_use: BTreeMap<String, String>,
    begun: BTreeMap<String, u32>,
    wrong: Vec<String>,
    leases: Vec<Answered>,
    deliveries: Vec<Answered>,
    failures: u32,
}

/// An answer that an agent got.
#[derive(Clone, Copy)]
struct Answered {
    at: Instant,
    after: Duration,
}

struct Agent<'a> {
    hubs: Vec<hub::agent::connection::Connection>,
    turn: usize,
    number: u64,
    /// The light tests that it has, by the hub's digest of them.
    standing: Option<String>,
    seen: &'a Mutex<Seen>,
}

impl Agent<'_> {
    fn call<T: serde::de::DeserializeOwned>(&mut self, call: &Call<'_>, body: &impl serde::Serialize) -> Option<T> {
        let at = self.turn % self.hubs.len();
        let answer = self.hubs[at].call(call, body).ok();
        if answer.is_none() {
            self.turn += 1;
            self.seen.lock().unwrap().failures += 1;
            thread::park_timeout(Duration::from_millis(200));
        }
        answer
    }

    fn live(&mut self, until: Instant) {
        while Instant::now() < until {
            self.number += 1;
            let request = WorkRequest {
                boots: 1,
                number: self.number,
                room: 1,
                inventory: Some(Vec::new()),
                health: AgentHealth::default(),
                // As long as an agent waits, but no longer than all of this lasts.
                patience_ms: u64::try_from((until.saturating_duration_since(Instant::now())).as_millis()).ok(),
                standing: self.standing.clone(),
            };
            let asked = Instant::now();
            let Some(reply) = self.call::<WorkReply>(&WORK, &request) else { continue };
            // What it does not know would be answered at once, again and again.
            self.standing = reply.standing.as_ref().map(|orders| orders.digest.clone()).or(self.standing.take());
            if reply.facts == Facts::Wanted {
                let facts = Record::pack(format!("facts-{}", self.number), RecordKind::Snapshot, b"{}", None).unwrap();
                self.call::<Receipt>(&RECORDS, &Delivery { records: vec![facts] });
            }
            if !reply.leases.is_empty() {
                let time = asked.elapsed().saturating_sub(reply.waited);
                self.seen.lock().unwrap().leases.push(Answered { at: Instant::now(), after: time });
                self.carry_out(&reply);
            }
        }
    }

    fn carry_out(&mut self, reply: &WorkReply) {
        let (run, lease) = row(reply);
        {
            let mut seen = self.seen.lock().unwrap();
            *seen.begun.entry(lease.run.clone()).or_default() += 1;
            for host in [&run.from, &run.to] {
                if let Some(other) = seen.in_use.insert(host.clone(), lease.run.clone()) {
                    seen.wrong.push(format!("{host} is in {lease} and in {other}"));
                }
            }
        }
        thread::park_timeout(Duration::from_secs(1));
        for host in [&run.from, &run.to] {
            self.seen.lock().unwrap().in_use.remove(host);
        }
        let delivery = Delivery { records: vec![result(&lease)] };
        let until = Instant::now() + PATIENCE;
        while Instant::now() < until {
            let began = Instant::now();
            if let Some(receipt) = self.call::<Receipt>(&RECORDS, &delivery) {
                let mut seen = self.seen.lock().unwrap();
                seen.deliveries.push(Answered { at: Instant::now(), after: began.elapsed() });
                if !matches!(receipt.verdicts[0], Verdict::Stored | Verdict::Duplicate) {
                    seen.wrong.push(format!("{lease}: {receipt:?}"));
                }
                return;
            }
        }
    }
}

fn result(lease: &LeaseName) -> Record {
    let finding = Finding::Nothing { detail: "tried".to_owned() };
    let content = serde_json::to_vec(&RunResult { began: WallTime::from_unix_nanos(1), finding }).unwrap();
    let kind = RecordKind::Result { lease: lease.clone() };
    Record::pack(format!("result-{lease}"), kind, &content, None).unwrap()
}

fn from_environment(name: &str, usual: usize) -> usize {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(usual)
}

/// Times of answers: over all, and the ninety-ninth of a hundred in each part of the time.
fn shown(what: &str, answers: &mut [Answered], start: Instant, time: Duration) -> String {
    answers.sort_by_key(|answer| answer.after);
    let at = |answers: &[Answered], share: usize| {
        let number = (answers.len() * share / 100).min(answers.len().saturating_sub(1));
        answers.get(number).map_or(0, |answer| answer.after.as_millis())
    };
    let part = time / PARTS;
    let in_part = |number: u32| {
        let from = start + part * number;
        let of_it = answers.iter().filter(|answer| answer.at >= from && answer.at < from + part);
        at(&of_it.copied().collect::<Vec<_>>(), 99).to_string()
    };
    let parts: Vec<String> = (0..PARTS).map(in_part).collect();
    let (median, most, largest) = (at(answers, 50), at(answers, 99), at(answers, 100));
    let all = answers.len();
    let parts = parts.join(" ");
    format!("{what}: {all} in all, median {median} ms, p99 {most} ms, largest {largest} ms; p99 over time: {parts}")
}

const PARTS: u32 = 20;

#[test]
fn agents_of_three_hubs_carry_out_each_run_once_while_a_hub_and_the_database_go_away() {
    let agents = from_environment("LINERATE_AGENTS", 24) & !1;
    let time = Duration::from_secs(from_environment("LINERATE_SECONDS", 10) as u64);
    let cluster = Cluster::start();
    let settings = Settings { database: Some(DatabaseUrl(cluster.database())), ..settings() };
    let one = Running::of(&settings);
    let (two, three) = (beside(&one), beside(&one));
    let homes: Vec<TempDir> = (0..agents).map(|_| TempDir::new().unwrap()).collect();
    for (number, home) in homes.iter().enumerate() {
        one.join(home.path(), &format!("h{number}"), one.token(Purpose::Join)).unwrap();
    }
    let call = Call { method: "POST", path: "/api/v1/plan", patience: PATIENCE };
    let text = plan(agents / 2);
    two.person(&two.token(Purpose::Operate)).call::<serde_json::Value>(&call, &PlanText { text }).unwrap();
    let seen = Mutex::new(Seen::default());
    let start = Instant::now();
    let until = start + time;
    let hubs = [&one, &two, &three];
    let agent = |(turn, home): (usize, &TempDir)| {
        let hubs = hubs.iter().map(|hub| hub.agent(home.path())).collect();
        Agent { hubs, turn, number: 0, standing: None, seen: &seen }
    };
    let living: Vec<Agent<'_>> = homes.iter().enumerate().map(agent).collect();
    thread::scope(|scope| {
        for mut agent in living {
            scope.spawn(move || agent.live(until));
        }
        thread::park_timeout(time / 3);
        cluster.kill();
        thread::park_timeout(Duration::from_millis(300));
        cluster.run();
        thread::park_timeout(time / 3);
        drop(three);
    });
    let mut seen = seen.into_inner().unwrap();
    println!("{}", shown("leases", &mut seen.leases, start, time));
    println!("{}", shown("deliveries", &mut seen.deliveries, start, time));
    println!("{} requests failed and were repeated", seen.failures);
    assert!(seen.wrong.is_empty(), "{:#?}", seen.wrong);
    assert!(seen.begun.len() > agents / 4, "{} runs\n{}", seen.begun.len(), one.log());
    assert!(seen.begun.values().all(|times| *times == 1), "{:#?}", seen.begun);
    let names: Vec<String> = seen.begun.into_keys().collect();
    let rows: Vec<RunRow> = one.hub.store.runs(&names).unwrap();
    let done = rows.iter().filter(|run| matches!(run.state, RunState::Done { .. })).count();
    assert_eq!(done, names.len(), "{}\n{}", one.log(), two.log());
}
