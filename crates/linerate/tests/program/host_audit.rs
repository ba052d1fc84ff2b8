//! Hosts audited, as people read it: from a snapshot, from saved outputs.

use std::fs;
use std::path::Path;

use audit::profile::Origin;
use audit::report::Report;
use serde_json::Value;
use tempfile::TempDir;

use crate::actors::linerate::linerate;
use crate::actors::world::World;

/// A host of virtual machines of the account of 2022.
fn nrao(host: &str) -> String {
    let groups = Path::new(env!("CARGO_MANIFEST_DIR")).join("../audit/tests/groups/nrao");
    groups.join(format!("{host}.json")).to_str().unwrap().to_owned()
}

#[test]
fn the_host_of_the_account_is_told_its_cause_first() {
    let ended = linerate(&[
        "host",
        "audit",
        &nrao("naasc-vs-4"),
        "--role",
        "vm-host",
        "--target-rate",
        "10Gbit/s",
        "--rtt",
        "1ms",
        "--peer",
        &nrao("naasc-vs-2"),
        "--peer",
        &nrao("naasc-vs-3"),
        "--peer",
        &nrao("naasc-vs-5"),
    ]);
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(10), ""));
    insta::assert_snapshot!("nrao", ended.stdout);
}

/// Saved outputs of a host whose ring is small: a directory, as `mkdir dtn1; ethtool -g eth0 > 'dtn1/ethtool -g eth0'`.
fn saved(folder: &TempDir) -> &str {
    let save = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    save("hostname", "dtn7\n");
    save("ethtool eth0", "Settings for eth0:\n\tSpeed: 100000Mb/s\n\tDuplex: Full\n\tLink detected: yes\n");
    save("ethtool -i eth0", "driver: mlx5_core\nbus-info: 0000:3b:00.0\n");
    save(
        "ethtool -g eth0",
        "Ring parameters for eth0:\nPre-set maximums:\nRX:\t\t8192\nRX Mini:\tn/a\nTX:\t\t8192\n\
         Current hardware settings:\nRX:\t\t512\nRX Mini:\tn/a\nTX:\t\t1024\n",
    );
    save("sysctl -a", "net.ipv4.tcp_rmem = 4096\t131072\t6291456\n");
    folder.path().to_str().unwrap()
}

#[test]
fn a_site_that_runs_no_program_of_ours_is_audited_from_what_it_saved() {
    let folder = TempDir::new().unwrap();
    let directory = saved(&folder);
    let ended = linerate(&["host", "audit", directory, "--rtt", "100ms", "--json"]);
    assert_eq!(ended.code, Some(10), "{}", ended.stderr);
    let report: Value = serde_json::from_str(&ended.stdout).unwrap();
    let fired: Vec<&str> =
        report["findings"].as_array().unwrap().iter().map(|finding| finding["rule"].as_str().unwrap()).collect();
    assert!(fired.contains(&"NIC-RING-RX-HEADROOM") && fired.contains(&"BUF-RMEM-BDP"), "{fired:?}");
    // What was not saved is unknown, and never passes.
    let unknown = report["unknown"].as_array().unwrap();
    assert!(unknown.iter().any(|unknown| unknown["rule"] == "TCP-ECN-ACTIVE"), "{unknown:?}");
    // The round trip that was typed is not learnt from the connections of the host that audits.
    let origins = report["profile"].as_array().unwrap().iter().map(|value| value["origin"].as_str().unwrap());
    assert!(origins.into_iter().all(|origin| origin != "learnt"), "{report}");
}

#[test]
fn a_host_in_the_place_of_other_facts_is_told_where_it_stands() {
    let ended = linerate(&["host", "audit", "--input", &nrao("naasc-vs-4")]);
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""), "{}", ended.stderr);
    assert!(ended.stderr.contains("hint: a host stands without --input"), "{}", ended.stderr);
}

#[test]
fn the_speed_that_veth_makes_up_is_no_target() {
    let mut world = World::new();
    world.run("ip link add out type veth peer name in; ip link set out up; ip link set in up");
    assert!(world.run("PATH=$PATH:/usr/sbin ethtool out").contains("Speed: 10000Mb/s"), "veth reports a speed");
    let values = world.audit("--rtt 100ms").profile;
    let target = values.iter().find(|value| value.name == "target rate").unwrap();
    assert_eq!((target.value.as_deref(), target.origin), (None, Origin::Assumed), "{values:?}");
}

