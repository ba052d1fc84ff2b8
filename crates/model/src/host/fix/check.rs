//! Whether a step may be tried at all, as far as can be said without asking the kernel.

use units::DataRate;

use super::discipline::{Discipline, Hook};
use super::sysctl::{self, ValueError};
use super::{Change, Step};

/// Why a step is refused before anything is read or written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unfit {
    /// A value that the kernel does not hold.
    #[error(transparent)]
    Value(#[from] ValueError),
    /// A number out of bounds.
    #[error("{what}: {value} is not between {least} and {most}")]
    Number {
        /// Of what.
        what: &'static str,
        /// What was given.
        value: u64,
        /// Smallest value that is allowed, included.
        least: u64,
        /// Largest value that is allowed, included.
        most: u64,
    },
    /// A step that says nothing.
    #[error("the step changes nothing: it names no value")]
    Nothing,
    /// Metrics of a route that do not come as names and values.
    #[error(
        "`{metrics}` are not metrics of a route: names and values such as `initcwnd 40 mtu lock 8900` are expected"
    )]
    Metrics {
        /// What was given.
        metrics: String,
    },
    /// A discipline where it cannot be.
    #[error("{kind} cannot hang on {hook}")]
    Hook {
        /// Kind of the qdisc, as `tc` spells it.
        kind: &'static str,
        /// What it was to hang on.
        hook: String,
    },
}

impl Step {
    /// The step as it is kept in a journal: checked, and without blanks that mean nothing.
    ///
    /// # Errors
    /// Why it may not be tried.
    pub fn canonical(&self) -> Result<Self, Unfit> {
        self.check()?;
        let change = match &self.change {
            Change::Sysctl { key, value } => {
                Change::Sysctl { key: key.clone(), value: sysctl::checked(key.as_str(), value)? }
            }
            Change::Route { to, metrics } => {
                let pairs = pairs(metrics)?.into_iter().map(|(name, value)| format!("{name} {value}"));
                Change::Route { to: to.clone(), metrics: pairs.collect::<Vec<_>>().join(" ") }
            }
            other => other.clone(),
        };
        Ok(Self { namespace: self.namespace.clone(), change })
    }

    /// Whether the step may be tried.
    ///
    /// # Errors
    /// Why not.
    pub fn check(&self) -> Result<(), Unfit> {
        let bounded = |what, value: u32, least: u32, most: u32| {
            let outside = !(least..=most).contains(&value);
            let error = || Unfit::Number { what, value: value.into(), least: least.into(), most: most.into() };
            if outside { Err(error()) } else { Ok(()) }
        };
        match &self.change {
            Change::Sysctl { key, value } => Ok(sysctl::checked(key.as_str(), value).map(drop)?),
            Change::Rings { rx: None, tx: None, .. } | Change::Channels { combined: None, rx: None, tx: None, .. } => {
                Err(Unfit::Nothing)
            }
            Change::Rings { rx, tx, .. } => {
                [rx, tx].into_iter().flatten().try_for_each(|size| bounded("ring size", *size, 1, 1 << 20))
            }
            Change::Channels { combined, rx, tx, .. } => {
                let mut counts = [combined, rx, tx].into_iter().flatten();
                counts.try_for_each(|count| bounded("number of queues", *count, 1, 4_096))
            }
            Change::Spread { queues, .. } => bounded("number of queues", *queues, 1, 4_096),
            // Below 1280 the kernel takes IPv6 off the device, with addresses and routes that do not come back
            // (net/ipv6/addrconf.c, addrconf_notify; RFC 8200 section 5).
            Change::Mtu { bytes, .. } => bounded("MTU", *bytes, 1_280, 65_536),
            Change::TxQueueLength { packets, .. } => bounded("transmit queue length", *packets, 1, 1 << 24),
            // The kernel takes no less than this, nor more (net/core/dev.h, GSO_MAX_SIZE).
            Change::LargestAggregate { bytes, .. } => bounded("largest aggregate", *bytes, 1_500, 524_280),
            Change::IdleStates { longest_exit_us } => bounded("exit latency", *longest_exit_us, 0, 1_000_000),
            Change::Route { metrics, .. } => pairs(metrics).map(drop),
            Change::Qdisc { hook, discipline, .. } => fits(*hook, discipline),
            Change::Class { htb, .. } => {
                rate("rate", htb.rate)?;
                htb.ceil.map_or(Ok(()), |ceil| rate("ceil", ceil))
            }
            _ => Ok(()),
        }
    }
}

/// Metrics of a route as names and values, where a value may have `lock` before it.
///
/// # Errors
/// Where a value is missing, or a text is no metric at all.
pub fn pairs(metrics: &str) -> Result<Vec<(String, String)>, Unfit> {
    let wrong = || Unfit::Metrics { metrics: metrics.chars().take(LONGEST_METRICS).collect() };
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b' ' | b'_' | b'-' | b'.' | b'+');
    if metrics.len() > LONGEST_METRICS || !metrics.bytes().all(allowed) {
        return Err(wrong());
    }
    let mut words = metrics.split_whitespace();
    let mut found = Vec::new();
    while let Some(name) = words.next() {
        let value = match words.next().ok_or_else(wrong)? {
            "lock" => format!("lock {}", words.next().ok_or_else(wrong)?),
            value => value.to_owned(),
        };
        found.push((name.to_owned(), value));
    }
    if found.is_empty() { Err(Unfit::Nothing) } else { Ok(found) }
}

