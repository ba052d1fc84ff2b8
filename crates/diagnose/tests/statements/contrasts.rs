//! Measurements that differ in one label, and what follows from both.

use diagnose::statements::StatementKind;

use super::statements;

/// What is said first, whether it decides.
fn first(text: &str) -> (bool, String) {
    let all = statements(text);
    all.first().map_or((false, String::new()), |one| (one.kind == StatementKind::Decisive, one.says.clone()))
}

fn assert_decides(text: &str, parts: &[&str]) {
    let (decides, says) = first(text);
    assert!(decides, "{says}");
    for part in parts {
        assert!(says.contains(part), "{part}: {says}");
    }
}

/// A client's log of iperf3: a rate each second, what was retransmitted in all.
fn tcp(options: &str, rate: f64, again: u32) -> String {
    let mut text = format!("$ iperf3 -c 192.0.2.9{options}\nConnecting to host 192.0.2.9, port 5201\n");
    text += "[  5] local 192.0.2.1 port 40100 connected to 192.0.2.9 port 5201\n[ ID] Interval           Transfer     Bitrate         Retr  Cwnd\n";
    let bytes = rate / 8.0 * 1e6 / 1_048_576.0;
    let each = again / 5;
    for second in 0..5 {
        text += &format!(
            "[  5]   {second}.00-{}.00   sec  {bytes:.2} MBytes  {rate:.1} Mbits/sec  {each}   110 KBytes\n",
            second + 1
        );
    }
    text += "- - - - - - - - - - - - - - - - - - - - - - - - -\n[ ID] Interval           Transfer     Bitrate         Retr\n";
    text += &format!(
        "[  5]   0.00-5.00   sec  {:.1} MBytes  {rate:.1} Mbits/sec  {again}             sender\n",
        bytes * 5.0
    );
    text += &format!(
        "[  5]   0.00-5.00   sec  {:.1} MBytes  {rate:.1} Mbits/sec                  receiver\n\niperf Done.\n\n",
        bytes * 5.0
    );
    text
}

/// The same of datagrams.
fn udp(offered: f64, lost: f64) -> String {
    let (sent, through) = (offered * 5e6 / 8.0, offered * (1.0 - lost));
    let count = (sent / 1448.0).floor();
    let missing = (count * lost).floor();
    let mut text = format!("$ iperf3 -c 192.0.2.9 -u -b {offered}M -t 5\nConnecting to host 192.0.2.9, port 5201\n");
    text += "[  5] local 192.0.2.1 port 40200 connected to 192.0.2.9 port 5201\n";
    text += "[ ID] Interval           Transfer     Bitrate         Jitter    Lost/Total Datagrams\n";
    let mib = |bytes: f64| bytes / 1_048_576.0;
    text += &format!(
        "[  5]   0.00-5.00   sec  {:.1} MBytes  {offered:.1} Mbits/sec  0.000 ms  0/{count} (0%)  sender\n",
        mib(sent)
    );
    let got = mib(sent * (1.0 - lost));
    text += &format!(
        "[  5]   0.00-5.00   sec  {got:.1} MBytes  {through:.1} Mbits/sec  0.100 ms  {missing}/{count} ({:.2}%)  receiver\n\niperf Done.\n\n",
        lost * 100.0
    );
    text
}

fn ping(what: &str, millis: f64) -> String {
    let mut text = format!("$ ping -c 5 192.0.2.9   ({what})\nPING 192.0.2.9 (192.0.2.9) 56(84) bytes of data.\n");
    for number in 1..6 {
        text += &format!("64 bytes from 192.0.2.9: icmp_seq={number} ttl=60 time={millis:.1} ms\n");
    }
    text += "\n--- 192.0.2.9 ping statistics ---\n5 packets transmitted, 5 received, 0% packet loss, time 4004ms\n";
    text += &format!("rtt min/avg/max/mdev = {millis:.3}/{millis:.3}/{millis:.3}/0.010 ms\n\n");
    text
}

#[test]
fn a_rate_at_which_datagrams_are_cut_is_a_policer_where_rtts_stay_and_a_queue_where_they_grow() {
    let runs = tcp("", 52.0, 828) + &udp(60.0, 0.0) + &udp(120.0, 0.37);
    let flat = ping("idle", 30.0) + &ping("while the test below runs", 30.2) + &runs;
    assert_decides(&flat, &["60.0 Mbit/s without a loss", "a policer", "no losses at random"]);
    let grows = ping("idle", 30.0) + &ping("while the test below runs", 180.0) + &runs;
    assert_decides(&grows, &["waits in a queue of about", "a shaper, or a link of that rate"]);
    let (decides, says) = first(&runs);
    assert!(!decides && says.contains("echoes while it runs tell which"), "{says}");
}

#[test]
fn datagrams_that_are_lost_at_any_rate_show_no_limit() {
    let runs = ping("idle", 30.0) + &tcp("", 12.0, 20) + &udp(60.0, 0.02) + &udp(120.0, 0.02);
    assert!(statements(&runs).iter().all(|one| !one.says.contains("a rate limit of about")));
}

