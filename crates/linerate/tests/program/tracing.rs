//! Captures as `linerate trace` explains them: text, JSON, pictures, compressed files, damage.

use std::io::Write;
use std::net::SocketAddrV4;
use std::path::Path;
use std::process::{Command, Output};

use capture::write::{WrittenSegment, file_header, segment};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::{Field, Row};
use serde_json::Value;

use crate::actors::world::World;

const MSS: u32 = 1_000;
const MS: u64 = 1_000_000;
const RTT: u64 = 20 * MS;

/// 40 windows of ten segments, each acknowledged an RTT later, by a receiver that offers no more; one segment is lost.
pub fn window_limited() -> Vec<u8> {
    let mut bytes = Vec::new();
    file_header(&mut bytes);
    let options = [2, 4, 3, 0xe8, 4, 2, 1, 3, 3, 7];
    let mut ip_id = 0;
    let mut put = |is_data: bool, at_ns: u64, numbers: (u32, u32), flags: u8, payload: u32, options: &[u8]| {
        let client = SocketAddrV4::new([192, 0, 2, 1].into(), 40_000);
        let server = SocketAddrV4::new([192, 0, 2, 2].into(), 5_201);
        let (from, to) = if is_data { (client, server) } else { (server, client) };
        ip_id += 1;
        let (seq, ack) = numbers;
        let time_ns = 1_700_000_000_000_000_000 + at_ns;
        let window = 80;
        segment(
            &WrittenSegment { time_ns, from, to, seq, ack, flags, window, payload, options, ip_id, ecn: 0 },
            &mut bytes,
        );
    };
    put(true, 0, (0, 0), 2, 0, &options);
    put(false, RTT, (7, 1), 18, 0, &options);
    put(true, RTT, (1, 8), 16, 0, &[]);
    for round in 0..40_u32 {
        let start = 2 * RTT + u64::from(round) * (RTT + MS);
        let sent = |each: u32| 1 + (round * 10 + each) * MSS;
        (0..10).for_each(|each| put(true, start + u64::from(each) * MS / 10, (sent(each), 8), 16, MSS, &[]));
        (1..=10).for_each(|each| put(false, start + RTT + u64::from(each) * MS / 10, (8, sent(each)), 16, 0, &[]));
    }
    bytes
}

fn trace(folder: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_linerate")).arg("trace").args(args).current_dir(folder).output().unwrap()
}

fn stdout(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.pcap"), window_limited()).unwrap();
    folder
}

#[test]
fn the_only_transfer_is_explained_in_full() {
    let folder = folder();
    let page = stdout(&trace(folder.path(), &["a.pcap"]));
    for part in
        ["192.0.2.1:40000 -> 192.0.2.2:5201, captured at the sender", "receiver window (", "10.2 kB", "tcp_rmem"]
    {
        assert!(page.contains(part), "{part} is missing:\n{page}");
    }
    assert!(page.starts_with("a.pcap: 803 packets, 803 of them TCP, 1 connection, 1 transfer\n"), "{page}");
    // It is pasted into tickets.
    let widest = page.lines().max_by_key(|line| line.chars().count()).unwrap();
    assert!(widest.chars().count() <= 80, "{widest}");
}

/// Makes another frame of one, or none.
type Wrap = fn(&[u8]) -> Vec<u8>;

/// The same capture with other bytes before each packet, as many times as there are.
fn retold(wrap: &[Wrap]) -> Vec<u8> {
    let pcap = window_limited();
    let field = |at: usize| u32::from_le_bytes(pcap[at..at + 4].try_into().unwrap());
    let (mut out, mut at) = (pcap[..24].to_vec(), 24);
    while at < pcap.len() {
        let stored = field(at + 8) as usize;
        let frame = &pcap[at + 16..at + 16 + stored];
        for packet in wrap.iter().map(|wrap| wrap(frame)).filter(|packet| !packet.is_empty()) {
            let length = u32::try_from(packet.len()).unwrap();
            out.extend(&pcap[at..at + 8]);
            out.extend(length.to_le_bytes());
            out.extend((field(at + 12) + length - field(at + 8)).to_le_bytes());
            out.extend(packet);
        }
        at += 16 + stored;
    }
    out
}

