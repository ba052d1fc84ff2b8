//! What the samples of one stream say of all of it, which both the ceiling of the path and the split of each step need.

use super::startup;
use super::stream::{Setting, Stream};
use super::writer::Writer;

/// A stream, and what is derived of it once.
#[derive(Debug)]
pub(super) struct View<'a> {
    pub(super) stream: &'a Stream<'a>,
    /// When its start-up ended, in microseconds.
    pub(super) start_end: i64,
    /// When its program waited for room.
    pub(super) writer: Writer,
}

impl<'a> View<'a> {
    pub(super) fn new(stream: &'a Stream<'a>, setting: &Setting<'_>) -> Self {
        Self { stream, start_end: startup::end(stream, setting), writer: Writer::new(stream, setting) }
    }
}
