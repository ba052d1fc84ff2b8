//! NICs, queues and CPUs.

use super::{assert_fault, faults, statements};

#[test]
fn counters_that_grep_left_are_two_readings_where_a_name_comes_again() {
    let text = "[root@a1 ~]# ethtool -S eno1 | grep -i xoff; sleep 5; ethtool -S eno1 | grep -i xoff\n     tx_flow_control_xoff: 0\n     \
                rx_flow_control_xoff: 1000\n     tx_flow_control_xoff: 0\n     rx_flow_control_xoff: 1250\n";
    assert_fault(text, &["a1 was asked to pause 250 times between two readings of eno1", "rx_flow_control_xoff"]);
    let once =
        "[root@a1 ~]# ethtool -S eno1 | grep -i xoff\n     tx_flow_control_xoff: 0\n     rx_flow_control_xoff: 1000\n";
    assert_eq!(faults(once), [] as [&str; 0]);
}

#[test]
fn lines_of_netstat_that_grep_left_are_readings() {
    let line = |count: u32| {
        format!(
            "me@c2:~$ date; netstat -su | grep 'buffer err'\nTue Feb  6 15:30:01 CET 2024\n    {count} receive buffer errors\n"
        )
    };
    let text = format!("{}{}", line(500), line(777));
    assert_fault(&text, &["c2: Udp.RcvbufErrors went up by 277", "sockets were full"]);
}

const RINGS: &str = "[root@gw ~]# ethtool -g eth7\nRing parameters for eth7:\nPre-set maximums:\nRX:             4096\nTX:             4096\n\
                     Current hardware settings:\nRX:             512\nTX:             512\n\n";

#[test]
fn a_short_ring_is_a_fault_only_beside_packets_that_found_no_room() {
    assert_eq!(faults(RINGS), [] as [&str; 0]);
    let text = format!(
        "{RINGS}[root@gw ~]# ethtool -S eth7 | egrep 'out_of|phy'; sleep 9; !!\n     rx_out_of_buffer: 100\n     rx_packets_phy: 10000\n     \
         rx_out_of_buffer: 150\n     rx_packets_phy: 20000\n\ndest says hello to all of us here\n\
         [SUM]  0.00-10.00  sec  3.41 GBytes  2.93 Gbits/sec  18211             sender\n"
    );
    assert_fault(&text, &["eth7 of gw had no room for 50 packets (rx_out_of_buffer)", "512 of at most 4096"]);
    assert_fault(&text, &["gw: eth7.rx_out_of_buffer went up by 50 of 10000 packets (0.5 %)"]);
    // The rows stand below a sentence, and may be of any host.
    assert!(statements(&text).iter().all(|one| !one.says.starts_with("gw to ")), "{:#?}", statements(&text));
}

#[test]
fn of_two_shapers_of_an_access_line_the_slower_is_told_first() {
    // allow(speedtest): the name of the tool
    let text = "   Speedtest by Ookla\n\n      Server: Quay Networks - Oban (id: 4711)\n         ISP: Quay Networks\n\
                Idle Latency:     5.10 ms   (jitter: 0.20ms, low: 4.90ms, high: 5.40ms)\n\
                \x20   Download:   141.20 Mbps (data used: 150.1 MB)\n      Upload:   470.90 Mbps (data used: 500.2 MB)\n Packet Loss:     0.0%\n\n\
                root@cpe:~# tc -s qdisc\n\
                qdisc cake 8021: dev wan0 root refcnt 5 bandwidth 500Mbit besteffort\n Sent 544982310 bytes 441202 pkt (dropped 302, overlimits 712730 requeues 0)\n\
                qdisc cake 8022: dev ifb4wan0 root refcnt 2 bandwidth 150Mbit besteffort\n Sent 214233128 bytes 160691 pkt (dropped 331, overlimits 281190 requeues 0)\n";
    let all = faults(text);
    let first = all.first().unwrap_or_else(|| panic!("{:#?}", statements(text)));
    assert!(first.starts_with("a shaper (cake) of 150 Mbit/s on ifb4wan0"), "{all:#?}");
    assert!(first.contains("the 141 Mbit/s of the access line are that rate"), "{first}");
}

