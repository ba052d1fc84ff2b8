//! A hub and two agents that test each other, as processes on a loopback of their own.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use hub::api::mesh::{Pairs, SeriesInfo};
use hub::server::directory::Directory;
use hub::store::Store;
use hub::store::open::open;
use hub::store::rows::{RecordQuery, StoredRecord};
use hub::store::turn::TurnRequest;
use linux::netns::isolate;
use mesh::run::{RunRow, RunState};
use tempfile::TempDir;
use units::WallTime;

use crate::actors::process::PATIENCE;
use crate::actors::shell::Shell;

/// Each of them has a directory of its name.
pub const HUB: &str = "hub";
pub const AGENTS: [&str; 2] = ["a", "b"];

/// Both hosts are this one: what answers has a port for each.
pub const PLAN: &str = r#"
title = "two"
[times]
every = "4s"
gap = "0s"
[hosts.a]
address = "127.0.0.1"
port = 5201
[hosts.b]
address = "127.0.0.1"
port = 5202
[groups.all]
mesh = ["a", "b"]
[[tests]]
kind = "udp"
time = "1s"
rate = "1Mbit/s"
"#;

pub struct World {
    shell: Shell,
    _folder: TempDir,
    /// The same folder as the processes see it, with what is mounted for them.
    place: PathBuf,
    running: BTreeMap<&'static str, String>,
}

impl World {
    /// A hub that has its plan, and agents that have joined. All of them run.
    pub fn start() -> Self {
        Self::on("true")
    }

    /// The same after a command that may mount something where the directories (`$F/hub`, `$F/a`, `$F/b`) are to be.
    pub fn on(prepare: &str) -> Self {
        let mut world = Self::empty(prepare);
        world.hub(HUB, "--name 127.0.0.1 --listen 127.0.0.1:8443");
        world.join("https://127.0.0.1:8443");
        world
    }

    /// Neither hub nor agents, after a command.
    pub fn empty(prepare: &str) -> Self {
        let folder = TempDir::new().unwrap();
        let mut command = Command::new("unshare");
        command.args(["--mount", "sh"]);
        command.env("F", folder.path()).env("L", env!("CARGO_BIN_EXE_linerate")).env_remove("LINERATE_ARCHIVE");
        let shell = Shell::start(isolate(&mut command));
        let plan = folder.path().join("plan.toml");
        let mut world = Self { shell, place: folder.path().to_owned(), _folder: folder, running: BTreeMap::new() };
        fs::write(plan, PLAN).unwrap();
        let idle = PLAN.replace("every = \"4s\"", "every = \"24h\"");
        fs::write(world.place.join("idle.toml"), idle).unwrap();
        let inside = PathBuf::from("/proc").join(world.run("echo $$")).join("root");
        world.place = inside.join(world.place.strip_prefix("/").unwrap());
        world.run("mkdir -p $F/hub $F/hub2 $F/a $F/b");
        world.run(prepare);
        world
    }

    /// Makes a hub, starts it, and waits until it listens.
    pub fn hub(&mut self, who: &'static str, how: &str) {
        self.run(&format!("$L hub init $F/{who}/made {how} >/dev/null"));
        self.start_process(who);
        self.wait("that the hub listens", |world| world.log(who).contains("listening on"));
    }

    /// Joins both agents, starts them, and gives the hub its plan.
    pub fn join(&mut self, url: &str) {
        for agent in AGENTS {
            let token = "$($L hub token $F/hub/made)";
            self.run(&format!("$L agent join {url} {token} --name {agent} --directory $F/{agent}/made"));
            self.start_process(agent);
        }
        self.plan("plan.toml");
    }

    /// Runs a line that must end well, and returns what it prints.
    #[track_caller]
    pub fn run(&mut self, line: &str) -> String {
        let (printed, code) = self.shell.ends(line);
        assert_eq!(code, 0, "{line}: {printed}\n{}", self.log(HUB));
        printed
    }

    /// Gives the hub a plan once it answers.
    pub fn plan(&mut self, file: &str) {
        self.run(&format!("for _ in $(seq 300); do $L hub plan $F/hub/made $F/{file} >$F/planned 2>&1 && break; sleep 0.2; done; cat $F/planned"));
    }

    /// Puts a file beside the directories.
    pub fn write(&self, file: &str, text: &str) {
        fs::write(self.place.join(file), text).unwrap();
    }

    /// Starts the hub or an agent.
    pub fn start_process(&mut self, who: &'static str) {
        let what = if who.starts_with(HUB) {
            &format!("hub run $F/{who}/made")
        } else {
            &format!("agent run --no-watch --directory $F/{who}/made")
        };
        let process = self.run(&format!("$L {what} </dev/null >/dev/null 2>>$F/{who}.log & echo $!"));
        self.running.insert(who, process);
    }