fn in_vlan(id: u8, frame: &[u8]) -> Vec<u8> {
    [&frame[..12], &[0x81, 0, 0, id], &frame[12..]].concat()
}

#[test]
fn two_places_of_one_connection_are_two_rows_with_their_tags_and_two_graphs() {
    let folder = tempfile::tempdir().unwrap();
    let two = retold(&[|frame| in_vlan(7, frame), |frame| in_vlan(8, frame)]);
    std::fs::write(folder.path().join("two.pcap"), two).unwrap();
    let page = stdout(&trace(folder.path(), &["two.pcap"]));
    assert!(page.contains("192.0.2.1:40000 (VLAN 7)") && page.contains("192.0.2.1:40000 (VLAN 8)"), "{page}");
    stdout(&trace(folder.path(), &["two.pcap", "--flow", "2", "--plot", "two.xpl"]));
    let graph = std::fs::read_to_string(folder.path().join("two.xpl")).unwrap();
    assert_eq!((graph.matches("\nuarrow ").count(), graph.matches("\nred").count()), (400, 0));
}

#[test]
fn copies_of_a_span_port_are_no_retransmissions_in_a_graph() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("span.pcap"), retold(&[<[u8]>::to_vec, <[u8]>::to_vec])).unwrap();
    stdout(&trace(folder.path(), &["span.pcap", "--plot", "span.xpl"]));
    let graph = std::fs::read_to_string(folder.path().join("span.xpl")).unwrap();
    assert_eq!((graph.matches("\nuarrow ").count(), graph.matches("\nred").count()), (400, 0));
}

