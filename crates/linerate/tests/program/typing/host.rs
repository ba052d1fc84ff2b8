//! What is known of a host, as people and as programs read it.

use std::fs;

use model::host::snapshot::{CollectionMethod, Snapshot};
use serde_json::Value;

use crate::actors::linerate::linerate;

#[test]
fn a_snapshot_in_json_holds_nothing_that_its_type_does_not_know_and_is_kept_whole() {
    let directory = tempfile::tempdir().unwrap();
    let kept = directory.path().join("host.json");
    let arguments = ["host", "snapshot", "--json", "--group", "dtn", "--out", kept.to_str().unwrap()];
    let ended = linerate(&arguments);
    assert_eq!((ended.code, ended.stdout.lines().count()), (Some(0), 1), "{}", ended.stderr);
    let value: Value = serde_json::from_str(&ended.stdout).unwrap();
    let snapshot: Snapshot = serde_json::from_str(&ended.stdout).unwrap();
    // docs/formats/snapshot.schema.json is written from the type, so what survives it is described there.
    assert_eq!(serde_json::to_value(&snapshot).unwrap(), value);
    assert_eq!(fs::read_to_string(&kept).unwrap(), ended.stdout);
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1, "nothing is left beside it");
    assert_eq!(snapshot.machine.role_group.as_deref(), Some("dtn"));
    assert!(snapshot.own().unwrap().interface("lo").is_some());
}

#[test]
fn saved_outputs_are_shown_like_a_host_and_what_was_not_understood_is_said() {
    let directory = tempfile::tempdir().unwrap();
    let save = |name: &str, text: &str| fs::write(directory.path().join(name), text).unwrap();
    save("hostname", "dtn7\n");
    save("ethtool -i eth0", "driver: mlx5_core\n");
    save(
        "ethtool -g eth0",
        "Ring parameters for eth0:\nPre-set maximums:\nRX:\t\t8192\nRX Mini:\tn/a\nTX:\t\t8192\n\
         Current hardware settings:\nRX:\t\t512\nRX Mini:\tn/a\nTX:\t\t1024\n",
    );
    save("ethtool -k eth0", "Features for eth0:\ngeneric-receive-offload: off\n");
    save("tc -s qdisc", "qdisc mq 0: dev eth0 root \n Sent 5 bytes 1 pkt (dropped 3, overlimits 0 requeues 0) \n");
    save("sysctl -a", "net.ipv4.tcp_rmem = 4096\t131072\t6291456\nnonsense\n");
    let from = ["host", "snapshot", "--from", directory.path().to_str().unwrap()];
    let shown = linerate(&from);
    assert_eq!(shown.code, Some(0), "{}", shown.stderr);
    for part in ["dtn7, ", "from saved outputs", "512 of 8192", "1024 of 8192", "mq", "gro", "qdisc 3", "6291456"] {
        assert!(shown.stdout.contains(part), "{part}: {}", shown.stdout);
    }
    assert!(shown.stdout.contains("/sysctl -a:2: not `name = value`"), "{}", shown.stdout);
    let snapshot: Snapshot = serde_json::from_str(&linerate(&[&from[..], &["--json"]].concat()).stdout).unwrap();
    assert_eq!(snapshot.way, CollectionMethod::SavedOutputs);
}

#[test]
fn what_cannot_be_read_is_said_with_the_way_out() {
    let directory = tempfile::tempdir().unwrap();
    let empty = directory.path().to_str().unwrap().to_owned();
    let packed = directory.path().join("sos.tar.bz2");
    fs::write(&packed, b"BZh91AY&SY").unwrap();
    let packed = packed.to_str().unwrap().to_owned();
    let cases = [
        (vec!["--from", &empty], "hint: files are known by their names"),
        (vec!["--from", &packed], "hint: unpack it with bunzip2 first"),
        (vec!["--from", "/nonesuch"], "cannot read /nonesuch"),
        (vec!["--netns", "nonesuch"], "network namespace nonesuch does not exist"),
    ];
    for (arguments, words) in cases {
        let ended = linerate(&[vec!["host", "snapshot"], arguments].concat());
        assert_eq!((ended.code, ended.stdout.as_str()), (Some(9), ""), "{}", ended.stderr);
        assert!(ended.stderr.contains(words), "{words}: {}", ended.stderr);
    }
}
