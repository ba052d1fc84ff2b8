//! Results for programs, for monitoring systems, and out of the archive.

use diagnose::explained::Explained;
use model::archived::{ArchiveCheck, ListedRun, RunComparison, RunExport};
use model::run::Run;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::actors::linerate::{ArchiveFile, Server, linerate, measured};
use crate::actors::process::Ended;

/// Runs a test with a server of its own, with any kind of output.
fn told(args: &[&str]) -> Ended {
    let server = Server::start(&[]);
    let port = server.port.to_string();
    linerate(&[&["test", "127.0.0.1", "--port", &port], args].concat())
}

#[test]
fn a_run_in_json_is_one_line_and_holds_nothing_that_its_type_does_not_know() {
    for args in [&["--time", "200ms"][..], &["--time", "200ms", "-u", "--bidir"]] {
        let ended = told(&[args, &["--json", "--no-archive"]].concat());
        assert_eq!(ended.stdout.lines().count(), 1);
        let value: Value = serde_json::from_str(&ended.stdout).unwrap();
        let explained: Explained = serde_json::from_str(&ended.stdout).unwrap();
        // What survives the type is described by it.
        assert_eq!(serde_json::to_value(&explained).unwrap(), value);
        assert_eq!(explained.waterfalls.is_empty(), args.contains(&"-u"));
        assert_eq!(explained.datagram_balances.is_empty(), !args.contains(&"-u"));
        assert_eq!(value["format"], 1);
        assert!(value["measurement"]["totals"][0]["goodput_bps"].as_u64().unwrap() > 0);
    }
}

#[test]
fn a_kept_run_is_listed_shown_exported_and_removed() {
    let archive = ArchiveFile::new();
    let printed = told(&["--time", "200ms", "--rate", "10Mbit/s", "--json", "--archive", archive.arg()]);
    let run: Run = serde_json::from_str(&printed.stdout).unwrap();
    let id = run.id.to_string();
    let runs = |args: &[&str]| {
        let ended = linerate(&[&["runs"], args, &["--archive", archive.arg()]].concat());
        assert_eq!(ended.code, Some(0), "{args:?}: {}", ended.stderr);
        ended.stdout
    };
    assert!(runs(&["list"]).lines().nth(1).unwrap().starts_with(&id));
    let listed: Value = serde_json::from_str(&runs(&["list", "--json"])).unwrap();
    assert_eq!((&listed["id"], &listed["peer"]), (&id.as_str().into(), &"127.0.0.1".into()));
    for name in ["last", &id, &id[..10]] {
        assert_eq!(serde_json::from_str::<Run>(&runs(&["show", name, "--json"])).unwrap(), run, "{name}");
    }
    let shown = runs(&["show", "--intervals"]);
    assert!(shown.contains(&format!("goodput      {}", measured(&run).totals[0].goodput)), "{shown}");
    let export: Value = serde_json::from_str(&runs(&["export"])).unwrap();
    assert_eq!(export["run"], serde_json::to_value(&run).unwrap());
    assert_eq!(export["samples"]["streams"].as_array().unwrap().len(), 2, "both ends");
    assert_eq!(runs(&["export", "--format", "csv"]).lines().count(), 1 + measured(&run).intervals.len());
    assert!(runs(&["export", "--format", "samples-csv"]).lines().count() > 10);
    assert_eq!(runs(&["list", "--failed"]), format!("no runs in {}\n", archive.arg()));
    runs(&["rm", &id]);
    assert_eq!(runs(&["list"]), format!("no runs in {}\n", archive.arg()));
}

#[test]
fn a_monitoring_system_gets_one_line_and_its_own_codes() {
    // 20 Mbit/s were asked for, so it is below 1 Gbit/s and above 1 Mbit/s on any machine.
    for (thresholds, code, word) in [
        (&["--warning", "1Mbit/s", "--critical", "500kbit/s"][..], 0, "OK"),
        (&["--warning", "1Gbit/s", "--critical", "1Mbit/s"], 1, "WARNING"),
        (&["--warning", "2Gbit/s", "--critical", "1Gbit/s"], 2, "CRITICAL"),
    ] {
        let args = ["--time", "200ms", "--rate", "20Mbit/s", "--no-archive", "--nagios"];
        let ended = told(&[&args, thresholds].concat());
        assert_eq!((ended.code, ended.stderr.as_str()), (Some(code), ""), "{thresholds:?}");
        assert_eq!(ended.stdout.lines().count(), 1, "{}", ended.stdout);
        let (words, data) = ended.stdout.trim_end().split_once(" | ").unwrap();
        assert!(words.starts_with(&format!("LINERATE {word} - ")), "{words}");
        assert!(words.contains("bit/s to 127.0.0.1, "), "{words}");
        assert!(words.ends_with(": the rate that the test asked for"), "{words}");
        let goodput = data.strip_prefix("goodput=").unwrap().split(';').next().unwrap();
        assert!(goodput.parse::<u64>().unwrap() > 1_000_000, "{data}");
        // A kernel on a busy machine may send a tail once more, even over loopback.
        let (count, rest) = data.split_once(" retransmits=").unwrap().1.split_once('c').unwrap();
        assert!(count.parse::<u64>().is_ok() && rest.starts_with(";;;0 rtt="), "{data}");
    }
}

