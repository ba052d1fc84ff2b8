//! `linerate trace --follow FILE`: captures that somebody else still writes.

use std::fs::{self, File, OpenOptions};
use std::io::{BufRead, BufReader, Lines, Write};
use std::path::Path;
use std::process::{Child, ChildStderr, ChildStdout, Command, Stdio};

use serde_json::Value;

use crate::actors::world::World;
use crate::tracing::window_limited;

/// `linerate trace --follow FILE --json`, with its lines as they come.
struct Follower {
    child: Child,
    documents: Lines<BufReader<ChildStdout>>,
    said: Lines<BufReader<ChildStderr>>,
    /// Packets of all intervals.
    packets: u64,
}

impl Follower {
    fn new(file: &Path) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_linerate"))
            .args(["trace", "--json", "--interval", "100ms", "--follow"])
            .arg(file)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let documents = BufReader::new(child.stdout.take().unwrap()).lines();
        let said = BufReader::new(child.stderr.take().unwrap()).lines();
        Self { child, documents, said, packets: 0 }
    }

    /// Reads intervals until so many packets have been shown.
    #[track_caller]
    fn shows(&mut self, packets: u64) {
        while self.packets < packets {
            let interval: Value = serde_json::from_str(&self.documents.next().unwrap().unwrap()).unwrap();
            assert!(interval["length_ns"].as_i64() > Some(0), "{interval:#}");
            self.packets += interval["packets"].as_u64().unwrap_or_else(|| panic!("{interval:#}"));
        }
        assert_eq!(self.packets, packets);
    }

    #[track_caller]
    fn says(&mut self, text: &str) {
        let line = self.said.next().unwrap().unwrap();
        assert!(line.contains(text), "{line}");
    }

    /// As Ctrl-C does. Returns what is said at the end.
    fn ends(mut self) -> Value {
        let kill = Command::new("kill").args(["-INT", &self.child.id().to_string()]).status().unwrap();
        assert!(kill.success() && self.child.wait().unwrap().success());
        let last = self.documents.last().unwrap().unwrap();
        serde_json::from_str(&last).unwrap()
    }
}

fn append(file: &Path, bytes: &[u8]) {
    OpenOptions::new().append(true).open(file).unwrap().write_all(bytes).unwrap();
}

/// Packets of a whole capture, and the payload that its first transfer delivered.
fn counts(report: &Value) -> (u64, u64) {
    let transfer = &report["connections"][0]["transfers"][0];
    (report["packets"].as_u64().unwrap(), transfer["delivered_bytes"].as_u64().unwrap())
}

/// Of [`window_limited`]: the handshake, and a segment and an acknowledgment for each of 400.
const PACKETS: u64 = 803;
const BYTES: u64 = 400_000;

/// Whole records of the first bytes of a capture.
fn records(capture: &[u8]) -> u64 {
    let (mut records, mut rest) = (0, &capture[24..]);
    while let Some(length) = rest.get(8..12) {
        let stored = u32::from_le_bytes(length.try_into().unwrap()) as usize;
        let Some(next) = rest.get(16 + stored..) else { break };
        (records, rest) = (records + 1, next);
    }
    records
}

#[test]
fn what_is_appended_is_shown_and_a_record_that_is_half_written_is_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    let (file, whole) = (folder.path().join("a.pcap"), window_limited());
    // The file is there before its header.
    File::create(&file).unwrap();
    let mut follower = Follower::new(&file);
    let middle = whole.len() / 2 + 7;
    append(&file, &whole[..middle]);
    follower.shows(records(&whole[..middle]));
    append(&file, &whole[middle..]);
    follower.shows(PACKETS);
    // Half a record at the end is no damage.
    append(&file, &[0; 10]);
    let report = follower.ends();
    assert_eq!((counts(&report), &report["damage"]), ((PACKETS, BYTES), &Value::Null));
    assert_eq!(report["connections"][0]["transfers"][0]["verdicts"][0]["cause"], "receiver-window");
}

#[test]
fn truncation_and_rotation_are_said_and_the_next_file_is_read_from_its_start() {
    let folder = tempfile::tempdir().unwrap();
    let (file, whole) = (folder.path().join("a.pcap"), window_limited());
    fs::write(&file, &whole).unwrap();
    let mut follower = Follower::new(&file);
    follower.shows(PACKETS);
    let part = &whole[..whole.len() / 2 + 7];
    fs::write(&file, part).unwrap();
    follower.says("a.pcap was truncated after frame 803: reading on from its start");
    follower.shows(PACKETS + records(part));
    // The old one is read to its end before the new one begins.
    append(&file, &whole[part.len()..]);
    let next = folder.path().join("next.pcap");
    fs::write(&next, &whole).unwrap();
    fs::rename(&next, &file).unwrap();
    follower.says("a.pcap was replaced by another file after frame 803: reading that one on");
    follower.shows(3 * PACKETS);
    assert_eq!(follower.ends()["packets"], 3 * PACKETS);
}

