//! A policy as lines of cmsd's configuration: what a site copies, and what the lab plays on a real cluster.

use crate::cluster::settings::Reports;
use crate::policy::definition::{Entry, Needs, Policy, Timing};

/// Lines for the manager and for each gateway.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Configuration {
    /// Of the manager's cmsd.
    pub manager: Vec<String>,
    /// Of each gateway's cmsd; `PROGRAM` stands for the program of `cms.perf`.
    pub gateway: Vec<String>,
}

/// Why a policy is no configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ConfigurationError {
    /// Another version or another balancer is needed.
    #[error("XRootD 5.5.3 cannot do it by configuration: {0}")]
    Needs(&'static str),
    /// The manager asks all gateways at one moment.
    #[error("cmsd asks all gateways at the same moment, and has no setting for another")]
    Timing,
}

/// The lines of a policy, for any cmsd of the 5 series.
///
/// # Errors
/// Why there are none.
pub fn of(entry: &Entry, reports: &Reports) -> Result<Configuration, ConfigurationError> {
    let policy = (entry.make)();
    match entry.needs {
        Needs::Configuration => {}
        Needs::Xrootd57 => return Err(ConfigurationError::Needs("`affinity randomized` came with 5.7.0")),
        Needs::Balancer => return Err(ConfigurationError::Needs("it takes another balancer")),
        Needs::Oracle => return Err(ConfigurationError::Needs("no balancer knows what it needs")),
    }
    if policy.timing() == Timing::Skewed {
        return Err(ConfigurationError::Timing);
    }
    let fuzz = policy.manager_fuzz(reports.fuzz);
    let (usage, alert) = (asked_every(reports.usage_s), policy.alert(reports));
    let manager = vec![
        format!(
            "cms.sched {} fuzz {fuzz} maxload {} refreset {:.0}",
            weights(&*policy),
            reports.max_load,
            reports.reset_s
        ),
        format!("cms.ping {} log 1 usage {}", usage.ping_s, usage.pings),
    ];
    let gateway = vec![
        format!("cms.sched {} fuzz {}", weights(&*policy), alert.fuzz),
        format!("cms.perf int {:.0}s pgm PROGRAM", alert.perf_s.max(1.0)),
    ];
    Ok(Configuration { manager, gateway })
}

/// Weights in the order of the program's five numbers; those of 0 are left out.
fn weights(policy: &dyn Policy) -> String {
    let weights = policy.weights();
    let named =
        [("runq", weights.runq), ("cpu", weights.cpu), ("mem", weights.mem), ("pag", weights.pag), ("io", weights.net)];
    let used = named.iter().filter(|(_, weight)| *weight > 0).map(|(name, weight)| format!("{name} {weight}"));
    used.collect::<Vec<_>>().join(" ")
}

/// `cms.ping`: how often gateways are pinged, and how many pings there are for each request of their load.
struct Asked {
    ping_s: u32,
    pings: u32,
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "bounded to 3 s and a day by the settings' check"
)]
fn asked_every(usage_s: f64) -> Asked {
    let usage = usage_s.clamp(SHORTEST_PING_S, 86_400.0) as u32;
    let ping_s =
        (SHORTEST_PING_S as u32..=usage.min(60)).rev().find(|ping| usage.is_multiple_of(*ping)).unwrap_or(usage);
    Asked { ping_s, pings: usage / ping_s }
}

/// cmsd takes no shorter one (XrdCmsConfig.cc).
const SHORTEST_PING_S: f64 = 3.0;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy;

    fn lines(name: &str, reports: &Reports) -> Result<Configuration, ConfigurationError> {
        of(policy::find(name).unwrap(), reports)
    }

    #[test]
    fn ours_is_a_fuzz_of_1_at_the_manager_and_of_0_at_gateways() {
        let ours = lines("inflight-cmsd", &Reports::default()).unwrap();
        assert_eq!(ours.manager, ["cms.sched runq 100 fuzz 1 maxload 100 refreset 3600", "cms.ping 3 log 1 usage 1"]);
        assert_eq!(ours.gateway, ["cms.sched runq 100 fuzz 0", "cms.perf int 1s pgm PROGRAM"]);
    }

    #[test]
    fn round_robin_is_a_fuzz_of_100_and_network_is_called_io() {
        assert!(lines("round-robin", &Reports::default()).unwrap().manager[0].contains(" fuzz 100 "));
        assert!(
            lines("load-50-50", &Reports::default()).unwrap().manager[0].starts_with("cms.sched runq 50 io 50 fuzz 10")
        );
        let slow = Reports { usage_s: 600.0, ..Reports::default() };
        assert_eq!(lines("load-80-20", &slow).unwrap().manager[1], "cms.ping 60 log 1 usage 10");
    }

    #[test]
    fn what_is_no_configuration_says_why() {
        for name in ["affinity-randomized", "least-inflight", "oracle"] {
            assert!(matches!(lines(name, &Reports::default()), Err(ConfigurationError::Needs(_))), "{name}");
        }
        assert_eq!(lines("ping-skew", &Reports::default()), Err(ConfigurationError::Timing));
    }
}
