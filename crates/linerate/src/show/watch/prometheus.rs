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
    /// Frames by device, VLAN and protocol.
    frames: BTreeMap<FrameKind, u64>,
    /// Datagrams that sockets dropped, by their local port.
    sockets: BTreeMap<(String, u16), u64>,
    not_known: BTreeMap<String, usize>,
    /// Peers beyond the most that are kept.
    other_retransmits: BTreeMap<String, u64>,
}

/// Frames of one kind that a device received.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct FrameKind {
    place: String,
    device: String,
    vlan: Option<u16>,
    ethertype: Option<u16>,
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
        for each in interval.frames.iter().filter_map(|frames| frames.value()).flatten() {
            let (device, vlan, ethertype) = (each.device.clone(), each.vlan, each.ethertype);
            *self.frames.entry(FrameKind { place: place.clone(), device, vlan, ethertype }).or_default() += each.frames;
        }
        for flow in interval.flows.iter().filter_map(|flows| flows.value()).flatten() {
            *self.sockets.entry((place.clone(), flow.local.port())).or_default() += flow.datagrams;
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
        self.add_frames(&mut text);
        self.add_sockets(&mut text);
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

impl Metrics {
    /// Frames that nobody may handle: none where they are not counted.
    fn add_frames(&self, text: &mut String) {
        let name = "linerate_unhandled_frames_total";
        if !self.frames.is_empty() {
            head(
                text,
                &Family {
                    name,
                    kind: "counter",
                    help: "Frames of a VLAN or protocol that nobody may handle, received",
                },
            );
        }
        for (FrameKind { place, device, vlan, ethertype }, sum) in &self.frames {
            let vlan = vlan.map_or_else(|| "none".to_owned(), |vlan| vlan.to_string());
            let protocol = ethertype.map_or_else(|| "unknown".to_owned(), |ethertype| format!("{ethertype:#06x}"));
            sample(text, name, &[("host", place), ("device", device), ("vlan", &vlan), ("protocol", &protocol)], *sum);
        }
    }

    fn add_sockets(&self, text: &mut String) {
        let name = "linerate_socket_drops_total";
        if !self.sockets.is_empty() {
            head(
                text,
                &Family { name, kind: "counter", help: "Datagrams that sockets of UDP dropped, by their local port" },
            );
        }
        for ((place, port), sum) in &self.sockets {
            sample(text, name, &[("host", place), ("port", &port.to_string())], *sum);
        }
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

    use model::host::drops::{FlowDrops, Frames, Increase, Retransmits};
    use model::host::fact::{Fact, Source};
    use units::WallTime;

    use super::*;

    #[test]
    fn intervals_add_up_to_metrics_with_their_labels() {
        let counter = Counter { layer: Layer::Device, of: "eth\"0".to_owned(), name: "rx_dropped".to_owned() };
        let peers = BTreeMap::from([("192.0.2.1".parse().unwrap(), 3)]);
        let frames = Frames { device: "eth0".to_owned(), vlan: Some(96), ethertype: Some(0x86dd), frames: 7 };
        let flow = FlowDrops { local: "192.0.2.1:5201".parse().unwrap(), remote: None, datagrams: 4 };
        let interval = DropInterval {
            format: DropInterval::FORMAT,
            host: "dtn\n1".to_owned(),
            namespace: None,
            start: WallTime::from_unix_nanos(0),
            length: Duration::from_secs(10),
            counters: vec![Increase { counter, kind: DropKind::Mixed, increase: 5 }],
            unknown: Vec::new(),
            reasons: None,
            frames: Some(Fact::known(vec![frames], Source("test".to_owned()))),
            flows: Some(Fact::known(vec![flow], Source("test".to_owned()))),
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
        let frames = r#"linerate_unhandled_frames_total{host="dtn\n1",device="eth0",vlan="96",protocol="0x86dd"} 14"#;
        assert!(text.lines().any(|each| each == frames), "{text}");
        assert!(text.contains("linerate_socket_drops_total{host=\"dtn\\n1\",port=\"5201\"} 8\n"), "{text}");
        assert!(text.contains("linerate_drops_not_known{host=\"dtn\\n1\"} 0\n"), "{text}");
    }
}
