//! A log that was damaged on its way into a ticket: it reads back right, or says why it does not. No wrong number.

use import::{Import, Imported, read};
use proptest::prelude::*;

/// Bytes sent and received, the rate in bit/s, and retransmits.
type Total = (Option<u64>, Option<u64>, u64, Option<u64>);

/// What a person takes from a test.
#[derive(Debug, PartialEq, Clone)]
struct Numbers {
    totals: Vec<Total>,
    /// Bytes and retransmits of each interval.
    intervals: Vec<(u64, Option<u64>)>,
}

fn numbers(test: &Imported) -> Numbers {
    let found = test.measurement.as_ref().unwrap();
    Numbers {
        totals: found
            .totals
            .iter()
            .map(|total| {
                let bytes = |bytes: Option<units::ByteCount>| bytes.map(|bytes| bytes.get());
                (
                    bytes(total.sent),
                    bytes(total.received),
                    total.goodput.bps(),
                    total.retransmits.map(|count| count.get()),
                )
            })
            .collect(),
        intervals: found
            .intervals
            .iter()
            .map(|step| (step.bytes.get(), step.retransmits.map(|count| count.get())))
            .collect(),
    }
}

/// Logs of one test with intervals and a summary.
const LOGS: [&str; 4] =
    ["amlight-209ms-2023.txt", "iperf3-3.12-tcp.txt", "dynes-queues-2013.txt", "la-serena-to-champaign-2020.txt"];

fn log(name: &str) -> String {
    std::fs::read_to_string(super::folder().join(name)).unwrap()
}

fn complaints(import: &Import) -> usize {
    import.anomalies.len() + import.skipped.count + import.tests.iter().map(|test| test.anomalies.len()).sum::<usize>()
}

#[test]
fn quotes_bullets_colours_commas_and_encodings_change_nothing() {
    for name in LOGS {
        let text = log(name);
        let whole = read(text.as_bytes());
        let expected: Vec<Numbers> = whole.tests.iter().map(numbers).collect();
        let quoted: String = text.lines().map(|line| format!("> > {line}\n")).collect();
        let bullets: String = text.lines().map(|line| format!("  \u{2022} {line}\r\n")).collect();
        let coloured: String = text.lines().map(|line| format!("\x1b[32m{line}\x1b[0m\n")).collect();
        let wide: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let stamped: String = text
            .lines()
            .map(|line| {
                if line.starts_with('[') && line.as_bytes()[1] == b' ' {
                    format!("10:00:01 {line}\n")
                } else {
                    format!("{line}\n")
                }
            })
            .collect();
        for bytes in [quoted.into_bytes(), bullets.into_bytes(), coloured.into_bytes(), wide, stamped.into_bytes()] {
            let damaged = read(&bytes);
            assert_eq!(damaged.tests.iter().map(numbers).collect::<Vec<_>>(), expected, "{name}");
        }
        // Rates and amounts only: addresses keep their points.
        let commas: String = text.lines().map(|line| format!("{}\n", with_commas(line))).collect();
        assert_eq!(read(commas.as_bytes()).tests.iter().map(numbers).collect::<Vec<_>>(), expected, "{name}, commas");
    }
}

fn with_commas(line: &str) -> String {
    if line.contains(" sec ") { line.replace('.', ",") } else { line.to_owned() }
}

#[test]
fn a_log_cut_at_a_width_has_no_wrong_number() {
    for name in LOGS {
        let text = log(name);
        let whole: Vec<Numbers> = read(text.as_bytes()).tests.iter().map(numbers).collect();
        for width in 20..110 {
            let cut: String =
                text.lines().map(|line| format!("{}\n", line.chars().take(width).collect::<String>())).collect();
            check_damaged(&read(cut.as_bytes()), &whole, &format!("{name} cut at {width}"));
        }
    }
}

#[test]
fn a_log_wrapped_at_a_width_reads_back_right_or_says_why_not() {
    for name in LOGS {
        let text = log(name);
        let whole: Vec<Numbers> = read(text.as_bytes()).tests.iter().map(numbers).collect();
        let (mut right, mut all) = (0, 0);
        for width in 40..110 {
            let mut wrapped = String::new();
            for line in text.lines() {
                let letters: Vec<char> = line.chars().collect();
                for piece in letters.chunks(width) {
                    wrapped.extend(piece);
                    wrapped.push('\n');
                }
            }
            let import = read(wrapped.as_bytes());
            check_damaged(&import, &whole, &format!("{name} wrapped at {width}"));
            all += 1;
            right += usize::from(import.tests.iter().map(numbers).collect::<Vec<_>>() == whole);
        }
        assert!(right * 10 >= all * 8, "{name}: only {right} of {all} widths read back right");
    }
}

/// Every number is one of the undamaged log, or absent; where one is absent something says so.
fn check_damaged(damaged: &Import, whole: &[Numbers], what: &str) {
    let intervals: Vec<_> = whole.iter().flat_map(|test| &test.intervals).collect();
    let totals: Vec<_> = whole.iter().flat_map(|test| &test.totals).collect();
    let mut found = 0;
    for test in damaged.tests.iter().filter(|test| test.measurement.is_some()) {
        let numbers = numbers(test);
        for (bytes, retransmits) in &numbers.intervals {
            let same =
                |known: &&&(u64, Option<u64>)| known.0 == *bytes && (retransmits.is_none() || known.1 == *retransmits);
            assert!(
                intervals.iter().any(|known| same(&known)),
                "{what}: an interval of {bytes} bytes, {retransmits:?}\n{numbers:#?}"
            );
        }
        found += numbers.intervals.len();
        // A test that lost its summary adds up the intervals that are left: it is marked as interrupted.
        if matches!(test.outcome, model::run::Outcome::Complete) {
            for (sent, received, rate, retransmits) in &numbers.totals {
                let same = totals.iter().any(|known| {
                    (sent.is_none() || known.0 == *sent || known.1 == *sent)
                        && (received.is_none() || known.1 == *received)
                        && (known.2 == *rate || received.is_none())
                        && (retransmits.is_none() || known.3 == *retransmits)
                });
                assert!(same, "{what}: a total of {sent:?} {received:?} {rate} {retransmits:?}, not of {totals:?}");
            }
        }
    }
    // A test without its end is called interrupted, and a file without any test says what it lacks.
    let says_so = complaints(damaged) > 0
        || damaged.tests.iter().all(|test| !matches!(test.outcome, model::run::Outcome::Complete));
    assert!(found == intervals.len() || says_so, "{what}: {found} of {} intervals and no word", intervals.len());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// Lines and ends of lines that are lost at random.
    #[test]
    fn what_is_left_of_a_torn_log_is_right(
        which in 0..LOGS.len(),
        cuts in proptest::collection::vec((any::<prop::sample::Index>(), 0..100_usize), 1..4),
    ) {
        let text = log(LOGS[which]);
        let whole: Vec<Numbers> = read(text.as_bytes()).tests.iter().map(numbers).collect();
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        for (index, keep) in cuts {
            let at = index.index(lines.len());
            lines[at] = lines[at].chars().take(keep).collect();
        }
        check_damaged(&read(lines.join("\n").as_bytes()), &whole, "torn");
    }
}
