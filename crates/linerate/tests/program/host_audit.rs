//! Hosts audited, as people read it: from a snapshot, from saved outputs.

use std::fs;
use std::path::Path;

use audit::profile::Origin;
use serde_json::Value;
use tempfile::TempDir;

use crate::actors::linerate::linerate;
use crate::host_fix::world::World;

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
