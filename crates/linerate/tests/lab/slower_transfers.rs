//! Transfers of a program that is no test become slower, and nobody tests: a hub hears of it from its agents, opens an incident whose
//! evidence is those transfers alone, and asks for the one test that says whether it is the path.
//!
//! It needs root, `ip`, `tc` and `python3`.

use std::fs;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use hub::api::mesh::{IncidentList, Pairs, SeriesState};
use mesh::incident::{Incident, Metric, Occurrence};
use tempfile::TempDir;

use crate::support::truth_network::Network;

/// The two agents test each other once a day: not while this lasts, or hardly.
const PLAN: &str = r#"
title = "two"
[times]
every = "24h"
[hosts.near]
address = "10.91.1.1"
[hosts.far]
address = "10.91.2.1"
[groups.all]
mesh = ["near", "far"]
[[tests]]
kind = "tcp"
time = "2s"
"#;

/// One file after the other from the near host to the far one.
const RECEIVER: &str = "
import socket
listener = socket.create_server(('10.91.2.1', 7000))
while True:
    peer, _ = listener.accept()
    while peer.recv(1 << 18): pass
    peer.close()
";
const SENDER: &str = "
import socket, time
data = bytes(1 << 16)
while True:
    try: peer = socket.create_connection(('10.91.2.1', 7000))
    except OSError:
        time.sleep(0.1)
        continue
    end = time.monotonic() + 5
    while time.monotonic() < end: peer.sendall(data)
    peer.close()
";

#[test]
fn slower_transfers_are_an_incident_without_a_test_and_the_next_test_finds_the_path() {
    let network = Network::new();
    // Slow enough that a machine which does other things as well carries it, and a tenth of it still is the megabyte of a result.
    shape(&network, "add", "60mbit");
    let mut mesh = Mesh::start(&network);
    mesh.spawn(&network.far, "python3", &["-c", RECEIVER]);
    mesh.spawn(&network.near, "python3", &["-c", SENDER]);
    // Enough for a baseline, and nothing is wrong.
    mesh.wait("a baseline", |mesh| mesh.transfers() >= 24);
    assert_eq!(mesh.incidents(), [], "nothing is wrong yet");

    shape(&network, "change", "6mbit");
    mesh.wait("an incident", |mesh| !mesh.incidents().is_empty());
    let opened = mesh.incidents().remove(0);
    let only = opened.symptoms.iter().all(|symptom| symptom.metric == Metric::TransferRate);
    assert!(only && opened.hosts.iter().any(|host| host == "near" || host == "far"), "{opened:#?}");

    mesh.wait("the result of the next test", |mesh| note(&mesh.incidents()[0]).is_some());
    let incident = mesh.incidents().remove(0);
    let asked = incident.next_test().unwrap_or_else(|| panic!("{incident:#?}"));
    assert!(asked.starts_with("tcp@all/near/far/"), "{asked}");
    let said = note(&incident).unwrap();
    assert!(said.contains("the path or a host is slower"), "{said}");
    assert_eq!(mesh.incidents().len(), 1, "one fault is one incident");
}

/// What the test has shown.
fn note(incident: &Incident) -> Option<String> {
    incident.timeline.iter().find_map(|entry| match &entry.occurrence {
        Occurrence::Note { by, text } if by == "next test" => Some(text.clone()),
        _ => None,
    })
}

fn shape(network: &Network, how: &str, rate: &str) {
    network.within(&network.router, &format!("tc qdisc {how} dev to-far root tbf rate {rate} burst 32k limit 128k"));
}

/// A hub in the near namespace, and an agent in each.
struct Mesh {
    folder: TempDir,
    near: String,
    running: Vec<Child>,
}