    /// The id of a process that runs.
    pub fn process(&self, who: &str) -> &str {
        &self.running[who]
    }

    /// As a power cut would.
    pub fn kill(&mut self, who: &'static str) {
        let process = self.running.remove(who).unwrap();
        self.run(&format!("kill -9 {process}; wait {process} 2>/dev/null || true"));
    }

    /// What the hub or an agent has said so far.
    pub fn log(&self, who: &str) -> String {
        fs::read_to_string(self.place.join(format!("{who}.log"))).unwrap_or_default()
    }

    /// Files of an agent's journal or spool.
    pub fn files(&self, agent: &str, kind: OnDisk) -> BTreeSet<PathBuf> {
        let (directory, ending) = match kind {
            OnDisk::Lease => ("journal", "lease"),
            OnDisk::Record => ("spool", "record"),
        };
        let entries = fs::read_dir(self.place.join(agent).join("made").join(directory));
        let paths = entries.into_iter().flatten().flatten().map(|entry| entry.path());
        paths.filter(|path| path.extension().is_some_and(|own| own == ending)).collect()
    }

    /// Waits until something holds.
    #[track_caller]
    pub fn wait(&self, what: &str, holds: impl Fn(&Self) -> bool) {
        let until = Instant::now() + PATIENCE;
        loop {
            let began = Instant::now();
            if holds(self) {
                return;
            }
            let logs = || [HUB, "hub2", "a", "b"].map(|who| format!("{who}: {}", self.log(who))).join("\n");
            assert!(Instant::now() < until, "{what} does not come\n{}", logs());
            rest(began.elapsed());
        }
    }

    /// How many results the hub knows of each series, by who sends and who receives; nothing while its disk is full.
    pub fn series(&mut self) -> BTreeMap<String, u64> {
        let (printed, _) = self.shell.ends("$L hub pairs $F/hub/made --json 2>/dev/null");
        let pairs: Pairs = serde_json::from_str(&printed).unwrap_or_default();
        let count = |info: &SeriesInfo| (format!("{} to {}", info.series.from, info.series.to), info.results);
        pairs.series.iter().map(count).collect()
    }

    /// Waits until both directions have more results than `known`.
    #[track_caller]
    pub fn wait_for_results(&mut self, known: &BTreeMap<String, u64>) {
        let until = Instant::now() + PATIENCE;
        loop {
            let began = Instant::now();
            let now = self.series();
            let is_newer = |pair: &str| now.get(pair) > known.get(pair);
            if is_newer("a to b") && is_newer("b to a") {
                return;
            }
            assert!(
                Instant::now() < until,
                "{known:?}, now {now:?}\n{}\n{}\n{}",
                self.log(HUB),
                self.log("a"),
                self.log("b")
            );
            rest(began.elapsed());
        }
    }

    /// Every result that the hub has stored.
    pub fn results(&self) -> Vec<StoredRecord> {
        let query = RecordQuery { kind: "result", agent: None, since: WallTime::from_unix_nanos(0), most: 10_000 };
        self.store().newest(query).unwrap()
    }

    /// Lets all runs end and all results come, and returns the rows of all runs that have results, each once.
    pub fn settle(&mut self) -> Vec<RunRow> {
        self.plan("idle.toml");
        let is_quiet = |world: &Self| {
            let is_empty =
                |agent| [OnDisk::Lease, OnDisk::Record].iter().all(|kind| world.files(agent, *kind).is_empty());
            let open = world.store().turn(TurnRequest::default()).unwrap().0.rows.runs;
            let is_out = |run: &RunRow| matches!(run.state, RunState::Leased { .. } | RunState::Missing { .. });
            AGENTS.iter().all(|agent| is_empty(agent)) && !open.iter().any(is_out)
        };
        self.wait("that nothing is under way", is_quiet);
        let names: Vec<String> = self.results().into_iter().filter_map(|record| record.run).collect();
        let rows = self.store().runs(&names).unwrap();
        assert_eq!(rows.len(), names.len(), "a run has two results, or a result is of no run");
        let not_done: Vec<&RunRow> = rows.iter().filter(|run| !matches!(run.state, RunState::Done { .. })).collect();
        assert!(not_done.is_empty(), "{not_done:#?}");
        rows
    }

    /// The hub's database, beside the hub.
    pub fn store(&self) -> Box<dyn Store> {
        let directory = Directory::at(&self.place.join("hub/made"));
        open(&directory, &directory.settings().unwrap()).unwrap()
    }
}

/// Between two looks: what is waited for comes later where those who wait take the CPUs.
fn rest(look: Duration) {
    thread::park_timeout((look * 4).max(Duration::from_millis(5)));
}

/// What an agent has on disk.
#[derive(Debug, Clone, Copy)]
pub enum OnDisk {
    /// A run that it has leased.
    Lease,
    /// A result that the hub has not acknowledged.
    Record,
}
