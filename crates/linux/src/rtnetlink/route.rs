//! Routes and their metrics.

use std::net::IpAddr;

use units::duration;

use super::metrics::{Form, METRICS, RTA_METRICS, RTAX_FEATURE_ECN, RTAX_LOCK};
use super::{Index, Rtnetlink, family, octets};
use crate::netlink::change::{CREATE, REPLACE};
use crate::netlink::{NetlinkError, Request, attributes, value};

/// A route in the main table.
#[derive(Debug, Clone, Copy)]
pub struct Route<'a> {
    /// Where to, with the length of the prefix.
    pub to: (IpAddr, u8),
    /// The next router; directly where it is [`None`].
    pub via: Option<IpAddr>,
    /// Device through which packets leave (`RTA_OIF`).
    pub device: Index,
    /// The address it sends from.
    pub source: Option<IpAddr>,
    /// What is known of the way.
    pub metrics: &'a [Metric],
    /// Of two routes to one destination the lower one is taken; 0 is what the kernel gives by itself.
    pub priority: u32,
}

/// One metric of a route.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Metric {
    kind: u16,
    value: Value,
    lock: Lock,
}

/// Whether the kernel may find a better value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Lock {
    Open,
    Locked,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Value {
    Number(u32),
    Name(String),
}

/// A metric that no route has.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MetricError {
    /// No such metric.
    #[error("no metric of a route is called `{name}`; there are {}", METRICS.map(|(name, ..)| name).join(", "))]
    Unknown {
        /// What was asked for.
        name: String,
    },
    /// A value that the metric cannot have.
    #[error("the metric `{name}` is {expected}, not `{value}`")]
    Value {
        /// Name as `ip route` has it, such as `initcwnd`.
        name: String,
        /// What it would take.
        expected: &'static str,
        /// What was given.
        value: String,
    },
}

impl Metric {
    /// Reads a metric as `ip route` writes it: a name, and a value, perhaps with `lock` before it.
    ///
    /// # Errors
    /// For a name or a value that does not exist.
    pub fn parse(name: &str, text: &str) -> Result<Self, MetricError> {
        let (_, kind, form) = METRICS
            .into_iter()
            .find(|(known, ..)| *known == name)
            .ok_or_else(|| MetricError::Unknown { name: name.to_owned() })?;
        let (lock, text) = text.trim().strip_prefix("lock ").map_or((Lock::Open, text), |rest| (Lock::Locked, rest));
        let text = text.trim();
        let wrong = |expected| MetricError::Value { name: name.to_owned(), expected, value: text.to_owned() };
        let number = |expected| text.parse().map_err(|_| wrong(expected));
        let value = match form {
            Form::Number => Value::Number(number("a number")?),
            Form::Switch => Value::Number(
                number("0 or 1").and_then(|value: u32| if value <= 1 { Ok(value) } else { Err(wrong("0 or 1")) })?,
            ),
            Form::Millis { per } => {
                let time = duration::parse(text).map_err(|_| wrong("a time with its unit, such as 200ms"))?;
                let value = time.as_millis().saturating_mul(u128::from(per));
                Value::Number(u32::try_from(value).map_err(|_| wrong("less than weeks"))?)
            }
            Form::Features => match text {
                "ecn" => Value::Number(RTAX_FEATURE_ECN),
                _ => return Err(wrong("`ecn`")),
            },
            // TCP_CA_NAME_MAX, include/net/tcp.h
            Form::Name if text.is_empty() || text.len() >= 16 => return Err(wrong("a name of up to 15 characters")),
            Form::Name => Value::Name(text.to_owned()),
        };
        Ok(Self { kind, value, lock })
    }
}

