//! `linerate import` and `linerate test --tool` as their users meet them.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/foreign").join(name)
}

fn linerate(archive: &TempDir) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_linerate"));
    command.env("LINERATE_ARCHIVE", archive.path().join("archive.db")).env("TZ", "UTC");
    command
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

fn import(archive: &TempDir, arguments: &[&str], files: &[&str]) -> Output {
    linerate(archive).arg("import").args(arguments).args(files.iter().map(|file| data(file))).output().unwrap()
}

fn listed(archive: &TempDir) -> Vec<Value> {
    let output = linerate(archive).args(["runs", "list", "--json"]).output().unwrap();
    text(&output.stdout).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn a_report_becomes_runs_with_statements() {
    let archive = TempDir::new().unwrap();
    let output = import(&archive, &[], &["la-serena-to-champaign-2020.txt", "brown-firewall-2013.txt"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let said = text(&output.stdout);
    for statement in [
        "line 19: iperf3 text",
        "a multiple of 8948 bytes",
        "62 segments were retransmitted of about 1430, 4.3 %",
        "58791 of 840532 datagrams were lost, 7.0 %",
        "20.5 times as fast one way as the other",
    ] {
        assert!(said.contains(statement), "{statement}: {said}");
    }
    let runs = listed(&archive);
    assert_eq!(runs.len(), 4);
    assert!(runs.iter().any(|run| run["peer"] == "bwctl.newy.net.internet2.edu" && run["direction"] == "reverse"));
}

/// On a terminal of 80 columns, which `script` makes.
#[test]
fn what_was_imported_fits_a_terminal() {
    let command = format!(
        "stty cols 80; {} import --no-archive {}",
        env!("CARGO_BIN_EXE_linerate"),
        data("evidence/client.log").display()
    );
    let output = Command::new("script").args(["-qec", &command, "/dev/null"]).stdin(Stdio::null()).output().unwrap();
    let shown = text(&output.stdout);
    assert!(shown.contains("where the rate went"), "{shown}");
    let wide: Vec<&str> = shown.lines().filter(|line| line.trim_end().chars().count() > 80).collect();
    assert!(wide.is_empty(), "{wide:#?}");
}

#[test]
fn importing_twice_keeps_once() {
    let archive = TempDir::new().unwrap();
    for _ in 0..2 {
        assert_eq!(import(&archive, &[], &["iperf3-3.12-tcp.json"]).status.code(), Some(0));
    }
    assert_eq!(listed(&archive).len(), 1);
}

#[test]
fn without_the_archive_nothing_is_kept_and_json_has_the_run() {
    let archive = TempDir::new().unwrap();
    let output = import(&archive, &["--no-archive", "--json"], &["amlight-209ms-2023.txt"]);
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(document["format"], "iperf3 text");
    assert_eq!(document["run"]["measurement"]["totals"][0]["goodput_bps"], 17_200_000_000_u64);
    assert!(document["observations"][1].as_str().unwrap().contains("210 ms"));
    assert_eq!(listed(&archive).len(), 0);
}

#[test]
fn standard_input_is_read_and_a_failed_test_is_kept_with_its_reason() {
    let archive = TempDir::new().unwrap();
    let mut command = linerate(&archive);
    let mut child = command.args(["import", "-"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let busy = std::fs::read(data("iperf3-3.12-busy.json")).unwrap();
    child.stdin.take().unwrap().write_all(&busy).unwrap();
    assert_eq!(child.wait_with_output().unwrap().status.code(), Some(0));
    assert_eq!(listed(&archive)[0]["outcome"]["kind"], "busy");
}

#[test]
fn what_cannot_be_read_is_named_with_line_and_expectation() {
    let archive = TempDir::new().unwrap();
    let file = archive.path().join("notes.txt");
    std::fs::write(&file, "buy milk\n").unwrap();
    let output = linerate(&archive).arg("import").arg(&file).arg(data("iperf3-3.12-udp.txt")).output().unwrap();
    assert_eq!(output.status.code(), Some(9));
    let said = text(&output.stderr);
    assert!(said.contains("notes.txt: line 1 is no output of a known tool: `buy milk`"), "{said}");
    // The other file was read all the same.
    assert_eq!(listed(&archive).len(), 1);
    let missing = linerate(&archive).args(["import", "/nonexistent"]).output().unwrap();
    assert_eq!(missing.status.code(), Some(9));
}

#[test]
fn a_program_that_is_missing_or_unable_is_told_with_the_way_out() {
    let archive = TempDir::new().unwrap();
    let missing =
        linerate(&archive).env("PATH", archive.path()).args(["test", "::1", "--tool", "iperf3"]).output().unwrap();
    assert_eq!(missing.status.code(), Some(8), "{missing:?}");
    assert!(text(&missing.stderr).contains("hint: install it"), "{missing:?}");
    let unable = linerate(&archive).args(["test", "::1", "--tool", "nuttcp", "--bidir"]).output().unwrap();
    assert_eq!(unable.status.code(), Some(2), "{unable:?}");
    assert!(text(&unable.stderr).contains("hint: leave out --bidir"), "{unable:?}");
}

/// The log as the incident's report prints it, from standard input, with what people knew of the path.
#[test]
fn why_reads_logs_of_other_tools_and_says_what_it_read() {
    let archive = TempDir::new().unwrap();
    let log = std::fs::read(data("accounts/la-serena-2020.txt")).unwrap();
    let mut command = linerate(&archive);
    let mut child = command
        .args(["why", "--expect", "150Mbit/s", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(&log).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(matches!(output.status.code(), Some(0 | 10)), "{output:?}");
    assert!(!text(&output.stdout).trim().is_empty());
    assert_eq!(listed(&archive).len(), 0, "why stores nothing");
    let missing = linerate(&archive).arg("why").arg(data("evidence/ping.txt")).arg("/nonexistent").output().unwrap();
    assert_eq!(missing.status.code(), Some(9), "{missing:?}");
}

#[test]
fn several_files_are_seen_together() {
    let archive = TempDir::new().unwrap();
    let files =
        ["client.log", "server.log", "ping.txt", "ss.txt", "ethtool.txt"].map(|name| data("evidence").join(name));
    let output = linerate(&archive).arg("why").args(files).output().unwrap();
    assert!(matches!(output.status.code(), Some(0 | 10)), "{output:?}");
    assert!(text(&output.stderr).is_empty(), "{output:?}");
}

/// What the user declares is stored with the run, and read back.
#[test]
fn declared_facts_are_stored_beside_the_measurement() {
    let archive = TempDir::new().unwrap();
    let output = import(
        &archive,
        &["--json", "--rtt", "190ms", "--line-rate", "10Gbit/s", "--cca", "htcp"],
        &["la-serena-to-champaign-2020.txt"],
    );
    let first: Value = serde_json::from_str(text(&output.stdout).lines().next().unwrap()).unwrap();
    assert_eq!(first["run"]["declared"]["rtt_us"], 190_000);
    assert_eq!(first["run"]["declared"]["congestion_control"], "htcp");
    assert_eq!(first["run"]["declared_line_rate_bps"], 10_000_000_000_u64);
}

/// What a person pastes, what else that person knows, and what the answer must say.
struct Pasted {
    files: &'static [&'static str],
    known: &'static [&'static str],
    found: bool,
    says: &'static str,
}

const PASTED: [Pasted; 49] = [
    Pasted {
        files: &["log.txt.gz"],
        known: &["--rtt", "90ms"],
        found: true,
        says: "3.2 % of its segments retransmitted",
    },
    Pasted {
        files: &["iperf-2.0.5-window.txt"],
        known: &["--rtt", "100ms"],
        found: true,
        says: "asked for a window of 65.5 kB",
    },
    Pasted { files: &["iperf-2.1.8-refused.txt"], known: &[], found: true, says: "127.0.0.1 refused the connection" },
    Pasted { files: &["iperf3-black-hole.txt"], known: &[], found: true, says: "of the first 142 kB nothing arrived" },
    Pasted {
        files: &["iperf3-interrupted-by-key.txt"],
        known: &[],
        found: false,
        says: "an Ethernet link of 100 Mbit/s",
    },
    Pasted { files: &["policer.txt"], known: &[], found: true, says: "940 Mbit/s at first, then evenly 99.0 Mbit/s" },
    Pasted { files: &["stall.txt"], known: &[], found: true, says: "no data in 5 of 10 intervals" },
    Pasted { files: &["both-directions.txt"], known: &[], found: true, says: "one direction only is the suspect" },
    Pasted { files: &["mtr-silent-router.txt"], known: &[], found: true, says: "from hop 4 on and not at hop 3" },
    Pasted { files: &["ping-windows.txt"], known: &[], found: true, says: "1 of 4 lost (25 %)" },
    Pasted { files: &["ping-bufferbloat.txt"], known: &[], found: true, says: "300 ms of queue under load" },
    Pasted { files: &["nstat.txt"], known: &[], found: true, says: "42000 of 1400000 TCP segments retransmitted" },
    Pasted { files: &["netstat.txt"], known: &[], found: true, says: "Udp.RcvbufErrors went up by 2000" },
    Pasted { files: &["ss-rwnd.txt"], known: &[], found: true, says: "limited by the receive window for 97 %" },
    Pasted {
        files: &["ss-rwnd.txt"],
        known: &["--expect", "1Gbit/s"],
        found: true,
        says: "of 1.00 Gbit/s: the declared rate",
    },
    Pasted {
        files: &["scp.txt", "ethtool-before-and-after.txt"],
        known: &[],
        found: true,
        says: "eth0.rx_missed_errors went up by 9000",
    },
    Pasted { files: &["rsync-slow.txt"], known: &["--expect", "1Gbit/s"], found: true, says: "1.9 % of 1.00 Gbit/s" },
    Pasted {
        files: &["server-of-datagrams.txt"],
        known: &[],
        found: true,
        says: "198.51.100.20 to 192.0.2.10: 38.1 % of its datagrams lost",
    },
    Pasted { files: &["three-summaries.txt"], known: &[], found: true, says: "2590 of 7616 datagrams lost (34 %)" },
    Pasted {
        files: &["sender-of-datagrams.txt"],
        known: &[],
        found: false,
        says: "only its sender counted; how many datagrams arrived is in the output of the receiver",
    },
    Pasted { files: &["datagrams-stopped.txt"], known: &[], found: true, says: "no data in any of the 5 intervals" },
    Pasted { files: &["datagrams-copied-twice.txt"], known: &[], found: true, says: "81000 of 821000 datagrams lost" },
    Pasted {
        files: &["iperf-2.0.13-both-directions.txt"],
        known: &[],
        found: true,
        says: "192.0.2.50 to 192.0.2.25 reaches 90.5 Mbit/s, the other direction 20.1 Mbit/s",
    },
    Pasted {
        files: &["iperf-2.0.13-server-of-host.txt"],
        known: &["--expect", "100Mbit/s"],
        found: true,
        says: "192.0.2.5 to east: 37.7 Mbit/s",
    },
    Pasted {
        files: &["pscheduler-datagrams.txt"],
        known: &[],
        found: true,
        says: "517 of 25888 datagrams lost (2.0 %)",
    },
    Pasted {
        files: &["pscheduler-window.txt"],
        known: &[],
        found: false,
        says: "at an RTT of about 111 ms a window is the limit",
    },
    Pasted { files: &["mtr-systems.txt"], known: &[], found: true, says: "20 % of the probes to 192.0.2.99 are lost" },
    Pasted { files: &["wget-last-line.txt"], known: &[], found: false, says: "3.99 GB from mirror.example.org" },
    Pasted { files: &["netstat-bsd.txt"], known: &[], found: false, says: "Tcp.RetransSegs 6000 (Tcp.OutSegs 120000)" },
    Pasted {
        files: &["three-of-six-streams.txt"],
        known: &[],
        found: false,
        says: "1.73 Gbit/s: the log has rows of 3 of the 6 streams, and the rate is theirs",
    },
    Pasted { files: &["server-output-as-string.txt"], known: &[], found: true, says: "45 of 169 datagrams lost" },
    Pasted { files: &["ping-middle.txt"], known: &[], found: true, says: "192.0.2.40: 2 of 7 lost (29 %)" },
    Pasted {
        files: &["curl-three-files.txt"],
        known: &[],
        found: false,
        says: "105 MB from mirror.example.org in 8.00 s",
    },
    Pasted {
        files: &["middle-cut-out.txt"],
        known: &[],
        found: true,
        says: "48.2 Mbit/s, with 24.8 % of its segments retransmitted",
    },
    Pasted { files: &["loopback-both-directions.txt"], known: &[], found: false, says: "both ends are one host" },
    Pasted {
        files: &["ping-cisco-df.txt"],
        known: &[],
        found: true,
        says: "those of 1453 B vanish and no router says so",
    },
    Pasted {
        files: &["ethtool-one-prompt.txt"],
        known: &[],
        found: true,
        says: "no room for 7657 packets (rx_out_of_buffer) between two readings 60.0 s apart (127 a second)",
    },
    Pasted {
        files: &["wget-stopped.txt"],
        known: &[],
        found: true,
        says: "negotiated 100 Mbit/s though both ends advertise 1.00 Gbit/s",
    },
    Pasted { files: &["globus-rate.txt"], known: &[], found: false, says: "2204 files, 583 MB on average" },
    Pasted { files: &["wget-stood-still.txt"], known: &[], found: true, says: "the transfer stood still at 1 %" },
    Pasted { files: &["dd-nfs.txt"], known: &[], found: true, says: "the NFS server 192.0.2.112 did not answer" },
    Pasted {
        files: &["ifconfig-blank-lines.txt"],
        known: &[],
        found: false,
        says: "rx_dropped 9322 (rx_packets 701244)",
    },
    Pasted { files: &["ip-link-broken.txt"], known: &[], found: true, says: "down in 1 of 2 reports" },
    Pasted { files: &["transmit-hang.txt"], known: &[], found: true, says: "stood still 11 times" },
    Pasted {
        files: &["qdisc-broken.txt"],
        known: &[],
        found: false,
        says: "dropped 7240 packets of 20121628 (0.0360 %)",
    },
    Pasted { files: &["rsync-twice.txt"], known: &[], found: false, says: "rsync sent 410 kB of differences" },
    Pasted {
        files: &["ss-closed-window.txt"],
        known: &[],
        found: true,
        says: "limited by the receive window for 94 %",
    },
    Pasted { files: &["ping-windows-first-lost.txt"], known: &[], found: false, says: "No problem found" },
    Pasted { files: &["datagrams-counted-few.txt"], known: &[], found: false, says: "only its sender counted" },
];

#[test]
fn each_pasted_log_gets_an_answer_that_fits_a_terminal() {
    let archive = TempDir::new().unwrap();
    for pasted in &PASTED {
        let files = pasted.files.iter().map(|name| data("pasted").join(name));
        let output = linerate(&archive).arg("why").args(pasted.known).args(files).output().unwrap();
        let said = text(&output.stdout);
        assert_eq!(output.status.code(), Some(if pasted.found { 10 } else { 0 }), "{:?}: {said}", pasted.files);
        let words = said.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.contains(pasted.says), "{:?} does not say `{}`: {said}", pasted.files, pasted.says);
        let long = |line: &&str| line.chars().count() > 80 && !line.contains("testdata");
        assert_eq!(said.lines().find(long), None, "{:?}", pasted.files);
        assert!(said.lines().count() <= 60 && !said.contains("(0 %)"), "{said}");
    }
}
