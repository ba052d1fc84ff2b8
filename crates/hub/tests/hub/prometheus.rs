//! A Prometheus of the distribution reads a hub, loads the alert rules, and answers what the Grafana dashboard asks.

use std::collections::BTreeSet;
use std::fs;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use hub::agent::connection::Call;
use hub::api::work::{AgentHealth, WorkReply, WorkRequest};
use hub::trust::token::Purpose;
use serde_json::Value;
use tempfile::TempDir;

use crate::running::Running;

const PATIENCE: Duration = Duration::from_secs(60);

struct Prometheus {
    process: Child,
    address: SocketAddr,
    directory: TempDir,
}

impl Prometheus {
    /// One that reads a hub each second, set up as docs/monitoring.md says.
    fn reading(hub: &Running) -> Self {
        let directory = TempDir::new().unwrap();
        let token = directory.path().join("view.token");
        fs::write(&token, hub.token(Purpose::View).reveal()).unwrap();
        let rules = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/monitoring/alerts.yml");
        let authority = hub.directory.path().join("authority.pem");
        let settings = format!(
            "global: {{ scrape_interval: 1s, evaluation_interval: 1s }}\n\
             rule_files: [{rules:?}]\n\
             scrape_configs:\n  - job_name: linerate\n    scheme: https\n    tls_config: {{ ca_file: {authority:?} }}\n    \
             authorization: {{ credentials_file: {token:?} }}\n    static_configs: [{{ targets: [\"{}\"] }}]\n",
            hub.address
        );
        fs::write(directory.path().join("prometheus.yml"), settings).unwrap();
        // Free now; who else takes it would have to be quick.
        let address = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap();
        let log = fs::File::create(directory.path().join("log")).unwrap();
        let process = Command::new("prometheus")
            .arg(format!("--web.listen-address={address}"))
            .args(["--config.file=prometheus.yml", "--storage.tsdb.path=data"])
            .current_dir(directory.path())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .unwrap();
        Self { process, address, directory }
    }

    /// What it answers once that is as wanted.
    fn wait(&self, path: &str, is_wanted: impl Fn(&Value) -> bool) -> Value {
        let until = Instant::now() + PATIENCE;
        loop {
            let answer = self.get(path);
            match answer {
                Some(answer) if is_wanted(&answer) => return answer,
                answer => assert!(Instant::now() < until, "{path}: {answer:?}\n{}", self.log()),
            }
            // allow(sleep): Prometheus reads and evaluates each second, and tells nobody
            thread::sleep(Duration::from_millis(50));
        }
    }

    fn get(&self, path: &str) -> Option<Value> {
        let mut stream = TcpStream::connect(self.address).ok()?;
        // Of 1.0, so that the answer comes in one piece.
        write!(stream, "GET {path} HTTP/1.0\r\n\r\n").ok()?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).ok()?;
        serde_json::from_str(answer.split_once("\r\n\r\n")?.1).ok()
    }

    fn log(&self) -> String {
        fs::read_to_string(self.directory.path().join("log")).unwrap()
    }
}

impl Drop for Prometheus {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn percent(text: &str) -> String {
    text.bytes().map(|byte| format!("%{byte:02X}")).collect()
}

/// A hub with an agent that has asked for work.
fn hub_with_agent() -> (Running, TempDir) {
    let (hub, home) = (Running::start(), TempDir::new().unwrap());
    hub.join(home.path(), "dtn-1", hub.token(Purpose::Join)).unwrap();
    let work = Call { method: "POST", path: "/api/v1/agent/work", patience: PATIENCE };
    let request = WorkRequest {
        boots: 1,
        number: 1,
        room: 0,
        inventory: Some(Vec::new()),
        health: AgentHealth::default(),
        patience_ms: Some(1),
        standing: None,
    };
    hub.agent(home.path()).call::<WorkReply>(&work, &request).unwrap();
    (hub, home)
}

#[test]
fn prometheus_reads_a_hub_loads_the_rules_and_has_data_for_each_panel() {
    let (hub, _home) = hub_with_agent();
    let prometheus = Prometheus::reading(&hub);
    prometheus.wait("/api/v1/query?query=up", |answer| answer["data"]["result"][0]["value"][1] == "1");

    let are_all_evaluated = |answer: &Value| {
        let rules = answer["data"]["groups"][0]["rules"].as_array();
        rules.is_some_and(|rules| rules.iter().all(|rule| rule["health"] != "unknown"))
    };
    let answer = prometheus.wait("/api/v1/rules", are_all_evaluated);
    let rules = answer["data"]["groups"][0]["rules"].as_array().unwrap();
    let state = |rule: &Value| (rule["name"].to_string(), rule["health"].to_string(), rule["state"].to_string());
    let states: Vec<_> = rules.iter().map(state).collect();
    assert!(states.iter().all(|(_, health, state)| health == "\"ok\"" && state == "\"inactive\""), "{states:#?}");
    let file = include_str!("../../../../docs/monitoring/alerts.yml");
    assert_eq!(rules.len(), file.matches("- alert:").count());

    let dashboard: Value = serde_json::from_str(include_str!("../../../../docs/monitoring/grafana.json")).unwrap();
    let panels = dashboard["panels"].as_array().unwrap();
    let expressions: BTreeSet<&str> = panels
        .iter()
        .flat_map(|panel| panel["targets"].as_array().unwrap())
        .map(|target| target["expr"].as_str().unwrap())
        .collect();
    assert!(expressions.len() >= panels.len());
    for expression in expressions {
        // What Grafana puts in the place of its variables.
        let query = expression.replace("$job", ".*").replace("$__rate_interval", "1m");
        let path = format!("/api/v1/query?query={}", percent(&query));
        prometheus.wait(&path, |answer| answer["data"]["result"][0].is_object());
    }
}

#[test]
fn metrics_are_as_prometheus_would_have_them() {
    let (hub, _home) = hub_with_agent();
    let call = Call { method: "GET", path: "/metrics", patience: PATIENCE };
    let text = hub.person(&hub.token(Purpose::View)).exchange(&call, &[]).unwrap();
    let mut check = Command::new("promtool");
    let mut check = check.args(["check", "metrics"]).stdin(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    check.stdin.take().unwrap().write_all(&text).unwrap();
    let checked = check.wait_with_output().unwrap();
    assert!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stderr));
}