impl Rtnetlink {
    /// Makes a route, or puts it in the place of that to the same destination.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn replace_route(&mut self, route: &Route<'_>) -> Result<(), NetlinkError> {
        let (to, prefix) = route.to;
        let direct = route.via.is_none() && to.is_ipv4();
        let scope = if direct { RT_SCOPE_LINK } else { RT_SCOPE_UNIVERSE };
        // struct rtmsg, include/uapi/linux/rtnetlink.h
        let fixed = [family(to), prefix, 0, 0, RT_TABLE_MAIN, RTPROT_STATIC, scope, RTN_UNICAST, 0, 0, 0, 0];
        let mut request = Request::new(&fixed);
        request.put(RTA_DST, &octets(to)).put_u32(RTA_OIF, route.device.get());
        match route.via {
            Some(via) if via.is_ipv4() == to.is_ipv4() => {
                request.put(RTA_GATEWAY, &octets(via));
            }
            Some(via) => {
                let other = [u16::from(family(via)).to_ne_bytes().to_vec(), octets(via)].concat();
                request.put(RTA_VIA, &other);
            }
            None => {}
        }
        if let Some(source) = route.source {
            request.put(RTA_PREFSRC, &octets(source));
        }
        if route.priority != 0 {
            request.put_u32(RTA_PRIORITY, route.priority);
        }
        if !route.metrics.is_empty() {
            request.nest(RTA_METRICS, |nested| put_metrics(nested, route.metrics));
        }
        self.netlink.change(RTM_NEWROUTE, CREATE | REPLACE, request.bytes())
    }
}

fn put_metrics(request: &mut Request, metrics: &[Metric]) {
    let locks = metrics.iter().filter(|metric| metric.lock == Lock::Locked);
    let locks = locks.fold(0, |locks, metric| locks | 1u32 << metric.kind);
    if locks != 0 {
        request.put_u32(RTAX_LOCK, locks);
    }
    put_values(request, metrics);
}

fn put_values(request: &mut Request, metrics: &[Metric]) {
    for metric in metrics {
        match &metric.value {
            Value::Number(number) => request.put_u32(metric.kind, *number),
            Value::Name(name) => request.put_text(metric.kind, name),
        };
    }
}

/// What `RTA_METRICS` holds with some of its metrics changed.
pub(crate) fn merged_metrics(old: &[u8], changed: &[Metric]) -> Vec<u8> {
    let is_changed = |kind: u16| changed.iter().any(|metric| metric.kind == kind);
    let old: Vec<_> = attributes(old, 0).filter_map(Result::ok).collect();
    let held = old.iter().find(|part| part.kind == RTAX_LOCK).and_then(value::u32).unwrap_or_default();
    let of = |lock: Lock| {
        changed.iter().filter(move |metric| metric.lock == lock).fold(0, |bits, one| bits | 1u32 << one.kind)
    };
    let locks = held & !of(Lock::Open) | of(Lock::Locked);
    let mut request = Request::new(&[]);
    if locks != 0 {
        request.put_u32(RTAX_LOCK, locks);
    }
    for part in old.iter().filter(|part| part.kind != RTAX_LOCK && !is_changed(part.kind)) {
        request.put(part.kind, part.value);
    }
    put_values(&mut request, changed);
    request.bytes().to_vec()
}

// include/uapi/linux/rtnetlink.h of 6.18
const RTM_NEWROUTE: u16 = 24;
const RT_TABLE_MAIN: u8 = 254;
const RTPROT_STATIC: u8 = 4;
const RT_SCOPE_UNIVERSE: u8 = 0;
const RT_SCOPE_LINK: u8 = 253;
const RTN_UNICAST: u8 = 1;
const RTA_DST: u16 = 1;
const RTA_OIF: u16 = 4;
const RTA_GATEWAY: u16 = 5;
const RTA_PRIORITY: u16 = 6;
const RTA_PREFSRC: u16 = 7;
const RTA_VIA: u16 = 18;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metrics_are_read_as_ip_route_writes_them() {
        let read = |name, text| Metric::parse(name, text).unwrap();
        assert_eq!(read("initcwnd", "40"), Metric { kind: 11, value: Value::Number(40), lock: Lock::Open });
        assert_eq!(read("mtu", "lock 1400"), Metric { kind: 2, value: Value::Number(1_400), lock: Lock::Locked });
        assert_eq!(read("rto_min", "200ms").value, Value::Number(200));
        assert_eq!(read("rtt", "2ms").value, Value::Number(16));
        assert_eq!(read("congctl", "reno").value, Value::Name("reno".to_owned()));
    }

    #[test]
    fn metric_that_does_not_exist_is_named_with_those_that_do() {
        let error = Metric::parse("initcwind", "4").unwrap_err().to_string();
        assert!(error.contains("`initcwind`") && error.contains("initcwnd"), "{error}");
        for (name, text) in [("initcwnd", "-1"), ("quickack", "2"), ("rto_min", "200"), ("congctl", "")] {
            assert!(matches!(Metric::parse(name, text), Err(MetricError::Value { .. })), "{name} {text}");
        }
    }
}