#[test]
fn a_shaper_explains_the_rate_that_is_its_own_and_no_other() {
    let shaper = "root@v1:~# tc -s qdisc show dev ens9\nqdisc tbf 8001: root refcnt 2 rate 20Mbit burst 8Kb lat 25ms\n \
                  Sent 9122384 bytes 6120 pkt (dropped 1241, overlimits 81 requeues 0)\n backlog 8706b 5p requeues 0\n\n\
                  root@v1:~# iperf3 -c far.example\n";
    let own = format!("{shaper}[  5]   0.00-10.00  sec  22.6 MBytes  19.0 Mbits/sec   72             sender\n");
    assert_fault(
        &own,
        &[
            "a shaper (tbf) of 20.0 Mbit/s on ens9 of v1 dropped 1241 packets",
            "the 19.0 Mbit/s to far.example are that rate",
        ],
    );
    let other = format!("{shaper}[  5]   0.00-10.00  sec  2.26 MBytes  1.90 Mbits/sec   72             sender\n");
    assert!(faults(&other).iter().all(|says| !says.contains("are that rate")), "{:#?}", faults(&other));
    let idle = "qdisc htb 1: dev eth0 root rate 50Mbit\n Sent 0 bytes 0 pkt (dropped 0, overlimits 0 requeues 0)\n";
    assert_eq!(faults(idle), [] as [&str; 0]);
}

#[test]
fn a_link_that_came_up_slower_or_half_duplex_is_a_fault() {
    let text = "[    9.772013] ixgbe 0000:03:00.0 enp3s0: NIC Link is Up 10 Gbps, Flow Control: None\n\
                [ 7713.201114] ixgbe 0000:03:00.0 enp3s0: NIC Link is Down\n\
                [ 7719.884301] ixgbe 0000:03:00.0 enp3s0: NIC Link is Up 1 Gbps, Flow Control: None\n";
    assert_fault(
        text,
        &["enp3s0 of this host: its link came up", "with 1.00 Gbit/s where it had 10.0 Gbit/s before it went down"],
    );
    let better: Vec<&str> = text.lines().rev().collect();
    assert_eq!(faults(&better.join("\n")), [] as [&str; 0]);
    let half = "# ethtool eth3\n\tSpeed: 100Mb/s\n\tDuplex: Half\n\tAuto-negotiation: on\n";
    assert_fault(half, &["eth3 of this host: its link runs at 100 Mbit/s half duplex", "duplex mismatch"]);
    assert_eq!(faults(&half.replace("Half", "Full")), [] as [&str; 0]);
}

#[test]
fn a_slot_is_too_narrow_for_a_faster_link_only() {
    let bus = "[    5.002144] mlx5_core 0000:21:00.0: 31.504 Gb/s available PCIe bandwidth, limited by 8.0 GT/s PCIe x4 link at 0000:20:03.1 \
               (capable of 126.016 Gb/s with 8.0 GT/s PCIe x16 link)\n";
    assert_fault(
        bus,
        &["0000:21:00.0 of this host carries 31.5 Gbit/s", "could use 126 Gbit/s", "if its link is faster"],
    );
    let up = |rate: &str| format!("{bus}[    7.000001] mlx5_core 0000:21:00.0 ens1: Link is Up {rate} Full Duplex\n");
    assert_fault(&up("100 Gbps"), &["ens1 (0000:21:00.0)", "less than its link of 100 Gbit/s"]);
    assert_eq!(faults(&up("25 Gbps")), [] as [&str; 0]);
}

#[test]
fn lro_is_a_fault_on_a_port_of_a_bridge() {
    let on = "me@vm4:~$ ethtool -k em1 | egrep 'lro|large-rec|generic-rec'\ngeneric-receive-offload: on\nlarge-receive-offload: on\n";
    assert_eq!(faults(on), [] as [&str; 0]);
    let text = format!("[Thu Apr 21 10:02:11 2022] br0: port 1(em1) entered forwarding state\n{on}");
    assert_fault(&text, &["LRO is on at em1 of vm4, a port of the bridge br0", "ethtool -K em1 lro off"]);
    assert_eq!(faults(&text.replace("offload: on", "offload: off [fixed]")), [] as [&str; 0]);
}

