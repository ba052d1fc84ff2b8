//! Pictures of runs, as the program draws them from its archive: what is in them, whatever kind of run it was.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use archive::Archive;
use model::measurement::{End, Heading, Whose};
use model::run::Run;
use model::series::field::Field;
use model::series::{Column, ProbeSamples, RunSamples, StreamSamples};
use model::spec::{Direction, Protocol, TestSpec};
use serde_json::{Value, json};

/// A folder with an archive that holds one run.
struct Kept {
    folder: tempfile::TempDir,
}

impl Kept {
    fn new(run: &Run, samples: &RunSamples) -> Self {
        let folder = tempfile::tempdir().unwrap();
        Archive::open(folder.path().join("archive.db")).unwrap().store(run, samples).unwrap();
        Self { folder }
    }

    fn draw(&self, name: &str) -> Vec<u8> {
        let path = self.folder.path().join(name);
        let output = self.linerate(&["runs", "show", "last", "--plot", path.to_str().unwrap()]);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        std::fs::read(path).unwrap()
    }

    fn linerate(&self, args: &[&str]) -> Output {
        linerate(self.folder.path(), args)
    }
}

fn linerate(folder: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_linerate"));
    command.args(args).arg("--archive").arg(folder.join("archive.db")).output().unwrap()
}

/// The words of a picture and the names of its panels, after everything that holds for every picture was checked.
struct Seen {
    texts: Vec<String>,
    panels: Vec<String>,
}

impl Seen {
    fn of(run: &Run, samples: &RunSamples) -> Self {
        let svg = String::from_utf8(Kept::new(run, samples).draw("run.svg")).unwrap();
        let document = roxmltree::Document::parse(&svg).unwrap_or_else(|error| panic!("{error}\n{svg}"));
        let root = document.root_element();
        let length = |node: roxmltree::Node<'_, '_>, name: &str| node.attribute(name).unwrap().parse::<f64>().unwrap();
        let (width, height) = (length(root, "width"), length(root, "height"));
        let all = |tag: &'static str| document.descendants().filter(move |node| node.has_tag_name(tag));
        for text in all("text") {
            let (x, y) = (length(text, "x"), length(text, "y"));
            assert!(x >= 0.0 && x <= width && y >= 10.0 && y <= height, "outside: {:?}", text.text());
        }
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
        assert!(svg.len() < 150_000, "{} bytes", svg.len());
        let texts = all("text").map(|text| text.text().unwrap_or("").to_owned()).collect();
        let panels = all("g").map(|group| group.attribute("id").unwrap().to_owned()).collect();
        Self { texts, panels }
    }

    fn says(&self, part: &str) -> bool {
        self.texts.iter().any(|text| text.contains(part))
    }
}

/// One stream at 80 Mbit/s for one second, with a sample every 10 ms.
fn sender(stream: u32, heading: Heading, whose: Whose) -> StreamSamples {
    let rows = 0..=100_u64;
    type Course = fn(u64) -> u64;
    let columns: [(Field, Course); 11] = [
        (Field::BytesAcked, |row| row * 100_000),
        (Field::Rtt, |row| 20_000 + row * 100),
        (Field::SndCwnd, |row| 10 + row),
        (Field::SndMss, |_| 1_448),
        (Field::SndWnd, |_| 200_000),
        (Field::Unacked, |row| 9 + row),
        (Field::TotalRetrans, |row| if row < 50 { 0 } else { 7 }),
        (Field::TotalRto, |row| if row < 50 { 0 } else { 1 }),
        (Field::BusyTime, |row| row * 10_000),
        (Field::RwndLimited, |row| row * 4_000),
        (Field::SndbufLimited, |row| row * 1_000),
    ];
    let column = |(field, value): (Field, fn(u64) -> u64)| Column { field, values: rows.clone().map(value).collect() };
    let columns = columns.map(column).to_vec();
    let at_us = rows.clone().map(|row| i64::try_from(row).unwrap() * 10_000).collect();
    StreamSamples { stream, heading, end: End::Sender, whose, at_us, columns }
}

fn receiver(heading: Heading, whose: Whose, fields: &[(Field, u64)]) -> StreamSamples {
    let at_us: Vec<i64> = (0..=100).map(|row| row * 10_000).collect();
    let column =
        |(field, step): &(Field, u64)| Column { field: *field, values: (0..=100).map(|row| row * step).collect() };
    StreamSamples { stream: 1, heading, end: End::Receiver, whose, at_us, columns: fields.iter().map(column).collect() }
}

fn probes() -> ProbeSamples {
    let sent_us: Vec<i64> = (-5..100).map(|probe| probe * 10_000).collect();
    let rtt_us = (-5..100).map(|probe| if probe == 30 { None } else { Some(20_000) }).collect();
    ProbeSamples { there_us: vec![None; sent_us.len()], sent_us, rtt_us }
}