#[test]
fn of_one_direction_no_window_is_told_and_acknowledgments_alone_are_called_so() {
    let folder = tempfile::tempdir().unwrap();
    let keep: [Wrap; 1] = [|frame| if frame[29] == 1 { frame.to_vec() } else { Vec::new() }];
    let others: [Wrap; 1] = [|frame| if frame[29] == 1 { Vec::new() } else { frame.to_vec() }];
    for (name, wrap) in [("data.pcap", keep), ("acks.pcap", others)] {
        std::fs::write(folder.path().join(name), retold(&wrap)).unwrap();
    }
    let told = |name: &str| {
        let page = stdout(&trace(folder.path(), &[name]));
        page.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let page = told("data.pcap");
    assert!(page.contains("no acknowledgment of these") && !page.contains("window offered"), "{page}");
    let page = told("acks.pcap");
    assert!(page.contains("1 connection, 0 transfers") && page.contains("acknowledgments only"), "{page}");
}

#[test]
fn why_names_the_limit_of_a_capture_with_its_place() {
    let folder = folder();
    let why = |args: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_linerate"));
        let output = command.arg("why").args(args).current_dir(folder.path()).output().unwrap();
        assert_eq!(output.status.code(), Some(10), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    let page = why(&["a.pcap"]);
    assert!(page.contains("receive-window-small") && page.contains("192.0.2.2"), "{page}");
    let document: Value = serde_json::from_str(&why(&["--json", "a.pcap"])).unwrap();
    assert_eq!(document["problems"][0]["ranking"][0]["cause"], "receive-window-small");
    assert_eq!(document["problems"][0]["ranking"][0]["places"][0]["place"]["name"], "192.0.2.2");
}

#[test]
fn json_has_the_verdict_and_the_time_of_each_owner() {
    let folder = folder();
    let document: Value = serde_json::from_str(&stdout(&trace(folder.path(), &["--json", "a.pcap"]))).unwrap();
    let transfer = &document["connections"][0]["transfers"][0];
    assert_eq!(document["format"], 1);
    assert_eq!(transfer["verdicts"][0]["cause"], "receiver-window");
    assert_eq!(transfer["delivered_bytes"], 400_000);
    let owned: i64 =
        transfer["budget"].as_array().unwrap().iter().map(|share| share["time_ns"].as_i64().unwrap()).sum();
    // The handshake comes before the first data.
    assert_eq!(owned, transfer["duration_ns"].as_i64().unwrap() + i64::try_from(RTT).unwrap());
}

#[test]
fn a_compressed_capture_and_standard_input_are_read_alike() {
    let folder = folder();
    let plain = stdout(&trace(folder.path(), &["--json", "a.pcap"])).replace("a.pcap", "");
    let pcap = window_limited();
    let squeezed = |program: &str, name: &str| {
        let mut child = Command::new(program)
            .arg("-c")
            .stdin(std::process::Stdio::piped())
            .stdout(std::fs::File::create(folder.path().join(name)).unwrap())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(&pcap).unwrap();
        assert!(child.wait().unwrap().success());
        stdout(&trace(folder.path(), &["--json", name])).replace(name, "")
    };
    assert_eq!(squeezed("gzip", "a.gz"), plain);
    assert_eq!(squeezed("zstd", "a.zst"), plain);
    // Cut within a frame: what was read of it is explained.
    let whole = std::fs::read(folder.path().join("a.zst")).unwrap();
    std::fs::write(folder.path().join("cut.zst"), &whole[..whole.len() - 100]).unwrap();
    let cut = trace(folder.path(), &["cut.zst"]);
    let said = String::from_utf8_lossy(&cut.stderr).into_owned();
    assert!(cut.status.success() && said.contains("cannot be read to its end"), "{said}");
    let output = Command::new(env!("CARGO_BIN_EXE_linerate"))
        .args(["trace", "--json", "-"])
        .stdin(std::fs::File::open(folder.path().join("a.pcap")).unwrap())
        .output()
        .unwrap();
    assert_eq!(stdout(&output).replace("\"file\":\"-\"", "\"file\":\"\""), plain);
}

/// Who had the most time, with its share, of a simulated transfer.
fn main_owner(folder: &Path, options: &[&str]) -> (String, f64) {
    let simulated = Command::new(env!("CARGO_BIN_EXE_linerate"))
        .args([
            "simulate", "flow", "--rate", "50Mbit/s", "--rtt", "40ms", "--queue", "2MB", "--time", "6s", "--seeds", "1",
        ])
        .args(["--pcap", "s.pcap"])
        .args(options)
        .current_dir(folder)
        .output()
        .unwrap();
    stdout(&simulated);
    let document: Value = serde_json::from_str(&stdout(&trace(folder, &["--json", "s.pcap"]))).unwrap();
    let budget = document["connections"][0]["transfers"][0]["budget"].as_array().unwrap().clone();
    let time_ns = |share: &Value| share["time_ns"].as_f64().unwrap();
    let total: f64 = budget.iter().map(time_ns).sum();
    let most = budget.iter().max_by(|one, other| time_ns(one).total_cmp(&time_ns(other))).unwrap();
    (most["owner"].as_str().unwrap().to_owned(), time_ns(most) / total)
}

/// Both send evenly, and neither has a queue for most of the time: only one of them fills the bottleneck when it tries.
#[test]
fn a_sender_that_paces_at_the_rate_of_its_bottleneck_is_no_slow_application() {
    let folder = tempfile::tempdir().unwrap();
    let (owner, share) = main_owner(folder.path(), &["--congestion", "bbr", "--pcap-at", "receiver"]);
    assert!(owner == "congestion-window" && share > 0.75, "{owner} {share}");
    let slow = ["--application-rate", "20Mbit/s", "--no-offload", "--pcap-at", "receiver"];
    let (owner, share) = main_owner(folder.path(), &slow);
    // At the far end a program that writes evenly is not distinguished from one that a full buffer holds.
    assert!(owner == "application-or-send-buffer" && share > 0.75, "{owner} {share}");
}

#[test]
fn a_picture_is_bound_by_its_pixels_and_has_its_panels() {
    let folder = folder();
    for (name, zoom) in [("a.svg", &[][..]), ("b.svg", &["--from", "100ms", "--to", "300ms"])] {
        let args = [&["a.pcap", "--plot", name], zoom].concat();
        stdout(&trace(folder.path(), &args));
        let svg = std::fs::read_to_string(folder.path().join(name)).unwrap();
        let document = roxmltree::Document::parse(&svg).unwrap();
        let panels: Vec<&str> = document.descendants().filter_map(|node| node.attribute("id")).collect();
        for panel in ["sequence", "rtt", "flight", "goodput"] {
            assert!(panels.contains(&panel), "{panel} is not among {panels:?}");
        }
        assert!(!svg.contains("NaN") && svg.len() < 1_000_000, "{} bytes", svg.len());
    }
}

/// The data starts two RTTs after the SYN, and each of 40 rounds lasts 21 ms: from the 30th on, ten are left.
#[test]
fn a_part_of_a_picture_counts_from_the_first_data_as_its_axis_does() {
    let folder = folder();
    stdout(&trace(folder.path(), &["a.pcap", "--plot", "a.xpl", "--from", "630ms"]));
    let graph = std::fs::read_to_string(folder.path().join("a.xpl")).unwrap();
    assert_eq!(graph.lines().filter(|line| line.starts_with("uarrow ")).count(), 100);
}

#[test]
fn a_cut_capture_is_explained_as_far_as_it_goes_and_garbage_is_refused() {
    let folder = folder();
    let whole = window_limited();
    std::fs::write(folder.path().join("cut.pcap"), &whole[..whole.len() - 10]).unwrap();
    let page = stdout(&trace(folder.path(), &["cut.pcap"]));
    assert!(page.contains("read in part") && page.contains("receiver window"), "{page}");
    std::fs::write(folder.path().join("no.pcap"), "this is no capture, whatever its name says").unwrap();
    let refused = trace(folder.path(), &["no.pcap"]);
    assert_eq!(refused.status.code(), Some(9));
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(said.contains("no.pcap") && said.contains("neither pcap nor pcapng") && said.contains("hint:"), "{said}");
    std::fs::write(folder.path().join("a.pcap.xz"), [0xfd, b'7', b'z', b'X', b'Z', 0, 0, 4]).unwrap();
    let refused = trace(folder.path(), &["a.pcap.xz"]);
    assert!(String::from_utf8_lossy(&refused.stderr).contains("xz -dc FILE | linerate trace -"), "{refused:?}");
}

#[test]
fn a_graph_for_xplot_has_every_packet() {
    let folder = folder();
    stdout(&trace(folder.path(), &["a.pcap", "--plot", "a.xpl"]));
    let graph = std::fs::read_to_string(folder.path().join("a.xpl")).unwrap();
    let count = |line: &str| graph.lines().filter(|one| one.starts_with(line)).count();
    assert!(
        graph.starts_with("timeval double\ntitle\n192.0.2.1:40000_==>_192.0.2.2:5201") && graph.ends_with("\ngo\n")
    );
    // 400 segments; acknowledgments after the first draw a way along and one up.
    assert_eq!((count("white"), count("uarrow "), count("red")), (400, 400, 0));
    assert_eq!(count("line 1700000000.0"), graph.matches("\nline 1700000000.0").count());
    let piped = Command::new("sh")
        .args(["-c", &format!("{} trace - --plot b.xpl <a.pcap", env!("CARGO_BIN_EXE_linerate"))])
        .current_dir(folder.path())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&piped.stderr).into_owned();
    assert!(piped.status.code() == Some(2) && said.contains("a pipe is read once"), "{said}");
    assert!(!folder.path().join("b.xpl").exists());
}

/// The losses of a simulated path are known: two captures of it, one at each end, show each of them.
#[test]
fn two_captures_of_a_simulated_transfer_show_each_loss_between_them() {
    let folder = tempfile::tempdir().unwrap();
    let mut dropped = Vec::new();
    for end in ["sender", "receiver"] {
        let file = format!("{end}.pcap");
        let output = Command::new(env!("CARGO_BIN_EXE_linerate"))
            .args(["simulate", "flow", "--rate", "500Mbit/s", "--rtt", "30ms", "--loss", "0.001", "--bytes", "20MB"])
            .args(["--seeds", "1", "--json", "--pcap", &file, "--pcap-at", end])
            .current_dir(folder.path())
            .output()
            .unwrap();
        let run: Value = serde_json::from_str(&stdout(&output)).unwrap();
        dropped.push(run["segments_resent"].as_u64().unwrap());
    }
    let joined = trace(folder.path(), &["receiver.pcap", "sender.pcap", "--join", "--json"]);
    let joined: Value = serde_json::from_str(&stdout(&joined)).unwrap();
    let connection = &joined["connections"][0];
    assert_eq!(connection["is_first_at_client"], false, "{joined:#}");
    let crossing = &connection["directions"]["to_server"];
    assert!(dropped[0] > 3 && dropped[0] == dropped[1], "{dropped:?}");
    assert_eq!(crossing["segments"]["lost"].as_u64(), Some(dropped[0]), "{joined:#}");
    assert_eq!(crossing["segments"]["reordered"], 0);
    // Half of the RTT; simulated hosts share a clock, which nobody told the program.
    let least_ms = crossing["delay"]["min_ns"].as_f64().unwrap() / 1e6;
    assert!((14.5..15.5).contains(&least_ms), "{least_ms}");
    let page = stdout(&trace(folder.path(), &["receiver.pcap", "sender.pcap", "--join", "--same-clock"]));
    assert!(
        page.contains(&format!("{} between the captures", dropped[0])) && page.contains("taken for the same"),
        "{page}"
    );
    let refused = trace(folder.path(), &["sender.pcap", "--join"]);
    assert_eq!(refused.status.code(), Some(2));
    // Both ends in one picture, and a part of it.
    for zoom in [&[][..], &["--from", "100ms", "--to", "300ms"]] {
        let args = [&["receiver.pcap", "sender.pcap", "--join", "--plot", "both.svg"], zoom].concat();
        stdout(&trace(folder.path(), &args));
        let svg = std::fs::read_to_string(folder.path().join("both.svg")).unwrap();
        let document = roxmltree::Document::parse(&svg).unwrap();
        let panels: Vec<&str> = document.descendants().filter_map(|node| node.attribute("id")).collect();
        assert!(["sequence", "delay", "lost"].iter().all(|panel| panels.contains(panel)), "{panels:?}");
        let lost = format!("{} of ", dropped[0]);
        assert!(svg.contains("sent (sender.pcap)") && svg.contains(&lost) && svg.len() < 1_000_000, "{}", svg.len());
    }
    let refused = trace(folder.path(), &["receiver.pcap", "sender.pcap", "--join", "--plot", "both.xpl"]);
    assert_eq!(refused.status.code(), Some(2));
}

/// The numbers of a column of whole numbers, in the order of its rows.
fn column(file: &Path, name: &str) -> Vec<i64> {
    let reader = SerializedFileReader::new(std::fs::File::open(file).unwrap()).unwrap();
    let rows = reader.get_row_iter(None).unwrap();
    let of = |row: Row| row.get_column_iter().find(|(column, _)| *column == name).map(|(_, value)| value.clone());
    rows.map(|row| match of(row.unwrap()) {
        Some(Field::Long(number)) => number,
        other => panic!("{name}: {other:?}"),
    })
    .collect()
}

#[test]
fn tables_have_a_row_for_each_transfer_and_each_event() {
    let folder = folder();
    let simulated = Command::new(env!("CARGO_BIN_EXE_linerate"))
        .args(["simulate", "flow", "--rate", "100Mbit/s", "--rtt", "20ms", "--loss", "0.001", "--bytes", "10MB"])
        .args(["--seeds", "1", "--json", "--pcap", "lossy.pcap"])
        .current_dir(folder.path())
        .output()
        .unwrap();
    let resent = serde_json::from_str::<Value>(&stdout(&simulated)).unwrap()["segments_resent"].as_i64().unwrap();
    stdout(&trace(folder.path(), &["a.pcap", "lossy.pcap", "--parquet", "all.parquet"]));
    let (flows, events) = (folder.path().join("all.parquet"), folder.path().join("all-events.parquet"));
    // The last segment of what is simulated is a whole one.
    let delivered = column(&flows, "delivered_bytes");
    assert!(delivered[0] == 400_000 && (10_000_000..10_001_448).contains(&delivered[1]), "{delivered:?}");
    assert_eq!(column(&flows, "retransmits"), [0, resent]);
    assert!(column(&flows, "receiver_window_ns")[0] > 500_000_000, "{:?}", column(&flows, "receiver_window_ns"));
    assert!(resent > 0 && column(&events, "retransmits").iter().sum::<i64>() == resent, "{resent}");
}

/// A network namespace of its own, in which this user has the capability.
#[test]
fn transfers_are_followed_as_they_pass_and_explained_at_the_end() {
    let mut world = World::new();
    world.run(
        "mkfifo $F/live; $L trace --follow -i lo --json --interval 100ms > $F/live & echo $! > $F/pid; \
         exec 7< $F/live; read -r line <&7; echo \"$line\" > $F/lines",
    );
    world.run(
        "mkfifo $F/served; $L serve --once --no-archive > /dev/null 2> $F/served & exec 6< $F/served; \
         while read line <&6; do case \"$line\" in *'listening on'*) break;; esac; done",
    );
    world.run("$L test 127.0.0.1 --bytes 20MB --no-archive > $F/test");
    world.run("kill -INT $(cat $F/pid); cat <&7 >> $F/lines; wait $(cat $F/pid)");
    let lines = std::fs::read_to_string(world.folder.path().join("lines")).unwrap();
    let documents: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let (report, intervals) = documents.split_last().unwrap();
    let is_bulk = |transfer: &&Value| transfer["delivered_bytes"].as_u64() >= Some(20_000_000);
    let transfers =
        report["connections"].as_array().unwrap().iter().flat_map(|one| one["transfers"].as_array().unwrap());
    let bulk = transfers.clone().find(is_bulk).unwrap_or_else(|| panic!("{report:#}"));
    let shown = intervals.iter().flat_map(|one| one["transfers"].as_array().unwrap());
    let delivered: u64 = shown
        .filter(|one| one["from"] == bulk["from"] && one["to"] == bulk["to"])
        .map(|one| one["delivered_bytes"].as_u64().unwrap())
        .sum();
    assert!(delivered <= bulk["delivered_bytes"].as_u64().unwrap(), "{delivered}");
    assert!(intervals.iter().all(|one| one["device"] == "lo" && one["length_ns"].as_i64() > Some(0)), "{lines}");
    let (said, code) = world.ends("$L trace --follow -i nonesuch0");
    assert!(
        code == 9 && said.contains("there is no device nonesuch0") && said.contains("these are here: lo"),
        "{said}"
    );
    let (said, code) = world.ends("setpriv --inh-caps=-all --bounding-set=-all --no-new-privs $L trace --follow -i lo");
    assert!(code == 8 && said.contains("CAP_NET_RAW is missing") && said.contains("unshare -Urn"), "{code}: {said}");
}
