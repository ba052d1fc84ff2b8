//! What the most used scripts for tuning hosts get wrong, one test for each line. They were found by reading the
//! scripts (`fasterdata-tuning.sh` v1.3.10 of osg-htc/networking, `fasterdata_tuning.py`, LibreQoS, bpftune) and by
//! running single lines of them on output of the programs that they call.
//!
//! Elsewhere, because they are tests of the part: TuneD after the files of sysctl, with and without `reapply_sysctl`
//! (`provenance::tests`); a step that fails (`fix/transaction.rs`); every kind of setting taken back (`fix/kinds.rs`).

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use audit::persist::{Lasting, Product};
use audit::report::Finding;
use audit::scope::HostFacts;
use audit::{Case, Inputs, Keep, Profile, Rules, audit};
use host::files::FilesInMemory;
use host::fix::Engine;
use host::live::{Request, read};
use host::{persist, provenance, saved};
use model::host::fact::Fact;
use model::host::fix::talk::{Order, Others};
use model::host::fix::{Step, sysctl};
use model::host::snapshot::Snapshot;
use model::host::tracked;
use units::WallTime;

use crate::sandbox::{Mounts, in_sandbox, shell};

/// A host of which these outputs were saved.
fn host(outputs: &[(&str, &str)]) -> Snapshot {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in outputs {
        fs::write(folder.path().join(name), text).unwrap();
    }
    saved::from_directory(folder.path(), WallTime::from_unix_nanos(0)).unwrap()
}

/// What the rules find wrong with it, as a data mover over 100 ms.
fn findings(host: &Snapshot) -> Vec<Finding> {
    let profile: Profile = serde_json::from_value(serde_json::json!({"roles": ["dtn"], "rtt": "100ms"})).unwrap();
    let (host, inputs) = (HostFacts::of(host), Inputs::default());
    audit(&Rules::built_in(), &Case { host: &host, profile: &profile, inputs: &inputs, keep: Keep::Findings }).findings
}

fn finding(host: &Snapshot, rule: &str) -> Finding {
    let all = findings(host);
    let found = all.iter().find(|finding| finding.rule == rule);
    found.unwrap_or_else(|| panic!("{rule}: {:?}", all.iter().map(|each| &each.rule).collect::<Vec<_>>())).clone()
}

/// Applies steps and takes them back; `between` sees the host as they left it.
fn there_and_back(written: &str, between: impl FnOnce()) {
    let directory = tempfile::tempdir().unwrap();
    let (mut engine, _) = Engine::open(directory.path()).unwrap();
    let steps: Vec<Step> = serde_json::from_str(written).unwrap();
    engine.apply(&Order { steps, reason: "a test".to_owned(), confirm_within_s: None }, 0).unwrap();
    between();
    engine.undo(None, Others::Keep).unwrap();
}

/// Every place where a rule sets a sysctl: the rule as it is written, and the key.
fn sysctls_of_rules() -> Vec<(toml::Table, String)> {
    let mut found = Vec::new();
    for (_, text) in audit::rule::built_in_texts() {
        let file: toml::Table = text.parse().unwrap();
        for rule in file["rule"].as_array().unwrap() {
            let rule = rule.as_table().unwrap();
            let fixes = rule.get("fix").and_then(toml::Value::as_array).into_iter().flatten();
            let keys = fixes.filter_map(|fix| fix.get("sysctl")?.get("key")?.as_str());
            found.extend(keys.map(|key| (rule.clone(), key.to_owned())));
        }
    }
    found
}

const LINK: (&str, &str) = ("ethtool eth0", "Settings for eth0:\n\tSpeed: 10000Mb/s\n\tDuplex: Full\n");

/// A card whose largest ring is not 8192, with the lines that are no rings.
const RINGS: (&str, &str) = (
    "ethtool -g eth0",
    "Ring parameters for eth0:\nPre-set maximums:\nRX:\t\t2047\nRX Mini:\tn/a\nRX Jumbo:\t8191\nTX:\t\t2047\n\
     Current hardware settings:\nRX:\t\t511\nRX Mini:\tn/a\nRX Jumbo:\tn/a\nTX:\t\t511\n",
);

/// Theirs looks for `RX max:`, which no `ethtool` prints, so no ring is ever flagged; another writes 8192 unasked.
#[test]
fn a_small_ring_is_flagged_and_raised_to_what_the_card_can() {
    let fix = finding(&host(&[LINK, RINGS]), "NIC-RING-RX-HEADROOM").fix.remove(0);
    assert_eq!(fix.command, "ethtool -G eth0 rx 2047");
}

