//! The way to a host.

use std::net::IpAddr;
use std::time::Duration;

use measure::echo::hops::trace;
use measure::stop::Stop;
use model::probe::ReportKind;
use model::probe::hops::{HopsSpec, Trace, TraceEnd};
use model::run::Outcome;

use crate::network::{FAR, ROUTERS, filter, in_network, on, tool};

fn ask(target: &str, spec: &HopsSpec) -> Trace {
    on("near", || trace(target, spec, &Stop::default()))
}

/// Answers may take as long as a machine that is busy needs.
fn patient() -> HopsSpec {
    HopsSpec { timeout: Duration::from_secs(30), ..HopsSpec::default() }
}

/// The addresses of each hop, each once.
fn addresses(trace: &Trace) -> Vec<Vec<IpAddr>> {
    let of_hop = |hop: &model::probe::hops::Hop| {
        let mut addresses: Vec<_> = hop.answers.iter().filter_map(|answer| answer.address).collect();
        addresses.dedup();
        addresses
    };
    trace.hops.iter().map(of_hop).collect()
}

fn parsed(addresses: &[&str]) -> Vec<Vec<IpAddr>> {
    addresses.iter().map(|address| vec![address.parse().unwrap()]).collect()
}

#[test]
fn two_routers_and_the_destination_are_found_in_both_families() {
    in_network(module_path!(), "two_routers_and_the_destination_are_found_in_both_families", || {
        for (far, [first, second]) in FAR.iter().zip(ROUTERS) {
            let found = ask(far, &patient());
            assert_eq!((&found.outcome, found.end), (&Outcome::Complete, TraceEnd::Destination));
            assert_eq!(addresses(&found), parsed(&[first, second, far]));
            assert!(found.hops.iter().all(|hop| hop.sent == 3 && hop.answers.len() == 3), "{found:?}");
            assert!(
                found.hops[..2]
                    .iter()
                    .flat_map(|hop| &hop.answers)
                    .all(|answer| { answer.report == Some(ReportKind::TimeExceeded) && !answer.rtt.is_zero() })
            );
        }
    });
}

#[test]
fn a_silent_router_is_a_hop_without_answers() {
    in_network(module_path!(), "a_silent_router_is_a_hop_without_answers", || {
        filter("r1", "output", "icmp type time-exceeded drop; icmpv6 type time-exceeded drop;");
        for (far, [_, second]) in FAR.iter().zip(ROUTERS) {
            let found = ask(far, &HopsSpec { timeout: Duration::from_secs(5), ..HopsSpec::default() });
            assert_eq!((found.end, found.hops[0].answers.len(), found.hops[0].sent), (TraceEnd::Destination, 0, 3));
            assert_eq!(addresses(&found)[1..], parsed(&[second, far]));
        }
    });
}

#[test]
fn a_way_that_is_lost_ends_at_the_limit() {
    in_network(module_path!(), "a_way_that_is_lost_ends_at_the_limit", || {
        filter("r2", "forward", "drop");
        let found = ask(FAR[0], &HopsSpec { limit: 10, timeout: Duration::from_millis(100), ..HopsSpec::default() });
        assert_eq!((found.end, found.hops.len()), (TraceEnd::Limit, 10));
        assert!(found.hops[2..].iter().all(|hop| hop.answers.is_empty()));
    });
}

#[test]
fn a_router_without_a_way_on_ends_the_trace() {
    in_network(module_path!(), "a_router_without_a_way_on_ends_the_trace", || {
        tool("r1", "ip route del 10.92.3.0/24");
        let found = ask(FAR[0], &patient());
        assert_eq!((found.end, found.hops.len()), (TraceEnd::Unreachable, 1));
        assert!(found.hops[0].answers.iter().any(|answer| answer.report == Some(ReportKind::Unreachable { code: 0 })));
    });
}
