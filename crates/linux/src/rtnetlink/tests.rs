//! Claims about what the kernel made of our requests, as its own tables tell.

use units::{ByteCount, DataRate};

use super::device::Vxlan;
use super::qdisc::Tbf;
use super::route::{Metric, Route};
use super::*;
use crate::sandbox::in_sandbox;

fn device(rtnetlink: &mut Rtnetlink, name: &str) -> Index {
    rtnetlink.add_plain("veth", name).unwrap();
    // The kernel has given the other end a name.
    let other = rtnetlink.index("veth0").unwrap();
    rtnetlink.set_up(other).unwrap();
    rtnetlink.index(name).unwrap()
}

fn ip(arguments: &str) -> String {
    let output = std::process::Command::new("ip").args(arguments.split(' ')).output().unwrap();
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn devices_get_what_they_are_given() {
    in_sandbox(module_path!(), "devices_get_what_they_are_given", || {
        let mut rtnetlink = Rtnetlink::open().unwrap();
        let made = device(&mut rtnetlink, "one");
        rtnetlink.rename(made, "west").unwrap();
        rtnetlink.set_mtu(made, Mtu::new(9_000).unwrap()).unwrap();
        rtnetlink.set_up(made).unwrap();
        rtnetlink.add_address(made, "192.0.2.1".parse().unwrap(), 24).unwrap();
        rtnetlink.add_address(made, "2001:db8::1".parse().unwrap(), 64).unwrap();
        assert_eq!(rtnetlink.index("west").unwrap(), made);
        let carrying = crate::links::carrying("2001:db8::1".parse().unwrap()).unwrap().unwrap();
        assert_eq!((carrying.name.as_str(), carrying.mtu), ("west", Some(9_000)));
        let shown = ip("-6 -o address show dev west");
        let own = shown.lines().find(|line| line.contains("2001:db8::1")).unwrap();
        assert!(!own.contains("tentative"), "{own}");
        assert_eq!(rtnetlink.index("one").unwrap_err().errno(), Some(libc::ENODEV));
    });
}

#[test]
fn routes_have_their_metrics_and_take_the_place_of_others() {
    in_sandbox(module_path!(), "routes_have_their_metrics_and_take_the_place_of_others", || {
        let mut rtnetlink = Rtnetlink::open().unwrap();
        let made = device(&mut rtnetlink, "west");
        rtnetlink.set_up(made).unwrap();
        rtnetlink.add_address(made, "192.0.2.1".parse().unwrap(), 24).unwrap();
        let metrics = [("initcwnd", "40"), ("mtu", "lock 1400"), ("congctl", "reno"), ("quickack", "1")];
        let metrics = metrics.map(|(name, value)| Metric::parse(name, value).unwrap());
        let via = |via: &str| Some(via.parse().unwrap());
        let to = ("198.51.100.0".parse().unwrap(), 24);
        let route =
            Route { to, via: via("192.0.2.2"), device: made, source: via("192.0.2.1"), metrics: &metrics, priority: 0 };
        rtnetlink.replace_route(&route).unwrap();
        let shown = ip("route show 198.51.100.0/24");
        for part in ["via 192.0.2.2", "src 192.0.2.1", "initcwnd 40", "mtu lock 1400", "congctl reno", "quickack 1"] {
            assert!(shown.contains(part), "{part}: {shown}");
        }
        rtnetlink.replace_route(&Route { via: via("192.0.2.3"), metrics: &[], ..route }).unwrap();
        let shown = ip("route show 198.51.100.0/24");
        assert_eq!(shown.lines().count(), 1, "{shown}");
        assert!(shown.contains("via 192.0.2.3") && !shown.contains("initcwnd"), "{shown}");
        let error = rtnetlink.replace_route(&Route { via: via("203.0.113.1"), ..route }).unwrap_err();
        assert!(matches!(&error, NetlinkError::Explained { words, .. } if words.contains("gateway")), "{error}");
    });
}

#[test]
fn queueing_disciplines_are_as_tc_shows_them() {
    in_sandbox(module_path!(), "queueing_disciplines_are_as_tc_shows_them", || {
        let mut rtnetlink = Rtnetlink::open().unwrap();
        let made = device(&mut rtnetlink, "west");
        let tc = || {
            let output =
                std::process::Command::new("tc").args(["-r", "qdisc", "show", "dev", "west"]).output().unwrap();
            String::from_utf8_lossy(&output.stdout).into_owned()
        };
        rtnetlink.set_pfifo(made, 37).unwrap();
        assert!(tc().contains("pfifo") && tc().contains("limit 37p"), "{}", tc());
        let rate = DataRate::from_bps(40_000_000_000);
        let tbf = Tbf { rate, burst: ByteCount::new(256 << 10), limit: ByteCount::new(3_000_000) };
        rtnetlink.set_tbf(made, tbf).unwrap();
        let shown = tc();
        assert!(shown.contains("rate 40Gbit") && shown.contains("limit 3000000b"), "{shown}");
        assert_eq!(shown.lines().count(), 1, "{shown}");
        rtnetlink.unset_qdisc(made).unwrap();
        assert!(!tc().contains("tbf"), "{}", tc());
        rtnetlink.unset_qdisc(made).unwrap();
    });
}

#[test]
fn overlay_knows_its_other_ends() {
    in_sandbox(module_path!(), "overlay_knows_its_other_ends", || {
        let mut rtnetlink = Rtnetlink::open().unwrap();
        let remotes = ["192.0.2.2", "192.0.2.3"].map(|remote| remote.parse().unwrap());
        let local = "192.0.2.1".parse().unwrap();
        let mtu = Mtu::new(1_450).unwrap();
        rtnetlink.add_vxlan(&Vxlan { name: "vx0", vni: 42, port: 4_789, local, remotes: &remotes, mtu }).unwrap();
        let shown = ip("-d link show vx0");
        assert!(shown.contains("mtu 1450") && shown.contains("vxlan id 42 local 192.0.2.1"), "{shown}");
        let output = std::process::Command::new("bridge").args(["fdb", "show", "dev", "vx0"]).output().unwrap();
        let shown = String::from_utf8_lossy(&output.stdout);
        assert!(shown.contains("dst 192.0.2.2") && shown.contains("dst 192.0.2.3"), "{shown}");
    });
}
