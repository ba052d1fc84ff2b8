//! The largest packet that arrives.

use std::time::Duration;

use measure::echo::path_mtu::path_mtu;
use measure::stop::Stop;
use model::probe::path_mtu::{MtuLimit, PathMtu, PathMtuSpec};
use model::run::{FailureKind, Outcome};

use crate::network::{FAR, ROUTERS, filter, in_network, on, tool};

fn ask(target: &str, spec: &PathMtuSpec) -> PathMtu {
    on("near", || path_mtu(target, spec, &Stop::default()))
}

/// Where every size is answered: as long as a machine that is busy needs.
fn patient() -> PathMtuSpec {
    PathMtuSpec { timeout: Duration::from_secs(30), ..PathMtuSpec::default() }
}

/// Where sizes are not answered: five probes of each, one after the other.
fn quick() -> PathMtuSpec {
    PathMtuSpec { timeout: Duration::from_millis(300), ..PathMtuSpec::default() }
}

/// The MTU of the interface and that of the path.
fn sizes(found: &PathMtu) -> (u32, u32) {
    (found.interface_mtu.unwrap().get(), found.path_mtu.unwrap().get())
}

fn narrow(router: &str, device: &str, mtu: u32) {
    tool(router, &format!("ip link set {device} mtu {mtu}"));
}

#[test]
fn the_interface_limits_where_the_path_takes_all_that_it_sends() {
    in_network(module_path!(), "the_interface_limits_where_the_path_takes_all_that_it_sends", || {
        for far in FAR {
            let found = ask(far, &patient());
            assert_eq!(found.outcome, Outcome::Complete);
            assert_eq!((sizes(&found), found.limit), ((1500, 1500), Some(MtuLimit::Interface)));
        }
        // The loopback device takes one byte more than an IPv4 packet can have, and the kernel says so in IPv6.
        for (loopback, interface) in [("127.0.0.1", 65_535), ("::1", 65_536)] {
            let found = ask(loopback, &patient());
            assert_eq!((sizes(&found), found.limit), ((interface, 65_535), Some(MtuLimit::Interface)));
        }
    });
}

#[test]
fn a_router_with_a_smaller_mtu_is_named() {
    in_network(module_path!(), "a_router_with_a_smaller_mtu_is_named", || {
        narrow("r2", "n3", 1399);
        for (far, [_, second]) in FAR.iter().zip(ROUTERS) {
            let found = ask(far, &patient());
            let told = MtuLimit::Told { reporter: Some(second.parse().unwrap()), told: Some(1399) };
            assert_eq!((sizes(&found), found.limit), ((1500, 1399), Some(told)));
            // What the kernel has learnt of the path now must not hide it.
            assert_eq!(sizes(&ask(far, &patient())), (1500, 1399));
        }
    });
}

#[test]
fn a_black_hole_is_found_to_the_byte_and_told_from_a_router_that_speaks() {
    in_network(module_path!(), "a_black_hole_is_found_to_the_byte_and_told_from_a_router_that_speaks", || {
        narrow("r2", "n3", 1399);
        filter("r2", "output", "icmp type destination-unreachable drop; icmpv6 type packet-too-big drop;");
        for far in FAR {
            let found = ask(far, &quick());
            assert_eq!((sizes(&found), found.limit), ((1500, 1399), Some(MtuLimit::Silent)));
        }
    });
}

#[test]
fn a_black_hole_behind_a_router_that_speaks_is_the_limit() {
    in_network(module_path!(), "a_black_hole_behind_a_router_that_speaks_is_the_limit", || {
        narrow("r1", "n2", 1450);
        narrow("r2", "n3", 1399);
        filter("r2", "output", "icmp type destination-unreachable drop;");
        let found = ask(FAR[0], &quick());
        assert_eq!((sizes(&found), found.limit), ((1500, 1399), Some(MtuLimit::Silent)));
        assert!(found.sizes.iter().any(|tried| tried.packet_bytes == 1450), "what the first router told is tried");
    });
}

#[test]
fn a_lossy_path_is_measured_all_the_same() {
    in_network(module_path!(), "a_lossy_path_is_measured_all_the_same", || {
        narrow("r2", "n3", 1399);
        filter("r1", "forward", "ip daddr 10.92.3.2 numgen random mod 10 < 1 drop");
        filter("r2", "output", "icmp type destination-unreachable drop;");
        // At 10 % of requests lost one size in 10^12 is misjudged.
        let found = ask(FAR[0], &PathMtuSpec { probes: 12, ..quick() });
        assert_eq!((sizes(&found), found.limit), ((1500, 1399), Some(MtuLimit::Silent)));
    });
}

#[test]
fn a_host_that_does_not_answer_has_no_path_mtu() {
    in_network(module_path!(), "a_host_that_does_not_answer_has_no_path_mtu", || {
        filter("far", "input", "drop");
        let found = ask(FAR[0], &quick());
        let Outcome::Failed(failure) = &found.outcome else { panic!("{found:?}") };
        assert_eq!((failure.kind, found.path_mtu, &found.limit), (FailureKind::Unreachable, None, &None));
        assert!(failure.detail.contains("not even of 68 bytes"), "{failure:?}");
    });
}
