//! Valid documents with one number changed to an extreme: whatever a host says, nothing panics.

#![allow(clippy::unwrap_used)] // A place that is not there fails the test.

use serde_json::{Value, json};

/// Every place of a number in a document.
fn numbers(value: &Value, place: &str, found: &mut Vec<String>) {
    match value {
        Value::Number(_) => found.push(place.to_owned()),
        Value::Array(values) => {
            values.iter().enumerate().for_each(|(at, value)| numbers(value, &format!("{place}/{at}"), found));
        }
        Value::Object(map) => {
            for (name, value) in map {
                numbers(value, &format!("{place}/{}", name.replace('~', "~0").replace('/', "~1")), found);
            }
        }
        _ => {}
    }
}

/// Each number in turn at each extreme, as often as the machine can be asked for that in an ordinary test.
fn each_extreme(document: &Value, read: fn(&[u8])) {
    let mut places = Vec::new();
    numbers(document, "", &mut places);
    assert!(!places.is_empty());
    let step = places.len().div_ceil(MOST_PLACES);
    for place in places.iter().step_by(step) {
        for extreme in
            [json!(0), json!(u64::MAX), json!(u64::MAX >> 1), json!(1_u64 << 62), json!(i64::MIN), json!(u32::MAX)]
        {
            let mut changed = document.clone();
            *changed.pointer_mut(place).unwrap() = extreme;
            read(changed.to_string().as_bytes());
        }
    }
}

const MOST_PLACES: usize = 24;

#[test]
fn snapshot_with_an_extreme_number_brings_nothing_down() {
    let snapshot = include_str!("../../audit/tests/snapshot.json");
    each_extreme(&serde_json::from_str(snapshot).unwrap(), readers::host_snapshot);
}
