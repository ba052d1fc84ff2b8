//! Logs as people paste them, and what `linerate why` answers.

mod threads;
mod tickets;

use tempfile::TempDir;

use super::import::{data, linerate, text};

/// What a person pastes, what else that person knows, and what the answer must say.
struct Pasted {
    files: &'static [&'static str],
    known: &'static [&'static str],
    found: bool,
    says: &'static str,
}

const PASTED: [Pasted; 86] = [
    Pasted {
        files: &["log.txt.gz"],
        known: &["--rtt", "90ms"],
        found: true,
        says: "3.2 % of its segments retransmitted",
    },
    Pasted {
        files: &["iperf-2.0.5-window.txt"],
        known: &["--rtt", "100ms"],
        found: true,
        says: "asked for a window of 65.5 kB",
    },
    Pasted { files: &["iperf-2.1.8-refused.txt"], known: &[], found: true, says: "127.0.0.1 refused the connection" },
    Pasted { files: &["iperf3-black-hole.txt"], known: &[], found: true, says: "of the first 142 kB nothing arrived" },
    Pasted {
        files: &["iperf3-interrupted-by-key.txt"],
        known: &[],
        found: false,
        says: "an Ethernet link of 100 Mbit/s",
    },
    Pasted { files: &["policer.txt"], known: &[], found: true, says: "940 Mbit/s at first, then evenly 99.0 Mbit/s" },
    Pasted { files: &["stall.txt"], known: &[], found: true, says: "no data in 5 of 10 intervals" },
    Pasted { files: &["both-directions.txt"], known: &[], found: true, says: "one direction only is the suspect" },
    Pasted { files: &["mtr-silent-router.txt"], known: &[], found: true, says: "from hop 4 on and not at hop 3" },
    Pasted { files: &["ping-windows.txt"], known: &[], found: true, says: "1 of 4 lost (25 %)" },
    Pasted { files: &["ping-bufferbloat.txt"], known: &[], found: true, says: "300 ms of queue under load" },
    Pasted { files: &["nstat.txt"], known: &[], found: true, says: "42000 of 1400000 TCP segments retransmitted" },
    Pasted { files: &["netstat.txt"], known: &[], found: true, says: "Udp.RcvbufErrors went up by 2000" },
    Pasted { files: &["ss-rwnd.txt"], known: &[], found: true, says: "limited by the receive window for 97 %" },
    Pasted {
        files: &["ss-rwnd.txt"],
        known: &["--expect", "1Gbit/s"],
        found: true,
        says: "of 1.00 Gbit/s: the declared rate",
    },
    Pasted {
        files: &["scp.txt", "ethtool-before-and-after.txt"],
        known: &[],
        found: true,
        says: "eth0.rx_missed_errors went up by 9000",
    },
    Pasted { files: &["rsync-slow.txt"], known: &["--expect", "1Gbit/s"], found: true, says: "1.9 % of 1.00 Gbit/s" },
    Pasted {
        files: &["server-of-datagrams.txt"],
        known: &[],
        found: true,
        says: "198.51.100.20 to 192.0.2.10: 38.1 % of its datagrams lost",
    },
    Pasted { files: &["three-summaries.txt"], known: &[], found: true, says: "2590 of 7616 datagrams lost (34 %)" },
    Pasted {
        files: &["sender-of-datagrams.txt"],
        known: &[],
        found: false,
        says: "only its sender counted; how many datagrams arrived is in the output of the receiver",
    },
    Pasted { files: &["datagrams-stopped.txt"], known: &[], found: true, says: "no data in any of the 5 intervals" },
    Pasted { files: &["datagrams-copied-twice.txt"], known: &[], found: true, says: "81000 of 821000 datagrams lost" },
    Pasted {
        files: &["iperf-2.0.13-both-directions.txt"],
        known: &[],
        found: true,
        says: "192.0.2.50 to 192.0.2.25 reaches 90.5 Mbit/s, the other direction 20.1 Mbit/s",
    },
    Pasted {
        files: &["iperf-2.0.13-server-of-host.txt"],
        known: &["--expect", "100Mbit/s"],
        found: true,
        says: "192.0.2.5 to east: 37.7 Mbit/s",
    },
    Pasted {
        files: &["pscheduler-datagrams.txt"],
        known: &[],
        found: true,
        says: "517 of 25888 datagrams lost (2.0 %)",
    },
    Pasted {
        files: &["pscheduler-window.txt"],
        known: &[],
        found: false,
        says: "at an RTT of about 111 ms a window is the limit",
    },
    Pasted { files: &["mtr-systems.txt"], known: &[], found: true, says: "20 % of the probes to 192.0.2.99 are lost" },
    Pasted { files: &["wget-last-line.txt"], known: &[], found: false, says: "3.99 GB from mirror.example.org" },
    Pasted { files: &["netstat-bsd.txt"], known: &[], found: true, says: "Tcp.RetransSegs 6000 (Tcp.OutSegs 120000)" },
    Pasted {
        files: &["three-of-six-streams.txt"],
        known: &[],
        found: false,
        says: "1.73 Gbit/s: the log has rows of 3 of the 6 streams, and the rate is theirs",
    },
    Pasted { files: &["server-output-as-string.txt"], known: &[], found: true, says: "45 of 169 datagrams lost" },
    Pasted { files: &["ping-middle.txt"], known: &[], found: true, says: "192.0.2.40: 2 of 7 lost (29 %)" },
    Pasted {
        files: &["curl-three-files.txt"],
        known: &[],
        found: false,
        says: "105 MB from mirror.example.org in 8.00 s",
    },
    Pasted {
        files: &["middle-cut-out.txt"],
        known: &[],
        found: true,
        says: "48.2 Mbit/s, with 24.8 % of its segments retransmitted",
    },
    Pasted { files: &["loopback-both-directions.txt"], known: &[], found: false, says: "both ends are one host" },
    Pasted {
        files: &["ping-cisco-df.txt"],
        known: &[],
        found: true,
        says: "those of 1453 B vanish and no router says so",
    },
    Pasted {
        files: &["ethtool-one-prompt.txt"],
        known: &[],
        found: true,
        says: "no room for 7657 packets (rx_out_of_buffer) between two readings 60.0 s apart (127 a second)",
    },
    Pasted {
        files: &["wget-stopped.txt"],
        known: &[],
        found: true,
        says: "negotiated 100 Mbit/s though both ends advertise 1.00 Gbit/s",
    },
    Pasted { files: &["globus-rate.txt"], known: &[], found: false, says: "2204 files, 583 MB on average" },
    Pasted { files: &["wget-stood-still.txt"], known: &[], found: true, says: "the transfer stood still at 1 %" },
    Pasted { files: &["dd-nfs.txt"], known: &[], found: true, says: "the NFS server 192.0.2.112 did not answer" },
    Pasted {
        files: &["ifconfig-blank-lines.txt"],
        known: &[],
        found: false,
        says: "rx_dropped 9322 (rx_packets 701244)",
    },
    Pasted { files: &["ip-link-broken.txt"], known: &[], found: true, says: "down in 1 of 2 reports" },
    Pasted { files: &["transmit-hang.txt"], known: &[], found: true, says: "stood still 11 times" },
    Pasted {
        files: &["qdisc-broken.txt"],
        known: &[],
        found: false,
        says: "dropped 7240 packets of 20121628 (0.0360 %)",
    },
    Pasted { files: &["rsync-twice.txt"], known: &[], found: false, says: "rsync sent 410 kB of differences" },
    Pasted {
        files: &["ss-closed-window.txt"],
        known: &[],
        found: true,
        says: "limited by the receive window for 94 %",
    },
    Pasted { files: &["ping-windows-first-lost.txt"], known: &[], found: false, says: "No problem found" },
    Pasted { files: &["datagrams-counted-few.txt"], known: &[], found: false, says: "only its sender counted" },
    Pasted {
        files: &["owping-one-direction.txt"],
        known: &[],
        found: true,
        says: "lat-east.example.org to lat-west.example.org: 34 of 2000 packets of owping lost in this direction (1.7 %)",
    },
    Pasted { files: &["twping-short.txt"], known: &[], found: true, says: "twping sent 1204 of the 5000 packets" },
    Pasted {
        files: &["pscheduler-latency.txt"],
        known: &[],
        found: false,
        says: "ps1.example.org to ps2.example.org: 0 of 400 packets of pscheduler lost in this direction",
    },
    Pasted {
        files: &["netsh-restricted.txt"],
        known: &[],
        found: true,
        says: "auto-tuning of the receive window is disabled, so that one connection has at most 65.5 kB under way to it",
    },
    Pasted {
        files: &["netsh-restricted.txt"],
        known: &[],
        found: true,
        says: "from 192.0.2.77 are what it allows at 40.0 ms",
    },
    Pasted { files: &["netsh-dctcp.txt"], known: &[], found: true, says: "must not be used over the Internet" },
    Pasted {
        files: &["netstat-twice.txt"],
        known: &[],
        found: true,
        says: "314 of 31216 IP packets (of all protocols) retransmitted (1.0 %)",
    },
    Pasted {
        files: &["nstat-list.txt"],
        known: &[],
        found: true,
        says: "only 0.5 % of them had arrived already (DSACK), 7.7 % of them were lost again",
    },
    Pasted {
        files: &["ping-two-kinds.txt"],
        known: &[],
        found: true,
        says: "5 of 14 echoes from this host to 192.0.2.254 take 64.0 ms to 501 ms, and those between them 203 µs or less",
    },
    Pasted { files: &["ping-first-late.txt"], known: &[], found: false, says: "No problem found" },
    Pasted {
        files: &["nuttcp-full-link.txt"],
        known: &[],
        found: false,
        says: "the rate is all that a link of 10.0 Gbit/s gives: they cost it nothing",
    },
    Pasted { files: &["proc-net-dev.txt"], known: &[], found: false, says: "(rx_packets 390014522), which is next to" },
    Pasted {
        files: &["junos-incompletes.txt"],
        known: &[],
        found: true,
        says: "ge-0/0/2 of edge2 counted 412077 bad packets that came in since its counters began, 412077 of them L3",
    },
    Pasted {
        files: &["ethtool-all-damaged.txt"],
        known: &[],
        found: true,
        says: "377 of 377 frames arrived damaged at lan3 of board",
    },
    Pasted { files: &["router-test.txt"], known: &[], found: false, says: "No problem found; 2 flows judged" },
    Pasted {
        files: &["access-twice.txt"],
        known: &[],
        found: true,
        says: "was 1.12 Mbit/s in one test and 187 Mbit/s in the next",
    },
    Pasted { files: &["dd-disk.txt"], known: &[], found: true, says: "the disk is its limit, not the network" },
    Pasted {
        files: &["tcpdump-stood-still.txt"],
        known: &[],
        found: true,
        says: "192.0.2.31 to 192.0.2.80: nothing was sent for 42.6 s, after one segment had been retransmitted, with 2.90 kB",
    },
    Pasted {
        files: &["tshark-closed-window.txt"],
        known: &[],
        found: true,
        says: "192.0.2.9 tells 192.0.2.7 in 3 of 5 packets that it has no room (a window of 0)",
    },
    Pasted { files: &["ss-player.txt"], known: &[], found: false, says: "a program that takes data at its own pace" },
    Pasted {
        files: &["sar-dev-no-bytes.txt"],
        known: &[],
        found: false,
        says: "received 11874 and sent 52210 packets a second, and by the same table 0 and 0 bytes: that cannot be",
    },
    Pasted {
        files: &["sockstat-orphans.txt"],
        known: &[],
        found: true,
        says: "33102 orphaned sockets of at most 32768",
    },
    Pasted {
        files: &["ookla-under-load.txt"],
        known: &[],
        found: true,
        says: "is 8.41 ms without load and 391 ms during the download: 383 ms of queue",
    },
    Pasted {
        files: &["log-tcp-memory.txt"],
        known: &[],
        found: true,
        says: "needed more memory than the kernel gives to TCP, 3 times",
    },
    Pasted {
        files: &["log-link-flaps.txt"],
        known: &[],
        found: true,
        says: "with 10.0 Mbit/s where it had 100 Mbit/s before it went down 2 times in 4.92 s",
    },
    Pasted {
        files: &["netstat-devices-bsd.txt"],
        known: &[],
        found: false,
        says: "rx_errors 40211 (rx_packets 0: not one passed whole)",
    },
    Pasted {
        files: &["fts-marks.txt"],
        known: &[],
        found: false,
        says: "of which nothing had come after 8.00 s; between later marks 246 Mbit/s to 328 Mbit/s",
    },
    Pasted {
        files: &["ethtool-partner-slower.txt"],
        known: &[],
        found: true,
        says: "this end offers up to 1.00 Gbit/s, the partner up to 100 Mbit/s",
    },
    Pasted {
        files: &["ethtool-switch-port.txt"],
        known: &[],
        found: true,
        says: "1480 of 122480 frames arrived damaged at lan3 of ap7",
    },
    Pasted {
        files: &["ios-late-collisions.txt"],
        known: &[],
        found: true,
        says: "188 late collisions for 2911400 packets sent",
    },
    Pasted {
        files: &["softnet-squeezed.txt"],
        known: &[],
        found: false,
        says: "costs nothing while the CPU has time and nothing is dropped",
    },
    Pasted {
        files: &["policer-datagrams.txt"],
        known: &[],
        found: true,
        says: "policer drops what comes faster than a rate",
    },
    Pasted {
        files: &["iperf2-window-of-sender.txt"],
        known: &[],
        found: true,
        says: "The sender's buffer is too small for the path",
    },
    Pasted { files: &["wget-no-ipv6.txt"], known: &[], found: true, says: "one at once over IPv4 (192.0.2.183)" },
    Pasted {
        files: &["netstat-retransmitted.txt"],
        known: &[],
        found: true,
        says: "6011 segments retransmitted beside 150400 sent since its counters began (4.0 %)",
    },
    Pasted {
        files: &["mtr-one-blank.txt"],
        known: &[],
        found: false,
        says: "of which 11 (198.51.100.31) is the last that answers",
    },
    Pasted { files: &["ping-statistics-german.txt"], known: &[], found: false, says: "0 of 5 lost" },
];

#[test]
fn each_pasted_log_gets_an_answer_that_fits_a_terminal() {
    let archive = TempDir::new().unwrap();
    for pasted in PASTED.iter().chain(&tickets::TICKETS).chain(&threads::THREADS) {
        // By names alone: an answer is as long wherever the files lie.
        let mut why = linerate(&archive);
        let output = why.current_dir(data("pasted")).arg("why").args(pasted.known).args(pasted.files).output().unwrap();
        let said = text(&output.stdout);
        assert_eq!(output.status.code(), Some(if pasted.found { 10 } else { 0 }), "{:?}: {said}", pasted.files);
        let words = said.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.contains(pasted.says), "{:?} does not say `{}`: {said}", pasted.files, pasted.says);
        let long = |line: &&str| line.chars().count() > 80;
        assert_eq!(said.lines().find(long), None, "{:?}", pasted.files);
        assert!(said.lines().count() <= 60 && !said.contains("(0 %)"), "{said}");
    }
}
