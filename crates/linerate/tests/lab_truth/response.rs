//! The kernel's TCP over a lossy path: how fast it is by what is known of it.
//!
//! Random losses, several flows at once, and a start that is left out: the mean of fifty losses or more is within a fifth of
//! what it would be for ever, so the factor of 1.5 is about TCP and not about luck.

use std::time::Duration;

use super::stage::{Show, rate_after, shows, test, two_hosts, within};

/// Payload of a segment: an MTU of 1,500 less IP, TCP and its timestamps.
const SEGMENT_BITS: f64 = 1_448.0 * 8.0;

/// What is left out at the beginning.
const START: Duration = Duration::from_secs(4);

#[test]
fn reno_follows_the_square_root_of_the_loss() {
    let (loss, rtt, streams) = (2e-3, 0.04, 2.0);
    let text = lossy("reno", loss, "20ms", "100Mbit/s", "time = \"14s\"\nstreams = 2");
    // Mathis, Semke, Mahdavi, Ott 1997: MSS / RTT x sqrt(3/2) / sqrt(p).
    let window = (1.5_f64 / loss).sqrt();
    shows(&text, |show| near(rate(show, START), streams * window * SEGMENT_BITS / rtt * 1e-6));
}

#[test]
fn cubic_follows_its_response_function() {
    let (loss, rtt, streams) = (3e-4, 0.1, 12.0);
    let text = lossy("cubic", loss, "50ms", "400Mbit/s", "time = \"30s\"\nstreams = 12");
    // RFC 9438 section 5.1, formula (6) with C = 0.4 and beta = 0.7, and never less than Reno's (section 4.3).
    let cubic = 1.054 * (rtt / loss).powf(0.75);
    let window = cubic.max((1.5_f64 / loss).sqrt());
    // Between two losses of one flow pass forty round trips, which are four seconds: three of them until the start is forgotten.
    let start = Duration::from_secs(12);
    shows(&text, |show| near(rate(show, start), streams * window * SEGMENT_BITS / rtt * 1e-6));
}

#[test]
fn bbr_does_not_mind_a_loss_of_a_thousandth() {
    // The link carries 100 Mbit/s with headers: 95.7 of payload in packets of 1,514 bytes.
    let text = lossy("bbr", 1e-3, "20ms", "100Mbit/s", "time = \"14s\"\nstreams = 1");
    shows(&text, |show| within(75.0..=96.0, rate(show, START), "Mbit/s"));
}

fn lossy(algorithm: &str, loss: f64, delay: &str, link: &str, keys: &str) -> String {
    let there = format!(
        "{{ loss = {{ random = {loss} }} }}, {{ port = {{ rate = \"{link}\" }} }}, {{ delay = {{ time = \"{delay}\" }} }}"
    );
    let back = format!("{{ delay = {{ time = \"{delay}\" }} }}");
    let test = test("tcp", &format!("cca = \"{algorithm}\"\n{keys}"));
    two_hosts(&there, &back, &test)
}

fn rate(show: &Show, start: Duration) -> f64 {
    rate_after(&show.measurement(0).intervals, start)
}

fn near(measured: f64, expected: f64) -> anyhow::Result<()> {
    println!("{measured:.1} Mbit/s, {expected:.1} expected");
    within(expected / 1.5..=expected * 1.5, measured, "Mbit/s")
}
