//! `linerate simulate tune`.

use std::fs;
use std::path::Path;

use audit::fix::report::Outcome;
use serde_json::Value;
use tune::{Answer, Verdict};

use crate::actors::linerate::program;
use crate::actors::process::{Ended, Process};
use crate::actors::world::World;

/// 6 MB over 100 Mbit/s and 40 ms, which take 0.67 s where the buffers are large enough, and here they are not: of 512 KiB
/// a program that polls uses 0.8.
const SMALL: &str = r#"
name = "small"
about = "6 MB within 800 ms"
seed = 7
[set]
rate = "100Mbit/s"
rtt = "40ms"
queue = "4MB"
bytes = "6MB"
deadline = "800ms"
initial-window = 20
receiver-initial-window = 20
rmem-default = "256KiB"
wmem = "128KiB"
rmem = "512KiB"
patience = "20s"
burst-rate = "20Mbit/s"
burst-length = { from = "10ms", to = "60ms" }
burst-start = { from = "0s", to = "500ms" }
[vary]
wmem = ["128KiB", "512KiB", "2MiB"]
rmem = ["512KiB", "1MiB", "4MiB"]
initial-window = [20, 25]
receiver-initial-window = [20, 25]
"#;

fn tune(folder: &Path, args: &[&str]) -> Ended {
    Process::start(program().current_dir(folder).args(["simulate", "tune"]).args(args)).finish()
}

fn done(folder: &Path, args: &[&str]) -> String {
    let ended = tune(folder, args);
    assert_eq!(ended.code, Some(0), "{args:?}: {}", ended.stderr);
    ended.stdout
}

fn small() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("small.toml"), SMALL).unwrap();
    folder
}

#[test]
fn it_says_what_to_set_how_sure_that_is_and_what_each_setting_does() {
    let folder = small();
    let told = done(folder.path(), &["small.toml", "--budget", "400", "--plot", "missed.svg"]);
    for part in [
        "small: ",
        "As it is, ",
        "With the best settings, 0 of ",
        "SETTING  NOW     BEST",
        "wmem     131 kB  2.10 MB",
        "  with rmem as it is",
        "95 % SURE",
        "MISSED BY BURST LENGTH",
        "own queue",
        "At the sender:\n  sysctl -w net.ipv4.tcp_wmem=\"4096 16384 2097152\"",
        "At the receiver:\n  sysctl -w net.ipv4.tcp_rmem=\"4096 262144 1048576\"",
        "--fixes FOLDER",
    ] {
        assert!(told.contains(part), "no `{part}` in {told}");
    }
    let picture = fs::read_to_string(folder.path().join("missed.svg")).unwrap();
    assert!(roxmltree::Document::parse(&picture).is_ok() && picture.contains("burst-"), "{picture}");
}

#[test]
fn the_answer_is_the_same_on_any_number_of_processors_and_one_document_for_programs() {
    let folder = small();
    let of = |jobs: &str| done(folder.path(), &["small.toml", "--budget", "300", "--json", "--quiet", "--jobs", jobs]);
    let told = of("1");
    assert_eq!(told, of("5"));
    let value: Value = serde_json::from_str(&told).unwrap();
    let answer: Answer = serde_json::from_str(&told).unwrap();
    assert_eq!(serde_json::to_value(&answer).unwrap(), value);
    assert_eq!((answer.verdict, answer.whole, answer.fresh), (Verdict::Helps, true, true));
}

#[test]
fn without_a_file_the_path_is_typed_and_nothing_is_simulated_to_say_what_would_be() {
    let folder = tempfile::tempdir().unwrap();
    let path = ["--rtt", "40ms", "--rate", "1Gbit/s", "--bytes", "25MB", "--deadline", "1s"];
    let bursts = ["--burst-rate", "1Gbit/s", "--burst-length", "25ms..200ms", "--burst-start", "0s,100ms"];
    let told = done(folder.path(), &[&path[..], &bursts, &["--dry-run"]].concat());
    for part in [
        "3000 transfers, about ",
        "  congestion: cubic (now), htcp, bbr\n",
        "  wmem: 1.05 MB",
        "  pace: none (now), 300 Mbit/s",
        "  burst-length: evenly from 25.0 ms to 200 ms\n",
        "  burst-start: one of 0 ns, 100 ms\n",
    ] {
        assert!(told.contains(part), "no `{part}` in {told}");
    }
    let kept =
        done(folder.path(), &[&path[..], &["--dry-run", "--vary", "wmem=4MiB..16MiB", "--budget", "5s"]].concat());
    assert!(kept.contains("  wmem: 4.19 MB (now), 8.39 MB, 16.8 MB\n") && !kept.contains("pace"), "{kept}");
    let shipped = done(folder.path(), &["amlight", "--rtt", "301ms", "--dry-run", "--budget", "200"]);
    assert!(shipped.contains("burst-length: one of 25.0 ms") && shipped.contains("htcp (now)"), "{shipped}");
}