/// Listens on a port in one namespace; in another, moves so many MiB over each of so many connections, and keeps them.
const SINK: &str = "
import socket, sys, threading
listener = socket.create_server(('10.9.9.2', 7000), backlog=64)
print('listening', flush=True)
def drain(peer):
    while peer.recv(1 << 18): pass
while True: threading.Thread(target=drain, args=(listener.accept()[0],), daemon=True).start()
";
const MOVER: &str = "
import socket, sys, time
count, endless = int(sys.argv[1]), len(sys.argv) > 2
peers = [socket.create_connection(('10.9.9.2', 7000)) for _ in range(count)]
for peer in peers: peer.sendall(bytes(11 << 20))
print('moved', flush=True)
while True:
    if endless: peers[0].sendall(bytes(1 << 20))
    time.sleep(0.01)
";

/// What connections teach that are idle, or of another namespace, would silence the rules of buffers.
#[test]
fn connections_that_are_idle_or_of_another_namespace_are_no_hints_and_nothing_that_is_declared_yields_to_them() {
    let mut world = World::new();
    world.run("mount -t tmpfs none /run; for n in near far other; do ip netns add $n; ip -n $n link set lo up; done");
    for (host, address) in [("near", "10.9.9.1"), ("other", "10.9.9.3")] {
        world.run(&format!(
            "ip link add {host} netns far type veth peer name out netns {host}; ip -n {host} addr add {address}/24 dev out; \
             ip -n {host} link set out up; ip -n far link set {host} up; ip -n far addr add 10.9.9.2/32 dev {host}; \
             ip -n far route add {address}/32 dev {host} src 10.9.9.2"
        ));
    }
    fs::write(world.folder.path().join("sink.py"), SINK).unwrap();
    fs::write(world.folder.path().join("mover.py"), MOVER).unwrap();
    let moving = |name: &str, command: &str, word: &str| {
        format!(
            "mkfifo $F/{name}; {command} > $F/{name} & exec 8< $F/{name}; read said <&8; [ \"$said\" = {word} ] && \
             {{ cat <&8 > /dev/null & }}"
        )
    };
    world.run(&moving("sink", "ip netns exec far python3 $F/sink.py", "listening"));
    world.run(&moving("idle", "ip netns exec near python3 $F/mover.py 16", "moved"));
    world.run(&moving("busy", "ip netns exec other python3 $F/mover.py 1 endless", "moved"));
    // Those of `near` have said nothing for longer than a transfer pauses.
    world.run(
        "until [ $(ip netns exec near ss -tinH state established | grep -cE 'lastsnd:(3[0-9]{2}[1-9]|[4-9][0-9]{3}|[0-9]{5})') = 16 ]; \
         do sleep 0.1; done",
    );
    let audit = |world: &mut World, host: &str, more: &str| -> Report {
        let (printed, code) = world.ends(&format!(
            "ip netns exec {host} $L host audit --target-rate 10Gbit/s {more} --json --fail-on never --counters-over 0s"
        ));
        serde_json::from_str(&printed).unwrap_or_else(|error| panic!("{code}: {error}: {printed}"))
    };
    let origin = |report: &Report, name: &str| report.profile.iter().find(|value| value.name == name).unwrap().origin;
    let active = audit(&mut world, "other", "");
    assert_eq!(
        origin(&active, "rtt"),
        Origin::Learnt,
        "an active flow of this namespace is a hint: {:?}",
        active.profile
    );
    let idle = audit(&mut world, "near", "");
    assert_ne!(origin(&idle, "rtt"), Origin::Learnt, "{:?}", idle.profile);
    assert_ne!(origin(&idle, "streams"), Origin::Learnt, "{:?}", idle.profile);
    for host in ["near", "other"] {
        let declared = audit(&mut world, host, "--rtt 100ms");
        assert_eq!(
            (origin(&declared, "rtt"), origin(&declared, "streams")),
            (Origin::Given, Origin::Assumed),
            "{host}"
        );
        assert!(
            declared.findings.iter().any(|finding| finding.rule == "BUF-RMEM-BDP"),
            "{host}: {:?}",
            declared.findings
        );
    }
}
