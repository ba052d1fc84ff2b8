//! What is valid with one number changed to an extreme: whatever a host, a peer or a file says, nothing panics.

#![allow(clippy::unwrap_used)] // A place that is not there fails the test.

use std::fs;
use std::ops::Range;
use std::path::Path;

use readers::ALL;

/// What no counter, rate, time or size is.
const TEXTS: [&str; 10] = [
    "0",
    "-1",
    "4294967295",
    "4611686018427387904",
    "9223372036854775807",
    "18446744073709551615",
    "-9223372036854775808",
    "99999999999999999999999999",
    "1e308",
    "0.000000000000000000000000001",
];

/// The same of formats that are not text.
const WORDS: [[u8; 8]; 4] =
    [[0; 8], [0xff; 8], [0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff], [0x80, 0, 0, 0, 0, 0, 0, 0]];

/// Numbers of one file that are changed, evenly over all of it; fewer of a large one, which takes longer to read.
const MOST_PLACES: usize = 24;
const MOST_BYTES: usize = 300_000;

#[test]
fn no_extreme_number_in_what_is_valid_brings_a_reader_down() {
    let mut wrong = Vec::new();
    for reader in ALL {
        let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(reader.name);
        let mut changes = 0;
        for entry in fs::read_dir(corpus).unwrap() {
            let path = entry.unwrap().path();
            let bytes = fs::read(&path).unwrap();
            let most = (MOST_BYTES / bytes.len().max(1)).clamp(12, MOST_PLACES);
            let changed = changed(&bytes, most);
            changes += changed.len();
            // What brings a reader down is told with its file, and the others are tried all the same.
            let down = changed.iter().find(|changed| std::panic::catch_unwind(|| (reader.read)(changed)).is_err());
            wrong.extend(down.map(|changed| format!("{}: {}", path.display(), String::from_utf8_lossy(changed))));
        }
        assert!(changes > 0, "{} has no number in its corpus", reader.name);
    }
    assert!(wrong.is_empty(), "{} files:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn numbers_are_found_with_their_signs_and_powers() {
    let numbers = numbers(b"a1 -2.5e+3, [ 7]x");
    assert_eq!(numbers, [1..2, 3..10, 14..15]);
}

/// A file with one number after the other at each extreme.
fn changed(bytes: &[u8], most: usize) -> Vec<Vec<u8>> {
    let is_text = std::str::from_utf8(bytes).is_ok_and(|text| !text.contains('\0'));
    let numbers = if is_text { numbers(bytes) } else { words(bytes) };
    let step = numbers.len().div_ceil(most).max(1);
    let places = numbers.into_iter().step_by(step);
    places
        .flat_map(|place| {
            let extremes: Vec<&[u8]> = if is_text {
                TEXTS.iter().map(|text| text.as_bytes()).collect()
            } else {
                WORDS.iter().map(|word| &word[..place.len()]).collect()
            };
            extremes.into_iter().map(move |extreme| [&bytes[..place.start], extreme, &bytes[place.end..]].concat())
        })
        .collect()
}

/// Where numbers stand in a text.
fn numbers(text: &[u8]) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < text.len() {
        if !text[at].is_ascii_digit() {
            at += 1;
            continue;
        }
        let sign = usize::from(at > 0 && text[at - 1] == b'-');
        let mut end = at;
        while end < text.len() && is_of_number(text, end) {
            end += 1;
        }
        found.push(at - sign..end);
        at = end;
    }
    found
}

fn is_of_number(text: &[u8], at: usize) -> bool {
    let digit = |at: usize| text.get(at).is_some_and(u8::is_ascii_digit);
    match text[at] {
        b'0'..=b'9' => true,
        b'.' => digit(at + 1),
        b'e' | b'E' => digit(at + 1) || (matches!(text.get(at + 1), Some(b'+' | b'-')) && digit(at + 2)),
        b'+' | b'-' => matches!(text[at - 1], b'e' | b'E') && digit(at + 1),
        _ => false,
    }
}

/// Words of 1, 2, 4 and 8 bytes in turn.
fn words(bytes: &[u8]) -> Vec<Range<usize>> {
    let lengths = [4, 2, 8, 1].into_iter().cycle();
    let mut at = 0;
    let place = |length: usize| {
        let place = at..at + length;
        at += length;
        place
    };
    lengths.map(place).take_while(|place| place.end <= bytes.len()).collect()
}
