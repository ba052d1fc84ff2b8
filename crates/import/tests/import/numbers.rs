//! Our numbers against the tool's own, taken from the file by other means.

use model::measurement::Heading;
use serde_json::Value;

/// Both sums of iperf3's own object, for every recorded object.
#[test]
fn totals_are_those_of_iperf3s_own_sums() {
    let mut compared = 0;
    for file in super::files() {
        if file.extension().is_none_or(|extension| extension != "json") {
            continue;
        }
        let text = std::fs::read_to_string(&file).unwrap();
        let object: Value = serde_json::from_str(&text).unwrap();
        let import = import::read(text.as_bytes());
        let Some(found) = &import.tests[0].measurement else { continue };
        let forward = object["start"]["test_start"]["reverse"] == 0;
        let calls = object["start"]["connecting_to"].is_object();
        let heading = if forward == calls { Heading::Outbound } else { Heading::Inbound };
        let total = found.totals.iter().find(|total| total.heading == heading).unwrap();
        let sums = [("sum_sent", total.sent), ("sum_received", total.received)];
        for (key, ours) in sums {
            let theirs = object["end"][key]["bytes"].as_u64().unwrap();
            // A server's zero stands for what only its client knows.
            assert_eq!(ours.map_or(0, |bytes| bytes.get()), theirs, "{} {key}", file.display());
            compared += 1;
        }
        if let Some(again) = total.retransmits {
            assert_eq!(Some(again.get()), object["end"]["sum_sent"]["retransmits"].as_u64(), "{}", file.display());
        }
        let intervals = object["intervals"].as_array().unwrap();
        let of_sums: u64 = intervals
            .iter()
            .filter(|interval| interval["sum"]["omitted"] == false)
            .map(|interval| interval["sum"]["bytes"].as_u64().unwrap())
            .sum();
        let ours: u64 = found
            .intervals
            .iter()
            .filter(|interval| interval.heading == heading)
            .map(|interval| interval.bytes.get())
            .sum();
        assert_eq!(ours, of_sums, "{}", file.display());
    }
    assert!(compared >= 20, "only {compared} sums were compared");
}

#[test]
fn an_event_stream_is_the_object_it_was_cut_from() {
    let mut stream = super::import("iperf3-json-stream.jsonl").tests.remove(0);
    let object = super::import("iperf3-3.12-tcp.json").tests.remove(0);
    stream.format = object.format;
    assert_eq!(stream, object);
}

/// Computed by hand: 2236.125 MB are 2236.125 * 2^20 bytes; 12.2 MBytes are 12.2 * 2^20.
#[test]
fn megabytes_are_powers_of_two_in_both_tools() {
    let nuttcp = super::import("nuttcp-8.2.2-formats.txt");
    let total = &nuttcp.tests[0].measurement.as_ref().unwrap().totals[0];
    assert_eq!(total.received.unwrap().get(), 2_344_747_008);
    assert_eq!(total.goodput.bps(), 9_378_621_400);
    let iperf3 = super::import("la-serena-to-champaign-2020.txt");
    let total = &iperf3.tests[0].measurement.as_ref().unwrap().totals[0];
    assert_eq!(total.sent.unwrap().get(), 12_792_627);
    assert_eq!(total.goodput.bps(), 1_690_000);
}

/// 55250 datagrams were sent, the highest sequence seen was 55246, and 17622 before it are missing.
#[test]
fn datagrams_lost_at_the_tail_are_counted() {
    let import = super::import("iperf3-3.12-udp-flood.json");
    let counts = import.tests[0].measurement.as_ref().unwrap().totals[0].datagrams.unwrap();
    assert_eq!((counts.sent.get(), counts.lost.get(), counts.lost_at_tail.get()), (55_250, 17_626, 4));
    assert_eq!(counts.received.get(), 55_246 - 17_622);
}

#[test]
fn windows_become_segments_where_the_size_is_beyond_doubt() {
    use model::series::field::Field;
    let import = super::import("la-serena-to-champaign-2020.txt");
    let stream = &import.tests[0].samples.streams[0];
    assert_eq!(stream.column(Field::SndCwnd), Some(&[4, 5, 6, 11, 5, 9][..]));
    assert_eq!(stream.column(Field::SndMss), Some(&[8948; 6][..]));
    assert_eq!(stream.column(Field::TotalRetrans), Some(&[12, 21, 32, 39, 51, 62][..]));
    assert_eq!(stream.column(Field::Rtt), None);
    let coarse = super::import("amlight-209ms-2023.txt");
    assert_eq!(coarse.tests[0].samples.streams[0].column(Field::SndCwnd), None);
}
