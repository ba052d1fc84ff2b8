//! Hosts compared: a group, two times, a host and its baseline.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use tempfile::TempDir;

use crate::actors::linerate::{ArchiveFile, linerate};
use crate::actors::process::Ended;

/// Four hosts of virtual machines; the account of 2022 tells what was found there by hand.
fn nrao() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../audit/tests/groups/nrao")
}

fn nrao_file(host: &str) -> String {
    nrao().join(format!("{host}.json")).to_str().unwrap().to_owned()
}

fn diff(arguments: &[&str]) -> Ended {
    linerate(&[&["host", "diff"], arguments].concat())
}

/// A copy of a snapshot, changed.
fn changed(folder: &TempDir, name: &str, from: &str, change: impl Fn(&mut Value)) -> String {
    let mut value: Value = serde_json::from_str(&fs::read_to_string(from).unwrap()).unwrap();
    change(&mut value);
    let path = folder.path().join(name);
    fs::write(&path, value.to_string()).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn the_odd_host_of_a_group_is_told_in_the_first_line() {
    let ended = diff(&["--group", "vmhost", nrao().to_str().unwrap()]);
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(10), ""));
    assert!(ended.stdout.starts_with("rx-gro-hw: on at naasc-vs-4"), "{}", ended.stdout);
    insta::assert_snapshot!("nrao", ended.stdout);
}

#[test]
fn a_comparison_in_json_holds_nothing_that_its_type_does_not_know() {
    let ended = diff(&["--json", "--group", "vmhost", nrao().to_str().unwrap()]);
    let value: Value = serde_json::from_str(&ended.stdout).unwrap();
    let comparison: audit::compare::Comparison = serde_json::from_str(&ended.stdout).unwrap();
    // docs/formats/comparison.schema.json is written from the type, so what survives it is described there.
    assert_eq!(serde_json::to_value(&comparison).unwrap(), value);
    assert_eq!((ended.code, comparison.sides.len()), (Some(10), 4));
}

#[test]
fn one_host_at_two_times_keeps_its_names_and_equal_is_equal() {
    let folder = TempDir::new().unwrap();
    let now = nrao_file("naasc-vs-4");
    let later = changed(&folder, "later.json", &now, |snapshot| {
        snapshot["taken_unix_ns"] = 1_663_340_000_000_000_000_u64.into();
        let interfaces = snapshot["namespaces"][0]["interfaces"].as_array_mut().unwrap();
        let em1 = interfaces.iter_mut().find(|interface| interface["name"] == "em1").unwrap();
        em1["features"]["value"]["rx-gro-hw"]["active"] = false.into();
    });
    let ended = diff(&[&now, &later]);
    assert_eq!(ended.code, Some(10), "{}", ended.stderr);
    let first = ended.stdout.lines().next().unwrap();
    assert!(first.starts_with("em1: rx-gro-hw: on at naasc-vs-4 2022-09-09 "), "{first}");
    assert!(first.contains("off at naasc-vs-4 2022-09-16 "), "{first}");
    assert!(ended.stdout.contains("1 setting differs"), "{}", ended.stdout);
    let equal = diff(&[&now, &now]);
    assert_eq!(equal.code, Some(0), "{}", equal.stderr);
    assert!(equal.stdout.contains("nothing differs"), "{}", equal.stdout);
}

#[test]
fn kept_snapshots_are_listed_compared_blessed_and_pruned() {
    let (archive, folder) = (ArchiveFile::new(), TempDir::new().unwrap());
    let host = |arguments: &[&str]| linerate(&[&["host"], arguments, &["--archive", archive.arg()]].concat());
    let ended = host(&["snapshot", "--keep", "--label", "first", "--group", "dtn"]);
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), "kept as snapshot 1\n"));
    let blessed = host(&["bless", "1"]);
    assert_eq!(blessed.code, Some(0), "{}", blessed.stderr);
    assert!(blessed.stderr.starts_with("snapshot 1 is what "), "{}", blessed.stderr);
    let listed = host(&["snapshots"]).stdout;
    assert!(listed.lines().nth(1).is_some_and(|line| line.contains("blessed") && line.contains("first")), "{listed}");
    let summary: Value = serde_json::from_str(&host(&["snapshots", "--json", "--group", "dtn"]).stdout).unwrap();
    let name = summary["host"].as_str().unwrap().to_owned();
    for sides in [["1", "baseline"], ["baseline", "1"], ["1", &format!("{name}@latest")]] {
        let ended = host(&[&["diff"], &sides[..]].concat());
        assert_eq!(ended.code, Some(0), "{sides:?}: {}{}", ended.stdout, ended.stderr);
    }
    // A snapshot from a file is kept when it is blessed.
    let tuned = changed(&folder, "tuned.json", &nrao_file("naasc-vs-3"), |snapshot| {
        snapshot["namespaces"][0]["sysctls"]["net.ipv4.tcp_rmem"]["value"] = "4096 87380 67108864".into();
    });
    assert_eq!(host(&["bless", &tuned, "--label", "commissioned"]).code, Some(0));
    let ended = host(&["diff", "baseline", &nrao_file("naasc-vs-3")]);
    assert_eq!(ended.code, Some(10), "{}", ended.stderr);
    assert!(ended.stdout.starts_with("net.ipv4.tcp_rmem: 4096 87380 67108864 at naasc-vs-3"), "{}", ended.stdout);
    // An audit sets the host against it by itself, and names what differs.
    let audited = host(&["audit", &nrao_file("naasc-vs-3"), "--fail-on", "never"]).stdout;
    assert!(audited.contains("DRIFT-BASELINE") && audited.contains("baseline.changed net.ipv4.tcp_rmem;"), "{audited}");
    let early = host(&["diff", "naasc-vs-3@2020-01-01", "2"]);
    assert_eq!(early.code, Some(9), "{}", early.stdout);
    assert!(early.stderr.contains("no snapshot that early of naasc-vs-3"), "{}", early.stderr);
    assert_eq!(host(&["bless", "--remove", "naasc-vs-3"]).code, Some(0));
    assert_eq!(host(&["bless", "--remove", "naasc-vs-3"]).code, Some(9));
    let none = host(&["diff", "naasc-vs-3@baseline", "2"]);
    assert!(none.stderr.starts_with("error: no baseline: ") && none.stderr.contains("hint: "), "{}", none.stderr);
    assert_eq!(host(&["snapshots", "--prune", "1"]).stderr, "removed 0 snapshots\n");
}

