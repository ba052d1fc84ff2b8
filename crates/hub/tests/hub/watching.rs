//! Results that agents deliver, judged: one incident of a host, and a receiver that is told of each step once.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use hub::agent::connection::{Call, Connection};
use hub::api::Nothing;
use hub::api::mesh::{IncidentDetail, IncidentList, IncidentStep, PlanInfo, PlanText, Step};
use hub::api::order::LeaseName;
use hub::api::record::{Delivery, Receipt, Record, RecordKind, RunResult, Verdict};
use hub::trust::token::Purpose;
use mesh::incident::{Element, Incident, Occurrence, Status, Subject};
use mesh::notify::{Message, Route, Target};
use model::measurement::RttSummary;
use model::played::Finding;
use model::probe::Subject as Probed;
use model::probe::echo::{EchoSeries, EchoSpec, EchoSummary};
use model::run::Outcome;
use tempfile::TempDir;
use units::{PacketCount, WallTime};

use crate::running::Running;

const PATIENCE: Duration = Duration::from_secs(60);
const HOSTS: [&str; 4] = ["a", "b", "c", "d"];
const PLAN: &str = r#"
title = "four"
[times]
light-every = "1min"
[hosts.a]
address = "192.0.2.1"
[hosts.b]
address = "192.0.2.2"
[hosts.c]
address = "192.0.2.3"
[hosts.d]
address = "192.0.2.4"
[groups.all]
mesh = ["a", "b", "c", "d"]
[[tests]]
kind = "ping"
label = "rtt"
"#;

/// What takes messages over HTTP, as a person's own script would.
pub fn receiver() -> (Route, Receiver<Message>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let (tell, told) = channel();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut lines = BufReader::new(stream.try_clone().unwrap());
            let (mut line, mut length) = (String::new(), 0);
            while lines.read_line(&mut line).unwrap() > 2 {
                let header = line.to_lowercase();
                length = header.strip_prefix("content-length:").map_or(length, |text| text.trim().parse().unwrap());
                line.clear();
            }
            let mut body = vec![0; length];
            lines.read_exact(&mut body).unwrap();
            stream.write_all(b"HTTP/1.1 204 No Content\r\n\r\n").unwrap();
            if tell.send(serde_json::from_slice(&body).unwrap()).is_err() {
                return;
            }
        }
    });
    let target = Target::Webhook(format!("http://{address}/linerate"));
    (Route { name: "noc".to_owned(), target, hosts: Vec::new(), remind_after_s: None }, told)
}

/// Four agents that deliver what they are told to have measured.
pub struct Mesh {
    pub hub: Running,
    pub agents: Vec<Connection>,
    pub homes: Vec<TempDir>,
    /// The first result, in seconds since 1970: of a plan of one minute, results are stale that are half an hour old.
    start: u64,
    minute: u64,
}

impl Mesh {
    pub fn start(route: Route) -> Self {
        Self::of(Running::telling(vec![route]))
    }

    /// At this hub.
    pub fn of(hub: Running) -> Self {
        let homes: Vec<TempDir> = HOSTS.iter().map(|_| TempDir::new().unwrap()).collect();
        for (home, name) in homes.iter().zip(HOSTS) {
            hub.join(home.path(), name, hub.token(Purpose::Join)).unwrap();
        }
        let mut person = hub.person(&hub.token(Purpose::Operate));
        let call = Call { method: "POST", path: "/api/v1/plan", patience: PATIENCE };
        let info: PlanInfo = person.call(&call, &PlanText { text: PLAN.to_owned() }).unwrap();
        assert_eq!(info.agents, HOSTS);
        let agents = homes.iter().map(|home| hub.agent(home.path())).collect();
        let start = hub.hub.now().unix_seconds() - 1_500;
        Self { hub, agents, homes, start, minute: 0 }
    }

    /// Each host delivers the RTT to each other, `more_us` longer where `bad` is one of them.
    pub fn round(&mut self, bad: &str, more_us: u64) {
        self.minute += 1;
        let second = self.start + self.minute * 60;
        for (from, agent) in HOSTS.iter().zip(&mut self.agents) {
            let others = HOSTS.iter().filter(|to| *to != from);
            let records = others.map(|to| {
                let noise = (self.minute * 7 + u64::from(from.as_bytes()[0]) * 3 + u64::from(to.as_bytes()[0])) % 11;
                let is_bad = *from == bad || *to == bad;
                let rtt_us = 10_000 + noise + if is_bad { more_us } else { 0 };
                Echo { second, rtt_us }.record(&format!("rtt@all/{from}/{to}"))
            });
            let delivery = Delivery { records: records.collect() };
            let call = Call { method: "POST", path: "/api/v1/agent/records", patience: PATIENCE };
            let receipt: Receipt = agent.call(&call, &delivery).unwrap();
            assert!(receipt.verdicts.iter().all(|verdict| *verdict == Verdict::Stored), "{receipt:?}");
        }
    }

