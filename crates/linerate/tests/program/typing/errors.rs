//! What cannot be done is said in one line, with the way out.

use std::fs;
use std::io::Write;
use std::process::{Command, Stdio};

use crate::actors::linerate::{ArchiveFile, linerate, program};

/// Asserts the exit code, that nothing went to standard output, and what the first line says.
#[track_caller]
fn refused(args: &[&str], code: i32, line: &str) -> String {
    let ended = linerate(args);
    assert_eq!(ended.code, Some(code), "{args:?}: {}", ended.stderr);
    assert_eq!(ended.stdout, "", "{args:?}");
    assert_eq!(ended.stderr.lines().next(), Some(line), "{args:?}");
    ended.stderr
}

#[test]
fn a_bare_letter_is_no_unit() {
    refused(
        &["test", "host", "--bytes", "4M"],
        2,
        "error: invalid value '4M' for '--bytes <SIZE>': `M` in `4M` is not a unit of bytes: write `MiB` for 2^20 or `MB` for 10^6 bytes",
    );
    refused(
        &["test", "host", "--rate", "10G"],
        2,
        "error: invalid value '10G' for '--rate <RATE>': `G` in `10G` is not a unit of a rate: write `Gbit/s` for bits or `GB/s` for bytes a second",
    );
    refused(
        &["test", "host", "--time", "10"],
        2,
        "error: invalid value '10' for '--time <TIME>': `10` has no unit; write for example `10s`",
    );
}

#[test]
fn values_that_make_no_sense_are_named() {
    for (args, line) in [
        (
            ["--rate", "0bit/s"],
            "error: invalid value '0bit/s' for '--rate <RATE>': a rate of zero would never send; leave the option out for no cap",
        ),
        (
            ["--dscp", "184"],
            "error: invalid value '184' for '--dscp <DSCP>': a DSCP is 0 to 63, not 184; a TOS byte is four times the DSCP",
        ),
        (
            ["--dscp", "fast"],
            "error: invalid value 'fast' for '--dscp <DSCP>': `fast` is no code point; write 0 to 63, or a name as ef or af41",
        ),
        (["--time", "0s"], "error: invalid value '0s' for '--time <TIME>': must be longer than nothing"),
        (["--omit", "1500ms"], "error: invalid value '1500ms' for '--omit <TIME>': an iperf3 leaves out whole seconds"),
        (["--bytes", "0B"], "error: invalid value '0B' for '--bytes <SIZE>': nothing would be sent"),
        (["-P", "0"], "error: invalid value '0' for '--streams <N>': 0 is not in 1..=128"),
        (["--bind", "localhost"], "error: invalid value 'localhost' for '--bind <ADDRESS>': invalid IP address syntax"),
    ] {
        refused(&[&["test", "host"], &args[..]].concat(), 2, line);
    }
}

#[test]
fn an_address_of_a_file_that_cannot_be_fetched_is_refused_before_anything_is_asked() {
    refused(
        &["probe", "http", "127.0.0.1:9"],
        2,
        "error: invalid value '127.0.0.1:9' for '<URL>': `127.0.0.1:9` is no address of a file: it does not start with http:// (expected http://HOST:PORT/PATH)",
    );
}

#[test]
fn options_that_contradict_each_other_are_named() {
    let cannot = |one: &str, other: &str| format!("error: the argument '{one}' cannot be used with '{other}'");
    for (args, line) in [
        (&["-R", "--bidir"][..], cannot("--reverse", "--bidir")),
        (&["-4", "-6"], cannot("--ipv4", "--ipv6")),
        (&["--time", "1s", "--bytes", "1MB"], cannot("--time <TIME>", "--bytes <SIZE>")),
    ] {
        refused(&[&["test", "host"], args].concat(), 2, &line);
    }
}

#[test]
fn a_monitoring_system_gets_a_code_of_its_own_where_nothing_was_tested() {
    let archive = ArchiveFile::new();
    fs::write(&archive.path, "no archive").unwrap();
    for (args, why) in [
        (&["test", "host", "--nagios", "--json"][..], "the argument '--nagios' cannot be used with '--json'"),
        (&["test", "host", "--nagios", "--critical", "300M"], "invalid value '300M' for '--critical <RATE>'"),
        (
            &["test", "host", "--nagios", "--warning", "1Mbit/s", "--critical", "2Mbit/s"],
            "--critical 2.00 Mbit/s is above --warning 1.00 Mbit/s",
        ),
        (&["test", "host", "--nagios", "--archive", archive.arg()], "the archive of runs cannot be opened"),
        (&["check", "--nosuch"], "unexpected argument '--nosuch' found"),
    ] {
        let ended = linerate(args);
        assert_eq!(ended.code, Some(3), "{args:?}: {}", ended.stderr);
        assert!(ended.stdout.starts_with(&format!("LINERATE UNKNOWN - {why}")), "{args:?}: {}", ended.stdout);
        assert_eq!(ended.stdout.lines().count(), 1, "{}", ended.stdout);
        assert!(ended.stderr.starts_with("error: "), "{}", ended.stderr);
    }
}

