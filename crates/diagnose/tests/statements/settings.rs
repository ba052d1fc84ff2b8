//! Settings of TCP, links of Wi-Fi, allowances, disks, and what a start lost.

use super::{assert_fault, faults, statements};

#[test]
fn settings_are_faults_where_they_limit_a_connection_and_facts_where_they_are_usual() {
    let usual = "[root@a1 ~]# sysctl -a | grep tcp\nnet.ipv4.tcp_rmem = 4096\t131072\t6291456\nnet.ipv4.tcp_wmem = 4096\t16384\t4194304\n\
                 net.ipv4.tcp_sack = 1\nnet.ipv4.tcp_window_scaling = 1\n";
    assert_eq!(faults(usual), [] as [&str; 0]);
    assert!(statements(usual).iter().any(|one| one.says.contains("a1: a receive buffer grows to 6.29 MB at most")));
    let small = usual.replace("6291456", "174760");
    assert_fault(&small, &["a1: a receive buffer grows to 175 kB at most", "raise it to twice the rate"]);
    assert_fault(&usual.replace("tcp_sack = 1", "tcp_sack = 0"), &["selective acknowledgement is off"]);
    let unscaled = usual.replace("window_scaling = 1", "window_scaling = 0");
    assert_fault(&unscaled, &["a1: window scaling is off", "65.5 kB under way", "17.5 Mbit/s at an RTT of 30.0 ms"]);
}

#[test]
fn a_weak_radio_link_is_a_fault_and_a_good_one_a_fact() {
    let link = |signal: i32, rate: &str| {
        format!(
            "$ iw dev wlan0 link\nConnected to 02:00:00:00:00:01 (on wlan0)\n\tSSID: x\n\tfreq: 5180\n\tsignal: {signal} dBm\n\trx bitrate: {rate} \
             MBit/s\n\ttx bitrate: {rate} MBit/s\n"
        )
    };
    assert_fault(
        &link(-81, "13.0"),
        &["the Wi-Fi link wlan0 of this host receives -81 dBm", "the signal is weak", "6.50 Mbit/s received"],
    );
    assert_fault(&link(-50, "6.5"), &["the bit rate is low"]);
    assert_eq!(faults(&link(-50, "866.7")), [] as [&str; 0]);
}

#[test]
fn what_a_cloud_held_back_shows_in_one_reading_and_in_two() {
    let reading = |count: u32| format!("  bw_in_allowance_exceeded: 0\n  bw_out_allowance_exceeded: {count}\n");
    let command = "ec2@n1:~$ ethtool -S ens5 | grep allowance\n";
    assert_fault(&format!("{command}{}", reading(812)), &["812 packets at ens5 of n1 exceeded what the cloud allows"]);
    assert_eq!(faults(&format!("{command}{}", reading(0))), [] as [&str; 0]);
    let both = format!("{command}{}after:\n{}", reading(812), reading(900));
    assert_fault(&both, &["n1: ens5.bw_out_allowance_exceeded went up by 88"]);
    assert_eq!(faults(&format!("{command}{}after:\n{}", reading(812), reading(812))), [] as [&str; 0]);
}

#[test]
fn a_start_that_overflows_a_queue_is_no_loss_of_the_path() {
    let log = |last: u32| {
        let row = |second: u32, again: u32| {
            format!(
                "[  5]  {second:>2}.00-{:>2}.00  sec  12.5 MBytes   105 Mbits/sec  {again}   512 KBytes\n",
                second + 1
            )
        };
        let rows: String = (0..12).map(|second| row(second, [900, 0][usize::from(second > 0)])).collect();
        format!(
            "rtt min/avg/max/mdev = 30.0/30.1/30.2/0.1 ms\n[ ID] Interval           Transfer     Bitrate         Retr  Cwnd\n{rows}{}[  5]   \
             0.00-13.00  sec   162 MBytes   105 Mbits/sec  {}             sender\n",
            row(12, last),
            900 + last
        )
    };
    assert_eq!(faults(&log(0)), [] as [&str; 0]);
    let says = statements(&log(0));
    assert!(
        says.iter().any(|one| one.says.contains("900 segments retransmitted within the first 1.00 s")),
        "{says:#?}"
    );
    let later = statements(&log(600));
    assert!(later.iter().all(|one| !one.says.contains("within the first")), "{later:#?}");
}

#[test]
fn a_disk_that_is_always_busy_is_the_limit_of_what_is_written() {
    let table = |busy: &str| {
        format!("root@n9:~# iostat -xm 5\nDevice  r/s  w/s  rMB/s  wMB/s  %util\nsda  0.0  80.0  0.0  38.6  {busy}\n")
    };
    assert_fault(&table("99.9"), &["the disk sda of n9 is busy for 99.9 % of the time", "the disk is the limit"]);
    assert_eq!(faults(&table("41.0")), [] as [&str; 0]);
}
