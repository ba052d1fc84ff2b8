//! What a host drops as metrics (the text format of Prometheus, version 0.0.4).

use std::collections::BTreeMap;
use std::fmt::Write;
use std::net::IpAddr;

use model::host::drops::{Counter, DropInterval, DropKind, Layer};

/// Sums since the watch began.
#[derive(Debug, Default)]
pub struct Metrics {
    counters: BTreeMap<(String, Counter), (DropKind, u64)>,
    reasons: BTreeMap<(String, String), u64>,
    retransmits: BTreeMap<(String, IpAddr), u64>,
    not_known: BTreeMap<String, usize>,
    /// Peers beyond the most that are kept.
    other_retransmits: BTreeMap<String, u64>,
}

impl Metrics {
    /// Adds an interval.
    pub fn add(&mut self, interval: &DropInterval) {
        let place = interval.place();
        for each in &interval.counters {
            let sum = self.counters.entry((place.clone(), each.counter.clone())).or_insert((each.kind, 0));
            sum.1 = sum.1.saturating_add(each.increase);
        }
        for each in interval.reasons.iter().filter_map(|reasons| reasons.value()).flat_map(|reasons| &reasons.packets) {
            *self.reasons.entry((place.clone(), each.reason.clone())).or_default() += each.packets;
        }
        for (peer, segments) in interval.retransmits.value().into_iter().flat_map(|known| &known.peers) {
            let key = (place.clone(), *peer);
            if self.retransmits.len() >= MOST_PEERS && !self.retransmits.contains_key(&key) {
                *self.other_retransmits.entry(place.clone()).or_default() += segments;
            } else {
                *self.retransmits.entry(key).or_default() += segments;
            }
        }
        self.not_known.insert(place, interval.unknown.len());
    }

    /// All of it.
    pub fn text(&self) -> String {
        let mut text = String::new();
        head(
            &mut text,
            &Family {
                name: "linerate_drops_total",
                kind: "counter",
                help: "Packets that a counter says were lost, or events that go with loss",
            },
        );
        for ((place, counter), (kind, sum)) in &self.counters {
            let labels = [
                ("host", place.as_str()),
                ("layer", layer(counter.layer)),
                ("of", counter.of.as_str()),
                ("counter", counter.name.as_str()),
                ("loss", if kind.is_loss() { "yes" } else { "no" }),
            ];
            sample(&mut text, "linerate_drops_total", &labels, *sum);
        }
        head(
            &mut text,
            &Family {
                name: "linerate_kernel_drops_total",
                kind: "counter",
                help: "Packets that the kernel dropped, by its reason",
            },
        );
        for ((place, reason), sum) in &self.reasons {
            sample(&mut text, "linerate_kernel_drops_total", &[("host", place), ("reason", reason)], *sum);
        }
        head(
            &mut text,
            &Family {
                name: "linerate_retransmits_total",
                kind: "counter",
                help: "TCP segments retransmitted, by peer",
            },
        );
        for ((place, peer), sum) in &self.retransmits {
            let peer = peer.to_string();
            sample(&mut text, "linerate_retransmits_total", &[("host", place), ("peer", &peer)], *sum);
        }
        for (place, sum) in &self.other_retransmits {
            sample(&mut text, "linerate_retransmits_total", &[("host", place), ("peer", "others")], *sum);
        }
        head(
            &mut text,
            &Family {
                name: "linerate_drops_not_known",
                kind: "gauge",
                help: "Counters that could not be read in the last interval",
            },
        );
        for (place, count) in &self.not_known {
            sample(&mut text, "linerate_drops_not_known", &[("host", place)], *count as u64);
        }
        text
    }
}

fn layer(layer: Layer) -> &'static str {
    match layer {
        Layer::Device => "device",
        Layer::Driver => "driver",
        Layer::Softnet => "softnet",
        Layer::Qdisc => "qdisc",
        Layer::Protocol => "protocol",
    }
}

/// What metrics of one name are.
struct Family {
    name: &'static str,
    kind: &'static str,
    help: &'static str,
}

fn head(text: &mut String, family: &Family) {
    let Family { name, kind, help } = family;
    let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}");
}

fn sample(text: &mut String, name: &str, labels: &[(&str, &str)], value: u64) {
    let labels: Vec<String> = labels.iter().map(|(label, value)| format!("{label}=\"{}\"", escaped(value))).collect();
    let _ = writeln!(text, "{name}{{{}}} {value}", labels.join(","));
}

/// A label's value: backslash, quote and the end of a line are escaped, other characters that act are left out.
fn escaped(value: &str) -> String {
    let mut text = String::with_capacity(value.len());
    for letter in value.chars() {
        match letter {
            '\\' => text.push_str("\\\\"),
            '"' => text.push_str("\\\""),
            '\n' => text.push_str("\\n"),
            letter if letter.is_control() => {}
            letter => text.push(letter),
        }
    }
    text
}

/// Each peer is a series of its own in Prometheus.
const MOST_PEERS: usize = 1_000;

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use model::host::drops::{Increase, Retransmits};
    use model::host::fact::{Fact, Source};
    use units::WallTime;

    use super::*;

    #[test]
    fn intervals_add_up_to_metrics_with_their_labels() {
        let counter = Counter { layer: Layer::Device, of: "eth\"0".to_owned(), name: "rx_dropped".to_owned() };
        let peers = BTreeMap::from([("192.0.2.1".parse().unwrap(), 3)]);
        let interval = DropInterval {
            format: DropInterval::FORMAT,
            host: "dtn\n1".to_owned(),
            namespace: None,
            start: WallTime::from_unix_nanos(0),
            length: Duration::from_secs(10),
            counters: vec![Increase { counter, kind: DropKind::Mixed, increase: 5 }],
            unknown: Vec::new(),
            reasons: None,
            frames: None,
            retransmits: Fact::known(Retransmits { peers, ..Retransmits::default() }, Source("test".to_owned())),
        };
        let mut metrics = Metrics::default();
        metrics.add(&interval);
        metrics.add(&interval);
        let text = metrics.text();
        let line =
            r#"linerate_drops_total{host="dtn\n1",layer="device",of="eth\"0",counter="rx_dropped",loss="yes"} 10"#;
        assert!(text.lines().any(|each| each == line), "{text}");
        assert!(text.contains("linerate_retransmits_total{host=\"dtn\\n1\",peer=\"192.0.2.1\"} 6\n"), "{text}");
        assert!(text.contains("linerate_drops_not_known{host=\"dtn\\n1\"} 0\n"), "{text}");
    }
}