    fn step(&self, id: &str, wanted: Step) -> IncidentDetail {
        step(&self.hub, id, wanted)
    }
}

/// A person makes a step at a hub.
pub fn step(hub: &Running, id: &str, step: Step) -> IncidentDetail {
    let mut person = hub.person(&hub.token(Purpose::Operate));
    let call = Call { method: "POST", path: "/api/v1/incident", patience: PATIENCE };
    let text = "by hand".to_owned();
    let asked = IncidentStep { id: id.to_owned(), by: "ada".to_owned(), step, text, seconds: Some(3_600) };
    person.call(&call, &asked).unwrap()
}

pub fn incidents(hub: &Running) -> Vec<Incident> {
    let mut person = hub.person(&hub.token(Purpose::View));
    let call = Call { method: "GET", path: "/api/v1/incidents", patience: PATIENCE };
    person.call::<IncidentList>(&call, &Nothing {}).unwrap().incidents
}

/// What an agent has measured, and when.
#[derive(Clone, Copy)]
struct Echo {
    second: u64,
    rtt_us: u64,
}

impl Echo {
    fn record(self, order: &str) -> Record {
        let Self { second, rtt_us } = self;
        let began = WallTime::from_unix_nanos(second * 1_000_000_000);
        let rtt = RttSummary {
            sent: PacketCount::new(10),
            lost: PacketCount::new(0),
            min_us: Some(rtt_us),
            median_us: Some(rtt_us),
            p95_us: Some(rtt_us),
            p99_us: Some(rtt_us),
            max_us: Some(rtt_us),
        };
        let series = EchoSeries {
            subject: Probed { target: "peer".to_owned(), address: None, started: began },
            spec: EchoSpec::default(),
            outcome: Outcome::Complete,
            access: None,
            summary: EchoSummary { rtt, ..EchoSummary::default() },
            probes: Vec::new(),
        };
        let content = serde_json::to_vec(&RunResult { began, finding: Finding::Echo(series) }).unwrap();
        let lease = LeaseName { run: format!("{order}/{second}"), attempt: 1 };
        Record::pack(format!("result-{lease}"), RecordKind::Result { lease }, &content, None).unwrap()
    }
}

#[test]
fn a_bad_host_of_four_is_one_incident_and_each_step_is_told_once() {
    let (route, told) = receiver();
    let mut mesh = Mesh::start(route);
    (0..14).for_each(|_| mesh.round("c", 0));
    (0..6).for_each(|_| mesh.round("c", 20_000));
    let opened = told.recv_timeout(PATIENCE).unwrap();
    assert_eq!(opened.status, Status::Open, "{opened:?}");
    let id = opened.incident.0.clone();
    let detail = mesh.step(&id, Step::Acknowledge);
    assert_eq!(detail.incident.status, Status::Acknowledged);
    assert_eq!(detail.incident.subject, Subject::Element(Element::Host("c".to_owned())), "{detail:#?}");
    let noted = mesh.step(&id, Step::Note);
    let words = noted.incident.timeline.iter().filter(|entry| matches!(entry.occurrence, Occurrence::Note { .. }));
    assert_eq!(words.count(), 1);

    // It is over by itself; what a person did in between was told to nobody.
    (0..4).for_each(|_| mesh.round("c", 0));
    let verified = told.recv_timeout(PATIENCE).unwrap();
    assert_eq!((&verified.incident.0, verified.status), (&id, Status::Verified));
    let closed = mesh.step(&id, Step::Close);
    assert_eq!(closed.incident.status, Status::Closed);
    let last = told.recv_timeout(PATIENCE).unwrap();
    assert_eq!((&last.incident.0, last.status), (&id, Status::Closed));
    assert_eq!(incidents(&mesh.hub).len(), 1, "one fault is one incident");
}

#[test]
fn nobody_is_told_of_a_silenced_incident_and_a_restart_tells_nothing_again() {
    let (route, told) = receiver();
    let mut mesh = Mesh::start(route);
    (0..14).for_each(|_| mesh.round("b", 0));
    (0..6).for_each(|_| mesh.round("b", 20_000));
    let opened = told.recv_timeout(PATIENCE).unwrap();
    let id = opened.incident.0;
    let silenced = mesh.step(&id, Step::Silence);
    assert!(silenced.incident.silent_until.is_some());
    let Mesh { hub, homes: _homes, .. } = mesh;
    let hub = Running::open(hub.stop());
    let known = incidents(&hub);
    assert_eq!(known.len(), 1);
    assert_eq!((known[0].id.0.as_str(), known[0].sent.len()), (id.as_str(), 1), "{known:#?}");
    assert!(told.try_recv().is_err(), "a silenced incident, or one that was told before, is told to nobody");
}
