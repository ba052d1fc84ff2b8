//! What of a host a setting is of.

use super::key::Key;

/// A device of a namespace, as a place for settings.
#[derive(Clone, Copy)]
pub(super) struct Place<'a> {
    pub(super) namespace: &'a str,
    pub(super) device: &'a str,
}

impl Place<'_> {
    pub(super) fn key(&self, name: impl Into<String>) -> Key {
        Key::of(self.namespace, Some(self.device), name)
    }
}
