//! Outputs as ethtool 6.1, iproute2 6.1 and procps 4 print them, and what others have read wrong in them.

use std::fs;
use std::io::Write;

use model::host::fact::Missing;
use model::host::interface::tuning::{Feature, Rings};
use units::WallTime;

use super::*;

/// Of a driver with small rings; what is not there is `n/a`.
const RINGS: &str = "\
Ring parameters for eth0:
Pre-set maximums:
RX:\t\t8192
RX Mini:\tn/a
RX Jumbo:\tn/a
TX:\t\t8192
Current hardware settings:
RX:\t\t512
RX Mini:\tn/a
RX Jumbo:\tn/a
TX:\t\t1024
RX Buf Len:\t\tn/a
CQE Size:\t\tn/a
TX Push:\toff
TCP data split:\tn/a
";

#[test]
fn rings_are_those_in_use_and_not_the_line_of_small_packets() {
    let read = ethtool::tables::rings(RINGS);
    let expected =
        Rings { rx: Some(512), rx_max: Some(8_192), tx: Some(1_024), tx_max: Some(8_192), ..Rings::default() };
    assert_eq!((read.value, read.unknown), (expected, vec![]));
    // Older programs wrote 0 for what is not there.
    assert_eq!(ethtool::tables::rings(&RINGS.replace("n/a", "0").replace("RX Buf Len:\t\t0\n", "")).value, expected);
}

#[test]
fn unknown_line_of_a_table_is_reported_with_its_place() {
    let read = ethtool::tables::rings("RX:\t1\nPre-set maximums:\nRX:\tmany\nWarp:\t3\nTX 5\n");
    assert_eq!(read.unknown.iter().map(|(line, _)| *line).collect::<Vec<_>>(), [1, 3, 4, 5]);
    assert_eq!(read.value, Rings::default());
}

#[test]
fn features_have_the_kernels_names_and_fixed_ones_are_told() {
    let text = "\
Features for eth0:
rx-checksumming: on
tx-checksumming: on
\ttx-checksum-ipv4: off [fixed]
generic-receive-offload: off
large-receive-offload: off [fixed]
rx-gro-hw: on [requested off]
warp: maybe
";
    let read = ethtool::features::read(text);
    let features = read.value;
    assert_eq!(features["rx-gro"], Feature { hw: true, wanted: false, active: false, nochange: false });
    assert!(features["rx-lro"].is_fixed() && features["tx-checksum-ipv4"].is_fixed());
    assert!(features["rx-gro-hw"].active && !features["rx-gro-hw"].wanted);
    assert!(!features.contains_key("tx-checksumming") && features["rx-checksum"].active);
    assert_eq!(read.unknown, [(8, "not `feature: on` or `feature: off`".to_owned())]);
}

#[test]
fn other_tables_of_ethtool_are_read() {
    let channels = "Channel parameters for eth0:\nPre-set maximums:\nRX:\t\tn/a\nTX:\t\tn/a\nOther:\t\t1\nCombined:\t64\n\
                    Current hardware settings:\nRX:\t\tn/a\nTX:\t\tn/a\nOther:\t\t1\nCombined:\t32\n";
    let channels = ethtool::tables::channels(channels).value;
    assert_eq!((channels.combined, channels.combined_max, channels.rx), (Some(32), Some(64), None));
    let coalesce = "Coalesce parameters for eth0:\nAdaptive RX: on  TX: off\nstats-block-usecs:\tn/a\n\nrx-usecs:\t8\n\
                    rx-frame-low:\t5\nCQE mode RX: n/a  TX: n/a\n";
    let coalesce = ethtool::tables::coalesce(coalesce);
    assert_eq!((coalesce.value.adaptive_rx, coalesce.value.adaptive_tx), (Some(true), Some(false)));
    assert_eq!((coalesce.value.values["rx-usecs"], coalesce.value.values["rx-frames-low"]), (8, 5));
    let pause = ethtool::tables::pause("Pause parameters for eth0:\nAutonegotiate:\toff\nRX:\t\ton\nTX:\t\toff\n");
    assert!(pause.value.rx && !pause.value.tx && pause.unknown.is_empty());
    let driver = ethtool::driver::driver(
        "driver: mlx5_core\nversion: 6.1\nfirmware-version: 16.35\nbus-info: 0000:3b:00.0\n\
                                          supports-statistics: yes\nexpansion-rom-version: \n",
    );
    assert_eq!((driver.value.name.as_str(), driver.value.firmware.as_str()), ("mlx5_core", "16.35"));
    let counters =
        ethtool::driver::counters("NIC statistics:\n     rx_out_of_buffer: 77\n     [0]: tx:drops: 3\n  x: y\n");
    assert_eq!((counters.value["rx_out_of_buffer"], counters.value["[0]: tx:drops"]), (77, 3));
    assert_eq!(counters.unknown.len(), 1);
}

