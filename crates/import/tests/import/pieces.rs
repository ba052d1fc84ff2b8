//! What people paste without its beginning, or twice: no number may come of two tests, and counters are known by their names.

use import::Import;
use import::evidence::{CounterKind, Shown};
use model::measurement::SteadyState;

fn read(text: &str) -> Import {
    import::read(text.as_bytes())
}

/// The summary of iperf3, as it is pasted without its intervals.
fn summary(rate: &str, end: &str) -> String {
    format!(
        "[ ID] Interval           Transfer     Bitrate         Retr\n\
         [  5]   0.00-10.00  sec  2.74 GBytes  {rate} Gbits/sec    0             sender\n\
         [  5]   0.00-{end}  sec  2.74 GBytes  {rate} Gbits/sec                  receiver\n"
    )
}

#[test]
fn two_summaries_below_each_other_are_two_tests() {
    let text = format!("without time stamps:\n{}\nwith:\n{}", summary("2.36", "10.05"), summary("2.35", "10.04"));
    let import = read(&text);
    let rates: Vec<u64> =
        import.tests.iter().map(|test| test.measurement.as_ref().unwrap().totals[0].goodput.bps()).collect();
    assert_eq!(rates.len(), 2, "{import:?}");
    assert!(rates.iter().all(|rate| (2_300_000_000..2_400_000_000).contains(rate)), "{rates:?}: no sum of both");
}

#[test]
fn a_summary_whose_ends_were_cut_still_ends_its_test() {
    let rows = |bytes: [&str; 2], rate: &str| {
        let [step, whole] = bytes;
        let row = |second: u64| format!("[  5]  {second:2}.00-{}.00  sec  {step}  {rate}\n", second + 1);
        let rows: String = (0..10).map(row).collect();
        let head = "[ ID] Interval           Transfer     Bitrate\n";
        let sum = format!("[  5]   0.00-10.00  sec  {whole}  {rate}                  rec=\neiver\n");
        format!("{head}{rows}- - - - - - - - - - - - - - - - - - - - - - - - -\n{head}{sum}")
    };
    let import = read(&format!(
        "{}before:\n{}",
        rows(["1.13 MBytes", "11.3 MBytes"], "9.48 Mbits/sec"),
        rows(["769 MBytes", "7.51 GBytes"], "6.45 Gbits/sec"),
    ));
    let totals: Vec<u64> =
        import.tests.iter().map(|test| test.measurement.as_ref().unwrap().totals[0].goodput.bps()).collect();
    assert_eq!(totals.len(), 2, "{import:?}");
    assert!(totals[0] < 100_000_000 && totals[1] > 6_000_000_000, "{totals:?}");
}

#[test]
fn what_a_sender_of_datagrams_counts_in_its_intervals_is_not_what_arrived() {
    let row = |second: u64| format!("[  4]  {second:2}.00-{}.00  sec  112 MBytes  940 Mbits/sec  14400\n", second + 1);
    let rows: String = (0..10).map(row).collect();
    let text = format!(
        "iperf3 -c 192.0.2.1 -u -b 1G\nConnecting to host 192.0.2.1, port 5201\n\
         [  4] local 192.0.2.17 port 52116 connected to 192.0.2.1 port 5201\n\
         [ ID] Interval           Transfer     Bandwidth       Total Datagrams\n{rows}\
         - - - - - - - - - - - - - - - - - - - - - - - - -\n\
         [ ID] Interval           Transfer     Bandwidth       Jitter    Lost/Total Datagrams\n\
         [  4]   0.00-10.00  sec  1.09 GBytes   940 Mbits/sec  0.265 ms  101088/144000 (70%)\n\
         [  4] Sent 144000 datagrams\n"
    );
    let import = read(&text);
    let total = &import.tests[0].measurement.as_ref().unwrap().totals[0];
    assert_eq!(total.steady, SteadyState::NotReached, "{total:?}");
    assert!((270_000_000..290_000_000).contains(&total.goodput.bps()), "{total:?}: 30 % of it arrived");
}

#[test]
fn counters_are_known_by_their_names_where_their_title_is_missing() {
    let counters = |text: &str| {
        let import = read(text);
        let Some(Shown::Counters(found)) = import.evidence.first().map(|item| &item.shows) else {
            panic!("{text}: {import:?}")
        };
        (found.kind, found.device.clone(), found.values.clone())
    };
    let (kind, device, values) = counters(
        ">> /sys/class/net/eno1/statistics$ grep . *\n>> collisions:0\n>> rx_bytes:1499851\n>> rx_crc_errors:1165\n\
         >> rx_packets:4789\n>>\n",
    );
    assert_eq!((kind, device.as_deref(), values["rx_crc_errors"]), (CounterKind::Link, Some("eno1"), 1165));
    let (_, _, values) = counters("TcpRetransSegs   1,503,935\nTcpExtTCPTimeouts  533\nTcpExtTCPDSACKRecv  5,389\n");
    assert_eq!((values["Tcp.RetransSegs"], values["TcpExt.TCPTimeouts"]), (1_503_935, 533));
    let (_, _, values) = counters(
        "    IcmpMsg:\n        InType0: 439\n    Tcp:\n        13868 segments send out\n        9 segments retransmited\n",
    );
    assert_eq!((values["Tcp.OutSegs"], values["Tcp.RetransSegs"]), (13_868, 9));
}

#[test]
fn a_report_of_hops_may_say_more_of_its_host() {
    let import = read(
        "HOST: box                      Loss%   Snt   Last   Avg  Best  Wrst StDev\nHosts: box.local\n\
           1.|-- router.local             0.0%     5    4.8   3.5   2.6   4.8   0.9\n\
           2.|-- ???                    100.0     5    0.0   0.0   0.0   0.0   0.0\n\
           3.|-- 2001:db8::98     0.0%     5   37.6  35.9  32.0  41.9   4.0\n",
    );
    assert!(import.evidence.iter().any(|item| matches!(item.shows, Shown::Hops(_))), "{import:?}");
}
