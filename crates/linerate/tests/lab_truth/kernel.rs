//! The model against the kernel, where the kernel has the same thing.

use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::time::Duration;

use serde_json::Value;

use super::stage::{keep, play, rate_after, test, two_hosts};

/// A flood through a token bucket with a queue: the kernel's in the sending host, and ours on the link.
#[test]
fn shaper_lets_through_what_the_kernels_does() {
    let flood =
        test("udp", "time = \"4s\"\nrate = \"30Mbit/s\"\nlength = \"1200B\"\nno-gso = true\nprobe-every = \"0s\"");
    let ours = "{ shaper = { rate = \"20Mbit/s\", burst = \"16kB\", queue = { bytes = \"64kB\" } } }";
    let modelled = play(&two_hosts(ours, "", &flood));
    let with_tbf = two_hosts("", "", &flood).replace(
        "[hosts.middle]\n",
        "[hosts.middle]\nqdisc = { tbf = { rate = \"20Mbit/s\", burst = \"16kB\", limit = \"64kB\" } }\n",
    );
    let kernel = play(&with_tbf);
    let [modelled, kernel] = [modelled, kernel].map(|show| show.measurement(0).totals[0].datagrams.unwrap());
    let (ours, theirs) = (modelled.received.get() as f64, kernel.received.get() as f64);
    assert!((ours / theirs - 1.0).abs() < 0.01, "{ours} of ours, {theirs} of the kernel's");
    // 20 Mbit/s for 4 s in frames of 1,242 bytes, and what fits into bucket and queue.
    let expected = (20e6 / 8.0 * 4.0 + 80e3) / 1_242.0;
    assert!((ours / expected - 1.0).abs() < 0.02, "{ours}, {expected} were expected");
}

/// A link of a rate carries it, to the bit: goodput with headers is the rate. Its queue holds more than half a second, and
/// Reno fills it, so that it is never empty, even where a host gets no processor for a while.
#[test]
fn a_port_carries_its_rate() {
    let flow = test("tcp", "time = \"6s\"\ncca = \"reno\"\nprobe-every = \"0s\"");
    let link = "{ port = { rate = \"50Mbit/s\", queue = { bytes = \"4MB\" } } }, { delay = { time = \"2ms\" } }";
    let show = play(&two_hosts(link, "{ delay = { time = \"2ms\" } }", &flow));
    let goodput = rate_after(&show.measurement(0).intervals, Duration::from_secs(1));
    let with_headers = goodput * 1_514.0 / 1_448.0;
    assert!((with_headers / 50.0 - 1.0).abs() < 0.01, "{with_headers} Mbit/s");
    assert_eq!(show.long("far").given_packets.get(), show.long("far").taken_packets.get() - dropped(&show));
}

fn dropped(show: &super::stage::Show) -> u64 {
    show.long("far").dropped_packets.values().map(|packets| packets.get()).sum()
}

/// Two thirds of a send buffer that is too small for the path are in flight where the sender asks before it writes, as
/// iperf3 does: the kernel calls a socket writable when a third of the buffer is free (net/core/stream.c of 6.18,
/// `sk_stream_is_writeable`). It writes ten blocks each time it asks, so the blocks are small.
#[test]
fn two_thirds_of_a_full_send_buffer_are_in_flight() {
    let limit = 8 << 20;
    let text = long_path(limit);
    let network = keep("plateau", &text);
    let mut server =
        network.exec("far", &["iperf3", "-s", "-1", "--forceflush"]).stdout(Stdio::piped()).spawn().unwrap();
    let mut said = BufReader::new(server.stdout.take().unwrap()).lines();
    assert!(said.any(|line| line.unwrap().contains("listening")), "iperf3 does not serve");
    let client = ["iperf3", "-c", "10.0.3.1", "-C", "reno", "-t", "9", "-l", "16K", "-J"];
    let output = network.exec("near", &client).output().unwrap();
    server.wait().unwrap();
    let result: Value = serde_json::from_slice(&output.stdout).unwrap();
    let intervals = result["intervals"].as_array().unwrap();
    // The path's 209 ms, and what the emulation adds on a busy machine.
    let flying = intervals[5..].iter().map(|interval| {
        let rtt_s = interval["streams"][0]["rtt"].as_f64().unwrap() * 1e-6;
        interval["sum"]["bits_per_second"].as_f64().unwrap() / 8.0 * rtt_s
    });
    let share = flying.sum::<f64>() / (intervals.len() - 5) as f64 / f64::from(limit);
    // A segment takes one or two per cent of memory beyond its payload; 0.66 is usual.
    assert!((0.645..=0.69).contains(&share), "{share:.3} of the buffer in flight");
}

/// A sender that waits in its write has all of it in flight: once woken it fills the buffer to the brim.
#[test]
fn all_of_a_full_send_buffer_is_in_flight_where_the_sender_waits_in_its_write() {
    let limit = 8 << 20;
    let show = play(&long_path(limit));
    let goodput = rate_after(&show.measurement(0).intervals, Duration::from_secs(5));
    let share = goodput * 1e6 / 8.0 * 0.209 / f64::from(limit);
    assert!((0.9..=1.02).contains(&share), "{share:.3} of the buffer in flight");
}

/// 209 ms, packets of 9,000 bytes, and a send buffer of at most `limit` bytes. Reno: the start of others ends early where round trips vary, as
/// they do on a busy machine.
fn long_path(limit: i32) -> String {
    let delay = r#"{ delay = { time = "104.5ms" } }"#;
    let flow = "time = \"9s\"\ncca = \"reno\"\nsend = \"write\"\nprobe-every = \"0s\"";
    let setting = format!("[hosts.near]\nsysctl = {{ \"net.ipv4.tcp_wmem\" = \"4096 131072 {limit}\" }}\n");
    two_hosts(delay, delay, &test("tcp", flow))
        .replace("[hosts.near]\n", &setting)
        .replace("speed =", "mtu = 9000\nspeed =")
}
