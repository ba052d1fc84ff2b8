//! What a plan expects of a series.

use baseline::expectation::Expectation;
use model::target::{TargetRate, TargetSource};
use plan::Plan;
use plan::plan::Expectation as Said;
use plan::task::Task;

use crate::incident::Metric;

/// A test between two hosts, by their places in a plan.
#[derive(Debug, Clone, Copy)]
pub struct Tested {
    /// Its place among the tests of the plan.
    pub test: usize,
    /// The sending host, by its place among the hosts.
    pub from: usize,
    /// The receiving host, likewise.
    pub to: usize,
}

/// What the results of a test should be; nothing where the plan does not say it, or says it of another metric.
#[must_use]
pub fn of(plan: &Plan, tested: Tested, metric: Metric) -> Option<Expectation> {
    match metric {
        Metric::Goodput => goodput(plan, tested),
        Metric::RttMin => rtt(plan, tested),
        Metric::Loss
        | Metric::RttLoaded
        | Metric::RetransmitShare
        | Metric::Mtu
        | Metric::DownloadRate
        | Metric::TransferRate => None,
    }
}

/// As `linerate why` holds a flow against what was declared: headers count towards the line rate.
fn goodput(plan: &Plan, tested: Tested) -> Option<Expectation> {
    let Tested { test, from, to } = tested;
    let expected = plan.expected_rate(test, from, to)?;
    let (flow, is_udp) = match &plan.tests[test].task {
        Task::Tcp(flow) => (flow, false),
        Task::Udp(flow) => (flow, true),
        Task::Ping(_) | Task::Mtu | Task::Http(_) | Task::Hops => return None,
    };
    let of_a_stream = [flow.spec.rate, flow.spec.pace].into_iter().flatten().min();
    // Datagrams are sent as fast as was asked for.
    if is_udp && of_a_stream.is_none() {
        return None;
    }
    let asked = of_a_stream.map(|rate| rate.bps().saturating_mul(u64::from(flow.spec.streams.max(1))));
    if asked.is_some_and(|asked| asked < expected.bps()) {
        let value = asked? as f64;
        return Some(Expectation { value, limit: value * TargetSource::Requested.slow_below() });
    }
    let target = TargetRate { rate: expected, source: TargetSource::Declared, from: String::new() };
    let value = expected.bps() as f64 / target.part(expected, None)?;
    Some(Expectation { value, limit: value * target.source.slow_below() })
}

fn rtt(plan: &Plan, tested: Tested) -> Option<Expectation> {
    let Tested { test, from, to } = tested;
    let Said::Rtt(expected) = plan.expectation(test, from, to)? else { return None };
    let value = expected.as_secs_f64() * 1e6;
    Some(Expectation { value, limit: value / TargetSource::Declared.slow_below() })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two hosts of a gigabit, with one test.
    fn expected(test: &str, metric: Metric) -> Option<Expectation> {
        let text = format!(
            "title = \"two\"\n[hosts.a]\naddress = \"192.0.2.1\"\nrate = \"1Gbit/s\"\n[hosts.b]\naddress = \"192.0.2.2\"\nrate = \"1Gbit/s\"\n\
             [groups.all]\nmesh = [\"a\", \"b\"]\n[[tests]]\n{test}\n"
        );
        let plan = Plan::parse("plan", &text).unwrap_or_else(|error| panic!("{error}"));
        of(&plan, Tested { test: 0, from: 0, to: 1 }, metric)
    }

    fn limit(test: &str, metric: Metric) -> Option<f64> {
        expected(test, metric).map(|expectation| expectation.limit.round())
    }

    #[test]
    fn a_share_of_the_line_rate_counts_headers() {
        let found = expected("kind = \"tcp\"\nexpect = \"90%\"", Metric::Goodput);
        let payload = 900e6 * 1448.0 / 1538.0;
        let limit = found.map_or(0.0, |found| found.limit);
        assert!((limit - payload * 0.8).abs() < 1.0, "{found:?}");
    }

    #[test]
    fn what_a_test_asks_for_is_all_that_it_can_have() {
        assert_eq!(limit("kind = \"udp\"\nrate = \"100Mbit/s\"\nexpect = \"90%\"", Metric::Goodput), Some(80e6));
        assert_eq!(limit("kind = \"tcp\"\nexpect = \"90%\"", Metric::Loss), None);
        assert_eq!(limit("kind = \"tcp\"", Metric::Goodput), None, "of a plan that says nothing");
    }

    #[test]
    fn echoes_should_take_no_longer() {
        assert_eq!(limit("kind = \"ping\"\nexpect = \"20ms\"", Metric::RttMin), Some(25_000.0));
    }
}