#[test]
fn a_monitoring_system_is_told_that_a_test_was_not_possible() {
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port().to_string();
    let ended = linerate(&["test", "127.0.0.1", "--port", &closed, "--no-archive", "--nagios"]);
    assert_eq!(ended.code, Some(3));
    let told = format!("LINERATE UNKNOWN - 127.0.0.1:{closed} refuses the connection: nothing listens on this port\n");
    assert_eq!(ended.stdout, told);
}

#[test]
fn quiet_means_the_result_and_nothing_else() {
    let ended = told(&["--time", "200ms", "--interval", "100ms", "--no-archive", "--quiet"]);
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
    assert!(ended.stdout.contains("\ngoodput "), "{}", ended.stdout);
    assert!(!ended.stdout.contains("\nrun "), "what is not kept has no name to find it by: {}", ended.stdout);
}

#[test]
fn comparing_says_what_differs_and_where_only_the_result_does() {
    let archive = ArchiveFile::new();
    for rate in ["10Mbit/s", "10Mbit/s", "20Mbit/s"] {
        assert_eq!(told(&["--time", "200ms", "--rate", rate, "--archive", archive.arg()]).code, Some(0));
    }
    let runs = |args: &[&str]| linerate(&[&["runs"], args, &["--archive", archive.arg()]].concat()).stdout;
    let listed = runs(&["list"]);
    let ids: Vec<&str> = listed.lines().skip(1).filter_map(|line| line.split(' ').next()).collect();
    let same = "the tests and the hosts are the same, as far as they are known\n";
    let alike = runs(&["compare", ids[2], ids[1]]);
    assert!(alike.contains(same) && !alike.contains("test: "), "{alike}");
    let unlike = runs(&["compare", ids[1], ids[0]]);
    assert!(unlike.contains("\ntest: rate_bps") && !unlike.contains(same), "{unlike}");
}

#[test]
fn a_program_that_compares_with_stored_runs_is_told_the_comparison() {
    let archive = ArchiveFile::new();
    let run = |more: &[&str]| told(&[&["--time", "200ms", "--archive", archive.arg(), "--json"], more].concat()).stdout;
    let first: Value = serde_json::from_str(&run(&[])).unwrap();
    let id = first["id"].as_str().unwrap().to_owned();
    let said = run(&["--against", &id]);
    let lines: Vec<Value> = said.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let [second, compared] = &lines[..] else { panic!("{said}") };
    let compared: RunComparison = serde_json::from_value(compared.clone()).unwrap();
    assert_eq!(
        (compared.a.runs[0].to_string(), compared.b.runs[0].to_string()),
        (id, second["id"].as_str().unwrap().to_owned())
    );
}

#[test]
fn what_programs_are_told_of_stored_runs_is_what_the_schemas_say() {
    // docs/formats has a schema written from each of these types, so what survives its type is described there.
    fn described<T: DeserializeOwned + Serialize>(line: &str) -> Value {
        let value: Value = serde_json::from_str(line).unwrap();
        let read: T = serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
        assert_eq!(serde_json::to_value(&read).unwrap(), value);
        value
    }
    let archive = ArchiveFile::new();
    archive.make();
    for rate in ["10Mbit/s", "20Mbit/s"] {
        assert_eq!(told(&["--time", "200ms", "--rate", rate, "--archive", archive.arg()]).code, Some(0));
    }
    let runs = |args: &[&str]| linerate(&[&["runs"], args, &["--archive", archive.arg()]].concat()).stdout;
    let listed: Vec<Value> = runs(&["list", "--json"]).lines().map(described::<ListedRun>).collect();
    assert_eq!(
        listed.iter().map(|run| run["outcome"]["state"].as_str().unwrap()).collect::<Vec<_>>(),
        ["complete", "complete", "failed"]
    );
    let ids: Vec<&str> = listed.iter().map(|run| run["id"].as_str().unwrap()).collect();
    let compared = described::<RunComparison>(&runs(&["compare", ids[1], ids[0], "--json"]));
    assert_eq!([&compared["a"]["runs"][0], &compared["b"]["runs"][0]], [ids[1], ids[0]]);
    let rate = compared["differences"].as_array().unwrap().iter().find(|difference| difference["fact"] == "rate_bps");
    assert_eq!(rate.unwrap()["subject"], "test");
    assert_eq!(described::<RunExport>(&runs(&["export", ids[0]]))["run"]["id"], ids[0]);
    let checked = described::<ArchiveCheck>(&runs(&["check", "--json"]));
    // Each run, and the samples of those that have some.
    assert!(checked["sound"].as_u64() >= Some(5), "{checked}");
    assert_eq!(checked["damaged"], Value::Array(Vec::new()));
}