#[test]
fn an_option_that_does_not_exist_is_named_with_the_nearest_that_does() {
    let said = refused(&["test", "host", "--revers"], 2, "error: unexpected argument '--revers' found");
    assert!(said.contains("a similar argument exists: '--reverse'"), "{said}");
}

#[test]
fn an_archive_that_is_none_is_said_before_the_test_and_left_as_it_was() {
    let archive = ArchiveFile::new();
    let content = "rate,rtt\n9410,50\n".repeat(100);
    fs::write(&archive.path, &content).unwrap();
    for command in [&["test", "127.0.0.1"][..], &["runs", "list"], &["serve", "--port", "0"]] {
        let ended = linerate(&[command, &["--archive", archive.arg()]].concat());
        assert_eq!(ended.code, Some(8), "{command:?}: {}", ended.stderr);
        let told = format!(
            "error: the archive of runs cannot be opened: cannot open the archive {}: it is no SQLite database",
            archive.arg()
        );
        assert!(ended.stderr.starts_with(&told), "{}", ended.stderr);
        assert_eq!(
            ended.stderr.lines().nth(1),
            Some("hint: name another file with --archive, or keep nothing with --no-archive")
        );
        assert_eq!(fs::read_to_string(&archive.path).unwrap(), content);
    }
}

#[test]
fn an_archive_of_a_newer_version_is_left_alone() {
    let archive = ArchiveFile::new();
    archive.make();
    // SQLite keeps the user's version number in bytes 60 to 63 of the file (sqlite.org/fileformat2.html, 1.3).
    let mut bytes = fs::read(&archive.path).unwrap();
    let version = u32::from_be_bytes(bytes[60..64].try_into().unwrap());
    bytes[60..64].copy_from_slice(&(version + 1).to_be_bytes());
    fs::write(&archive.path, &bytes).unwrap();
    let ended = linerate(&["test", "127.0.0.1", "--archive", archive.arg()]);
    assert_eq!(ended.code, Some(8), "{}", ended.stderr);
    let first = ended.stderr.lines().next().unwrap();
    assert!(first.contains(&format!("version {}", version + 1)), "{first}");
    assert!(fs::read(&archive.path).unwrap() == bytes, "the archive was changed");
}