#[test]
fn kind_of_a_discipline_is_the_second_word() {
    let text = "\
qdisc mq 0: dev eth0 root \n Sent 5 bytes 1 pkt (dropped 0, overlimits 0 requeues 2) \n backlog 0b 0p requeues 2
qdisc fq 8001: dev eth0 parent :1 limit 10000p flow_limit 100p buckets 1024 quantum 18028b maxrate 2Gbit \n Sent 9 bytes 3 pkt (dropped 4, overlimits 0 requeues 0) \n backlog 3Kb 7p requeues 0\n  flows 3 (inactive 2 throttled 1)\n  gc 0 highprio 5 throttled 6 flows_plimit 8
qdisc tbf 1: dev eth1 root refcnt 2 rate 72Gbit burst 1Mb limit 3000000b
qdisc noqueue 0: dev lo root refcnt 2
warp
";
    let Read { value, unknown } = tc::read(text, None);
    let mq = &value["eth0"][0];
    assert_eq!((mq.kind.as_str(), mq.handle.as_str(), mq.is_root(), mq.is_default()), ("mq", "0:", true, true));
    let fq = &value["eth0"][1];
    assert_eq!((fq.kind.as_str(), fq.parent.as_str(), fq.options["maxrate_bps"]), ("fq", ":1", 2_000_000_000));
    assert_eq!((fq.options["limit_packets"], fq.counters["drops"], fq.counters["flows_plimit"]), (10_000, 4, 8));
    assert_eq!((fq.counters["backlog_bytes"], fq.counters["backlog_packets"]), (3_072, 7));
    let tbf = &value["eth1"][0];
    assert_eq!((tbf.options["rate_bps"], tbf.options["burst_bytes"]), (72_000_000_000, 1 << 20));
    assert_eq!(tbf.options["limit_bytes"], 3_000_000);
    assert_eq!(unknown.len(), 1);
    assert_eq!(tc::read("qdisc mq 0: root \n", Some("eth0")).value["eth0"][0].kind, "mq");
}

#[test]
fn mega_is_bytes_where_tc_says_bps() {
    assert_eq!(
        tc::read("qdisc tbf 1: dev a root rate 9000Mbps", None).value["a"][0].options["rate_bps"],
        72_000_000_000
    );
}

#[test]
fn every_sysctl_that_tuning_tools_write_is_kept() {
    let keys = [
        "net.core.rmem_max",
        "net.core.wmem_max",
        "net.core.rmem_default",
        "net.core.wmem_default",
        "net.core.netdev_max_backlog",
        "net.core.default_qdisc",
        "net.ipv4.tcp_rmem",
        "net.ipv4.tcp_wmem",
        "net.ipv4.tcp_congestion_control",
        "net.ipv4.tcp_mtu_probing",
        "net.ipv4.tcp_window_scaling",
        "net.ipv4.tcp_timestamps",
        "net.ipv4.tcp_sack",
        "net.ipv4.tcp_low_latency",
    ];
    let text: String = keys.iter().map(|key| format!("{key} = 4096\t131072 \t7\n")).collect();
    let read =
        sysctl::read(&format!("{text}kernel.hostname = x\nsysctl: permission denied on key 'net.ipv4.tcp_mem'\n???\n"));
    for key in keys {
        assert_eq!(read.value[key], Ok("4096 131072 7".to_owned()));
    }
    assert_eq!(read.value["net.ipv4.tcp_mem"], Err(Missing::Denied));
    assert_eq!((read.value.len(), read.unknown.len()), (15, 1));
}

/// Of iproute2 6.1, `ip -s -d link` and `ip -d address`.
const LINKS: &str = "\
2: eth0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 9000 qdisc mq master br0 state UP mode DEFAULT group default qlen 1000
    link/ether 52:54:00:12:34:56 brd ff:ff:ff:ff:ff:ff promiscuity 1 minmtu 68 maxmtu 9978 \n    bridge_slave state forwarding priority 32 cost 2 addrgenmode none numtxqueues 64 numrxqueues 32 gso_max_size 65536 gso_max_segs 65535 \n    inet 192.0.2.1/24 brd 192.0.2.255 scope global eth0
       valid_lft forever preferred_lft forever
    RX:  bytes packets errors dropped  missed   mcast           \n       3000      20      1       2       7       3 \n    TX:  bytes packets errors dropped carrier collsns           \n       4000      30      0       5       0       0 \n    altname enp1s0
