//! Rows of a database, ordered by series and time, as histories.

use std::sync::Arc;

use super::StoreError;
use super::rows::{SeriesHistory, SeriesResult};

/// Histories as their rows come.
pub(super) struct Histories<'a> {
    each: &'a mut dyn FnMut(SeriesHistory),
    /// The series that rows come of, by its key.
    last: Option<(i64, SeriesHistory)>,
}

impl<'a> Histories<'a> {
    /// Hands over each history once it has all of its rows.
    pub(super) fn to(each: &'a mut dyn FnMut(SeriesHistory)) -> Self {
        Self { each, last: None }
    }

    /// Adds a result; rows of a series come one after the other. `name` is the series as JSON, which is read where it is another one.
    pub(super) fn add(&mut self, key: i64, name: &str, result: SeriesResult) -> Result<(), StoreError> {
        match &mut self.last {
            Some((known, history)) if *known == key => history.results.push(result),
            _ => {
                let series = Arc::new(serde_json::from_str(name)?);
                self.end();
                self.last = Some((key, SeriesHistory { series, results: vec![result] }));
            }
        }
        Ok(())
    }

    /// No row comes any more.
    pub(super) fn end(&mut self) {
        if let Some((_, history)) = self.last.take() {
            (self.each)(history);
        }
    }
}
