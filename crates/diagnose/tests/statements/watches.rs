//! What is said of documents of linerate itself: one-way probes, bursts, telemetry, drops.

use super::{assert_fault, faults, statements};

/// Both directions, 9 of 200 packets of one lost; clocks that nothing keeps.
const OWAMP: &str = r#"{"target":"10.0.0.2","address":"10.0.0.2","started_unix_ns":1795867941090858955,"spec":{"port":861,"count":200,
"interval_us":10000,"spacing":"exponential","padding_bytes":0,"timeout_us":2000000,"directions":"both"},"outcome":{"state":"complete"},
"forward":{"sent":200,"lost":9,"duplicated":0,"reordered":0,"delay":{"min_ns":-1896,"median_ns":16164,"p95_ns":23050,"max_ns":32067,"pdv_ns":6886},
"histogram":{"width_ns":100000,"buckets":[]},"hops":[],"clocks":{"sender_synchronised":false,"receiver_synchronised":false,"error_ns":32000000000}},
"reverse":{"sent":200,"lost":0,"duplicated":0,"reordered":0,"delay":{"min_ns":31896,"median_ns":46164,"p95_ns":53050,"max_ns":62067,"pdv_ns":6886},
"histogram":{"width_ns":100000,"buckets":[]},"hops":[],"clocks":{"sender_synchronised":true,"receiver_synchronised":true,"error_ns":2000000}}}"#;

#[test]
fn a_session_of_owamp_says_which_direction_loses() {
    assert_fault(OWAMP, &["this host", "10.0.0.2", "9 of 200", "4.5 %"]);
    let all: Vec<String> = statements(OWAMP).into_iter().map(|one| one.says).collect();
    let has = |part: &str| all.iter().any(|says| says.contains(part));
    assert!(
        has("from this host to 10.0.0.2 take -1.00 µs/16.0 µs/32.0 µs one way") && has("clocks not synchronised"),
        "{all:#?}"
    );
    assert!(has("from 10.0.0.2 to this host") && has("clocks within 2.00 ms"), "{all:#?}");
    assert!(has("take 30.0 µs at least, which is the RTT"), "{all:#?}");
}

#[test]
fn a_session_that_was_cut_says_what_was_not_sent() {
    let cut = OWAMP.replace("\"count\":200", "\"count\":600");
    assert_fault(&cut, &["sent 200 of the 600 packets"]);
}

/// A device that dropped once, while a burst was far above the mean.
const BURSTS: &str = r#"{"format":1,"host":"dtn1","device":"eth0","start_unix_ns":1000000000,"length_us":8000000,"bucket_us":1000,
"counted_by":"program","line_rate_bps":1000000000,"threshold_percent":50,"directions":[{"heading":"outbound","bytes":25500000,"packets":17409,
"missed_buckets":0,"mean_bps":26000000,"busiest_second_bps":97900000,"busiest_bucket_bps":985000000,"bursts":15,"burst_bytes":11730000,
"by_length":[],"by_volume":[],"largest":[{"start_unix_ns":1500000000,"length_us":40000,"bytes":4160000,"packets":2755,"marked":0,
"peak_bps":985000000}],"queue":{"rate_bps":500000000,"most_bytes":1790000},"steps":{"step_us":1000000,"mean_bps":[],"busiest_bps":[]}}],
"drops":[{"after_unix_ns":1500000000,"within_us":100000,"counters":[{"counter":"7: tbf qdisc drops","packets":27}],
"directions":[{"heading":"outbound","start_unix_ns":1450000000,"wire_bytes":[0,123125,400]}]}]}"#;

#[test]
fn a_burst_that_overflows_a_queue_is_a_fault() {
    assert_fault(BURSTS, &["eth0 of dtn1", "dropped 27 packets", "7: tbf qdisc drops", "985 Mbit/s", "26.0 Mbit/s"]);
    let quiet = BURSTS.split_once(",\n\"drops\"").map(|(before, _)| format!("{before}}}")).unwrap();
    assert_eq!(faults(&quiet), [] as [&str; 0]);
    let all = statements(&quiet);
    assert!(all.iter().any(|one| one.says.contains("46 %") && one.says.contains("1.79 MB")), "{all:#?}");
}

/// One interval of a switch whose queue dropped.
fn telemetry(most: u64, dropped: u64) -> String {
    format!(
        "{{\"format\":1,\"start_unix_ns\":1,\"length_us\":1000000,\"datagrams\":100,\"reports\":200,\"malformed\":0,\"incomplete\":0,\
         \"without_flow\":0,\"not_kept\":0,\"cell_bytes\":80,\"senders\":[],\"hops\":[{{\"node\":7,\"egress_port\":3,\"queue\":0,\
         \"reports\":200,\"dropped\":{dropped},\"most_occupancy\":{most},\"occupancy_classes\":[],\"most_latency_ns\":1900000,\
         \"latency_classes\":[]}}]}}\n"
    )
}

#[test]
fn intervals_of_a_queue_of_a_switch_are_one_statement() {
    let both = telemetry(1000, 0) + &telemetry(25_000, 3);
    assert_eq!(faults(&both).len(), 1);
    assert_fault(&both, &["switch 7, port 3, queue 0", "dropped 3 of 400", "2.00 MB", "1.90 ms"]);
    assert_eq!(faults(&telemetry(1000, 0)), [] as [&str; 0]);
}

/// One interval of a host.
fn drops(missed: u64) -> String {
    format!(
        "{{\"format\":1,\"host\":\"dtn1\",\"start_unix_ns\":1,\"length_us\":10000000,\"counters\":[{{\"layer\":\"device\",\"of\":\"eth0\",\
         \"name\":\"rx_missed_errors\",\"kind\":\"no_buffer\",\"increase\":{missed}}}],\"retransmits\":{{\"state\":\"ok\",\"value\":\
         {{\"way\":\"sockets\",\"peers\":{{\"10.0.0.2\":4}}}},\"source\":\"netlink\"}}}}\n"
    )
}

#[test]
fn intervals_of_drops_add_up() {
    assert_fault(
        &(drops(100) + &drops(40)),
        &["dtn1 dropped", "20.0 s", "eth0 rx_missed_errors 140", "ring too small", "8 segments"],
    );
    assert_eq!(faults(&drops(0)), [] as [&str; 0]);
}

#[test]
fn a_document_of_a_later_version_or_with_numbers_that_nothing_has_says_nothing() {
    let refused = |text: &str| {
        let import = import::read(text.as_bytes());
        assert!(import.evidence.is_empty(), "{:#?}", import.evidence);
        import.anomalies[0].found.clone()
    };
    assert!(refused(&BURSTS.replacen("\"format\":1", "\"format\":9", 1)).contains("newer linerate"));
    let lies = BURSTS.replace("\"mean_bps\":26000000", "\"mean_bps\":18446744073709551615");
    assert!(refused(&lies).contains("mean_bps"));
    assert!(refused(&OWAMP.replace("\"count\":200", "\"count\":-1")).contains("sessions of OWAMP"));
}
