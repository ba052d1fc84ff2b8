//! What a hub takes: results a second, each of 200 samples, from agents that deliver as fast as it answers; what it has acknowledged
//! and then been killed with; its memory; what an agent costs that waits for work.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use hub::agent::connection::{Call, Connection};
use hub::agent::directory::{Directory as AgentDirectory, Limits};
use hub::agent::join::{Joining, join};
use hub::agent::url::HubUrl;
use hub::api::mesh::{PlanInfo, PlanText};
use hub::api::order::LeaseName;
use hub::api::record::{Delivery, Receipt, Record, RecordKind, RunResult, Verdict};
use hub::server::directory::{Directory, SegmentSettings, Settings};
use hub::store::Store;
use hub::store::rows::TokenRow;
use hub::store::sqlite::Sqlite;
use hub::trust::token::{Purpose, Secret, Token};
use hub::trust::{pin, secret};
use linux::clock;
use model::played::Finding;
use model::run::Run;
use model::series::{RunSamples, packed};
use tempfile::TempDir;
use units::WallTime;

use crate::actors::{Actors, fresh_port};
use crate::contests::effort::Effort;
use crate::contests::idle::resident_mb;
use crate::outcome::{Row, Target};

pub(super) fn run(actors: &Actors, effort: Effort) -> anyhow::Result<Vec<Row>> {
    let (run, samples) = measured(actors)?;
    let count = samples.streams.first().map_or(0, |stream| stream.at_us.len());
    let records = Prepared { run, samples };
    let mut rows = vec![with_segments(actors, &records, effort)?];
    let mut hub = Hub::start(actors, Segments::None)?;
    for (together, target) in [(50, Some(Target::AtLeast(3_000.0))), (1, None)] {
        let taken = hub
            .take(&records, Load { together, time: effort.choose(Duration::from_secs(3), Duration::from_secs(10)) })?;
        let what = format!("results of {count} samples taken, {AGENTS} agents, {together} in a delivery");
        let row = Row::new(what, taken, "/s");
        rows.push(if let Some(target) = target { row.target(target) } else { row });
    }
    rows.push(
        Row::new("resident memory of the hub after that", resident_mb(hub.process.id())?, "MB")
            .target(Target::AtMost(150.0)),
    );
    rows.extend(agent(actors, &hub, effort)?);
    let acknowledged = hub.acknowledged;
    let stored = hub.killed()?;
    rows.push(
        Row::new("acknowledged results that are gone after kill -9", acknowledged.saturating_sub(stored) as f64, "")
            .target(Target::AtMost(0.0)),
    );
    Ok(rows)
}

/// The same while samples are written as segments beside the load.
fn with_segments(actors: &Actors, records: &Prepared, effort: Effort) -> anyhow::Result<Row> {
    let mut hub = Hub::start(actors, Segments::Written)?;
    let time = effort.choose(Duration::from_secs(5), Duration::from_secs(30));
    let taken = hub.take(records, Load { together: 50, time })?;
    let files = fs::read_dir(hub.segments())?.count();
    let what = format!("the same with segments, {AGENTS} agents, 50 in a delivery");
    Ok(Row::new(what, taken, "/s").target(Target::AtLeast(3_000.0)).note(format!("{files} days of segments")))
}

/// Whether a hub writes segments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Segments {
    None,
    /// Beside its directory.
    Written,
}

/// A test over loopback of 2 s with a sample each 10 ms, and those samples.
pub(super) fn measured(actors: &Actors) -> anyhow::Result<(Run, RunSamples)> {
    let place = TempDir::new()?;
    let (port, archive) = (fresh_port().to_string(), place.path().join("archive.db"));
    let mut server = Command::new(actors.linerate());
    server.args(["serve", "--port", &port, "--once", "--quiet", "--no-archive"]).stdout(Stdio::null());
    let mut server = Ending(server.stderr(Stdio::null()).spawn()?);
    let mut test = Command::new(actors.linerate());
    test.args(["test", "127.0.0.1", "--port", &port, "--time", "2s", "--rate", "100Mbit/s", "--json", "--archive"])
        .arg(&archive);
    let until = Instant::now() + PATIENCE;
    let output = loop {
        let output = test.output()?;
        if output.status.success() || Instant::now() > until {
            break output;
        }
    };
    server.end();
    ensure!(output.status.success(), "`linerate test` failed: {}", String::from_utf8_lossy(&output.stderr));
    let run: Run = serde_json::from_slice(&output.stdout)?;
    let samples = archive::Archive::open(&archive)?.samples(&run.id)?;
    Ok((run, samples))
}

/// A result that agents deliver again and again under other names.
pub(super) struct Prepared {
    pub(super) run: Run,
    pub(super) samples: RunSamples,
}