fn total(heading: &str) -> Value {
    json!({ "heading": heading, "received_bytes": 10_000_000, "elapsed_us": 1_000_000, "goodput_bps": 80_000_000,
            "retransmits": 7, "steady": { "state": "reached", "ramp_up_us": 250_000, "goodput_bps": 80_000_000 } })
}

fn run(spec: &TestSpec, totals: &[Value], software: &str) -> Run {
    serde_json::from_value(json!({
        "format": Run::FORMAT, "id": "01JD3XV0000000000000000000", "started_unix_ns": 1_732_165_200_000_000_000_u64,
        "role": "client", "command": ["linerate", "test", "dtn2"], "spec": spec, "declared_line_rate_bps": 100_000_000,
        "local": { "name": "dtn1" }, "peer": { "target": "dtn2", "software": software }, "outcome": { "state": "complete" },
        "measurement": { "totals": totals, "flows": [], "intervals": [], "telemetry": [],
                         "latency": { "idle": { "sent": 5, "lost": 0, "min_us": 20_000 } } },
    }))
    .unwrap()
}

fn tcp() -> (Run, RunSamples) {
    let streams = vec![
        sender(1, Heading::Outbound, Whose::Local),
        receiver(Heading::Outbound, Whose::Peer, &[(Field::AppBytes, 100_000)]),
    ];
    (run(&TestSpec::default(), &[total("outbound")], "linerate 0.1.0"), RunSamples { streams, probes: probes() })
}

#[test]
fn a_picture_of_a_tcp_run_says_all_that_is_known() {
    let (run, samples) = tcp();
    let seen = Seen::of(&run, &samples);
    assert_eq!(seen.panels, ["header", "goodput", "window", "round-trip", "losses", "limits", "footer"]);
    let numbers = |text: &&String| text.parse::<f64>().is_err();
    assert_eq!(
        seen.texts.iter().filter(numbers).collect::<Vec<_>>(),
        [
            "dtn1 → dtn2: 80.0 Mbit/s",
            "TCP from the client, 10.0 s · 2024-11-21 05:00:00 UTC",
            "10.0 MB received in 1.00 s · 7 segments retransmitted",
            "Goodput",
            ", Mbit/s",
            "dtn1 → dtn2",
            "steady 80.0 Mbit/s after 250 ms",
            "line rate 100 Mbit/s",
            "Windows",
            ", kB",
            "in flight",
            "receiver's window",
            "congestion window",
            "Round-trip time",
            ", ms",
            "STAMP probe",
            "probe lost: 1 of 105",
            "smoothed by TCP",
            "least while idle: 20.0 ms",
            "Retransmitted segments",
            ", in each 10.0 ms",
            "retransmitted: 7",
            "timeout: 1",
            "What the sender waited for",
            ", % of the time",
            "receiver's window 40 %",
            "send buffer 10 %",
            "congestion window or pacing 50 %",
            "time since the start of the test, s",
            "run 01JD3XV0000000000000000000",
            &format!("linerate {}", env!("CARGO_PKG_VERSION")),
        ]
    );
}

#[test]
fn the_same_run_gives_the_same_picture() {
    let (run, samples) = tcp();
    let kept = Kept::new(&run, &samples);
    assert_eq!(kept.draw("a.svg"), kept.draw("b.svg"));
    assert_eq!(kept.draw("a.png"), kept.draw("b.png"));
}

#[test]
fn both_directions_have_panels_of_their_own() {
    let spec = TestSpec { direction: Direction::Bidirectional, ..TestSpec::default() };
    let streams = vec![sender(1, Heading::Outbound, Whose::Local), sender(2, Heading::Inbound, Whose::Peer)];
    let totals = [total("outbound"), total("inbound")];
    let seen = Seen::of(&run(&spec, &totals, "linerate 0.1.0"), &RunSamples { streams, probes: probes() });
    for panel in ["goodput", "window", "losses", "limits"] {
        for way in ["out", "in"] {
            assert!(seen.panels.contains(&format!("{panel}-{way}")), "{panel}-{way} in {:?}", seen.panels);
        }
    }
    assert!(seen.says("dtn1 → dtn2: 80.0 Mbit/s, dtn2 → dtn1: 80.0 Mbit/s"), "{:?}", seen.texts);
}

#[test]
fn of_many_streams_the_first_eight_windows_are_drawn() {
    let spec = TestSpec { streams: 12, ..TestSpec::default() };
    let streams = (1..=12).map(|stream| sender(stream, Heading::Outbound, Whose::Local)).collect();
    let seen = Seen::of(&run(&spec, &[total("outbound")], "linerate 0.1.0"), &RunSamples { streams, probes: probes() });
    assert!(seen.says("congestion window, the first 8 of 12 streams"), "{:?}", seen.texts);
    assert!(seen.says("retransmitted: 84"), "a sum over the streams: {:?}", seen.texts);
}

