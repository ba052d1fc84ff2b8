//! The privileged helper as a process: what it does when nobody confirms, when it is killed, and when strangers talk.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use host::helper::{AskError, Client};
use linux::netns::isolate;
use model::host::fix::journal::{Because, Entry, State};
use model::host::fix::talk::{Answer, LONGEST_LINE, Order, Others, RefusalKind};
use tempfile::TempDir;

use crate::actors::linerate::program;
use crate::actors::process::PATIENCE;
use crate::actors::shell::Shell;

/// A shell as root of namespaces of its own, in which a helper can come and go.
struct World {
    shell: Shell,
    folder: TempDir,
}

impl World {
    fn new() -> Self {
        let shell = Shell::start(isolate(&mut Command::new("sh")));
        let mut world = Self { shell, folder: TempDir::new().unwrap() };
        world.run(&format!("echo '{PLANTED}' > /proc/sys/net/ipv4/tcp_rmem"));
        world
    }

    /// Runs a line and returns what it prints.
    fn run(&mut self, line: &str) -> String {
        self.shell.ends(line).0
    }

    /// Starts a helper and waits until it listens. Returns what it has said.
    fn start_helper(&mut self) -> String {
        let program = env!("CARGO_BIN_EXE_linerate");
        let folder = self.folder.path().display().to_string();
        let said = format!("{folder}/said");
        self.run(&format!(
            "mkfifo {said} 2>/dev/null; {program} helper --socket {folder}/socket --state {folder}/state 2>{said} &"
        ));
        let mut lines = BufReader::new(std::fs::File::open(&said).unwrap());
        let mut heard = String::new();
        while !heard.contains("listens at") {
            assert!(lines.read_line(&mut heard).unwrap() > 0, "the helper has ended: {heard}");
        }
        // What it says later goes nowhere, and does not hold it up.
        std::thread::spawn(move || std::io::copy(&mut lines, &mut std::io::sink()));
        heard
    }

    fn kill_helper(&mut self) {
        self.run("kill -9 $!; wait $! 2>/dev/null");
    }

    fn client(&self) -> Client {
        Client::connect(&self.socket()).unwrap()
    }

    fn socket(&self) -> PathBuf {
        self.folder.path().join("socket")
    }

    fn rmem(&mut self) -> String {
        self.run("cat /proc/sys/net/ipv4/tcp_rmem").split_whitespace().collect::<Vec<_>>().join(" ")
    }
}

fn order(confirm_within_s: Option<u32>) -> Order {
    let steps = r#"[{"change":{"sysctl":{"key":"net.ipv4.tcp_rmem","value":"4096 131072 536870912"}}}]"#;
    Order { steps: serde_json::from_str(steps).unwrap(), reason: "a test".to_owned(), confirm_within_s }
}

fn refused<T: std::fmt::Debug>(outcome: Result<T, AskError>) -> RefusalKind {
    match outcome {
        Err(AskError::Refused(refusal)) => refusal.kind,
        other => panic!("not refused: {other:?}"),
    }
}

/// Asks for the last entry until `wanted` holds for it.
fn wait_for(socket: &Path, wanted: impl Fn(&Entry) -> bool) -> Entry {
    let until = Instant::now() + PATIENCE;
    loop {
        let last = Client::connect(socket).unwrap().journal().unwrap().pop().unwrap();
        if wanted(&last) {
            return last;
        }
        assert!(Instant::now() <= until, "it stays {last:?}");
        std::thread::yield_now();
    }
}

const PLANTED: &str = "4096 100000 200000";
const FIXED: &str = "4096 131072 536870912";

#[test]
fn fix_is_kept_when_it_is_confirmed_over_a_new_connection_and_undone_when_asked() {
    let mut world = World::new();
    world.start_helper();
    let mut first = world.client();
    let applied = first.apply(order(Some(600))).unwrap();
    assert_eq!((world.rmem().as_str(), applied.changes[0].old.as_deref()), (FIXED, Some(PLANTED)));
    assert_eq!(refused(first.confirm(applied.entry.fix)), RefusalKind::Invalid);
    assert_eq!(refused(world.client().apply(order(None))), RefusalKind::Busy);
    assert_eq!(world.client().confirm(applied.entry.fix).unwrap().entry.state, State::Kept);
    assert_eq!(first.undo(None, Others::Keep).unwrap().entry.state, State::Undone { because: Because::Asked });
    assert_eq!(world.rmem(), PLANTED);
}

#[test]
fn connection_that_was_there_before_the_fix_shows_nothing() {
    let mut world = World::new();
    world.start_helper();
    let mut old = world.client();
    old.hello().unwrap();
    let fix = world.client().apply(order(Some(600))).unwrap().entry.fix;
    assert_eq!(refused(old.confirm(fix)), RefusalKind::Invalid);
    world.client().confirm(fix).unwrap();
}

