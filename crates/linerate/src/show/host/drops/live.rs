//! A table on the terminal that is drawn anew with each interval.

use std::collections::BTreeMap;

use comfy_table::Table;
use model::host::drops::{Counter, DropInterval, DropKind};

use super::{rate, right};
use crate::show::live::redrawn::Redrawn;
use crate::show::table;

/// Counters that grew since the start, redrawn with each interval.
pub struct Live {
    screen: Redrawn,
    rows: BTreeMap<(String, Counter), Row>,
}

struct Row {
    kind: DropKind,
    total: u64,
    last: String,
}

impl Live {
    /// Empty as yet.
    pub fn new() -> Self {
        Self { screen: Redrawn::new("watching; Ctrl-C ends"), rows: BTreeMap::new() }
    }

    /// Draws one interval.
    pub fn interval(&mut self, interval: &DropInterval) {
        let place = interval.place();
        for each in &interval.counters {
            let key = (place.clone(), each.counter.clone());
            if each.increase == 0 && !self.rows.contains_key(&key) {
                continue;
            }
            let row = self.rows.entry(key).or_insert(Row { kind: each.kind, total: 0, last: String::new() });
            row.total = row.total.saturating_add(each.increase);
            row.last = rate(each.increase, interval.length);
        }
        self.screen.draw(self.text());
    }

    /// Leaves the terminal as it was.
    pub fn finish(&self) {
        self.screen.clear();
    }

    fn text(&self) -> String {
        if self.rows.is_empty() {
            return "nothing is dropped; Ctrl-C ends".to_owned();
        }
        let mut rows: Vec<_> = self.rows.iter().collect();
        rows.sort_by_key(|(key, row)| (std::cmp::Reverse(row.total), *key));
        let mut shown = Table::new();
        shown.set_header(["HOST", "COUNTER", "NOW", "IN ALL", "WHICH MEANS"]);
        for ((place, counter), row) in rows.into_iter().take(MOST_LIVE_ROWS) {
            shown.add_row([
                place.clone(),
                counter.to_string(),
                row.last.clone(),
                row.total.to_string(),
                row.kind.words().to_owned(),
            ]);
        }
        right(&mut shown, &[2, 3]);
        table::text(shown)
    }
}

/// As many as leave room on a small terminal.
const MOST_LIVE_ROWS: usize = 16;
