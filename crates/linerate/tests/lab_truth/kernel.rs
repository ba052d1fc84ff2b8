//! The model against the kernel, where the kernel has the same thing.

use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::time::Duration;

use serde_json::Value;

use super::stage::{holds, keep, play, rate_after, shows, test, two_hosts, within};

/// A flood through a token bucket with a queue: the kernel's in the sending host, and ours on the link.
#[test]
fn shaper_lets_through_what_the_kernels_does() {
    let flood =
        test("udp", "time = \"4s\"\nrate = \"30Mbit/s\"\nlength = \"1200B\"\nno-gso = true\nprobe-every = \"0s\"");
    let ours = "{ shaper = { rate = \"20Mbit/s\", burst = \"16kB\", queue = { bytes = \"64kB\" } } }";
    let modelled = two_hosts(ours, "", &flood);
    let with_tbf = two_hosts("", "", &flood).replace(
        "[hosts.middle]\n",
        "[hosts.middle]\nqdisc = { tbf = { rate = \"20Mbit/s\", burst = \"16kB\", limit = \"64kB\" } }\n",
    );
    // 20 Mbit/s for 4 s in frames of 1,242 bytes, and what fits into bucket and queue.
    let expected = (20e6 / 8.0 * 4.0 + 80e3) / 1_242.0;
    holds(|| {
        let [ours, kernels] = [&modelled, &with_tbf].map(|text| play(text));
        let [came, came_of_kernels] =
            [&ours, &kernels].map(|show| show.measurement(0).totals[0].datagrams.unwrap().received.get() as f64);
        let alike = within(0.99..=1.01, came / came_of_kernels, "of what the kernel lets through");
        let claim = alike.and_then(|()| within(0.98..=1.02, came / expected, "of what is expected"));
        (claim, [ours, kernels].into_iter().flat_map(|show| show.played.limited_by_emulation).collect())
    });
}

/// A link of a rate carries it, to the bit: goodput with headers is the rate. Its queue holds more than half a second, and
/// Reno fills it, so that it is never empty, even where a host gets no processor for a while.
#[test]
fn a_port_carries_its_rate() {
    let flow = test("tcp", "time = \"6s\"\ncca = \"reno\"\nprobe-every = \"0s\"");
    let link = "{ port = { rate = \"50Mbit/s\", queue = { bytes = \"4MB\" } } }, { delay = { time = \"2ms\" } }";
    shows(&two_hosts(link, "{ delay = { time = \"2ms\" } }", &flow), |show| {
        let goodput = rate_after(&show.measurement(0).intervals, Duration::from_secs(1));
        within(49.5..=50.5, goodput * 1_514.0 / 1_448.0, "Mbit/s with headers")
    });
}

/// Two thirds of a send buffer that is too small for the path are in flight where the sender asks before it writes, as
/// iperf3 does: the kernel calls a socket writable when a third of the buffer is free (net/core/stream.c of 6.18,
/// `sk_stream_is_writeable`). It writes ten blocks each time it asks, so the blocks are small.
#[test]
fn two_thirds_of_a_full_send_buffer_are_in_flight() {
    let limit = 8 << 20;
    let text = long_path(limit);
    // A segment takes one or two per cent of memory beyond its payload; 0.66 is usual.
    holds(|| {
        let share = in_flight_by_iperf3(&text) / f64::from(limit);
        (within(0.645..=0.69, share, "of the buffer in flight"), Vec::new())
    });
}

/// On the usual one the test partner of the host listens.
const PORT: &str = "5202";

/// Bytes in flight, the mean from the sixth second on.
fn in_flight_by_iperf3(text: &str) -> f64 {
    let network = keep("plateau", text);
    let mut server = network
        .exec("far", &["iperf3", "-s", "-1", "--forceflush", "-p", PORT])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = BufReader::new(server.stdout.take().unwrap()).lines();
    assert!(said.any(|line| line.unwrap().contains("listening")), "iperf3 does not serve");
    let client = ["iperf3", "-c", "10.0.3.1", "-p", PORT, "-C", "reno", "-t", "9", "-l", "16K", "-J"];
    let output = network.exec("near", &client).output().unwrap();
    server.wait().unwrap();
    let result: Value = serde_json::from_slice(&output.stdout).unwrap();
    let intervals = result["intervals"].as_array().unwrap();
    // The path's 209 ms, and what the emulation adds on a busy machine.
    let flying = intervals[5..].iter().map(|interval| {
        let rtt_s = interval["streams"][0]["rtt"].as_f64().unwrap() * 1e-6;
        interval["sum"]["bits_per_second"].as_f64().unwrap() / 8.0 * rtt_s
    });
    flying.sum::<f64>() / (intervals.len() - 5) as f64
}

/// A sender that waits in its write has all of it in flight: once woken it fills the buffer to the brim.
#[test]
fn all_of_a_full_send_buffer_is_in_flight_where_the_sender_waits_in_its_write() {
    let limit = 8 << 20;
    shows(&long_path(limit), |show| {
        let goodput = rate_after(&show.measurement(0).intervals, Duration::from_secs(5));
        within(0.9..=1.02, goodput * 1e6 / 8.0 * 0.209 / f64::from(limit), "of the buffer in flight")
    });
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
