//! Tables of a template.

use serde_json::{Map, Value};

/// A table of the template; an empty one where there is none.
pub(super) fn table<'a>(of: &'a Map<String, Value>, key: &str) -> Entries<'a> {
    Entries(of.get(key).and_then(Value::as_object))
}

/// The entries of a table that may not be there.
#[derive(Clone, Copy)]
pub(super) struct Entries<'a>(Option<&'a Map<String, Value>>);

impl<'a> Entries<'a> {
    pub(super) fn get(self, key: &str) -> Option<&'a Value> {
        self.0?.get(key)
    }

    pub(super) fn iter(self) -> impl Iterator<Item = (&'a String, &'a Value)> {
        self.0.into_iter().flatten()
    }

    pub(super) fn len(self) -> usize {
        self.0.map_or(0, Map::len)
    }
}