/// Theirs takes the line behind `RX:`, which is `RX Mini:`, so every saved ring is 0; and no code of it restores rings.
#[test]
fn the_old_ring_is_kept_as_it_is_and_the_way_back_is_told() {
    let host = host(&[LINK, RINGS]);
    let rings = host.own().unwrap().interface("eth0").unwrap().rings.value().unwrap();
    assert_eq!((rings.rx, rings.rx_max, rings.rx_mini), (Some(511), Some(2047), None));
    let fix = finding(&host, "NIC-RING-RX-HEADROOM").fix.remove(0);
    assert_eq!(fix.undo.as_deref(), Some("ethtool -G eth0 rx 511"));
}

/// Theirs takes the first word of `qdisc mq 0: root`, and restores one `pfifo_fast` over all queues.
#[test]
fn the_queues_of_a_card_with_many_come_back_each_as_it_was() {
    in_sandbox(module_path!(), "the_queues_of_a_card_with_many_come_back_each_as_it_was", Mounts::Own, || {
        shell("ip link add west numtxqueues 4 numrxqueues 4 type veth peer name east; ip link set west up");
        shell("tc qdisc replace dev west root handle 5: mq");
        shell("tc qdisc replace dev west parent 5:2 handle 6: tbf rate 1gbit burst 64kb limit 1mb");
        let shown = || shell("tc qdisc show dev west");
        let before = shown();
        let shaper = r#"[{"change":{"qdisc":{"device":"west","hook":"root",
            "discipline":{"tbf":{"rate_bps":5000000000,"burst_bytes":262144,"limit_bytes":3000000}}}}}]"#;
        there_and_back(shaper, || assert!(!shown().contains("mq"), "{}", shown()));
        assert_eq!(shown(), before);
    });
}

/// Theirs writes 14 sysctls and saves 10 of them.
#[test]
fn every_sysctl_that_a_rule_sets_is_in_a_snapshot_and_may_be_written() {
    let keys: BTreeSet<String> = sysctls_of_rules().into_iter().map(|(_, key)| key).collect();
    assert!(keys.len() > 20, "{keys:?}");
    for key in keys.iter().map(|key| key.replace("{link.name}", "eth0")) {
        assert!(!key.contains('{'), "{key} is another template");
        assert!(tracked::is_tracked(&key) && sysctl::may_be_written(&key), "{key}");
    }
}

/// Theirs writes megabits as `mbps`, which is megabytes to `tc`, so its cap is eight times too high and never acts.
#[test]
fn a_cap_above_the_link_is_flagged_and_none_of_ours_is_in_bytes() {
    let shaped = ("tc -s qdisc", "qdisc tbf 8001: dev eth0 root refcnt 2 rate 72Gbit burst 1Mb lat 50ms\n");
    let cap = finding(&host(&[LINK, shaped]), "QD-UNITS");
    assert_eq!(cap.subject.link.as_deref(), Some("eth0"));
    for (name, text) in audit::rule::built_in_texts() {
        let fixes = text.lines().filter(|line| line.contains("options = "));
        assert!(fixes.clone().all(|line| !line.contains("bps\"") && !line.contains("bps ")), "{name}");
    }
}

/// Theirs sets `rmem_default` to a quarter of the maximum: 512 MiB for each socket at 100 Gbit/s.
#[test]
fn a_huge_default_is_flagged_and_no_rule_of_ours_raises_it() {
    let theirs = host(&[("sysctl -a", "net.core.rmem_default = 536870912\nnet.core.wmem_default = 212992\n")]);
    let finding = finding(&theirs, "BUF-OVERSIZE-DEFAULT");
    assert!(finding.lowers);
    for (rule, key) in sysctls_of_rules() {
        let lowers = rule.get("lowers").and_then(toml::Value::as_bool) == Some(true);
        assert!(lowers || !matches!(key.as_str(), "net.core.rmem_default" | "net.core.wmem_default"), "{rule:?}");
    }
}

/// Theirs runs `sysctl --system`, which sets whatever else stands in any file.
#[test]
fn a_fix_of_one_sysctl_changes_no_other() {
    in_sandbox(module_path!(), "a_fix_of_one_sysctl_changes_no_other", Mounts::Own, || {
        let values = || -> BTreeMap<String, Option<String>> {
            let snapshot = read(&Request::default()).unwrap();
            let own = snapshot.own().unwrap().sysctls.iter();
            let lasting = own.filter(|(key, _)| !tracked::VOLATILE.contains(&key.as_str()));
            lasting.map(|(key, fact)| (key.clone(), fact.value().cloned())).collect()
        };
        let before = values();
        let written = r#"[{"change":{"sysctl":{"key":"net.ipv4.tcp_rmem","value":"4096 131072 536870912"}}}]"#;
        there_and_back(written, || {
            let after = values();
            let different: Vec<&String> = before.keys().filter(|key| before[*key] != after[*key]).collect();
            assert_eq!(different, ["net.ipv4.tcp_rmem"]);
        });
        assert_eq!(values(), before);
    });
}

