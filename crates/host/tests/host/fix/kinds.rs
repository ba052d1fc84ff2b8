//! Each kind of step: applied it shows, undone everything is as it was.

use host::live::{Request, read};
use model::host::fix::journal::State;
use model::host::fix::talk::Others;
use serde_json::Value;

use super::{engine, order};
use crate::sandbox::{Mounts, in_sandbox, shell};

/// All settings of the own namespace and the host, as a snapshot has them; nothing that counts or keeps time.
fn settings() -> Value {
    let snapshot = read(&Request::default()).unwrap();
    let mut whole = serde_json::to_value(&snapshot).unwrap();
    let counts =
        ["counters", "driver_counters", "softnet", "taken", "taken_ns", "taken_mono_ns", "uptime_s", "carrier_changes"];
    forget(&mut whole, &counts);
    whole
}

fn forget(value: &mut Value, names: &[&str]) {
    match value {
        Value::Object(members) => {
            members.retain(|name, _| !names.contains(&name.as_str()));
            members.values_mut().for_each(|member| forget(member, names));
        }
        Value::Array(members) => members.iter_mut().for_each(|member| forget(member, names)),
        _ => {}
    }
}

/// The namespaces and the processors: the rest of a snapshot is of processes and files, which a test does not own.
fn of_network(mut whole: Value) -> Value {
    whole["namespaces"].take()
}

fn devices() {
    shell("ip link add west numtxqueues 4 numrxqueues 4 type veth peer name east numtxqueues 4 numrxqueues 4");
    shell("ip link set west up; ip link set east up; ip address add 192.0.2.1/24 dev west");
    shell("ip -6 address add 2001:db8::1/64 dev west nodad");
    shell("ip route add 198.51.100.0/24 via 192.0.2.2 src 192.0.2.1 metric 7 mtu lock 1400");
    shell("ip -6 route add 2001:db8:9::/48 via 2001:db8::2 mtu 1450");
}

/// Prepares, applies, looks, takes back, compares.
fn comes_back(prepared: &str, written: &str, shows: (&str, &str)) {
    shell(prepared);
    let directory = tempfile::tempdir().unwrap();
    let before = of_network(settings());
    let mut engine = engine(directory.path());
    let entry = engine.apply(&order(written), 0).unwrap_or_else(|error| panic!("{written}: {error}"));
    let (command, expected) = shows;
    let shown = shell(command);
    assert!(shown.contains(expected), "{written}: {command} shows {shown}");
    assert!(!entry.changes().is_empty(), "{written}: nothing has changed");
    let changed = of_network(settings());
    assert_ne!(changed, before, "{written}: the snapshot does not show it");
    let entry = engine.undo(None, Others::Keep).unwrap_or_else(|error| panic!("{written}: {error}"));
    assert!(matches!(entry.state, State::Undone { .. }), "{written}: {:?}", entry.state);
    let after = of_network(settings());
    assert!(after == before, "{written}: {}", first_difference(&before, &after, ""));
}

fn first_difference(one: &Value, other: &Value, place: &str) -> String {
    match (one, other) {
        (Value::Object(one), Value::Object(other)) => {
            let names = one.keys().chain(other.keys().filter(|name| !one.contains_key(*name)));
            let differs = |name: &&String| one.get(*name) != other.get(*name);
            names
                .filter(differs)
                .take(1)
                .map(|name| {
                    let (one, other) = (one.get(name).unwrap_or(&Value::Null), other.get(name).unwrap_or(&Value::Null));
                    first_difference(one, other, &format!("{place}.{name}"))
                })
                .collect()
        }
        (Value::Array(one), Value::Array(other)) if one.len() == other.len() => {
            let place_of = one.iter().zip(other).position(|(one, other)| one != other).unwrap_or_default();
            first_difference(&one[place_of], &other[place_of], &format!("{place}[{place_of}]"))
        }
        _ => format!("{place}: {one} and {other}"),
    }
}

macro_rules! kind {
    ($name:ident, $prepared:expr, $written:expr, $command:expr, $expected:expr) => {
        #[test]
        fn $name() {
            in_sandbox(module_path!(), stringify!($name), Mounts::Own, || {
                devices();
                comes_back($prepared, $written, ($command, $expected));
            });
        }
    };
}