#[test]
fn datagrams_have_no_windows_and_losses_of_their_own() {
    let spec = TestSpec { protocol: Protocol::Udp, ..TestSpec::default() };
    let streams = vec![receiver(Heading::Outbound, Whose::Peer, &[(Field::AppBytes, 100_000), (Field::AppLost, 2)])];
    let mut total = total("outbound");
    total["datagrams"] = json!({ "sent": 1_000, "received": 782, "lost": 218, "lost_at_tail": 18, "reordered": 0,
                                 "duplicated": 0, "jitter_us": 7 });
    let seen = Seen::of(&run(&spec, &[total], "linerate 0.1.0"), &RunSamples { streams, probes: probes() });
    assert_eq!(seen.panels, ["header", "goodput", "round-trip", "losses", "footer"]);
    assert!(seen.says("lost: 200"), "{:?}", seen.texts);
    assert!(seen.says("18 more at the tail, after the last one received"), "{:?}", seen.texts);
}

#[test]
fn what_the_peer_did_not_tell_is_said_in_its_panel() {
    let spec = TestSpec { direction: Direction::Reverse, ..TestSpec::default() };
    let streams = vec![receiver(Heading::Inbound, Whose::Local, &[(Field::AppBytes, 100_000)])];
    let samples = RunSamples { streams, probes: ProbeSamples::default() };
    let seen = Seen::of(&run(&spec, &[total("inbound")], "iperf 3.12"), &samples);
    let silence = "unknown: the sender, dtn2, runs iperf 3.12, which sends no samples";
    assert_eq!(seen.texts.iter().filter(|text| text.contains(silence)).count(), 4, "{:?}", seen.texts);
    assert!(seen.says("7 in the whole run; when is unknown"), "{:?}", seen.texts);
}

#[test]
fn a_run_that_failed_before_it_measured_is_drawn_with_its_reason() {
    let mut value = serde_json::to_value(run(&TestSpec::default(), &[], "linerate 0.1.0")).unwrap();
    value["outcome"] = json!({ "state": "failed", "kind": "unreachable", "detail": "dtn2 does not answer" });
    value["peer"]["target"] = json!("<a href=\"x\">&\u{1b}[31m");
    value.as_object_mut().unwrap().remove("measurement");
    let seen = Seen::of(&serde_json::from_value(value).unwrap(), &RunSamples::default());
    assert!(seen.says("failed (unreachable): dtn2 does not answer"), "{:?}", seen.texts);
    assert!(seen.says("<a href=\"x\">&"), "a name is text and no markup: {:?}", seen.texts);
}

#[test]
fn a_png_is_the_drawing_at_twice_its_size() {
    let (run, samples) = tcp();
    let png = Kept::new(&run, &samples).draw("run.png");
    assert_eq!(png[..8], *b"\x89PNG\r\n\x1a\n");
    let number = |at: usize| u32::from_be_bytes(png[at..at + 4].try_into().unwrap()) as usize;
    assert_eq!(&png[12..16], b"IHDR");
    let (width, height) = (number(16), number(20));
    assert!(width == 2_000 && (1_200..3_000).contains(&height), "{width} by {height}");
    assert_eq!(&png[37..41], b"IDAT");
    let rows = miniz_oxide::inflate::decompress_to_vec_zlib(&png[41..41 + number(33)]).unwrap();
    assert_eq!(rows.len(), height * (1 + width * 3));
    let drawn = rows.iter().filter(|byte| **byte != 0 && **byte != 2).count();
    assert!(drawn > 20_000, "only {drawn} bytes differ from the row above");
}

#[test]
fn a_file_of_another_kind_is_refused_before_the_test() {
    let folder = tempfile::tempdir().unwrap();
    let output = linerate(folder.path(), &["test", "192.0.2.1", "--plot", "run.gif"]);
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("hint") && said.contains(".svg or .png"), "{said}");
}

#[test]
fn a_path_that_cannot_be_written_is_refused_before_the_test() {
    let folder = tempfile::tempdir().unwrap();
    for path in [folder.path().join("nowhere/run.svg"), made(folder.path().join("folder.svg"))] {
        let output = linerate(folder.path(), &["test", "192.0.2.1", "--plot", path.to_str().unwrap()]);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(8), "{said}");
        assert!(said.contains("cannot write") && said.contains("hint:"), "{said}");
        let listed = linerate(folder.path(), &["runs", "list", "--json"]);
        assert!(listed.stdout.is_empty(), "nothing was tested: {}", String::from_utf8_lossy(&listed.stdout));
    }
}

fn made(folder: PathBuf) -> PathBuf {
    std::fs::create_dir(&folder).unwrap();
    folder
}