/// Their text says that the profile of TuneD sets `default_qdisc=fq`; it does not.
#[test]
fn a_profile_sets_what_stands_in_it_and_nothing_else() {
    let files = [
        ("/etc/tuned/active_profile", "network-throughput\n"),
        (
            "/usr/lib/tuned/profiles/network-throughput/tuned.conf",
            "[main]\n[sysctl]\nnet.ipv4.tcp_rmem=\"4096 131072 16777216\"\nnet.ipv4.tcp_wmem=\"4096 16384 16777216\"\n",
        ),
    ];
    let files = files.map(|(path, text)| (path.to_owned(), text.as_bytes().to_vec()));
    let held = FilesInMemory { files: files.into(), links: BTreeMap::new() };
    let running = BTreeMap::from([("net.core.default_qdisc".to_owned(), Some("fq".to_owned()))]);
    let found = provenance::find(&held, &running).provenance.settings;
    assert!(found.contains_key("net.ipv4.tcp_rmem") && !found.contains_key("net.core.default_qdisc"), "{found:?}");
}

/// Six of the eleven entries in the history of theirs mend the JSON that its shell writes, or reading it.
#[test]
fn what_is_kept_reads_back_whatever_is_in_it() {
    let mut kept = host(&[LINK, RINGS]);
    let odd = "a \"quoted\" \\ back\nslash,\t{} and \u{1}";
    let source = kept.machine.name.source.clone();
    kept.machine.kernel_command_line = Fact::known(odd.to_owned(), source);
    let text = serde_json::to_string(&kept).unwrap();
    assert_eq!(serde_json::from_str::<Snapshot>(&text).unwrap(), kept);
    let half = &text[..text.len() / 2];
    assert!(serde_json::from_str::<Snapshot>(half).is_err(), "a file that was cut is none");
}

/// Theirs (`fasterdata_tuning.py`) comments out the tuning that it finds, adds nothing, and says that it is there.
#[test]
fn tuning_that_is_there_stays_and_who_wins_is_told() {
    let root = tempfile::tempdir().unwrap();
    let theirs = "net.core.rmem_max = 67108864\nnet.ipv4.tcp_rmem = 4096 87380 33554432\n";
    fs::create_dir_all(root.path().join("etc")).unwrap();
    fs::write(root.path().join("etc/sysctl.conf"), theirs).unwrap();
    let line = "net.ipv4.tcp_rmem = 4096 131072 536870912".to_owned();
    let lasting = Lasting { lines: [(Product::Sysctl, vec![line.clone()])].into(), lost: Vec::new() };
    let written = persist::write(root.path(), 1, &lasting, &BTreeMap::new()).unwrap();
    assert_eq!(fs::read_to_string(root.path().join("etc/sysctl.conf")).unwrap(), theirs);
    let ours = fs::read_to_string(root.path().join(written.files[0].trim_start_matches('/'))).unwrap();
    assert!(ours.lines().any(|own| own == line), "{ours}");
    assert_eq!(written.overruled[0].by, "/etc/sysctl.conf:2");
}

/// Theirs (LibreQoS) hands `ethtool` the number `"8"` with its quotes, and ignores that it fails.
#[test]
fn a_number_in_quotes_is_no_number() {
    let step = |bytes: &str| format!(r#"[{{"change":{{"mtu":{{"device":"eth0","bytes":{bytes}}}}}}}]"#);
    assert!(serde_json::from_str::<Vec<Step>>(&step("9000")).is_ok());
    assert!(serde_json::from_str::<Vec<Step>>(&step("\"9000\"")).is_err());
}

/// Theirs (bpftune) has tried a negative `tcp_rmem`, and goes on against the limit of 2 GiB.
#[test]
fn a_value_that_the_kernel_does_not_hold_is_never_written() {
    for value in ["4096 131072 2147483648", "-1 131072 6291456", "4096 131072 1e9", "4096 131072"] {
        assert!(sysctl::checked("net.ipv4.tcp_rmem", value).is_err(), "{value}");
    }
    assert!(sysctl::checked("net.ipv4.tcp_rmem", "4096 131072 2147483647").is_ok());
}