#[test]
fn fix_that_nobody_confirms_is_taken_back() {
    let mut world = World::new();
    world.start_helper();
    world.client().apply(order(Some(1))).unwrap();
    let entry = wait_for(&world.socket(), |entry| entry.state != State::Unconfirmed);
    assert_eq!(entry.state, State::Undone { because: Because::NotConfirmed });
    assert_eq!(world.rmem(), PLANTED);
}

#[test]
fn old_values_come_back_after_the_helper_was_killed() {
    let mut world = World::new();
    world.start_helper();
    world.client().apply(order(Some(600))).unwrap();
    world.kill_helper();
    assert_eq!(world.rmem(), FIXED, "nobody is there to take it back");
    let said = world.start_helper();
    assert!(said.contains("fix 1 of an earlier helper was not confirmed and is undone"), "{said}");
    assert_eq!(world.rmem(), PLANTED);
    // What was confirmed outlives its helper.
    let fix = world.client().apply(order(Some(600))).unwrap().entry.fix;
    world.client().confirm(fix).unwrap();
    world.kill_helper();
    world.start_helper();
    assert_eq!(world.rmem(), FIXED);
    world.client().undo(Some(fix), Others::Keep).unwrap();
    assert_eq!(world.rmem(), PLANTED);
}

#[test]
fn helper_that_is_asked_to_end_takes_back_what_waits() {
    let mut world = World::new();
    world.start_helper();
    world.client().apply(order(Some(600))).unwrap();
    world.run("kill $!; wait $!");
    assert_eq!(world.rmem(), PLANTED);
    assert!(!world.socket().exists(), "its socket went with it");
}

#[test]
fn nonsense_is_answered_and_harms_nobody() {
    let mut world = World::new();
    world.start_helper();
    let say = |bytes: &[u8]| {
        let mut stream = UnixStream::connect(world.socket()).unwrap();
        // It may have hung up before all is written.
        let _ = stream.write_all(bytes);
        let mut answer = String::new();
        let _ = BufReader::new(stream).read_line(&mut answer);
        answer
    };
    for nonsense in [
        &b"\n"[..],
        b"{\"run\":{\"line\":\"id\"}}\n",
        b"{\"apply\":{\"steps\":[{\"change\":{\"sysctl\":{\"key\":\"kernel.core_pattern\",\"value\":\"x\"}}}],\"reason\":\"\"}}\n",
        b"{\"apply\":{\"steps\":[{\"namespace\":\"../../proc/1/ns/net\",\"change\":{\"smt\":{\"on\":true}}}],\"reason\":\"\"}}\n",
        b"{\"apply\":{\"steps\":[],\"reason\":\"\"}}\n",
        b"\xff\xfe\x00\n",
    ] {
        let answer: Answer = serde_json::from_str(&say(nonsense)).unwrap();
        let Answer::Refused(refusal) = answer else { panic!("{answer:?}") };
        assert_eq!(refusal.kind, RefusalKind::Invalid, "{refusal:?}");
    }
    assert!(say(&vec![b'['; LONGEST_LINE + 100_000]).contains("too long"));
    drop(UnixStream::connect(world.socket()).unwrap());
    assert!(world.client().journal().unwrap().is_empty());
    assert_eq!(world.rmem(), PLANTED);
}

#[test]
fn second_helper_at_the_same_place_is_refused() {
    let mut world = World::new();
    world.start_helper();
    let program = env!("CARGO_BIN_EXE_linerate");
    let folder = world.folder.path().display().to_string();
    let said = world.run(&format!("{program} helper --socket {folder}/other --state {folder}/state 2>&1; echo $?"));
    assert!(said.contains("a helper is at work already") && said.ends_with('5'), "{said}");
}

#[test]
fn helper_that_a_command_has_started_outlives_it_as_long_as_a_fix_waits() {
    let folder = TempDir::new().unwrap();
    let (ours, theirs) = UnixStream::pair().unwrap();
    let mut command = program();
    command.args(["helper", "--started", "--state"]).arg(folder.path().join("state"));
    command.stdin(Stdio::from(OwnedFd::from(theirs))).stderr(Stdio::piped());
    let mut helper = isolate(&mut command).spawn().unwrap_or_else(|error| panic!("needs user namespaces: {error}"));
    drop(command);
    let mut starter = Client::over(ours).unwrap();
    let fix = starter.apply(order(Some(600))).unwrap().entry.fix;
    drop(starter);
    let socket = folder.path().join("state/helper.sock");
    assert_eq!(Client::connect(&socket).unwrap().confirm(fix).unwrap().entry.state, State::Kept);
    assert!(helper.wait().unwrap().success(), "it is needed no more");
    let mut said = String::new();
    helper.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    assert_eq!(said, "");
}