5: vx0: <BROADCAST,MULTICAST> mtu 1450 qdisc noop state DOWN mode DEFAULT group default qlen 1000
    link/ether 5e:00:00:00:00:01 brd ff:ff:ff:ff:ff:ff promiscuity 0 minmtu 68 maxmtu 65535 \n    vxlan id 42 local 192.0.2.1 dev eth0 srcport 0 0 dstport 4789 ttl auto ageing 300
6: eth0.96@eth0: <BROADCAST,UP> mtu 1500 state UP
    vlan protocol 802.1Q id 96 <REORDER_HDR>
7: bond0: <UP> mtu 9000 state UP
    bond mode 802.3ad miimon 100 xmit_hash_policy layer3+4
8: west@if9: <UP> mtu 1500 state UP
    veth
junk here
";

#[test]
fn links_are_read_with_their_kinds_and_counters() {
    let Read { value, unknown } = ip_link::read(LINKS);
    let device = |name: &str| value.devices.iter().find(|device| device.name == name).unwrap();
    let eth0 = device("eth0");
    assert_eq!((eth0.link.mtu, eth0.link.max_mtu, eth0.link.txqlen), (Some(9_000), Some(9_978), Some(1_000)));
    assert_eq!((eth0.link.controller.as_deref(), eth0.link.operational.as_deref()), (Some("br0"), Some("up")));
    assert_eq!((eth0.link.kind.as_deref(), eth0.link.tx_queues, eth0.link.rx_queues), (None, Some(64), Some(32)));
    assert_eq!((eth0.counters["rx_missed_errors"], eth0.counters["tx_dropped"]), (7, 5));
    let vxlan = device("vx0").link.vxlan.clone().unwrap();
    assert_eq!((vxlan.vni, vxlan.port, device("vx0").link.lower.as_deref()), (42, Some(4_789), Some("eth0")));
    let vlan = &device("eth0.96").link;
    assert_eq!((vlan.vlan, vlan.kind.as_deref(), vlan.lower.as_deref()), (Some(96), Some("vlan"), Some("eth0")));
    let bond = device("bond0").link.bond.clone().unwrap();
    assert_eq!((bond.mode.as_str(), bond.transmit_hash.as_deref()), ("802.3ad", Some("layer3+4")));
    let west = &device("west").link;
    assert_eq!((west.lower.as_deref(), west.lower_elsewhere, west.kind.as_deref()), (None, Some(9), Some("veth")));
    assert_eq!((value.addresses.len(), value.addresses[0].prefix), (1, 24));
    assert_eq!(unknown.iter().map(|(line, _)| *line).collect::<Vec<_>>(), [20]);
}