#[test]
fn a_larger_window_that_makes_each_stream_faster_shows_the_window() {
    let runs = ping("idle", 34.0) + &tcp("", 49.7, 0) + &tcp(" -w 1M", 241.0, 0);
    let four = tcp(" -P 4", 49.7, 0).replace(
        "receiver\n",
        "receiver\n[SUM]   0.00-5.00   sec   118 MBytes   198 Mbits/sec    0             sender\n",
    );
    let (_, says) = first(&(runs + &four));
    assert!(says.contains("window"), "{says}");
}

#[test]
fn a_change_between_two_equal_tests_is_the_cause_or_it_is_none() {
    let change =
        "$ sudo ethtool -K vxlan.calico tx-checksum-ip-generic off\nActual changes:\ntx-checksum-ip-generic: off\n";
    let runs = tcp("", 214.0, 523) + change + &tcp("", 901.0, 10);
    assert_decides(
        &runs,
        &[
            "214 Mbit/s before `ethtool -K vxlan.calico tx-checksum-ip-generic off` and 901 Mbit/s after it",
            "4 times as fast",
        ],
    );
    let same = tcp("", 214.0, 523) + change + &tcp("", 216.0, 510);
    assert!(statements(&same).iter().any(|one| one.says.contains("what it changes is not the limit")));
}

#[test]
fn a_direction_that_loses_into_a_host_with_a_slow_bus_is_told() {
    let link = "$ ethtool eth0\nSettings for eth0:\n\tSpeed: 1000Mb/s\n\tDuplex: Full\n\tLink detected: yes\n\n";
    let back = tcp(" -R", 236.0, 0)
        .replace("port 5201\n[  5] local", "port 5201\nReverse mode, remote host 192.0.2.9 is sending\n[  5] local");
    assert_decides(
        &(ping("idle", 0.5) + &tcp("", 35.0, 1159) + &back + link),
        &["the other direction 236 Mbit/s", "pause frames"],
    );
}

#[test]
fn a_table_of_switches_says_which_of_them_is_the_cause() {
    let table = "one after the other, three runs each:\n\n| tso | gro | pod to pod |\n|---|---|---:|\n| on | on | 412 KB/s |\n| on | off | 391 KB/s |\n\
                 | off | on | 377 MB/s |\n";
    assert_decides(table, &["3.02 Gbit/s without", "segmentation offload"]);
}

#[test]
fn datagrams_that_only_the_tests_own_bursts_lose_are_told_from_a_policer() {
    let lone = |rate: u32, lost: u32, sent: u32| {
        let mib = f64::from(rate) * 1e7 / 8.0 / 1_048_576.0;
        format!(
            "$ iperf3 -c 192.0.2.9 -u -l 1460 -b {rate}M -t 10 -i 0\n[ ID] Interval           Transfer     Bandwidth       Jitter    Lost/Total Datagrams\n\
             [  4]   0.00-10.00  sec  {mib:.1} MBytes  {rate}.0 Mbits/sec  0.850 ms  {lost}/{sent} ({:.0}%)  \n[  4] Sent {sent} datagrams\n",
            f64::from(lost) * 100.0 / f64::from(sent)
        )
    };
    let text = tcp("", 47.2, 4) + &lone(10, 1_687, 8_561) + &lone(20, 10_180, 17_123) + &lone(40, 27_354, 34_246);
    let all = statements(&text);
    assert!(
        all.iter().any(|one| one.says.contains("iperf3 before 3.2 sends the datagrams of 100 ms at once")),
        "{all:?}"
    );
    assert!(all.iter().all(|one| !one.says.contains("a rate limit of about")), "{all:?}");
}

#[test]
fn a_counter_that_goes_up_by_what_is_retransmitted_is_the_place() {
    let counters = |missed: u32| {
        format!(
            "$ ethtool -S eth0\nNIC statistics:\n     rx_packets: 91203344\n     rx_missed_errors: {missed}\n     rx_crc_errors: 0\n"
        )
    };
    let text = |by: u32| counters(8_812_034) + &tcp("", 443.0, 2_390) + &counters(8_812_034 + by);
    assert_decides(&text(2_428), &["rx_missed_errors went up by 2428, and 2390 segments were retransmitted"]);
    assert!(statements(&text(90)).iter().all(|one| !one.says.contains("it is there that they are lost")));
}

#[test]
fn large_packets_that_vanish_beside_a_transfer_that_stands_still_are_a_black_hole() {
    let ping = |size: u32, got: u32| {
        format!(
            "$ ping -M do -s {size} -c 3 192.0.2.9\nPING 192.0.2.9 (192.0.2.9) {size}({}) bytes of data.\n\n--- 192.0.2.9 ping statistics ---\n\
             3 packets transmitted, {got} received, {}% packet loss, time 2031ms\n\n",
            size + 28,
            if got == 0 { 100 } else { 0 }
        )
    };
    let small = tcp(" -M 1300", 89.6, 2);
    let text = ping(1372, 3) + &ping(1373, 0) + &tcp("", 1.2, 60) + &small;
    assert_decides(&text, &["packets of 1400 B pass", "with segments of 1300 B", "an MTU black hole"]);
}