/// On a terminal, which `script` makes.
#[test]
fn what_would_be_lost_is_asked_for_where_somebody_can_answer() {
    let archive = ArchiveFile::new();
    archive.make();
    let command = format!("{} runs rm last --archive {}", env!("CARGO_BIN_EXE_linerate"), archive.arg());
    let answered = |answer: &str| {
        let mut script = Command::new("script")
            .args(["-qec", &command, "/dev/null"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        script.stdin.take().unwrap().write_all(answer.as_bytes()).unwrap();
        String::from_utf8(script.wait_with_output().unwrap().stdout).unwrap()
    };
    let kept = answered("n\n");
    assert!(kept.contains("and its samples? [y/N]") && kept.contains("nothing was removed"), "{kept}");
    let removed = answered("y\n");
    assert!(removed.contains("removed 1 run"), "{removed}");
}

#[test]
fn a_demonstration_that_does_not_exist_is_said_with_the_list_of_those_that_do() {
    let said = refused(
        &["demo", "nosuch", "--virtual"],
        9,
        "error: there is no such demonstration: there is no scenario `nosuch`, neither as a file nor in the library",
    );
    assert!(said.contains("`linerate demo --list` shows the incidents"), "{said}");
}

#[test]
fn a_run_that_is_not_there_is_said_with_where_to_look() {
    let archive = ArchiveFile::new();
    archive.make();
    let first = linerate(&["runs", "list", "--json", "--archive", archive.arg()]).stdout;
    let id = serde_json::from_str::<serde_json::Value>(&first).unwrap()["id"].as_str().unwrap().to_owned();
    assert_eq!(linerate(&["runs", "rm", &id, "--archive", archive.arg()]).code, Some(0));
    let said = linerate(&["runs", "show", "--archive", archive.arg()]);
    assert_eq!(said.code, Some(9), "{}", said.stderr);
    assert!(said.stderr.starts_with("error: no run: "), "{}", said.stderr);
    assert!(said.stderr.ends_with("hint: `linerate test HOST` makes one\n"), "{}", said.stderr);
    let said = linerate(&["runs", "show", "01ARZ3", "--archive", archive.arg()]);
    assert_eq!(said.code, Some(9), "{}", said.stderr);
    assert!(said.stderr.starts_with("error: no such run: "), "{}", said.stderr);
}

#[test]
fn a_variable_that_is_set_and_empty_names_no_archive() {
    let state = tempfile::tempdir().unwrap();
    let mut command = program();
    command.env("LINERATE_ARCHIVE", "").env("XDG_STATE_HOME", state.path()).args(["runs", "list"]);
    let ended = command.output().unwrap();
    let said = String::from_utf8(ended.stderr).unwrap();
    assert!(!said.contains("--archive <FILE>") && ended.status.code() == Some(0), "{said}");
    refused(&["runs", "list", "--archive", ""], 2, "error: invalid value '' for '--archive <FILE>': a file has a name");
}

#[test]
fn a_server_may_give_up_without_serving_once() {
    let ended = linerate(&["serve", "--port", "0", "--no-archive", "--within", "10ms"]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
}

#[test]
fn reading_never_makes_an_archive_where_there_is_none() {
    let archive = ArchiveFile::new();
    for command in [&["runs", "list"][..], &["runs", "show"], &["runs", "compare", "a", "b"], &["runs", "rm", "a"]] {
        let said = refused(
            &[command, &["--archive", archive.arg()]].concat(),
            9,
            &format!("error: no archive of runs: there is no file {}", archive.arg()),
        );
        assert!(said.lines().nth(1).unwrap().starts_with("hint: name the right file with --archive"), "{said}");
        assert!(!archive.path.exists());
    }
}

/// A file was meant more likely than a run, whether there is an archive or not.
#[test]
fn a_file_that_is_not_there_is_said_to_be_missing_and_no_archive_is_made() {
    let archive = ArchiveFile::new();
    let missing = archive.path.with_file_name("owamp.json");
    let missing = missing.to_str().unwrap();
    let mut there = tempfile::NamedTempFile::new().unwrap();
    there.write_all(b"buy milk\n").unwrap();
    let there = there.path().to_str().unwrap();
    for is_made in [false, true] {
        if is_made {
            archive.make();
        }
        for (args, what) in [
            (&["why", missing][..], "file and no run"),
            (&["why", missing, "last"], "file and no run"),
            (&["why", there, missing], "file and no run"),
            (&["view", missing], "file, folder, round or run"),
            (&["simulate", "flow", "--from-run", missing], "file, run or round"),
        ] {
            let said = linerate(&[args, &["--archive", archive.arg()]].concat());
            assert_eq!((said.code, said.stdout.as_str()), (Some(9), ""), "{args:?}: {}", said.stderr);
            let expected = format!("error: there is no {what} `{missing}`: ");
            assert!(said.stderr.starts_with(&expected), "{args:?}: {}", said.stderr);
            assert!(said.stderr.contains("\nhint: is the "), "{args:?}: {}", said.stderr);
        }
        assert_eq!(archive.path.exists(), is_made);
    }
    let checked = linerate(&["check", missing]);
    assert_eq!(checked.code, Some(3), "{checked:?}");
    assert!(checked.stdout.contains("is no archive and no hub: No such file"), "{checked:?}");
    assert!(!std::path::Path::new(missing).exists(), "what only reads has made it");
}

#[test]
fn a_name_that_does_not_resolve_is_told_as_a_name() {
    // RFC 6761: `.invalid` never resolves.
    for (target, hint) in [
        ("dtn1.invalid", "hint: is `dtn1.invalid` spelled right?"),
        ("dtn1.invalid:5202", "hint: the port is not part of the name: `linerate test dtn1.invalid --port 5202`"),
    ] {
        let ended = linerate(&["test", target, "--no-archive"]);
        assert_eq!(ended.code, Some(3), "{}", ended.stderr);
        let hints: Vec<&str> = ended.stderr.lines().filter(|line| line.starts_with("hint:")).collect();
        assert!(hints.len() == 1 && hints[0].starts_with(hint), "{hints:?}");
    }
}

#[test]
fn options_that_would_do_nothing_are_refused() {
    for (args, line) in [
        (
            &["test", "host", "--udp", "--cca", "cubic"][..],
            "error: --cca would do nothing: datagrams have no congestion control",
        ),
        (&["test", "host", "--cpu", "9999"], "error: this host has no CPU 9999"),
        (&["test", "host", "--no-gro"], "error: --no-gro would do nothing: it is about datagrams; --udp sends them"),
    ] {
        refused(args, 2, line);
    }
}

#[test]
fn habits_of_iperf3_are_understood() {
    // Nobody listens there: that it is tried is what matters.
    let ended = linerate(&["test", "-c", "127.0.0.1", "--port", "1", "--mss", "1400", "--no-archive"]);
    assert_eq!(ended.code, Some(3), "{}", ended.stderr);
    assert!(linerate(&["help", "test"]).stdout.contains("Usage: linerate test"));
}
