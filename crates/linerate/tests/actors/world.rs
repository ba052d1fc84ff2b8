//! A host made of namespaces: its own network, mounts and journal, and a shell in it.

use std::process::Command;

use audit::fix::report::FixReport;
use audit::report::Report;
use linux::netns::isolate;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tempfile::TempDir;

use crate::actors::shell::Shell;

/// A shell as root of namespaces of its own. `$L` is this program, `$F` a folder that goes with it.
pub struct World {
    shell: Shell,
    pub folder: TempDir,
}

impl World {
    pub fn new() -> Self {
        let mut command = Command::new("unshare");
        Self::in_shell(isolate(command.args(["-m", "sh"])))
    }

    /// One whose root is root of the machine, where this process is. Its helper is its own even so.
    pub fn of_the_machine() -> Option<Self> {
        let whole = std::fs::read_to_string("/proc/self/uid_map").unwrap().contains("4294967295");
        if !whole || linux::namespaces::rights::user() != 0 {
            return None;
        }
        let mut world = Self::in_shell(Command::new("unshare").args(["-nmpf", "--mount-proc", "sh"]));
        world.run(
            "mount -t tmpfs tmpfs /run; mkfifo $F/helping; $L helper --socket $F/socket --state $F/fixes 2> $F/helping & \
             exec 8< $F/helping; read line <&8; export LINERATE_HELPER=$F/socket",
        );
        Some(world)
    }

    fn in_shell(command: &mut Command) -> Self {
        let mut world = Self { shell: Shell::start(command), folder: TempDir::new().unwrap() };
        let folder = world.folder.path().display().to_string();
        world.run(&format!(
            "L={}; F={folder}; export LINERATE_ARCHIVE=$F/archive.db XDG_STATE_HOME=$F/state TZ=UTC; \
             unset LINERATE_HELPER LINERATE_RECORDED_FACTS; mount -t sysfs sysfs /sys; \
             echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6; echo 1 > /proc/sys/net/ipv6/conf/default/disable_ipv6; \
             ip link set lo up",
            env!("CARGO_BIN_EXE_linerate")
        ));
        world
    }

    /// Runs a line, which must succeed, and returns what it prints.
    #[track_caller]
    pub fn run(&mut self, line: &str) -> String {
        let (printed, code) = self.ends(line);
        assert_eq!(code, 0, "`{line}`: {printed}");
        printed
    }

    /// Runs a line and returns what it prints, also of what it says besides, and its code.
    #[track_caller]
    pub fn ends(&mut self, line: &str) -> (String, i32) {
        let (printed, code) = self.shell.ends(&format!("{{ {line}\n}} 2>$F/said"));
        if code == 0 {
            return (printed, code);
        }
        let said = std::fs::read_to_string(self.folder.path().join("said")).unwrap_or_default();
        (format!("{printed}\n{said}"), code)
    }

    /// What the last line said on standard error.
    pub fn said(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("said")).unwrap()
    }

    /// Runs this program, whose last line is a document, and reads it.
    #[track_caller]
    pub fn document<T: DeserializeOwned>(&mut self, arguments: &str) -> T {
        let (printed, code) = self.ends(&format!("$L {arguments}"));
        let line = printed.lines().next().unwrap_or_default();
        serde_json::from_str(line).unwrap_or_else(|error| panic!("{arguments} ended with {code}: {error}: {printed}"))
    }

    #[track_caller]
    pub fn audit(&mut self, asked: &str) -> Report {
        // What is planted are settings, which need no second to be judged.
        self.document(&format!("host audit {asked} --json --fail-on never --counters-over 0s"))
    }

    #[track_caller]
    pub fn fix(&mut self, arguments: &str) -> FixReport {
        self.document(&format!("host fix {arguments} --json"))
    }

    /// Every setting of every namespace, as bytes. What counts by itself is left out.
    #[track_caller]
    pub fn settings(&mut self) -> String {
        let mut snapshot: Value = self.document("host snapshot --all-netns --json");
        let mut settings = snapshot["namespaces"].take();
        without_counts(&mut settings);
        serde_json::to_string_pretty(&settings).unwrap()
    }
}

fn without_counts(value: &mut Value) {
    match value {
        Value::Object(members) => {
            members.retain(|name, _| !COUNTS.contains(&name.as_str()));
            members.values_mut().for_each(without_counts);
        }
        Value::Array(list) => list.iter_mut().for_each(without_counts),
        _ => {}
    }
}

const COUNTS: [&str; 6] = [
    "connections",
    "counters",
    "driver_counters",
    "tcp_metrics",
    "bql_limit_bytes",
    "net.netfilter.nf_conntrack_count",
];
