//! What goes wrong in real files.

use import::{Format, Import, read};
use model::measurement::Heading;
use model::run::{FailureKind, Outcome};

fn anomalies(import: &Import) -> Vec<String> {
    let inside = import.tests.iter().flat_map(|test| &test.anomalies);
    inside.chain(&import.anomalies).map(ToString::to_string).collect()
}

#[test]
fn of_two_errors_the_first_is_the_cause() {
    let text = r#"{"start":{"version":"iperf 3.14"},"intervals":[],"end":{},"error":"error - the server is busy running a test. try again later","error":"unable to receive results"}"#;
    let import = read(text.as_bytes());
    let Outcome::Failed(failure) = &import.tests[0].outcome else { panic!("{import:?}") };
    assert_eq!(failure.kind, FailureKind::Busy);
}

#[test]
fn lines_around_json_are_read_and_the_command_is_kept() {
    let object = std::fs::read_to_string(super::folder().join("iperf3-3.12-udp.json")).unwrap();
    let text = format!("$ iperf3 -c 127.0.0.1 -J -u -C cubic\nwarning: something\n{object}iperf3: interrupt\n{object}");
    let import = read(text.as_bytes());
    assert_eq!(import.tests[0].command[0], "iperf3");
    assert_eq!(import.tests[0].spec.congestion_control.as_deref(), Some("cubic"));
    assert_eq!(import.skipped.count, 0);
    // A page may show one log twice.
    assert_eq!(import.tests.len(), 1);
    let again = format!(
        "line {}: expected a test that was not printed before, found `that of line 3 again`",
        object.lines().count() + 4
    );
    assert_eq!(anomalies(&import), [again]);
}

#[test]
fn text_and_objects_stand_in_one_file_in_any_order() {
    let object = std::fs::read_to_string(super::folder().join("iperf3-3.12-udp.json")).unwrap();
    let text = std::fs::read_to_string(super::folder().join("brown-firewall-2013.txt")).unwrap();
    let import = read(format!("{}We ran:\n{text}\n\n{object}", "prose before\n".repeat(40)).as_bytes());
    assert_eq!(import.tests.len(), 3);
    assert_eq!(import.tests[0].line, 42);
    assert_eq!((import.skipped.count, import.skipped.first, import.skipped.last), (41, 1, 41));
    let mail: String = object.lines().map(|line| format!("> {line}\n")).collect();
    assert_eq!(read(format!("See:\n{mail}").as_bytes()).tests.len(), 1);
}

#[test]
fn a_cut_object_costs_only_itself() {
    let object = std::fs::read_to_string(super::folder().join("iperf3-3.12-tcp.json")).unwrap();
    let cut: String = object.lines().take(60).collect::<Vec<_>>().join("\n");
    let import = read(format!("{cut}\n{object}").as_bytes());
    assert_eq!(import.tests.len(), 1);
    assert!(anomalies(&import)[0].contains("expected JSON of iperf3"), "{:?}", import.anomalies);
    // One that is the end of the file is a test that broke off, with what it had.
    let alone = read(cut.as_bytes());
    assert_eq!((alone.tests.len(), alone.anomalies.len()), (1, 1));
    assert!(matches!(&alone.tests[0].outcome, Outcome::Failed(failure) if failure.kind == FailureKind::Interrupted));
}

#[test]
fn an_event_stream_that_breaks_off_is_an_interrupted_run_with_what_it_has() {
    let stream = std::fs::read_to_string(super::folder().join("iperf3-json-stream.jsonl")).unwrap();
    let cut: String = stream.lines().take(3).collect::<Vec<_>>().join("\n");
    let import = read(cut.as_bytes());
    let test = &import.tests[0];
    assert_eq!(test.format, Format::Iperf3JsonStream);
    assert!(matches!(&test.outcome, Outcome::Failed(failure) if failure.kind == FailureKind::Interrupted));
    let total = &test.measurement.as_ref().unwrap().totals[0];
    assert_eq!((total.sent.unwrap().get(), total.received), (955_514_880 + 469_237_760, None));
}

#[test]
fn the_full_object_after_its_events_is_not_a_second_test() {
    let stream = std::fs::read_to_string(super::folder().join("iperf3-json-stream.jsonl")).unwrap();
    let object = std::fs::read_to_string(super::folder().join("iperf3-3.12-tcp.json")).unwrap();
    assert_eq!(read(format!("{stream}{object}").as_bytes()).tests.len(), 1);
}

#[test]
fn before_3_11_datagrams_have_one_sum_for_both_ends() {
    let mut object: serde_json::Value =
        serde_json::from_slice(&std::fs::read(super::folder().join("iperf3-3.12-udp.json")).unwrap()).unwrap();
    let end = object["end"].as_object_mut().unwrap();
    end.remove("sum_sent");
    end.remove("sum_received");
    let import = read(object.to_string().as_bytes());
    let total = &import.tests[0].measurement.as_ref().unwrap().totals[0];
    // 96 of 5204 datagrams of 1200 bytes did not arrive.
    assert_eq!((total.sent.unwrap().get(), total.received.unwrap().get()), (5204 * 1200, 5108 * 1200));
}

#[test]
fn fewer_than_no_losses_are_none() {
    let text = "megabytes=1.0 real_seconds=1.00 rate_Mbps=8.4 tx_cpu=9 rx_cpu=0 drop=-5 pkt=100 data_loss=-5.0\n";
    let import = read(text.as_bytes());
    let counts = import.tests[0].measurement.as_ref().unwrap().totals[0].datagrams.unwrap();
    assert_eq!((counts.lost.get(), counts.received.get()), (0, 100));
}

