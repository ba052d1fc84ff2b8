//! A user with a place for labs of their own.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use linux::namespaces::process::Process;
use serde_json::Value;
use tempfile::TempDir;

/// After this a test that waits fails instead of waiting for ever. No claim rests on it.
pub const PATIENCE: std::time::Duration = std::time::Duration::from_secs(60);

/// A user whose labs nobody else sees. They end with this.
pub struct User {
    runtime: TempDir,
}

impl User {
    pub fn new() -> Self {
        let user = Self { runtime: TempDir::new().unwrap() };
        user.writes("pair.toml", PAIR);
        user
    }

    /// Writes a scenario, and returns its path.
    pub fn writes(&self, name: &str, text: &str) -> String {
        let path = self.runtime.path().join(name);
        fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    }

    /// A scenario of two hosts.
    pub fn pair(&self) -> String {
        self.runtime.path().join("pair.toml").to_str().unwrap().to_owned()
    }

    /// The directory in which this user's labs have theirs.
    pub fn labs(&self) -> std::path::PathBuf {
        self.runtime.path().join("linerate/lab")
    }

    /// `linerate lab` with these arguments, for this user.
    pub fn lab(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_linerate"));
        command.env("XDG_RUNTIME_DIR", self.runtime.path()).env_remove("LINERATE_ARCHIVE").env("TZ", "UTC");
        command.arg("lab").args(args).stdin(Stdio::null());
        command
    }

    /// Runs it, and returns what it said.
    pub fn runs(&self, args: &[&str]) -> Said {
        Said::of(&self.lab(args).output().unwrap())
    }

    /// Runs it, which must work, and returns what it printed.
    #[track_caller]
    pub fn prints(&self, args: &[&str]) -> String {
        let said = self.runs(args);
        assert_eq!(said.code, Some(0), "{args:?}: {}{}", said.stdout, said.stderr);
        said.stdout
    }

    /// What `lab list` knows of the running lab of this name.
    pub fn record(&self, name: &str) -> Option<Value> {
        let listed: Value = serde_json::from_str(&self.prints(&["list", "--json"])).unwrap();
        listed["running"].as_array().unwrap().iter().find(|lab| lab["name"] == name).cloned()
    }

    /// Starts a lab in the foreground, and waits until it is up.
    pub fn stays(&self, name: &str) -> Foreground {
        let mut command = self.lab(&["up", &self.pair(), "--as", name, "--foreground"]);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        assert!(line.contains("is up"), "{line}");
        Foreground(child)
    }
}

impl Drop for User {
    fn drop(&mut self) {
        if Path::new(&self.labs()).exists() {
            let _ = self.lab(&["down", "--all", "--quiet"]).status();
        }
    }
}

/// A lab in the foreground.
pub struct Foreground(pub Child);

impl Drop for Foreground {
    fn drop(&mut self) {
        // It fails only where the process has ended.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// What a command said, and its exit code.
pub struct Said {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Said {
    pub fn of(output: &Output) -> Self {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Self { code: output.status.code(), stdout: text(&output.stdout), stderr: text(&output.stderr) }
    }
}

/// The keeper of a lab and the first processes of its hosts.
pub fn processes(record: &Value) -> Vec<Process> {
    let hosts = record["hosts"].as_array().unwrap().iter().map(|host| (&host["first_process"], &host["started_ticks"]));
    let all = hosts.chain([(&record["keeper"], &record["keeper_started_ticks"])]);
    let found = all.map(|(number, start)| {
        Process::find(u32::try_from(number.as_u64().unwrap()).unwrap(), start.as_u64().unwrap()).unwrap()
    });
    found.collect()
}

const PAIR: &str = r#"
title = "Two hosts"
about = "A cable of two milliseconds."

[hosts.west]
[hosts.east]

[[links]]
name = "cable"
between = ["west", "east"]
both = [{ delay = { time = "1ms" } }]

[[tests]]
kind = "ping"
from = "west"
to = "east"

[truth]
healthy = true
"#;
