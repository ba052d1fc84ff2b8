//! A host made of namespaces: its own network, mounts and journal, and a shell in it.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use audit::fix::report::FixReport;
use audit::report::Report;
use linux::netns::isolate;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tempfile::TempDir;

/// A shell as root of namespaces of its own. `$L` is this program, `$F` a folder that goes with it.
pub struct World {
    shell: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
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
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut shell = command.spawn().unwrap_or_else(|error| panic!("needs user namespaces: {error}"));
        let (input, output) = (shell.stdin.take().unwrap(), BufReader::new(shell.stdout.take().unwrap()));
        let mut world = Self { shell, input, output, folder: TempDir::new().unwrap() };
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
        writeln!(self.input, "{{ {line}\n}} 2>$F/said; _code=$?; echo; echo end $_code").unwrap();
        let mut printed = String::new();
        loop {
            let mut more = String::new();
            assert!(self.output.read_line(&mut more).unwrap() > 0, "the shell has ended at `{line}`: {printed}");
            if let Some(code) = more.strip_prefix("end ") {
                let code = code.trim().parse().unwrap();
                let said = std::fs::read_to_string(self.folder.path().join("said")).unwrap_or_default();
                let printed = printed.trim().to_owned();
                return (if code == 0 { printed } else { format!("{printed}\n{said}") }, code);
            }
            printed += &more;
        }
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
        self.document(&format!("host audit {asked} --json --fail-on never"))
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

const COUNTS: [&str; 5] =
    ["counters", "driver_counters", "tcp_metrics", "bql_limit_bytes", "net.netfilter.nf_conntrack_count"];

impl Drop for World {
    fn drop(&mut self) {
        // All that runs in its namespaces ends with the shell's input or is ended by its owner.
        let _ = writeln!(self.input, "kill $(jobs -p) 2>/dev/null; exit");
        let _ = self.shell.wait();
    }
}
