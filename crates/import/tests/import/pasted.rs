//! Logs as people paste them: testdata/foreign/pasted has them, and in `expected.txt` what a person reads from each.

use std::fmt::Write;

use import::{Import, read};
use model::measurement::Heading;
use model::run::Outcome;

#[test]
fn each_pasted_log_reads_as_a_person_reads_it() {
    let folder = super::folder().join("pasted");
    let mut names: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    names.retain(|path| !path.ends_with("expected.txt"));
    names.sort();
    let mut table = String::new();
    for path in names {
        writeln!(table, "{}", path.file_name().unwrap().to_string_lossy()).unwrap();
        describe(&mut table, &read(&std::fs::read(&path).unwrap()));
    }
    let path = folder.join("expected.txt");
    if std::env::var_os("UPDATE_PASTED").is_some() {
        std::fs::write(&path, &table).unwrap();
    }
    let expected = std::fs::read_to_string(&path).unwrap();
    assert_eq!(table, expected, "UPDATE_PASTED=1 writes the table anew");
}

fn describe(table: &mut String, import: &Import) {
    for test in &import.tests {
        let outcome = match &test.outcome {
            Outcome::Complete => "complete".to_owned(),
            Outcome::Failed(failure) => format!("{:?}: {}", failure.kind, failure.detail),
        };
        let (protocol, direction) = (test.spec.protocol, test.spec.direction);
        writeln!(table, "  {}, {protocol:?} {direction:?} with {}: {outcome}", test.format, test.peer.target).unwrap();
        for total in test.measurement.iter().flat_map(|found| &found.totals) {
            let way = if total.heading == Heading::Outbound { "sent" } else { "received" };
            write!(table, "    {way} {} in {:.2} s", total.goodput, total.elapsed.as_secs_f64()).unwrap();
            if let Some(count) = total.retransmits {
                write!(table, ", {count} retransmits").unwrap();
            }
            if let Some(counts) = total.datagrams {
                write!(table, ", {} of {} datagrams lost", counts.lost, counts.sent).unwrap();
            }
            table.push('\n');
        }
        for anomaly in &test.anomalies {
            writeln!(table, "    {anomaly}").unwrap();
        }
    }
    for item in &import.evidence {
        writeln!(table, "  {item}").unwrap();
    }
    for anomaly in &import.anomalies {
        writeln!(table, "  {anomaly}").unwrap();
    }
}

/// What a logger puts before each line.
type Decoration = fn(usize, &str) -> String;

#[test]
fn what_loggers_put_before_each_line_changes_nothing() {
    let decorations: [Decoration; 7] = [
        |n, line| format!("[2024-02-12 10:00:{:02}] {line}", n % 60),
        |n, line| format!("Feb 12 10:00:{:02} dtn1 iperf3[2211]: {line}", n % 60),
        |n, line| format!("2024-02-12T10:00:{:02}.123456789Z stdout F {line}", n % 60),
        |_, line| format!("[pod/iperf3-client-x7j2k/iperf3] {line}"),
        |_, line| format!("client_1  | {line}"),
        |n, line| format!("> [10:00:{:02}] {line}", n % 60),
        |n, line| format!("2024-02-12 10:00:{:02},123 {line}", n % 60),
    ];
    for name in ["iperf3-3.12-tcp.txt", "iperf3-3.12-udp.txt", "iperf3-3.12-tcp.json", "evidence/ping.txt"] {
        let text = std::fs::read_to_string(super::folder().join(name)).unwrap();
        let described = |text: &str| {
            let mut table = String::new();
            describe(&mut table, &read(text.as_bytes()));
            table
        };
        let expected = described(&text);
        for decorate in decorations {
            let decorated: String =
                text.lines().enumerate().map(|(n, line)| format!("{}\n", decorate(n, line))).collect();
            assert_eq!(described(&decorated), expected, "{name}: {}", decorated.lines().next().unwrap());
        }
    }
}
