//! An object of JSON as it is read.

use std::fmt;

use serde::de::{Deserialize, DeserializeSeed, Deserializer, MapAccess, Visitor};
use serde_json::Value;

use super::json_rows::{FilledRows, IntervalRows};

/// An object with its keys in order, repeated ones included: iperf3 writes `error` twice, first the cause. Its intervals
/// become rows one by one, since as values they take fifty times the space of their text.
#[derive(Debug, Clone, Default)]
pub(crate) struct Object {
    pub(super) entries: Vec<(String, Value)>,
    pub(crate) intervals: IntervalRows,
}

impl Object {
    /// The first value of `key`.
    pub(crate) fn get(&self, key: &str) -> Option<&Value> {
        self.all(key).next()
    }

    /// All values of `key`.
    pub(crate) fn all<'a>(&'a self, key: &str) -> impl Iterator<Item = &'a Value> {
        self.entries.iter().filter(move |(found, _)| found == key).map(|(_, value)| value)
    }

    /// With `-d` iperf3 prints what its two ends tell each other among the text.
    pub(super) fn is_of_debug_output(&self) -> bool {
        ["client_version", "cpu_util_total", "sender_has_retransmits"].iter().any(|key| self.get(key).is_some())
    }

    /// All keys, with blanks between them.
    pub(super) fn keys(&self) -> String {
        self.entries.iter().map(|(key, _)| key.as_str()).collect::<Vec<_>>().join(" ")
    }
}

/// An object that is filled as it is read, so that of one that ends too early all is kept that came before.
pub(super) struct Filled<'a>(pub(super) &'a mut Object);

impl<'de> DeserializeSeed<'de> for Filled<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, input: D) -> Result<(), D::Error> {
        input.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Filled<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<(), M::Error> {
        while let Some(key) = map.next_key::<String>()? {
            if key == "intervals" {
                map.next_value_seed(FilledRows(&mut self.0.intervals))?;
            } else {
                self.0.entries.push((key, map.next_value()?));
            }
        }
        Ok(())
    }
}

impl<'de> Deserialize<'de> for Object {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        let mut object = Self::default();
        Filled(&mut object).deserialize(input)?;
        Ok(object)
    }
}