#[test]
fn cpus_that_are_stolen_or_used_up_are_faults() {
    let sar = "Linux 6.1.0 (vm7) \t05/14/24 \t_x86_64_\t(4 CPU)\n\n14:20:01        CPU     %user     %nice   %system   %iowait    %steal     %idle\n\
               14:30:01        all      3.11      0.00     21.40      0.02     46.00     29.47\n";
    assert_fault(sar, &["the hypervisor took 46 % of the CPU time of vm7"]);
    let top = "CPU:   1% usr  49% sys   0% nic   1% idle   0% io   0% irq  48% sirq\n";
    assert_fault(top, &["the CPUs of this host are used up", "48 % in soft interrupts"]);
    assert_eq!(
        faults("%Cpu(s):  1.0 us,  4.0 sy,  0.0 ni, 92.0 id,  0.0 wa,  0.0 hi,  3.0 si,  0.0 st\n"),
        [] as [&str; 0]
    );
}

#[test]
fn datagrams_that_end_at_one_rate_however_fast_they_come_meet_a_limit_of_it() {
    let run = |asked: &str, row: &str| {
        format!("$ iperf3 -u -b {asked} -l 1448 -c far\n[  5]   0.00-10.00  sec  {row}  receiver\n")
    };
    let fits = run("190M", "226 MBytes   190 Mbits/sec  0.018 ms  0/164012 (0%)");
    let cut = run("210M", "239 MBytes   200 Mbits/sec  0.021 ms  8390/181279 (4.6%)");
    let more = run("250M", "238 MBytes   200 Mbits/sec  0.017 ms  43055/215810 (20%)");
    assert_fault(
        &format!("{fits}\n{cut}\n{more}"),
        &["pass up to 200 Mbit/s and no faster", "190 Mbit/s without a loss"],
    );
    assert!(
        !faults(&format!("{fits}\n{cut}")).iter().any(|says| says.contains("no faster")),
        "one run that lost is no limit"
    );
    let far = run("400M", "238 MBytes   200 Mbits/sec  0.017 ms  172649/345298 (50%)");
    assert_fault(
        &format!("{cut}\n{far}"),
        &["pass up to 200 Mbit/s and no faster (at 400 Mbit/s 50 % are lost): a rate limit"],
    );
}

#[test]
fn one_cpu_that_receives_for_all_is_a_fault() {
    let row =
        |received: &str, dropped: &str, left: &str| format!("{received} {dropped} {left}{}\n", " 00000000".repeat(8));
    let idle = row("00010000", "00000000", "00000000");
    let text = format!("{}{idle}{idle}", row("01000000", "00000000", "000000ff"));
    assert_eq!(faults(&text), [] as [&str; 0], "a round that ends early costs nothing by itself");
    let busy = "%Cpu0  :  0.0 us,  1.0 sy,  0.0 ni,  0.0 id,  0.0 wa,  0.0 hi, 99.0 si,  0.0 st\n";
    assert_fault(&format!("{text}\n{busy}"), &["CPU 0 of this host received 99 %", "of 3 CPUs", "255 times"]);
    let full = format!("{}{idle}", row("00010000", "00000007", "00000000"));
    assert_fault(&full, &["dropped 7 of 131072 packets", "netdev_max_backlog"]);
    assert_eq!(faults(&format!("{idle}{idle}")), [] as [&str; 0]);
    let top = "%Cpu(s):  4.0 us, 11.0 sy,  0.0 ni, 60.0 id,  0.0 wa,  0.0 hi, 25.0 si,  0.0 st\n\n  PID USER      PR  NI    VIRT    RES    SHR S  \
               %CPU  %MEM     TIME+ COMMAND\n   14 root      20   0       0      0      0 R  97.1   0.0   9:01.10 ksoftirqd/1\n";
    assert_fault(top, &["97 % of it in soft interrupts"]);
    assert_eq!(faults(&top.replace("97.1", "37.1")), [] as [&str; 0]);
}

