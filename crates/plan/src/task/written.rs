//! A test in the keys that [`super::text`] reads: only what differs from the usual.

use std::time::Duration;

use model::spec::{Direction, Family, Limit, Offload, TestSpec};

use super::text::USUAL_UDP_RATE;
use super::{Http, Ping, Task};
use crate::written::{bytes, rate, set, text, time};

/// Keys and values of a test, as TOML has them, `kind` first.
#[must_use]
pub fn keys(task: &Task) -> Vec<(&'static str, String)> {
    let kind = match task {
        Task::Tcp(_) => "tcp",
        Task::Udp(_) => "udp",
        Task::Ping(_) => "ping",
        Task::Mtu => "mtu",
        Task::Http(_) => "http",
        Task::Hops => "hops",
    };
    let mut keys = Keys(vec![("kind", text(kind))]);
    match task {
        Task::Tcp(flow) => {
            keys.flow(&flow.spec);
            keys.some("rate", flow.spec.rate.map(rate));
        }
        Task::Udp(flow) => {
            keys.flow(&flow.spec);
            match flow.spec.rate {
                Some(asked) => keys.unless("rate", asked, &USUAL_UDP_RATE, rate),
                None => keys.put("flood", set()),
            }
        }
        Task::Ping(ping) => keys.ping(*ping),
        Task::Http(Http { file, count }) => {
            keys.put("file", text(file));
            keys.unless("count", *count, &1, |count| count.to_string());
        }
        Task::Mtu | Task::Hops => {}
    }
    keys.0
}

struct Keys(Vec<(&'static str, String)>);

impl Keys {
    fn put(&mut self, key: &'static str, value: String) {
        self.0.push((key, value));
    }

    fn some(&mut self, key: &'static str, value: Option<String>) {
        self.0.extend(value.map(|value| (key, value)));
    }

    /// A value that differs from the usual one.
    fn unless<T: PartialEq>(&mut self, key: &'static str, value: T, usual: &T, written: impl FnOnce(T) -> String) {
        self.some(key, (value != *usual).then(|| written(value)));
    }

    fn span(&mut self, key: &'static str, value: Duration, usual: Duration) {
        self.unless(key, value, &usual, time);
    }

    fn ping(&mut self, ping: Ping) {
        let usual = Ping::default();
        self.unless("count", ping.count, &usual.count, |count| count.to_string());
        self.span("interval", ping.interval, usual.interval);
        self.unless("size", ping.size, &usual.size, bytes);
    }

    fn flow(&mut self, spec: &TestSpec) {
        let usual = TestSpec::default();
        match spec.limit {
            Limit::Time(limit) => self.put("time", time(limit)),
            Limit::Bytes(limit) => self.put("bytes", bytes(limit)),
            Limit::Blocks(limit) => self.put("blocks", limit.to_string()),
        }
        self.span("omit", spec.omit, usual.omit);
        self.unless("streams", spec.streams, &usual.streams, |streams| streams.to_string());
        self.some("reverse", (spec.direction == Direction::Reverse).then(set));
        self.some("bidir", (spec.direction == Direction::Bidirectional).then(set));
        self.some("pace", spec.pace.map(rate));
        self.some("cca", spec.congestion_control.as_deref().map(text));
        self.some("mss", spec.mss.map(|mss| mss.get().to_string()));
        self.some("window", spec.window.map(bytes));
        self.some("dscp", spec.dscp.map(|dscp| dscp.get().to_string()));
        self.some("length", spec.length.map(bytes));
        self.unless("send", spec.send, &usual.send, |send| text(send.name()));
        self.unless("receive", spec.receive, &usual.receive, |receive| text(receive.name()));
        self.some("no-gso", (spec.udp_gso != Offload::On).then(set));
        self.some("no-gro", (spec.udp_gro != Offload::On).then(set));
        self.some("family", spec.family.map(|family| text(name_of(family))));
        self.span("interval", spec.interval, usual.interval);
        self.span("sample-every", spec.sample_every, usual.sample_every);
        self.span("probe-every", spec.probe_every, usual.probe_every);
    }
}

/// A family as files have it.
pub(crate) const fn name_of(family: Family) -> &'static str {
    match family {
        Family::Ipv4 => "ipv4",
        Family::Ipv6 => "ipv6",
    }
}