#[test]
fn a_compressed_capture_and_a_pipe_are_followed_alike() {
    let folder = tempfile::tempdir().unwrap();
    let plain = folder.path().join("a.pcap");
    fs::write(&plain, window_limited()).unwrap();
    for program in ["gzip", "zstd"] {
        let packed = Command::new(program).arg("-c").arg(&plain).output().unwrap().stdout;
        let file = folder.path().join(program);
        fs::write(&file, &packed[..packed.len() / 2]).unwrap();
        let mut follower = Follower::new(&file);
        append(&file, &packed[packed.len() / 2..]);
        follower.shows(PACKETS);
        assert_eq!(counts(&follower.ends()), (PACKETS, BYTES), "{program}");
    }
    let piped = Command::new(env!("CARGO_BIN_EXE_linerate"))
        .args(["trace", "--json", "--follow", "-"])
        .stdin(File::open(&plain).unwrap())
        .output()
        .unwrap();
    let lines = String::from_utf8(piped.stdout).unwrap();
    assert_eq!(counts(&serde_json::from_str(lines.lines().last().unwrap()).unwrap()), (PACKETS, BYTES));
}

#[test]
fn damage_ends_it_with_what_came_before_and_what_is_no_capture_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.pcap");
    fs::write(&file, window_limited()).unwrap();
    append(&file, &[0xff; 16]);
    let follow = |file: &Path| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_linerate"));
        command.args(["trace", "--json", "--follow"]).arg(file).output().unwrap()
    };
    let damaged = follow(&file);
    let lines = String::from_utf8(damaged.stdout).unwrap();
    let report: Value = serde_json::from_str(lines.lines().last().unwrap()).unwrap();
    assert_eq!(counts(&report), (PACKETS, BYTES));
    assert!(report["damage"].to_string().contains("after frame 803"), "{}", report["damage"]);
    fs::write(&file, "this is no capture, whatever its name says").unwrap();
    for (file, said) in [(&*file, "neither pcap nor pcapng"), (Path::new("/nonesuch"), "cannot read /nonesuch")] {
        let refused = follow(file);
        let text = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert!(refused.status.code() == Some(9) && text.contains(said), "{text}");
    }
}

/// In a network namespace of its own, `dumpcap` writes what passes there, as pcap and as pcapng.
#[test]
fn what_dumpcap_writes_is_followed_to_its_end() {
    for writer in ["dumpcap -P -i lo -q -s 128 -w $F/live.cap", "dumpcap -i lo -q -s 128 -w $F/live.cap"] {
        let mut world = World::new();
        world.run(&format!(
            "mkfifo $F/ready; {writer} 2> $F/ready & echo $! > $F/writer; exec 5< $F/ready; \
             while read line <&5; do case \"$line\" in File:*) break;; esac; done; test -e $F/live.cap"
        ));
        world.run(
            "mkfifo $F/live; $L trace --follow $F/live.cap --json --interval 100ms > $F/live & echo $! > $F/pid; exec 7< $F/live",
        );
        world.run(
            "mkfifo $F/served; $L serve --once --no-archive > /dev/null 2> $F/served & exec 6< $F/served; \
             while read line <&6; do case \"$line\" in *'listening on'*) break;; esac; done",
        );
        world.run("$L test 127.0.0.1 --bytes 20MB --no-archive > $F/test");
        // An interval has come of a file that was still written.
        world.run("read -r line <&7; echo \"$line\" > $F/lines");
        // What the writer has not taken from the kernel when it is told to end is lost; it takes it a quarter of a second after the last packet.
        // allow(sleep): nothing tells that it has
        let settles = "before=; now=$(stat -c %s $F/live.cap); until [ \"$before\" = \"$now\" ]; do before=$now; sleep 0.6; \
                       now=$(stat -c %s $F/live.cap); done";
        world.run(settles);
        world.run("kill -INT $(cat $F/writer); wait $(cat $F/writer)");
        world.run("kill -INT $(cat $F/pid); cat <&7 >> $F/lines; wait $(cat $F/pid)");
        let lines = fs::read_to_string(world.folder.path().join("lines")).unwrap();
        let followed: Value = serde_json::from_str(lines.lines().last().unwrap()).unwrap();
        let whole: Value = world.document("trace --json $F/live.cap");
        assert_eq!(followed["packets"], whole["packets"], "{writer}");
        let delivered = |report: &Value| {
            let connections = report["connections"].as_array().unwrap();
            let transfers = connections.iter().flat_map(|one| one["transfers"].as_array().unwrap());
            transfers.map(|one| one["delivered_bytes"].as_u64().unwrap()).max()
        };
        assert_eq!(delivered(&followed), delivered(&whole), "{writer}");
        assert!(delivered(&whole) >= Some(20_000_000), "{writer}: {whole:#}");
    }
}
