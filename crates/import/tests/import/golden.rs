//! Everything that is read of every file, in a few lines each.

use std::fmt::Write;

use import::Imported;
use model::measurement::{DirectionTotal, Heading, Measurement};
use model::run::Outcome;

#[test]
fn every_file_is_read_as_it_was_before() {
    let mut table = String::new();
    for file in super::files() {
        let import = import::read(&std::fs::read(&file).unwrap());
        writeln!(table, "{}", file.file_name().unwrap().to_string_lossy()).unwrap();
        import.anomalies.iter().for_each(|anomaly| writeln!(table, "  outside any test, {anomaly}").unwrap());
        import.tests.iter().for_each(|test| describe(&mut table, test));
        import.observations.iter().for_each(|observation| writeln!(table, "  together: {observation}").unwrap());
    }
    insta::assert_snapshot!(table);
}

#[test]
fn no_recorded_output_has_an_unknown_line() {
    for file in super::files() {
        let import = import::read(&std::fs::read(&file).unwrap());
        assert!(!import.tests.is_empty(), "{}", file.display());
        let unknown = import.tests.iter().flat_map(|test| &test.anomalies).chain(&import.anomalies);
        let unknown: Vec<String> =
            unknown.filter(|anomaly| anomaly.expected.contains("line")).map(ToString::to_string).collect();
        assert!(unknown.is_empty(), "{}: {unknown:#?}", file.display());
    }
}

fn describe(table: &mut String, test: &Imported) {
    let spec = &test.spec;
    let mut line = |text: String| writeln!(table, "  {text}").unwrap();
    line(format!(
        "{} of {} at line {}, {:?}, {:?} {:?} {:?}, {} streams, interval {:?}",
        test.format,
        test.local.software.as_deref().unwrap_or("?"),
        test.line,
        test.role,
        spec.protocol,
        spec.direction,
        spec.limit,
        spec.streams,
        spec.interval,
    ));
    line(format!("  peer {}, started {:?}", test.peer.target, test.started.map(|time| time.unix_seconds())));
    if let Outcome::Failed(failure) = &test.outcome {
        line(format!("  {:?}: {}", failure.kind, failure.detail));
    }
    if let Some(found) = &test.measurement {
        found.totals.iter().for_each(|total| line(format!("  {}", sums(total, found))));
        found.anomalies.iter().for_each(|note| line(format!("  note: {note}")));
    }
    for stream in &test.samples.streams {
        let columns: Vec<&str> = stream.columns.iter().map(|column| column.field.name()).collect();
        line(format!(
            "  stream {} {:?} {:?}: {} x {}",
            stream.stream,
            stream.heading,
            stream.end,
            stream.at_us.len(),
            columns.join(" ")
        ));
    }
    test.observations.iter().for_each(|observation| line(format!("  says: {observation}")));
}

fn sums(total: &DirectionTotal, found: &Measurement) -> String {
    let way = if total.heading == Heading::Outbound { "out" } else { "in" };
    let number = |value: Option<u64>| value.map_or("?".to_owned(), |value| value.to_string());
    let mut text = format!(
        "{way}: sent {} received {} in {:?}, {} bit/s, again {}",
        number(total.sent.map(|bytes| bytes.get())),
        number(total.received.map(|bytes| bytes.get())),
        total.elapsed,
        total.goodput.bps(),
        number(total.retransmits.map(|count| count.get())),
    );
    if let Some(counts) = total.datagrams {
        write!(
            text,
            ", lost {} of {} ({} at the tail), jitter {:?}",
            counts.lost, counts.sent, counts.lost_at_tail, counts.jitter
        )
        .unwrap();
    }
    let intervals = found.intervals.iter().filter(|interval| interval.heading == total.heading).count();
    let flows = found.flows.iter().filter(|flow| flow.heading == total.heading).count();
    write!(text, "; {flows} flows, {intervals} intervals").unwrap();
    text
}
