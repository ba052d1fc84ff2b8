//! What was measured is kept, whatever happens next.

use archive::{Archive, Filter};
use model::run::{Run, RunId};

use crate::actors::linerate::{ArchiveFile, Server, program};
use crate::actors::process::Process;

/// How often a test is killed.
const KILLS: u64 = 24;

#[test]
fn a_test_that_is_killed_leaves_no_half_run_and_one_that_ends_is_kept() {
    let server = Server::start(&[]);
    let archive = ArchiveFile::new();
    let port = server.port.to_string();
    let mut ended: Vec<RunId> = Vec::new();
    for round in 0..KILLS {
        let mut command = program();
        let args = ["test", "127.0.0.1", "--json", "--archive", archive.arg(), "--port", &port, "--bytes", "1MB"];
        let mut test = Process::start(command.args(args));
        let out = test.stdout();
        // At different moments of its life: before the flow, beside it, when it has said the result, and not at all.
        match round % 4 {
            0 => drop(server.talk.wait_for("the start", |line| line.contains(" starts: "))),
            1 => drop(server.run()),
            2 => drop(out.wait_for("the run", |_| true)),
            _ => {
                ended.push(id(&out.wait_for("the run", |_| true)));
                assert!(test.wait().success());
            }
        }
        test.kill();
    }
    assert!(ended.len() as u64 >= KILLS / 4);
    let archive = Archive::open(&archive.path).unwrap();
    for id in &ended {
        assert_eq!(archive.run(id).unwrap().id, *id);
        assert!(!archive.samples(id).unwrap().streams.is_empty());
    }
    // Whatever else is there is whole.
    for run in archive.list(&Filter::default()).unwrap() {
        archive.run(&run.id).unwrap();
        archive.samples(&run.id).unwrap();
    }
    assert_eq!(archive.check().unwrap().damaged, []);
}

#[test]
fn a_disk_that_is_full_loses_no_run() {
    let server = Server::start(&[]);
    let temporary = tempfile::TempDir::new().unwrap();
    let port = server.port.to_string();
    // A file system of its own that holds an archive and then nothing more.
    let script = r#"
        set -eu
        mount -t tmpfs -o size=2m,mode=0700 tmpfs "$DISK"
        export LINERATE_ARCHIVE="$DISK/archive.db"
        test() { "$LINERATE" test 127.0.0.1 --port "$PORT" --bytes 1MB --quiet; }
        test > "$TMPDIR/first"
        dd if=/dev/zero of="$DISK/rest" bs=4k 2>/dev/null || true
        test > "$TMPDIR/second" 2> "$TMPDIR/said"
        "$LINERATE" runs list > "$TMPDIR/while-full"
        rm "$DISK/rest"
        "$LINERATE" runs list > "$TMPDIR/freed" 2>> "$TMPDIR/said"
        test > "$TMPDIR/third" 2>> "$TMPDIR/said"
        "$LINERATE" runs list > "$TMPDIR/after"
        "$LINERATE" runs check > "$TMPDIR/checked"
        mount -o remount,ro "$DISK"
        "$LINERATE" runs list > "$TMPDIR/read-only"
        "$LINERATE" runs rm --yes "$(awk 'END { print $1 }' "$TMPDIR/after")" || echo "$?" > "$TMPDIR/refused"
    "#;
    let disk = tempfile::TempDir::new().unwrap();
    let mut command = std::process::Command::new("unshare");
    command.args(["--user", "--map-root-user", "--mount", "sh", "-c", script]);
    command.env("DISK", disk.path()).env("TMPDIR", temporary.path()).env("PORT", &port);
    command.env("LINERATE", env!("CARGO_BIN_EXE_linerate")).env("XDG_STATE_HOME", temporary.path());
    let ended = Process::start(&mut command).finish();
    assert_eq!(ended.code, Some(0), "{}{}", ended.stdout, ended.stderr);
    let read = |name: &str| std::fs::read_to_string(temporary.path().join(name)).unwrap();
    assert!(read("second").contains("goodput"), "the result was shown");
    let said = read("said");
    assert!(said.contains("the disk is full") || said.contains("reading or writing failed"), "{said}");
    assert!(said.contains("hint: the run waits in ") && said.contains("stored the run that waited in "), "{said}");
    assert_eq!(read("while-full").lines().count(), 2, "a heading and the first run: {}", read("while-full"));
    assert_eq!(read("freed").lines().count(), 3, "what waited is stored by whoever looks: {}", read("freed"));
    assert_eq!(read("after").lines().count(), 4, "{}", read("after"));
    assert!(read("checked").contains("rows are what was stored"), "{}", read("checked"));
    assert_eq!(read("read-only"), read("after"), "what may not be written to can be read");
    assert_eq!(read("refused"), "8\n", "the disk is to blame, and not the program");
}

#[test]
fn a_terminal_that_goes_away_leaves_what_was_measured() {
    let server = Server::start(&[]);
    let archive = ArchiveFile::new();
    let port = server.port.to_string();
    let args =
        ["test", "127.0.0.1", "--archive", archive.arg(), "--port", &port, "--time", "30s", "--interval", "100ms"];
    // Whoever runs the tests under nohup has the signal ignored, and all that are started inherit that.
    let mut heeding = std::process::Command::new("env");
    heeding.args(["--default-signal=HUP", env!("CARGO_BIN_EXE_linerate")]);
    let mut test = Process::start(heeding.args(args));
    let talk = test.stderr();
    talk.wait_for("an interval", |line| line.contains("bit/s"));
    test.signal("HUP");
    assert_eq!(test.wait().code(), Some(130));
    let kept = Archive::open(&archive.path).unwrap().list(&Filter::default()).unwrap();
    assert!(kept.len() == 1 && kept[0].goodput.is_some(), "{kept:?}");
}

#[test]
fn a_reader_that_has_seen_enough_ends_nothing() {
    let server = Server::start(&[]);
    let script = format!(
        "{} test 127.0.0.1 --port {} --time 1s --interval 100ms --no-archive 2>&1 | head -1; echo ${{PIPESTATUS[0]}}",
        env!("CARGO_BIN_EXE_linerate"),
        server.port
    );
    let ended = Process::start(std::process::Command::new("bash").args(["-c", &script])).finish();
    assert_eq!(ended.stdout.lines().last(), Some("0"), "{}{}", ended.stdout, ended.stderr);
}

fn id(line: &str) -> RunId {
    serde_json::from_str::<Run>(line).unwrap().id
}