kind!(
    sysctl_comes_back,
    "sysctl -qw net.ipv4.tcp_rmem='4096 100000 200000'",
    r#"[{"change":{"sysctl":{"key":"net.ipv4.tcp_rmem","value":"4096 131072 536870912"}}},
        {"change":{"sysctl":{"key":"net.ipv4.conf.west.rp_filter","value":"2"}}},
        {"change":{"sysctl":{"key":"net.ipv4.tcp_congestion_control","value":"reno"}}}]"#,
    "sysctl net.ipv4.tcp_rmem",
    "536870912"
);
kind!(
    feature_comes_back,
    "ethtool -K west gro off",
    r#"[{"change":{"feature":{"device":"west","name":"tx-tcp-segmentation","on":false}}},
        {"change":{"feature":{"device":"west","name":"rx-gro","on":true}}}]"#,
    "ethtool -k west",
    "tx-tcp-segmentation: off"
);
kind!(
    channels_come_back_with_all_that_hangs_on_them,
    "tc qdisc replace dev west root handle 5: mq && tc qdisc replace dev west parent 5:4 handle 6: pfifo limit 9",
    r#"[{"change":{"channels":{"device":"west","rx":1,"tx":1}}}]"#,
    "ethtool -l west",
    "TX:\t\t1"
);
kind!(
    mtu_comes_back_with_that_of_ipv6_and_of_its_routes,
    "ip link set west mtu 9000; ip link set east mtu 9000; sysctl -qw net.ipv6.conf.west.mtu=1480; \
     ip -6 route replace 2001:db8:9::/48 via 2001:db8::2 mtu 1470",
    r#"[{"change":{"mtu":{"device":"west","bytes":1400}}}]"#,
    "ip link show west",
    "mtu 1400"
);
kind!(
    lengths_and_sizes_of_the_link_come_back,
    "ip link set west txqueuelen 777",
    r#"[{"change":{"tx-queue-length":{"device":"west","packets":10000}}},
        {"change":{"largest-aggregate":{"device":"west","bytes":40000}}}]"#,
    "ip -d link show west",
    "qlen 10000"
);
kind!(
    shaper_in_the_place_of_a_tree_comes_back,
    "tc qdisc replace dev west root handle 1: htb default 12 && \
     tc class add dev west parent 1: classid 1:1 htb rate 9gbit ceil 10gbit burst 1mb && \
     tc class add dev west parent 1:1 classid 1:12 htb rate 3gbit prio 2 quantum 60000 && \
     tc qdisc add dev west parent 1:12 handle 20: pfifo limit 50",
    r#"[{"change":{"qdisc":{"device":"west","hook":"root",
         "discipline":{"tbf":{"rate_bps":5000000000,"burst_bytes":262144,"limit_bytes":3000000}}}}}]"#,
    "tc qdisc show dev west",
    "rate 5Gbit"
);
kind!(
    tree_of_a_rule_in_the_place_of_the_kernels_own_comes_back,
    "true",
    r#"[{"change":{"qdisc":{"device":"west","hook":"root","discipline":{"htb":{"default_class":1}}}}},
        {"change":{"class":{"device":"west","hook":"1:","class":"1:1","htb":{"rate_bps":9000000000}}}},
        {"change":{"qdisc":{"device":"west","hook":"1:1","discipline":{"pfifo":{"limit_packets":100}}}}}]"#,
    "tc class show dev west",
    "rate 9Gbit"
);
kind!(
    discipline_that_is_taken_away_comes_back,
    "tc qdisc replace dev west root handle 7: tbf rate 1gbit burst 64kb limit 1mb",
    r#"[{"change":{"no-qdisc":{"device":"west"}}}]"#,
    "tc qdisc show dev west",
    "noqueue"
);
kind!(
    queue_for_each_queue_comes_back,
    "true",
    r#"[{"change":{"qdisc":{"device":"west","hook":"root","discipline":{"mq":{}}}}}]"#,
    "tc qdisc show dev west",
    "qdisc mq"
);
kind!(
    route_comes_back_whole,
    "true",
    r#"[{"change":{"route":{"to":"198.51.100.0/24","metrics":"initcwnd 40 initrwnd 40"}}},
        {"change":{"route":{"to":"2001:db8:9::/48","metrics":"initcwnd 20"}}}]"#,
    "ip route show 198.51.100.0/24",
    "initcwnd 40"
);

/// Masks of queues may be written by root of the machine only (net/core/net-sysfs.c, `capable`), which a user namespace
/// does not make one.
#[test]
fn masks_of_queues_come_back() {
    let done = linux::netns::in_fresh_netns(|| {
        shell("ip link add west numrxqueues 2 type veth peer name east; ip link set west up");
        let directory = tempfile::tempdir().unwrap();
        let mut engine = engine(directory.path());
        let written = r#"[{"change":{"steering":{"device":"west","cpus":"3"}}}]"#;
        let entry = match engine.apply(&order(written), 0) {
            Err(error) if error.refusal().kind == model::host::fix::talk::RefusalKind::Denied => {
                eprintln!("takes CAP_NET_ADMIN and CAP_SYS_ADMIN of the machine: {error}");
                return;
            }
            outcome => outcome.unwrap(),
        };
        let masks = entry.changes();
        assert_eq!(masks.len(), 2, "{masks:?}");
        assert!(masks.iter().all(|mask| mask.new.as_deref().unwrap().ends_with('3')), "{masks:?}");
        engine.undo(None, Others::Keep).unwrap();
        let now = engine.preview(&super::steps(written)).unwrap();
        assert!(now.iter().zip(&masks).all(|(now, was)| now.old == was.old), "{now:?} {masks:?}");
    });
    if let Err(error) = done {
        eprintln!("takes root: {error}");
    }
}