#[test]
fn what_cannot_be_asked_is_refused_with_its_place_and_a_way_out() {
    let folder = small();
    let path = ["--rtt", "40ms", "--rate", "1Gbit/s"];
    let quiet: Vec<&str> = SMALL.lines().filter(|line| !line.starts_with("burst-")).collect();
    fs::write(folder.path().join("quiet.toml"), quiet.join("\n")).unwrap();
    for (args, code, parts) in [
        (&["--rtt", "40"][..], 2, &["--rtt 40: ", "no unit", "a,b,c"][..]),
        (&["--burst-length", "2s..1s"], 2, &["--burst-length 2s..1s", "is not less"]),
        (&path, 2, &["`deadline` is given nowhere", "--deadline says it"]),
        (&["quiet.toml", "--plot", "x.svg"], 2, &["nothing is drawn", "--burst-length 25ms..2s"]),
        (&["none.toml"], 9, &["none.toml cannot be read", "amlight"]),
        (&["small.toml", "--vary", "rtt"], 2, &["`rtt` in --vary: it is no setting; there are `congestion`"]),
        (&["small.toml", "--vary", "wmem=64"], 2, &["`wmem` in --vary", "unit"]),
        (&["small.toml", "--vary", "streams=0"], 2, &["`streams` = 0", "there are 1 to 128"]),
        (&["small.toml", "--budget", "20"], 2, &["200 transfers are the least"]),
        (&["small.toml", "--budget", "soon"], 2, &["neither a number of transfers nor a time"]),
        (
            &["small.toml", "--keep", "wmem,rmem,initial-window,receiver-initial-window"],
            2,
            &["no setting that may be changed"],
        ),
    ] {
        let ended = tune(folder.path(), args);
        assert_eq!((ended.code, ended.stdout.as_str()), (Some(code), ""), "{args:?}: {}", ended.stderr);
        for part in parts {
            assert!(ended.stderr.contains(part), "{args:?} does not say `{part}`: {}", ended.stderr);
        }
    }
}

#[test]
fn ctrl_c_ends_it_with_the_best_so_far() {
    let folder = small();
    let mut process = Process::start(
        // So much work that no machine is done with it before the signal.
        program().current_dir(folder.path()).args(["simulate", "tune", "small.toml", "--budget", "1000000", "--json"]),
    );
    let talk = process.stderr();
    talk.wait_for("the first transfer", |line| line.ends_with("of 1000000 transfers"));
    process.signal("INT");
    talk.wait_for("the end", |line| line.starts_with("stopped "));
    assert_eq!(process.wait().code(), Some(130));
}

#[test]
fn what_it_writes_is_what_host_fix_applies() {
    let mut world = World::new();
    // With a first window of four segments it takes 0.76 s even so.
    let windows = SMALL.replace("window = 20", "window = 4").replace("[20, 25]", "[4, 44]").replace("800ms", "700ms");
    fs::write(world.folder.path().join("small.toml"), windows).unwrap();
    world.run(
        "ip link add path0 type veth peer name path1 && ip link set path1 up && ip address add 192.0.2.1/24 dev path0 && ip link set path0 up && \
         ip route add default via 192.0.2.2 && \
         sysctl -qw net.ipv4.tcp_wmem='4096 20000 131072' net.ipv4.tcp_rmem='4096 131072 524288'",
    );
    let told = world.run("$L simulate tune $F/small.toml --budget 400 --fixes $F/plans --quiet");
    assert!(told.contains("linerate host fix ") && told.contains("plans/receiver.toml"), "{told}");
    let planned = world.fix("$F/plans/sender.toml --dry-run");
    assert_eq!(planned.outcome, Outcome::Planned);
    // What the host has more of stays.
    assert!(planned.commands[0].apply[0].contains("tcp_wmem=\"4096 20000 2097152\""), "{planned:?}");
    let kept = world.fix("$F/plans/sender.toml --yes");
    assert_eq!(kept.outcome, Outcome::Kept, "{kept:?}");
    assert_eq!(world.fix("$F/plans/receiver.toml --yes").outcome, Outcome::Kept);
    assert_eq!(world.run("sysctl -n net.ipv4.tcp_rmem").split_whitespace().last(), Some("1048576"));
    assert!(world.run("ip route show default").contains("initcwnd 44"), "{kept:?}");
}
