//! The causes that a scenario can plant: those of the catalogue, by which results of diagnosis are judged.

use diagnose::causes::Catalogue;

/// The name of a cause as the catalogue has it.
#[must_use]
pub fn find(id: &str) -> Option<&'static str> {
    names().find(|known| *known == id)
}

/// All names.
pub fn names() -> impl Iterator<Item = &'static str> {
    Catalogue::built_in().all().iter().map(|cause| cause.id.as_str())
}