/// How much is delivered.
#[derive(Debug, Clone, Copy)]
struct Load {
    together: usize,
    time: Duration,
}

/// A process that ends with its owner.
struct Ending(Child);

impl Ending {
    fn end(&mut self) {
        // It fails only where it has ended.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Drop for Ending {
    fn drop(&mut self) {
        self.end();
    }
}

/// A hub as a process, and agents that have joined it.
struct Hub {
    process: Child,
    place: TempDir,
    url: HubUrl,
    /// The second that the next result is called by.
    second: u64,
    acknowledged: u64,
}

impl Drop for Hub {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Hub {
    fn start(actors: &Actors, segments: Segments) -> anyhow::Result<Self> {
        let place = TempDir::new()?;
        let port = fresh_port();
        let mut settings = Settings::new(format!("127.0.0.1:{port}").parse()?, vec!["127.0.0.1".to_owned()]);
        if segments == Segments::Written {
            let to = place.path().join(SEGMENTS);
            fs::create_dir(&to)?;
            settings.segments = Some(SegmentSettings::to(to.display().to_string()));
        }
        let directory = Directory::at(&place.path().join("hub"));
        directory.init(&settings, None)?;
        Sqlite::open(&directory.database())?;
        let mut command = Command::new(actors.linerate());
        command
            .args(["hub", "run", "--quiet"])
            .arg(place.path().join("hub"))
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let process = command.spawn()?;
        let hub =
            Self { process, place, url: format!("https://127.0.0.1:{port}").parse()?, second: 0, acknowledged: 0 };
        for agent in 0..AGENTS {
            hub.join(agent)?;
        }
        let token = hub.token(Purpose::Operate)?;
        let mut person = Connection::new(hub.url.clone(), pin::bearer(token.authority)?).with_token(token.reveal());
        let call = Call { method: "POST", path: "/api/v1/plan", patience: PATIENCE };
        let _: PlanInfo = person.call(&call, &PlanText { text: plan() })?;
        Ok(hub)
    }

    fn segments(&self) -> PathBuf {
        self.place.path().join(SEGMENTS)
    }

    fn directory(&self) -> Directory {
        Directory::at(&self.place.path().join("hub"))
    }

    fn token(&self, purpose: Purpose) -> anyhow::Result<Token> {
        let secret = Secret::new(secret::random()?);
        let expires = WallTime::from_unix_nanos(u64::MAX / 2);
        Sqlite::open(&self.directory().database())?.add_token(TokenRow { hash: secret.hash(), purpose, expires })?;
        Ok(Token { purpose, secret, authority: self.directory().authority()?.fingerprint() })
    }

    fn agent(&self, number: usize) -> PathBuf {
        self.place.path().join(format!("agent-{number}"))
    }

    fn join(&self, number: usize) -> anyhow::Result<()> {
        let until = Instant::now() + PATIENCE;
        loop {
            let joining = Joining {
                hub: self.url.clone(),
                token: self.token(Purpose::Join)?,
                name: name(number),
                address: None,
                limits: Limits::default(),
            };
            match join(&AgentDirectory::at(&self.agent(number)), &joining) {
                Ok(()) => return Ok(()),
                // It may not listen yet.
                Err(error) if Instant::now() > until => return Err(error.into()),
                Err(_) => thread::sleep(Duration::from_millis(20)),
            }
        }
    }

    /// Has all agents deliver for a while; results a second that were acknowledged.
    fn take(&mut self, records: &Prepared, load: Load) -> anyhow::Result<f64> {
        let (began, first) = (Instant::now(), self.second);
        let taken: Vec<anyhow::Result<u64>> = thread::scope(|scope| {
            let agents = (0..AGENTS).map(|agent| {
                let connection = self.connection(agent);
                scope.spawn(move || deliver(connection?, records, Sender { agent, first }, load))
            });
            let agents: Vec<_> = agents.collect();
            agents
                .into_iter()
                .map(|agent| agent.join().unwrap_or_else(|_| Err(anyhow::anyhow!("an agent has died"))))
                .collect()
        });
        let time = began.elapsed().as_secs_f64();
        let taken = taken.into_iter().collect::<anyhow::Result<Vec<u64>>>()?;
        self.second += taken.iter().copied().max().unwrap_or(0);
        let taken: u64 = taken.iter().sum();
        self.acknowledged += taken;
        Ok(taken as f64 / time)
    }

    fn connection(&self, agent: usize) -> anyhow::Result<Connection> {
        let opened = AgentDirectory::at(&self.agent(agent)).open()?;
        Ok(Connection::new(self.url.clone(), pin::agent(opened.identity, &opened.authority)?))
    }