#[test]
fn what_cannot_be_compared_is_said_with_the_way_out() {
    let (archive, folder) = (ArchiveFile::new(), TempDir::new().unwrap());
    archive.make();
    let vs4 = nrao_file("naasc-vs-4");
    let newer = changed(&folder, "newer.json", &vs4, |snapshot| snapshot["format"] = 99.into());
    let broken = folder.path().join("broken.json");
    fs::write(&broken, "{\"format\": 1").unwrap();
    let broken = broken.to_str().unwrap().to_owned();
    let empty = TempDir::new().unwrap();
    let cases: [(&[&str], i32, &str); 9] = [
        (&[], 2, "hint: name two snapshots"),
        (&["dtn1", &vs4], 9, "there is no file dtn1"),
        (&["77", &vs4], 9, "no snapshot 77 in the archive"),
        (&["dtn1@yesterday", &vs4], 2, "`yesterday` is no time"),
        (&["dtn1@latest", &vs4], 9, "no snapshot of dtn1"),
        (&[&newer, &vs4], 9, "was written by a newer linerate"),
        (&[&broken, &vs4], 9, "is no snapshot"),
        (&["--group", "dtn", &vs4], 9, "none of 1 snapshots is of the group `dtn`"),
        (&["--group", "vmhost", &vs4], 9, "one host only"),
    ];
    for (arguments, code, words) in cases {
        let ended = diff(&[arguments, &["--archive", archive.arg()]].concat());
        assert_eq!((ended.code, ended.stdout.as_str()), (Some(code), ""), "{arguments:?}: {}", ended.stderr);
        assert!(ended.stderr.contains(words), "{words}: {}", ended.stderr);
    }
    let nothing = diff(&["--group", "dtn", empty.path().to_str().unwrap()]);
    assert_eq!(nothing.code, Some(9), "{}", nothing.stderr);
    assert!(nothing.stderr.contains("there is no snapshot in "), "{}", nothing.stderr);
    let group = diff(&["--group", "dtn", "--archive", archive.arg()]);
    assert!(group.stderr.contains("none of 0 snapshots is of the group `dtn`"), "{}", group.stderr);
}

#[test]
fn saved_outputs_are_compared_like_snapshots_and_what_was_not_saved_is_told_apart() {
    let folder = TempDir::new().unwrap();
    let save = |host: &str, name: &str, text: &str| {
        let directory = folder.path().join(host);
        fs::create_dir_all(&directory).unwrap();
        fs::write(directory.join(name), text).unwrap();
    };
    for (host, gro) in [("a", "on"), ("b", "off")] {
        save(host, "hostname", host);
        save(host, "ethtool -k eth0", &format!("Features for eth0:\nrx-gro-hw: {gro}\n"));
    }
    save("a", "sysctl -a", "net.ipv4.tcp_ecn = 1\n");
    let at = |host: &str| folder.path().join(host).to_str().unwrap().to_owned();
    let ended = diff(&[&at("a"), &at("b")]);
    assert_eq!(ended.code, Some(10), "{}", ended.stderr);
    assert!(ended.stdout.starts_with("eth0: rx-gro-hw: on at a, off at b\n"), "{}", ended.stdout);
    assert!(!ended.stdout.contains("tcp_ecn:"), "{}", ended.stdout);
    assert!(ended.stdout.contains("b, no sysctl was read: sysctl"), "{}", ended.stdout);
}