#[test]
fn what_a_host_retransmitted_of_all_it_sent_is_a_fault_where_it_is_much() {
    let netstat = |again: u32| {
        format!(
            "me@c2:~$ netstat -st\nTcp:\n    90000 segments received\n    150000 segments sent out\n    {again} segments retransmitted\n"
        )
    };
    assert_fault(&netstat(6_000), &["c2: 6000 segments retransmitted beside 150000 sent", "(4.0 %)", "ethtool -S"]);
    assert_eq!(faults(&netstat(3_000)), [] as [&str; 0]);
}

#[test]
fn late_collisions_contradict_full_duplex() {
    let port = |late: u32| {
        format!(
            "FastEthernet0/7 is up, line protocol is up (connected)\n  Full-duplex, 100Mb/s, media type is 10/100BaseTX\n     \
             2911400 packets output, 336549843 bytes, 0 underruns\n     0 babbles, {late} late collision, 0 deferred\n"
        )
    };
    assert_fault(&port(188), &["FastEthernet0/7", "188 late collisions for 2911400 packets", "duplex mismatch"]);
    assert_eq!(faults(&port(0)), [] as [&str; 0]);
}

#[test]
fn a_link_that_the_other_end_holds_below_a_gigabit_is_a_fault() {
    let settings = |partner: &str, speed: &str| {
        format!(
            "root@nas:~# ethtool eth0\nSettings for eth0:\n\tAdvertised link modes:  100baseT/Full\n\t                        1000baseT/Full\n\
             \tLink partner advertised link modes:  {partner}\n\tSpeed: {speed}\n\tDuplex: Full\n\tAuto-negotiation: on\n"
        )
    };
    assert_fault(
        &settings("100baseT/Full", "100Mb/s"),
        &["eth0 of nas: its link runs at 100 Mbit/s, full duplex", "up to 1.00 Gbit/s", "the other end sets the rate"],
    );
    assert_eq!(faults(&settings("1000baseT/Full", "1000Mb/s")), [] as [&str; 0]);
}

#[test]
fn one_reading_tells_where_a_large_part_was_lost() {
    let netstat = |full: u64| {
        format!(
            "me@c2:~$ netstat -su\nUdp:\n    900000 packets received\n    12 packets to unknown port received\n    {full} packet receive errors\n    \
                 40 packets sent\n    {full} receive buffer errors\n"
        )
    };
    assert_fault(&netstat(100_000), &["c2: 100000 of 1000000 datagrams", "10 %", "receiving socket full"]);
    assert_eq!(faults(&netstat(500)), [] as [&str; 0]);
}

#[test]
fn a_port_of_a_switch_and_the_host_at_it_are_read() {
    let text = "root@probe:~# mii-tool\neth3: negotiated 100baseTx-HD, link ok\n\nFastEthernet0/4 is up, line protocol is up (connected)\n  \
                Full-duplex, 100Mb/s, media type is 10/100BaseTX\n     900 packets input, 70000 bytes, 0 no buffer\n     \
                41 input errors, 41 CRC, 0 frame, 0 overrun, 0 ignored\n";
    assert_fault(text, &["eth3 of probe: its link runs at 100 Mbit/s half duplex"]);
}

#[test]
fn what_a_host_drops_in_its_own_queue_is_a_fault_where_it_is_much() {
    let qdisc = |dropped: u32| {
        format!(
            "me@s1:~$ tc -s qdisc show dev em1\nqdisc fq 8002: root refcnt 2 limit 10000p\n Sent 90000000 bytes 60000 pkt (dropped {dropped}, \
                 overlimits 0 requeues 0)\n backlog 0b 0p requeues 0\n"
        )
    };
    assert_fault(&qdisc(600), &["the qdisc (fq) on em1 of s1 dropped 600 packets", "in the sender itself"]);
    assert_eq!(faults(&qdisc(6)), [] as [&str; 0]);
}