fn fits(hook: Hook, discipline: &Discipline) -> Result<(), Unfit> {
    match (hook, discipline) {
        (Hook::Class(_), Discipline::Mq {}) => Err(Unfit::Hook { kind: "mq", hook: hook.to_string() }),
        (_, Discipline::Tbf { rate: speed, burst, limit }) => {
            rate("rate", *speed)?;
            let amount = |what, bytes: u64| {
                let most = u64::from(u32::MAX);
                let error = Unfit::Number { what, value: bytes, least: 1, most };
                if (1..=most).contains(&bytes) { Ok(()) } else { Err(error) }
            };
            amount("burst", burst.get())?;
            amount("limit", limit.get())
        }
        (_, Discipline::Fq { maxrate: Some(maxrate), .. }) => {
            rate("maxrate", *maxrate)?;
            // 32 bits of bytes a second, of which all ones are no limit (net/sched/sch_fq.c of 6.18, fq_change).
            let (bps, most) = (maxrate.bps(), u64::from(u32::MAX) * 8 - 1);
            if bps <= most { Ok(()) } else { Err(Unfit::Number { what: "maxrate", value: bps, least: 8, most }) }
        }
        _ => Ok(()),
    }
}

/// A rate that the kernel holds exactly: whole bytes a second.
fn rate(what: &'static str, rate: DataRate) -> Result<(), Unfit> {
    const MOST: u64 = 100_000_000_000_000;
    let bps = rate.bps();
    if (8..=MOST).contains(&bps) { Ok(()) } else { Err(Unfit::Number { what, value: bps, least: 8, most: MOST }) }
}

const LONGEST_METRICS: usize = 256;

#[cfg(test)]
mod tests {
    use super::*;

    fn check(change: &str) -> Result<(), String> {
        let step: Step =
            serde_json::from_str(&format!("{{\"change\":{change}}}")).map_err(|error| error.to_string())?;
        step.check().map_err(|error| error.to_string())
    }

    #[test]
    fn values_out_of_bounds_are_refused_before_anything_is_written() {
        for change in [
            r#"{"sysctl":{"key":"net.core.rmem_max","value":"2147483648"}}"#,
            r#"{"sysctl":{"key":"kernel.core_pattern","value":"|/bin/sh"}}"#,
            r#"{"mtu":{"device":"eth0","bytes":1279}}"#,
            r#"{"rings":{"device":"eth0"}}"#,
            r#"{"rings":{"device":"eth0","rx":0}}"#,
            r#"{"route":{"to":"192.0.2.0/24","metrics":"initcwnd"}}"#,
            r#"{"route":{"to":"192.0.2.0/24","metrics":""}}"#,
            r#"{"route":{"to":"192.0.2.0/24","metrics":"initrwnd (the sender's initcwnd)"}}"#,
            r#"{"qdisc":{"device":"eth0","hook":"1:1","discipline":{"mq":{}}}}"#,
            r#"{"qdisc":{"device":"eth0","hook":"root","discipline":{"tbf":{"rate_bps":0,"burst_bytes":1,"limit_bytes":1}}}}"#,
            r#"{"qdisc":{"device":"eth0","hook":"root","discipline":{"fq":{"maxrate_bps":40000000000}}}}"#,
            r#"{"shell":{"line":"true"}}"#,
        ] {
            assert!(check(change).is_err(), "{change}");
        }
    }

    #[test]
    fn blanks_that_mean_nothing_are_not_kept() {
        let padded = format!("4096 {} 131072 536870912", " ".repeat(100_000));
        let step: Step = serde_json::from_value(serde_json::json!({
            "change": { "sysctl": { "key": "net.ipv4.tcp_rmem", "value": padded } }
        }))
        .unwrap();
        assert!(serde_json::to_string(&step.canonical().unwrap()).unwrap().len() < 200);
    }

    #[test]
    fn steps_within_bounds_pass() {
        for change in [
            r#"{"sysctl":{"key":"net.ipv4.tcp_rmem","value":"4096 131072 536870912"}}"#,
            r#"{"mtu":{"device":"eth0","bytes":9000}}"#,
            r#"{"route":{"to":"192.0.2.0/24","metrics":"initcwnd 40 mtu lock 8900"}}"#,
            r#"{"qdisc":{"device":"eth0","hook":"root","discipline":{"fq":{"maxrate_bps":2000000000}}}}"#,
            r#"{"class":{"device":"eth0","hook":"root","class":"1:1","htb":{"rate_bps":9000000000}}}"#,
        ] {
            assert_eq!(check(change), Ok(()), "{change}");
        }
        let metrics = pairs("initcwnd 40 mtu lock 8900").unwrap();
        assert_eq!(metrics[1], ("mtu".to_owned(), "lock 8900".to_owned()));
    }
}