    /// Kills it; how many results its database has.
    fn killed(mut self) -> anyhow::Result<u64> {
        self.process.kill()?;
        self.process.wait()?;
        let store = Sqlite::open(&self.directory().database())?;
        let (mut stored, mut after) = (0, 0);
        loop {
            let some = store.unjudged(after, 1_000)?;
            let Some(last) = some.last() else { return Ok(stored) };
            after = last.key;
            stored += some.iter().filter(|record| record.kind == "result").count() as u64;
        }
    }
}

/// Whose results, and what the first of them is called by.
#[derive(Debug, Clone, Copy)]
struct Sender {
    agent: usize,
    first: u64,
}

fn deliver(mut connection: Connection, records: &Prepared, sender: Sender, load: Load) -> anyhow::Result<u64> {
    let Sender { agent, first } = sender;
    let call = Call { method: "POST", path: "/api/v1/agent/records", patience: PATIENCE };
    let content = RunResult { began: clock::wall_now(), finding: Finding::Run(Box::new(records.run.clone())) };
    let (content, samples) = (serde_json::to_vec(&content)?, packed::pack(&records.samples));
    let packed = Record::pack(String::new(), RecordKind::Change, &content, Some(&samples))?;
    let (until, mut taken) = (Instant::now() + load.time, 0);
    while Instant::now() < until {
        let named = |place: usize| {
            let run =
                format!("rtt@all/{}/{}/{}", name(agent), name((agent + 1) % AGENTS), first + taken + place as u64);
            let lease = LeaseName { run, attempt: 1 };
            Record { name: format!("result-{lease}"), kind: RecordKind::Result { lease }, ..packed.clone() }
        };
        let delivery = Delivery { records: (0..load.together).map(named).collect() };
        let receipt: Receipt = connection.call(&call, &delivery)?;
        ensure!(
            receipt.verdicts.iter().all(|verdict| *verdict == Verdict::Stored),
            "not stored: {:?}",
            receipt.verdicts.first()
        );
        taken += load.together as u64;
    }
    Ok(taken)
}

/// Memory and CPU of an agent between tests: it asks for work, and watches its host.
fn agent(actors: &Actors, hub: &Hub, effort: Effort) -> anyhow::Result<Vec<Row>> {
    let mut command = Command::new(actors.linerate());
    command.args(["agent", "run", "--quiet", "--no-watch", "--directory"]).arg(hub.agent(0));
    let process = Ending(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn()?);
    let id = process.0.id();
    // Facts of the host are read once, at the start.
    let settled =
        || Ok::<_, anyhow::Error>(Sqlite::open(&hub.directory().database())?.newest_snapshot(&name(0))?.is_some());
    let until = Instant::now() + PATIENCE;
    while !settled()? {
        ensure!(Instant::now() < until, "the agent delivers no facts");
        thread::sleep(Duration::from_millis(50));
    }
    let (before, began) = (cpu_seconds(id)?, Instant::now());
    thread::sleep(effort.choose(Duration::from_secs(5), Duration::from_secs(30)));
    let share = 100.0 * (cpu_seconds(id)? - before) / began.elapsed().as_secs_f64();
    Ok(vec![
        Row::new("resident memory of an agent between tests", resident_mb(id)?, "MB").target(Target::AtMost(20.0)),
        Row::new("CPU of an agent between tests", share, "% of a core").target(Target::AtMost(0.5)),
    ])
}

/// CPU time of a process, in seconds: fields 14 and 15 of proc_pid_stat(5).
fn cpu_seconds(process: u32) -> anyhow::Result<f64> {
    let stat = fs::read_to_string(Path::new("/proc").join(process.to_string()).join("stat"))?;
    let (_, rest) = stat.rsplit_once(") ").context("no stat")?;
    let ticks: Vec<f64> = rest.split(' ').skip(11).take(2).map(str::parse).collect::<Result<_, _>>()?;
    Ok(ticks.iter().sum::<f64>() / rustix::param::clock_ticks_per_second() as f64)
}

fn name(agent: usize) -> String {
    format!("host-{agent}")
}

/// Light tests, which agents name by themselves.
fn plan() -> String {
    let hosts =
        (0..AGENTS).map(|agent| format!("[hosts.{}]\naddress = \"127.0.0.1\"\n", name(agent))).collect::<String>();
    let names: Vec<String> = (0..AGENTS).map(|agent| format!("\"{}\"", name(agent))).collect();
    format!(
        "title = \"bench\"\n[times]\nlight-every = \"24h\"\n{hosts}[groups.all]\nmesh = [{}]\n[[tests]]\nkind = \"ping\"\nlabel = \"rtt\"\n",
        names.join(", ")
    )
}

const AGENTS: usize = 8;
const SEGMENTS: &str = "segments";
const PATIENCE: Duration = Duration::from_secs(60);