impl Mesh {
    fn start(network: &Network) -> Self {
        let folder = TempDir::new().unwrap();
        let mut mesh = Self { folder, near: network.near.clone(), running: Vec::new() };
        let hub = mesh.path("hub");
        mesh.linerate(&network.near, &["hub", "init", &hub, "--name", "10.91.1.1", "--listen", "10.91.1.1:8443"]);
        let settings = format!("{hub}/hub.toml");
        let text = fs::read_to_string(&settings).unwrap();
        // Two seconds of transfers are a result here, so that a baseline takes a minute and not hours.
        let quick = if text.contains("[incidents]\n") {
            text.replace("[incidents]\n", "[incidents]\ntransfers_every = \"2s\"\n")
        } else {
            text + "\n[incidents]\ntransfers_every = \"2s\"\n"
        };
        fs::write(&settings, quick).unwrap();
        let network = [(&network.near, "near"), (&network.far, "far")];
        mesh.daemon(network[0].0, &["hub", "run", &hub], "hub");
        mesh.wait("that the hub listens", |mesh| mesh.log("hub").contains("listening on"));
        for (namespace, name) in network {
            let token = mesh.linerate(&mesh.near, &["hub", "token", &hub]);
            let directory = mesh.path(name);
            let join =
                ["agent", "join", "https://10.91.1.1:8443", token.trim(), "--name", name, "--directory", &directory];
            mesh.linerate(namespace, &join);
            mesh.daemon(namespace, &["agent", "run", "--no-watch", "--directory", &directory], name);
        }
        let plan = mesh.path("plan.toml");
        fs::write(&plan, PLAN).unwrap();
        mesh.linerate(&mesh.near, &["hub", "plan", &hub, &plan]);
        mesh
    }

    fn path(&self, name: &str) -> String {
        self.folder.path().join(name).to_str().unwrap().to_owned()
    }

    /// Runs a command that must end well, and returns what it prints.
    fn linerate(&self, namespace: &str, arguments: &[&str]) -> String {
        let output = inside(namespace, env!("CARGO_BIN_EXE_linerate")).args(arguments).output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    fn daemon(&mut self, namespace: &str, arguments: &[&str], log: &str) {
        let log = fs::File::create(self.folder.path().join(log).with_extension("log")).unwrap();
        let mut command = inside(namespace, env!("CARGO_BIN_EXE_linerate"));
        let command = command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
        self.running.push(command.spawn().unwrap());
    }

    fn spawn(&mut self, namespace: &str, program: &str, arguments: &[&str]) {
        self.running.push(inside(namespace, program).args(arguments).stdin(Stdio::null()).spawn().unwrap());
    }

    fn log(&self, who: &str) -> String {
        fs::read_to_string(PathBuf::from(self.path(&format!("{who}.log")))).unwrap_or_default()
    }

    /// How many results of transfers from the near host to the far one the hub has.
    fn transfers(&self) -> u64 {
        let pairs = self.linerate(&self.near, &["hub", "pairs", &self.path("hub"), "--json"]);
        let pairs: Pairs = serde_json::from_str(&pairs).unwrap();
        let of_transfers = pairs.series.iter().filter(|info| info.series.metric == Metric::TransferRate);
        let of_pair =
            of_transfers.filter(|info| (info.series.from.as_str(), info.series.to.as_str()) == ("near", "far"));
        of_pair.filter(|info| info.state != SeriesState::Stale).map(|info| info.results).sum()
    }

    fn incidents(&self) -> Vec<Incident> {
        let list = self.linerate(&self.near, &["hub", "incidents", &self.path("hub"), "--json"]);
        serde_json::from_str::<IncidentList>(&list).unwrap().incidents
    }

    #[track_caller]
    fn wait(&self, what: &str, holds: impl Fn(&Self) -> bool) {
        let until = Instant::now() + PATIENCE;
        while !holds(self) {
            let logs = || ["hub", "near", "far"].map(|who| format!("{who}: {}", self.log(who))).join("\n");
            assert!(Instant::now() < until, "{what} does not come\n{}", logs());
            thread::park_timeout(Duration::from_millis(200));
        }
    }
}

impl Drop for Mesh {
    fn drop(&mut self) {
        for child in self.running.iter_mut().rev() {
            // It fails only where it has ended already.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

fn inside(namespace: &str, program: &str) -> Command {
    let mut command = Command::new("ip");
    command.args(["netns", "exec", namespace, program]).env_remove("LINERATE_ARCHIVE");
    command
}

/// After this a wait fails instead of going on for ever. No claim rests on it.
const PATIENCE: Duration = Duration::from_secs(300);
