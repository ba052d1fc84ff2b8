//! What is valid with a number changed to an extreme: how a host, a peer or a file lies that knows the format.
//!
//! Random bytes seldom come past the first check of a reader. A number in a valid document does, and reaches the arithmetic
//! behind it.

use std::ops::Range;

/// What no counter, rate, time or size is.
pub const TEXTS: [&str; 14] = [
    "0",
    "-1",
    "1",
    "4294967295",
    "4294967296",
    "4611686018427387904",
    "9223372036854775807",
    "9223372036854775808",
    "18446744073709551615",
    "-9223372036854775808",
    "99999999999999999999999999",
    "1e308",
    "1e-308",
    "0.000000000000000000000000001",
];

/// The same of formats that are not text.
pub const WORDS: [[u8; 8]; 4] =
    [[0; 8], [0xff; 8], [0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff], [0x80, 0, 0, 0, 0, 0, 0, 0]];

/// The file with 1 to 4 numbers changed, which ones and to what being the seed's choice; as it is where it has no number.
pub fn with_extremes(bytes: &[u8], seed: u32) -> Vec<u8> {
    let mut changed = bytes.to_vec();
    let mut choice = Choice(u64::from(seed) ^ 0x9e37_79b9_7f4a_7c15);
    for _ in 0..=choice.below(4) {
        let places = places(&changed);
        if places.is_empty() {
            break;
        }
        let place = places[choice.below(places.len())].clone();
        let extremes = extremes(&changed, &place);
        changed = with(&changed, &place, extremes[choice.below(extremes.len())]);
    }
    changed
}

/// Each extreme at each of at most so many places, evenly over the file.
pub fn each_extreme(bytes: &[u8], most_places: usize) -> Vec<Vec<u8>> {
    let places = places(bytes);
    let step = places.len().div_ceil(most_places).max(1);
    let places = places.into_iter().step_by(step);
    places
        .flat_map(|place| {
            let extremes = extremes(bytes, &place);
            extremes.into_iter().map(move |extreme| with(bytes, &place, extreme))
        })
        .collect()
}

fn with(bytes: &[u8], place: &Range<usize>, extreme: &[u8]) -> Vec<u8> {
    [&bytes[..place.start], extreme, &bytes[place.end..]].concat()
}

fn is_text(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_ok_and(|text| !text.contains('\0'))
}

fn places(bytes: &[u8]) -> Vec<Range<usize>> {
    if is_text(bytes) { numbers(bytes) } else { words(bytes) }
}

fn extremes(bytes: &[u8], place: &Range<usize>) -> Vec<&'static [u8]> {
    if is_text(bytes) {
        TEXTS.iter().map(|text| text.as_bytes()).collect()
    } else {
        WORDS.iter().map(|word| &word[..place.len()]).collect()
    }
}

/// Where numbers stand in a text, with their signs and powers.
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

/// Words of 4, 2, 8 and 1 bytes in turn.
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

/// Choices that a seed makes, the same each time (`SplitMix64`).
struct Choice(u64);

impl Choice {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((mixed ^ (mixed >> 31)) % bound as u64).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_found_with_their_signs_and_powers() {
        assert_eq!(numbers(b"a1 -2.5e+3, [ 7]x"), [1..2, 3..10, 14..15]);
    }

    #[test]
    fn a_seed_changes_numbers_and_nothing_else() {
        let document = br#"{"rate": 20, "of": [1, 2]}"#;
        let changed: Vec<_> = (0..100).map(|seed| with_extremes(document, seed)).collect();
        for text in &changed {
            let text = String::from_utf8_lossy(text);
            assert!(text.starts_with("{\"rate\": ") && text.ends_with("]}"), "{text}");
        }
        assert_eq!(changed[7], with_extremes(document, 7));
        assert!(changed.iter().any(|text| *text != changed[0]));
    }
}
