//! What a document shows, and what is not taken of one.

use model::plausible;
use serde::de::DeserializeOwned;

use crate::evidence::Shown;

/// What one document shows, and of which host where it says so.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) host: Option<String>,
    pub(super) shows: Vec<Shown>,
}

impl Found {
    pub(super) fn of(shows: Vec<Shown>) -> Self {
        Self { host: None, shows }
    }
}

/// Reads a document, unless a number in it is beyond what is real.
pub(super) fn admitted<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    plausible::read(text.as_bytes()).map_err(|error| error.to_string())
}

/// Refuses what a later version has written: its numbers may mean something else.
pub(super) fn known_format([written, known]: [u32; 2]) -> Result<(), String> {
    if written > known { Err("it was written by a newer linerate".to_owned()) } else { Ok(()) }
}