#[test]
fn directory_becomes_a_snapshot_and_what_was_not_saved_is_not_known() {
    let root = tempfile::tempdir().unwrap();
    let write = |path: &str, text: &str| {
        let path = root.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    write("ethtool -g eth0.txt", RINGS);
    write("ethtool -l eth0", "netlink error: Operation not supported\n");
    write("sysctl -a", "net.core.rmem_max = 5\n");
    write("ip -d link", LINKS);
    write("etc/sysctl.d/10.conf", "net.core.rmem_max = 6\n");
    write("notes", "what is this?");
    std::os::unix::fs::symlink("/etc/passwd", root.path().join("sysctl_-a")).unwrap();
    let snapshot = from_directory(root.path(), WallTime::default()).unwrap();
    let own = snapshot.own().unwrap();
    let eth0 = own.interface("eth0").unwrap();
    assert_eq!(eth0.rings.value().unwrap().rx, Some(512));
    assert_eq!(eth0.channels.reading, Err(Missing::Unsupported));
    assert!(matches!(eth0.pause.reading, Err(Missing::Failed { .. })), "{:?}", eth0.pause);
    assert_eq!(own.sysctl("net.core.rmem_max"), Some("5"));
    let provenance = snapshot.provenance.value().unwrap();
    assert_eq!(provenance.settings["net.core.rmem_max"].running_differs, Some(true));
    let reported: Vec<_> = snapshot.anomalies.iter().map(|anomaly| anomaly.file.as_str()).collect();
    assert_eq!(reported, ["/notes", "/ip -d link"]);
    let empty = tempfile::tempdir().unwrap();
    assert!(matches!(from_directory(empty.path(), WallTime::default()), Err(SavedError::Nothing { .. })));
}

/// An archive with these entries, whose names are taken as they are.
fn archive(entries: &[(&str, &str)]) -> Vec<u8> {
    let mut builder = tar::Builder::new(Vec::new());
    for (name, text) in entries {
        let mut header = tar::Header::new_gnu();
        // The crate refuses to write paths that lead elsewhere; a stranger does not.
        let field = &mut header.as_gnu_mut().unwrap().name;
        field[..name.len()].copy_from_slice(name.as_bytes());
        header.set_size(text.len() as u64);
        header.set_mode(0o644);
        header.set_cksum();
        builder.append(&header, text.as_bytes()).unwrap();
    }
    builder.into_inner().unwrap()
}

#[test]
fn sosreport_is_read_plain_and_compressed() {
    let entries = [
        ("sosreport-dtn1/sos_commands/networking/ethtool_-g_eth0", RINGS),
        ("sosreport-dtn1/sos_commands/kernel/sysctl_-a", "net.core.rmem_max = 5\n"),
        (
            "sosreport-dtn1/sos_commands/networking/namespaces/blue/ip_netns_exec_blue_sysctl_-a",
            "net.ipv4.tcp_ecn = 1\n",
        ),
        ("sosreport-dtn1/etc/sysctl.d/10.conf", "net.core.rmem_max = 6\n"),
        ("sosreport-dtn1/uname", "Linux dtn1 6.1.0-18-amd64 #1 SMP x86_64 GNU/Linux\n"),
        ("sosreport-dtn1/../../etc/sysctl.d/evil.conf", "net.core.rmem_max = 1\n"),
        ("/etc/sysctl.d/absolute.conf", "net.core.rmem_max = 1\n"),
    ];
    let plain = archive(&entries);
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(&plain).unwrap();
    for bytes in [plain.clone(), gzip.finish().unwrap()] {
        let snapshot = from_archive_bytes(&bytes[..], "sos.tar", WallTime::default()).unwrap();
        let own = snapshot.own().unwrap();
        assert_eq!(own.interface("eth0").unwrap().rings.value().unwrap().tx, Some(1_024));
        assert_eq!((snapshot.namespaces.len(), snapshot.namespaces[1].name.as_deref()), (2, Some("blue")));
        assert_eq!(snapshot.namespaces[1].sysctl("net.ipv4.tcp_ecn"), Some("1"));
        assert_eq!(snapshot.machine.name.value().map(String::as_str), Some("dtn1"));
        assert_eq!(snapshot.machine.kernel_release.value().map(String::as_str), Some("6.1.0-18-amd64"));
        let definitions = &snapshot.provenance.value().unwrap().settings["net.core.rmem_max"].definitions;
        assert_eq!(definitions.iter().map(|each| each.value.as_str()).collect::<Vec<_>>(), ["6"]);
        assert_eq!(snapshot.anomalies.len(), 2, "{:?}", snapshot.anomalies);
    }
    let cut = from_archive_bytes(&plain[..2_000], "sos.tar", WallTime::default()).unwrap();
    assert!(cut.anomalies.iter().any(|anomaly| anomaly.reason.starts_with("the archive ends here")));
}

#[test]
fn archive_of_xz_is_read() {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("sos.tar");
    fs::write(&path, archive(&[("s/sos_commands/kernel/sysctl_-a", "net.core.rmem_max = 5\n")])).unwrap();
    let status = std::process::Command::new("xz").arg("-9").arg(&path).status().expect("xz is there");
    assert!(status.success());
    let snapshot = from_archive(&root.path().join("sos.tar.xz"), WallTime::default()).unwrap();
    assert_eq!(snapshot.own().unwrap().sysctl("net.core.rmem_max"), Some("5"));
}

#[test]
fn long_names_are_read_and_endless_ones_cut() {
    let name = format!("s/sos_commands/{}/sysctl_-a", "deep/".repeat(40));
    for format in ["gnu", "pax"] {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir_all(root.path().join(&name).parent().unwrap()).unwrap();
        fs::write(root.path().join(&name), "net.core.rmem_max = 5\n").unwrap();
        let mut output = std::process::Command::new("tar");
        output.arg(format!("--format={format}")).args(["-cf", "-", "s"]).current_dir(root.path());
        let bytes = output.output().unwrap().stdout;
        let snapshot = from_archive_bytes(&bytes[..], "s.tar", WallTime::default()).unwrap();
        assert_eq!(snapshot.own().unwrap().sysctl("net.core.rmem_max"), Some("5"), "{format}");
    }
}

#[test]
fn other_compressions_are_named_and_rubbish_is_none() {
    let read = |bytes: &[u8]| from_archive_bytes(bytes, "x", WallTime::default());
    assert!(matches!(read(b"BZh9xxxx"), Err(SavedError::Compression { by: "bzip2", .. })));
    assert!(matches!(read(&[0x28, 0xb5, 0x2f, 0xfd, 0]), Err(SavedError::Compression { by: "zstd", .. })));
    assert!(matches!(read(&[b'x'; 2_000]), Err(SavedError::Foreign { .. })));
    assert!(matches!(read(b"root:x:0:0:root:/root:/bin/bash\n"), Err(SavedError::Foreign { .. })));
    assert!(matches!(read(&[0x1f, 0x8b, 8, 0, 0, 0]), Err(SavedError::Malformed { .. })));
}
