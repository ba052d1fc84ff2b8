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
    line.option((spec.protocol == Protocol::Udp).then_some("--udp"));
    line.option((spec.direction == Direction::Reverse).then_some("--reverse"));
    line.option((spec.direction == Direction::Bidirectional).then_some("--bidir"));
    match spec.limit {
        Limit::Time(time) => line.value("--time", span(time)),
        Limit::Bytes(bytes) => line.value("--bytes", size(bytes)),
        Limit::Blocks(blocks) => line.value("--blocks", blocks.to_string()),
    }
    line.option((spec.family == Some(Family::Ipv4)).then_some("--ipv4"));
    line.option((spec.family == Some(Family::Ipv6)).then_some("--ipv6"));
    line.value("--streams", spec.streams.to_string());
    line.value("--omit", span(spec.omit));
    line.some("--rate", spec.rate.map(rate));
    line.option((spec.protocol == Protocol::Udp && spec.rate.is_none()).then_some("--flood"));
    line.some("--pace", spec.pace.map(rate));
    line.some("--cca", spec.congestion_control.clone());
    line.some("--mss", spec.mss.map(|mss| format!("{}B", mss.get())));
    line.some("--window", spec.window.map(size));
    line.some("--dscp", spec.dscp.map(|dscp| dscp.get().to_string()));
    line.some("--length", spec.length.map(size));
    line.value("--send", spec.send.name().to_owned());
    line.value("--receive", spec.receive.name().to_owned());
    line.option((spec.udp_gso == Offload::Off).then_some("--no-gso"));
    line.option((spec.udp_gro == Offload::Off).then_some("--no-gro"));
    line.record(spec);
    line.some("--expect", flow.expect.map(rate));
    line.0
}

#[derive(Default)]
struct Line(Vec<OsString>);

impl Line {
    fn option(&mut self, name: Option<&str>) {
        self.0.extend(name.map(OsString::from));
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
