//! How small recorded samples become. `data/tcp-info/README.md` says how they were recorded.
//!
//! `LINERATE_TEST_COLUMNS=1 cargo test -p model --test packed size -- --nocapture` prints what each column costs.
#![allow(clippy::cast_precision_loss, clippy::cast_possible_wrap)] // Numbers of tests.

use std::fs;
use std::path::Path;

use model::measurement::{End, Heading, Whose};
use model::series::field::Field;
use model::series::packed::{pack, pack_for_transfer, three_digits, unpack};
use model::series::{Column, ProbeSamples, RunSamples, StreamSamples};

/// Each recording with the most bytes that a row of it may take: 8 is the aim.
const RECORDINGS: &[(&str, f64)] = &[
    // Forty megabytes between two rows, and the rows seldom come on time: the counters share little but the trend.
    ("loopback-cubic-10ms-sender", 14.5),
    ("loopback-cubic-10ms-receiver", 8.0),
    ("loopback-cubic-1ms-sender", 9.5),
    ("loopback-cubic-1ms-receiver", 8.0),
    ("relay-200mbit-50ms-bbr-10ms-sender", 8.0),
    ("relay-200mbit-50ms-cubic-10ms-sender", 8.0),
    ("relay-200mbit-50ms-cubic-10ms-receiver", 8.0),
    ("tbf-100mbit-cubic-10ms-sender", 8.0),
    ("tbf-100mbit-cubic-10ms-receiver", 8.0),
    ("tbf-100mbit-cubic-1ms-sender", 8.0),
    ("tbf-1gbit-bbr-10ms-sender", 8.0),
    ("tbf-1gbit-bbr-1ms-sender", 8.0),
    ("tbf-1gbit-cubic-10ms-sender", 8.0),
    ("tbf-1gbit-cubic-1ms-sender", 8.0),
    ("tbf-1gbit-cubic-1ms-receiver", 8.0),
];

/// What is sent is read at once and then gone: by so much it may be larger than what is stored.
const MOST_FOR_TRANSFER: f64 = 1.5;

/// Asks for the cost of each column.
const SHOW_COLUMNS: &str = "LINERATE_TEST_COLUMNS";

#[test]
fn recorded_samples_take_few_bytes_a_row() {
    for (name, most) in RECORDINGS {
        let samples = recording(name);
        let rows = samples.streams[0].at_us.len();
        let packed = pack(&samples);
        assert_eq!(unpack(&packed).unwrap(), samples, "{name}");
        let each = packed.len() as f64 / rows as f64;
        println!("{name}: {rows} rows of {each:.2} bytes");
        if each > *most || std::env::var_os(SHOW_COLUMNS).is_some() {
            println!("without a column it would be less by");
            for (saved, field) in savings(&samples, packed.len()).iter().take(12) {
                println!("    {:.2} {}", *saved as f64 / rows as f64, field.name());
            }
        }
        assert!(each <= *most, "{name}: {each:.2} bytes a row, at most {most} are wanted");
    }
}

#[test]
fn what_is_packed_for_a_transfer_comes_back_and_takes_little_more() {
    for (name, _) in RECORDINGS {
        let samples = recording(name);
        let (stored, sent) = (pack(&samples), pack_for_transfer(&samples));
        assert_eq!(unpack(&sent).unwrap(), samples, "{name}");
        let more = sent.len() as f64 / stored.len() as f64;
        println!("{name}: {more:.2} of {} bytes", stored.len());
        assert!(more <= MOST_FOR_TRANSFER, "{name}: {more:.2}");
    }
}

#[test]
fn every_recording_is_read() {
    let mut files: Vec<_> =
        fs::read_dir(folder()).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
    let mut known: Vec<_> = RECORDINGS.iter().map(|(name, _)| format!("{name}.zst")).collect();
    known.push("README.md".to_owned());
    files.sort();
    known.sort();
    assert_eq!(files, known);
}

/// How many bytes each column that changes costs, the dearest first.
fn savings(samples: &RunSamples, whole: usize) -> Vec<(i64, Field)> {
    let columns = &samples.streams[0].columns;
    let moves = |place: &usize| columns[*place].values.windows(2).any(|pair| pair[0] != pair[1]);
    let mut savings: Vec<_> = (0..columns.len())
        .filter(moves)
        .map(|place| {
            let mut without = samples.clone();
            let column = without.streams[0].columns.remove(place);
            (whole as i64 - pack(&without).len() as i64, column.field)
        })
        .collect();
    savings.sort_by_key(|(saved, _)| -saved);
    savings
}

fn recording(name: &str) -> RunSamples {
    let bytes = zstd::decode_all(fs::File::open(folder().join(format!("{name}.zst"))).unwrap()).unwrap();
    let end_of_names = bytes.iter().position(|byte| *byte == b'\n').unwrap();
    let names: Vec<_> = std::str::from_utf8(&bytes[..end_of_names]).unwrap().split(' ').collect();
    let differences: Vec<u64> =
        bytes[end_of_names + 1..].chunks_exact(8).map(|bytes| u64::from_le_bytes(bytes.try_into().unwrap())).collect();
    let mut columns = differences.chunks_exact(differences.len() / names.len()).map(|differences| {
        let add = |sum: &mut u64, by: &u64| {
            *sum = sum.wrapping_add(*by);
            Some(*sum)
        };
        differences.iter().scan(0, add).collect::<Vec<u64>>()
    });
    let at_us = columns.next().unwrap().into_iter().map(u64::cast_signed).collect();
    let columns = names[1..].iter().zip(columns).map(|(name, values)| stored(name, values)).collect();
    let stream = StreamSamples {
        stream: 1,
        heading: Heading::Outbound,
        end: if name.ends_with("sender") { End::Sender } else { End::Receiver },
        whose: Whose::Local,
        at_us,
        columns,
    };
    RunSamples { streams: vec![stream], probes: ProbeSamples::default() }
}

fn stored(name: &str, values: Vec<u64>) -> Column {
    let field = *Field::ALL.iter().find(|field| field.name() == name).unwrap();
    let rounds = matches!(field, Field::PacingRate | Field::DeliveryRate);
    Column { field, values: if rounds { values.into_iter().map(three_digits).collect() } else { values } }
}

fn folder() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/tcp-info"))
}
