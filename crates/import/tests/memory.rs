//! Reading a long log takes memory and work in proportion to its length, and little of it.

use allocation_counter::{AllocationInfo, measure};
use serde_json::{Value, json};

/// What iperf3 prints of so many seconds at a line each, and of the whole.
fn text(seconds: u32) -> String {
    let mut lines = vec![
        "Connecting to host 192.0.2.2, port 5201".to_owned(),
        "[  5] local 192.0.2.1 port 43210 connected to 192.0.2.2 port 5201".to_owned(),
        "[ ID] Interval           Transfer     Bitrate         Retr  Cwnd".to_owned(),
    ];
    lines.extend((0..seconds).map(|second| {
        let end = format!("{}.00", second + 1);
        format!("[  5] {second:>3}.00-{end:<7} sec   112 MBytes   940 Mbits/sec    0   3.02 MBytes")
    }));
    lines.push("- - - - - - - - - - - - - - - - - - - - - - - - -".to_owned());
    lines.push(format!(
        "[  5]   0.00-{seconds}.00 sec   {} MBytes   940 Mbits/sec    0             sender",
        112 * seconds
    ));
    lines.join("\n")
}

/// The same as one object, with an interval a second.
fn object(seconds: u32) -> String {
    let interval = |second: u32| {
        let stream = json!({
            "socket": 5, "start": second, "end": second + 1, "seconds": 1.0, "bytes": 117_500_000, "bits_per_second": 940_000_000.0,
            "retransmits": 0, "snd_cwnd": 3_166_700, "snd_wnd": 6_291_456, "rtt": 25_000, "rttvar": 120, "pmtu": 1_500,
            "reorder": 0, "omitted": false, "sender": true,
        });
        let sum = json!({
            "start": second, "end": second + 1, "seconds": 1.0, "bytes": 117_500_000, "bits_per_second": 940_000_000.0,
            "retransmits": 0, "omitted": false, "sender": true,
        });
        json!({ "streams": [stream], "sum": sum })
    };
    let whole = json!({
        "start": 0, "end": seconds, "seconds": seconds, "bytes": u64::from(seconds) * 117_500_000,
        "bits_per_second": 940_000_000.0, "retransmits": 0, "sender": true, "socket": 5,
    });
    let document = json!({
        "start": {
            "connected": [{ "socket": 5, "local_host": "192.0.2.1", "local_port": 43210, "remote_host": "192.0.2.2", "remote_port": 5201 }],
            "version": "iperf 3.12", "timestamp": { "timesecs": 1_767_225_600 }, "connecting_to": { "host": "192.0.2.2", "port": 5201 },
            "test_start": { "protocol": "TCP", "num_streams": 1, "blksize": 131_072, "omit": 0, "duration": seconds, "bytes": 0, "blocks": 0, "reverse": 0 },
        },
        "intervals": (0..seconds).map(interval).collect::<Vec<Value>>(),
        "end": { "streams": [{ "sender": whole, "receiver": whole }], "sum_sent": whole, "sum_received": whole },
    });
    serde_json::to_string_pretty(&document).unwrap_or_default()
}

fn cost(log: &str, seconds: u32) -> AllocationInfo {
    measure(|| {
        let read = import::read(log.as_bytes());
        let found = read.tests.first().and_then(|test| test.measurement.as_ref()).map(|found| found.intervals.len());
        assert!(found >= Some(seconds as usize), "{found:?} of {seconds} seconds are there");
    })
}

/// Twice as long takes at most a tenth more than twice of it, which is how vectors grow.
fn grows_with_its_length(log: fn(u32) -> String) {
    const SECONDS: u32 = 2_000;
    let [once, twice] = [SECONDS, 2 * SECONDS].map(|seconds| cost(&log(seconds), seconds));
    assert!(twice.count_total * 10 <= once.count_total * 22, "{once:?} {twice:?}");
    assert!(twice.bytes_total * 10 <= once.bytes_total * 24, "{once:?} {twice:?}");
}

#[test]
fn lines_cost_what_their_number_says() {
    grows_with_its_length(text);
}

/// The same log with an output of another tool behind it, for which every line is looked at once more.
fn text_and_echoes(seconds: u32) -> String {
    const ECHOES: &str = "PING b (192.0.2.2) 56(84) bytes of data.\n64 bytes from 192.0.2.2: icmp_seq=1 ttl=64 time=25.1 ms\n\n\
                          --- b ping statistics ---\n1 packets transmitted, 1 received, 0% packet loss, time 0ms\n\
                          rtt min/avg/max/mdev = 25.1/25.1/25.1/0.0 ms\n";
    format!("{}\n{ECHOES}", text(seconds))
}

#[test]
fn lines_beside_other_tools_cost_what_their_number_says() {
    grows_with_its_length(text_and_echoes);
}

#[test]
fn titles_that_are_printed_again_and_again_are_looked_at_once() {
    let read = |count: usize| {
        let titles = "Mtr_Version,Start_Time,Status,Host,Hop,Ip,Loss%,Snt, ,Last,Avg,Best,Wrst,StDev,\n";
        let log = titles.repeat(count);
        measure(|| assert!(import::read(log.as_bytes()).evidence.is_empty())).count_total
    };
    let [once, twice] = [1_000, 2_000].map(read);
    assert!(twice * 10 <= once * 22, "{once} {twice}");
}

#[test]
fn a_row_is_read_without_a_copy_of_its_text() {
    // Its words, its numbers and what becomes of both; a day of them is read in a third of a second.
    for log in [text, text_and_echoes] {
        let [once, twice] = [2_000, 4_000].map(|seconds| cost(&log(seconds), seconds).count_total);
        let a_row = (twice - once).div_ceil(2_000);
        assert!(a_row <= 3, "{a_row} allocations a row");
    }
}

#[test]
fn objects_cost_what_their_size_says() {
    grows_with_its_length(object);
}

#[test]
fn a_large_object_takes_five_times_its_size_at_most() {
    // 39 MB of it are read within 200 MB.
    let log = object(4_000);
    let most = cost(&log, 4_000).bytes_max;
    assert!(most <= 5 * log.len() as u64, "{most} bytes for {}", log.len());
}