#[test]
fn a_server_knows_only_its_own_end() {
    let receiving = super::import("iperf3-3.12-server-udp.json");
    let total = &receiving.tests[0].measurement.as_ref().unwrap().totals[0];
    assert_eq!((total.heading, total.sent, total.received.unwrap().get()), (Heading::Inbound, None, 1_277_952));
    let sending = super::import("iperf3-3.12-server-tcp-reverse.json");
    let total = &sending.tests[0].measurement.as_ref().unwrap().totals[0];
    assert_eq!((total.heading, total.received, total.sent.unwrap().get()), (Heading::Outbound, None, 1_833_697_280));
}

#[test]
fn a_damaged_row_keeps_what_is_proved_and_prose_is_counted() {
    let text = "Connecting to host there, port 5201\n\
                [  5] local 192.0.2.1 port 1 connected to 192.0.2.2 port 5201\n\
                [ ID] Interval           Transfer     Bitrate         Retr  Cwnd\n\
                [  5]   0.00-1.00   sec  1.13 GBytes  9.73 Gbits/sec    7   1.75 Parsecs\n\
                [  5]   1.00-2.00   sec  1.13 GBytes  9.73 Gbits/sec    0   1.75 MBytes\n\
                the cat walked over the keyboard\n";
    let import = read(text.as_bytes());
    assert_eq!(
        anomalies(&import),
        ["line 4: expected the columns after the rate, found `a line that ends in between`"],
        "prose is counted, not complained of"
    );
    assert_eq!((import.skipped.count, import.skipped.first), (1, 6));
    let test = &import.tests[0];
    let intervals = &test.measurement.as_ref().unwrap().intervals;
    assert_eq!(
        intervals.iter().map(|step| step.retransmits.map(|count| count.get())).collect::<Vec<_>>(),
        [None, Some(0)]
    );
    assert!(matches!(&test.outcome, Outcome::Failed(failure) if failure.kind == FailureKind::Interrupted));
}

#[test]
fn a_file_of_something_else_has_no_test() {
    for text in ["", "\n\n", "{}", "[1,2]", "{\"a\": [", "PING 192.0.2.1\n64 bytes", "Server listening on 5201\n"] {
        assert_eq!(read(text.as_bytes()).tests, [], "{text}");
    }
    assert_eq!(read("PING 192.0.2.1".as_bytes()).skipped.count, 1);
}

/// An object of iperf3 in which this is every interval, and this the amount of the summary.
fn object([interval, summary]: [u64; 2]) -> String {
    let row = |bytes: u64, from: u64, to: u64| {
        serde_json::json!({
            "socket": 5, "start": from, "end": to, "seconds": to - from, "bytes": bytes,
            "bits_per_second": bytes as f64 * 8.0 / (to - from) as f64, "retransmits": 0, "omitted": false, "sender": true,
        })
    };
    let whole = row(summary, 0, 20);
    let mut sum = whole.clone();
    sum.as_object_mut().unwrap().remove("socket");
    serde_json::json!({
        "start": { "version": "iperf 3.12", "connecting_to": { "host": "192.0.2.2", "port": 5201 },
            "test_start": { "protocol": "TCP", "num_streams": 1, "omit": 0, "duration": 20, "reverse": 0 } },
        "intervals": (0..20).map(|second| serde_json::json!({ "streams": [row(interval, second, second + 1)] })).collect::<Vec<_>>(),
        "end": { "streams": [{ "sender": whole, "receiver": whole }], "sum_sent": sum, "sum_received": sum },
    })
    .to_string()
}

#[test]
fn intervals_that_contradict_the_sum_are_said_and_not_used() {
    use model::measurement::SteadyState;
    let honest = read(object([117_500_000, 2_350_000_000]).as_bytes());
    assert_eq!((anomalies(&honest), honest.tests[0].samples.streams.len()), (Vec::new(), 1));
    // Twenty times what was sent, and what no path carries.
    for interval in [2_350_000_000, 42_250_000_000_000] {
        let import = read(object([interval, 2_350_000_000]).as_bytes());
        let found = import.tests[0].measurement.as_ref().unwrap();
        assert_eq!(found.totals[0].goodput.bps(), 940_000_000);
        assert!(matches!(found.totals[0].steady, SteadyState::NotReached) && found.intervals.is_empty());
        assert_eq!(import.tests[0].samples.streams, []);
        assert!(anomalies(&import)[0].contains(", left out`"), "{:?}", anomalies(&import));
    }
}

#[test]
fn a_sum_of_which_no_path_has_the_rate_is_no_sum() {
    let import = read(object([117_500_000, 845_000_000_000_000]).as_bytes());
    let total = &import.tests[0].measurement.as_ref().unwrap().totals[0];
    assert_eq!(total.goodput.bps(), 940_000_000, "what the intervals add up to");
    assert!(anomalies(&import)[0].contains("expected rates of at most 100 Tbit/s"), "{:?}", anomalies(&import));
}

#[test]
fn rows_from_zero_are_summaries_where_they_cover_what_came_before() {
    let row = |seconds: u64| {
        format!("[  5]   0.00-{seconds}.00 sec  {} MBytes   839 Mbits/sec    0   3.02 MBytes", 100 * seconds)
    };
    let log = |rows: &mut dyn Iterator<Item = u64>| {
        let head = "[ ID] Interval           Transfer     Bitrate         Retr  Cwnd".to_owned();
        std::iter::once(head).chain(rows.map(row)).collect::<Vec<_>>().join("\n")
    };
    let counts = [log(&mut (1..=50)), log(&mut (1..=50).rev())].map(|log| {
        let import = read(log.as_bytes());
        import.tests[0].measurement.as_ref().unwrap().intervals.len()
    });
    assert_eq!(counts, [1, 50]);
}
