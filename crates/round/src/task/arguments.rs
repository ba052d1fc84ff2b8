//! A flow as the arguments of `linerate test`.

use std::ffi::OsString;
use std::time::Duration;

use model::spec::{Direction, Family, Limit, Offload, Protocol, TestSpec};
use plan::task::Flow;
use units::{ByteCount, DataRate};

/// The arguments that ask for exactly this flow, without the peer.
#[must_use]
pub fn arguments(flow: &Flow) -> Vec<OsString> {
    let spec = &flow.spec;
    let mut line = Line::default();
    line.flag("--udp", spec.protocol == Protocol::Udp);
    line.flag("--reverse", spec.direction == Direction::Reverse);
    line.flag("--bidir", spec.direction == Direction::Bidirectional);
    match spec.limit {
        Limit::Time(time) => line.value("--time", span(time)),
        Limit::Bytes(bytes) => line.value("--bytes", size(bytes)),
        Limit::Blocks(blocks) => line.value("--blocks", blocks.to_string()),
    }
    line.flag("--ipv4", spec.family == Some(Family::Ipv4));
    line.flag("--ipv6", spec.family == Some(Family::Ipv6));
    line.value("--streams", spec.streams.to_string());
    line.value("--omit", span(spec.omit));
    line.some("--rate", spec.rate.map(rate));
    line.flag("--flood", spec.protocol == Protocol::Udp && spec.rate.is_none());
    line.some("--pace", spec.pace.map(rate));
    line.some("--cca", spec.congestion_control.clone());
    line.some("--mss", spec.mss.map(|mss| format!("{}B", mss.get())));
    line.some("--window", spec.window.map(size));
    line.some("--dscp", spec.dscp.map(|dscp| dscp.get().to_string()));
    line.some("--length", spec.length.map(size));
    line.value("--send", spec.send.name().to_owned());
    line.value("--receive", spec.receive.name().to_owned());
    line.flag("--no-gso", spec.udp_gso == Offload::Off);
    line.flag("--no-gro", spec.udp_gro == Offload::Off);
    line.record(spec);
    line.some("--expect", flow.expect.map(rate));
    line.0
}

#[derive(Default)]
struct Line(Vec<OsString>);

impl Line {
    fn flag(&mut self, name: &str, is_set: bool) {
        self.0.extend(is_set.then(|| name.into()));
    }

    fn value(&mut self, name: &str, value: String) {
        self.0.extend([name.into(), value.into()]);
    }

    fn some(&mut self, name: &str, value: Option<String>) {
        if let Some(value) = value {
            self.value(name, value);
        }
    }

    fn record(&mut self, spec: &TestSpec) {
        self.value("--interval", span(spec.interval));
        self.value("--sample-every", span(spec.sample_every));
        self.value("--probe-every", span(spec.probe_every));
        self.value("--connect-timeout", span(spec.connect_timeout));
    }
}

fn rate(rate: DataRate) -> String {
    format!("{}bit/s", rate.bps())
}

fn size(bytes: ByteCount) -> String {
    format!("{}B", bytes.get())
}

fn span(time: Duration) -> String {
    format!("{}ns", time.as_nanos())
}
