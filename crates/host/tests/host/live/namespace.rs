//! What is in the own namespace.

use std::env;
use std::process::Command;

use host::live::{Request, read};
use model::host::fact::{Missing, State};
use model::host::snapshot::Snapshot;

use crate::sandbox::{Mounts, in_sandbox, shell};

fn plant() {
    shell(
        "ip link add west numtxqueues 2 numrxqueues 2 type veth peer name east; \
         ip link set west mtu 9000 up; ip link set east mtu 9000 up; \
         ip address add 192.0.2.1/24 dev west; \
         ip link add vx0 mtu 8950 type vxlan id 42 local 192.0.2.1 remote 192.0.2.2 dstport 4789; \
         ip route add 198.51.100.0/24 via 192.0.2.2 initcwnd 40 initrwnd 60 congctl reno; \
         tc qdisc add dev west root handle 1: tbf rate 9000mbps burst 1mb limit 3000000; \
         ethtool -K west tso off; ethtool -L west rx 2 tx 1; \
         sysctl -qw net.ipv4.tcp_rmem='4096 131072 536870912' net.ipv4.tcp_ecn=1 net.ipv4.conf.west.rp_filter=2",
    );
}

#[test]
fn what_was_planted_is_in_the_snapshot() {
    in_sandbox(module_path!(), "what_was_planted_is_in_the_snapshot", Mounts::Own, || {
        plant();
        let snapshot = read(&Request::default()).unwrap();
        let own = snapshot.own().unwrap();
        assert_eq!(own.sysctl("net.ipv4.tcp_rmem"), Some("4096 131072 536870912"));
        assert_eq!(own.sysctl("net.ipv4.tcp_ecn"), Some("1"));
        assert_eq!(own.sysctl("net.ipv4.conf.west.rp_filter"), Some("2"));
        // It belongs to the host, not to a namespace.
        assert_eq!(own.sysctls["net.ipv4.tcp_mem"].state(), State::Absent);
        let west = own.interface("west").unwrap();
        let link = west.link.value().unwrap();
        assert_eq!((link.mtu, link.kind.as_deref()), (Some(9_000), Some("veth")));
        assert_eq!(west.driver.value().unwrap().name, "veth");
        assert_eq!(west.is_virtual(), Some(true));
        let features = west.features.value().unwrap();
        assert!(!features["tx-tcp-segmentation"].active && !features["tx-tcp-segmentation"].is_fixed());
        assert!(features["rx-gro-hw"].is_fixed());
        let channels = west.channels.value().unwrap();
        assert_eq!((channels.rx, channels.tx, channels.rx_max), (Some(2), Some(1), Some(2)));
        let tbf = &west.qdiscs.value().unwrap()[0];
        assert_eq!((tbf.kind.as_str(), tbf.options["rate_bps"]), ("tbf", 72_000_000_000));
        let route = own.routes.value().unwrap().iter().find(|route| route.destination == "198.51.100.0/24").unwrap();
        assert_eq!((route.metrics["initcwnd"].as_str(), route.metrics["congctl"].as_str()), ("40", "reno"));
        let vxlan = own.interface("vx0").unwrap().link.value().unwrap().vxlan.clone().unwrap();
        assert_eq!((vxlan.vni, vxlan.port), (42, Some(4_789)));
        for missing in [west.pause.state(), west.fec.state(), west.coalesce.state(), west.private_flags.state()] {
            assert_eq!(missing, State::Unsupported);
        }
        // As many as the kernel shows in a sysfs of this namespace.
        let queues = west.queues.value().expect("a sysfs of this namespace may be read");
        assert_eq!((queues.rx.len(), queues.tx.len()), (2, 1));
        assert!(queues.rx.iter().all(|queue| queue.rps_cpus.is_some()));
        assert!(own.counters.value().unwrap().contains_key("TcpExt.TCPTimeouts"));
    });
}

#[test]
fn sysfs_of_another_namespace_is_never_taken_for_the_own() {
    in_sandbox(module_path!(), "sysfs_of_another_namespace_is_never_taken_for_the_own", Mounts::Shared, || {
        // The /sys that is seen here was mounted outside and shows what is there.
        let outside = shell("ls /sys/class/net");
        let name = outside.split_whitespace().find(|name| *name != "lo").unwrap_or("west");
        shell(&format!("ip link add {name} type veth peer name peer0"));
        let snapshot = read(&Request::default()).unwrap();
        let own = snapshot.own().unwrap();
        for known in [name, "peer0", "lo"] {
            let interface = own.interface(known).unwrap();
            assert!(interface.link.value().is_some());
            if known != "lo" {
                assert_eq!(interface.queues.reading, Err(Missing::Denied), "{known}");
                assert_eq!(interface.bus.state(), State::Absent, "{known}");
            }
        }
    });
}

#[test]
fn nobody_reads_the_same_facts_as_root() {
    in_sandbox(module_path!(), "nobody_reads_the_same_facts_as_root", Mounts::Shared, || {
        if env::var_os(NOBODY).is_some() {
            println!("\n{}", serde_json::to_string(&read(&Request::default()).unwrap()).unwrap());
            return;
        }
        plant();
        let root = read(&Request::default()).unwrap();
        // A process that starts without capabilities; the user is root of the sandbox only, so it is nobody outside.
        let mut command = Command::new("setpriv");
        command.args(["--inh-caps=-all", "--bounding-set=-all", "--no-new-privs"]);
        command.arg(env::current_exe().unwrap()).env(NOBODY, "1");
        command.args(["live::namespace::nobody_reads_the_same_facts_as_root", "--exact", "--nocapture"]);
        let output = command.output().unwrap();
        let printed = String::from_utf8_lossy(&output.stdout);
        let start = printed.find("{\"format\"").unwrap_or_else(|| panic!("{printed}{output:?}"));
        let line = printed[start..].lines().next().unwrap();
        let nobody: Snapshot = serde_json::from_str(line).unwrap();
        assert_eq!(nobody.way, model::host::snapshot::CollectionMethod::Unprivileged);
        assert!(!nobody.unseen.is_empty());
        let (root, nobody) = (root.own().unwrap(), nobody.own().unwrap());
        assert_eq!(root.routes, nobody.routes);
        assert_eq!(root.addresses, nobody.addresses);
        assert_eq!(root.sysctls.len(), nobody.sysctls.len());
        for (mine, theirs) in root.interfaces.iter().zip(&nobody.interfaces) {
            assert_eq!((&mine.link, &mine.features, &mine.rings), (&theirs.link, &theirs.features, &theirs.rings));
            assert_eq!((&mine.channels, &mine.driver, &mine.mode), (&theirs.channels, &theirs.driver, &theirs.mode));
        }
    });
}

#[test]
fn snapshot_is_written_and_read_back_whole() {
    let snapshot = read(&Request { role_group: Some("dtn".to_owned()), ..Request::default() }).unwrap();
    let text = serde_json::to_string(&snapshot).unwrap();
    assert_eq!(serde_json::from_str::<Snapshot>(&text).unwrap(), snapshot);
    assert!(snapshot.own().unwrap().interface("lo").is_some());
    assert!(!snapshot.processors.each.is_empty() && snapshot.machine.boot_id.value().is_some());
}

/// Marks the process without capabilities.
const NOBODY: &str = "LINERATE_TEST_NOBODY";
