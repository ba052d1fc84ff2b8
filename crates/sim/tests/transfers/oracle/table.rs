//! Simulated over kernel, case by case, and how many are within the bounds.

use std::fmt;

use super::case::Case;
use super::kernel::Seen;
use super::simulated::{RAMP, Simulated, Spread};

#[derive(Default)]
pub(crate) struct Table(Vec<Row>);

struct Row {
    name: String,
    set: String,
    bytes: f64,
    ramp: f64,
    retransmits: (f64, f64),
    simulated_bytes: f64,
    /// Whether each bound is kept, by the names of [`MEASURES`].
    within: [bool; 4],
}

const MEASURES: [&str; 4] = ["bytes 3 %", "bytes 8 %", "ramp-up 10 %", "retransmits x1.5"];
/// Retransmits that the two may differ by, where there are few.
const FEW: f64 = 5.0;

impl Table {
    pub(crate) fn add(&mut self, case: &Case, seen: &Seen, simulated: &Simulated) {
        let drawn = case.is_random();
        let kernel = seen.bytes();
        let bytes = nearest(simulated.bytes, kernel, drawn) / kernel;
        let at = seen.when(kernel * RAMP).as_secs_f64();
        let ramp = nearest(simulated.ramp, at, drawn);
        let (ours, theirs) = (nearest(simulated.retransmits, seen.retransmits as f64, drawn), seen.retransmits as f64);
        let within = [
            (bytes - 1.0).abs() <= 0.03,
            (bytes - 1.0).abs() <= 0.08,
            // The kernel's clock is read each 0.1 s.
            (ramp - at).abs() <= 0.1 * at + 0.02,
            ours <= theirs * 1.5 + FEW && theirs <= ours * 1.5 + FEW,
        ];
        let set = case.set().to_owned();
        let name = case.name.clone();
        self.0.push(Row {
            name,
            set,
            bytes,
            ramp: ramp / at,
            retransmits: (ours, theirs),
            simulated_bytes: simulated.bytes.median,
            within,
        });
    }

    /// The share of the cases of a set within a bound, in percent.
    pub(crate) fn share(&self, set: &str, measure: &str) -> f64 {
        let index = MEASURES.iter().position(|name| *name == measure).unwrap();
        let rows: Vec<&Row> = self.0.iter().filter(|row| set == "all" || row.set == set).collect();
        100.0 * rows.iter().filter(|row| row.within[index]).count() as f64 / rows.len().max(1) as f64
    }
}

/// The median; where losses are drawn, the value within the spread over seeds that is nearest to the kernel's.
fn nearest(ours: Spread, theirs: f64, drawn: bool) -> f64 {
    if drawn { theirs.clamp(ours.least, ours.most) } else { ours.median }
}

impl fmt::Display for Table {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            out,
            "{:<34} {:>6} {:>7} {:>7} {:>12} {:>12}",
            "case", "set", "bytes", "ramp-up", "retransmits", "kernel's"
        )?;
        for row in &self.0 {
            let mark = |index: usize| if row.within[index] { " " } else { "!" };
            let (ours, theirs) = row.retransmits;
            writeln!(
                out,
                "{:<34} {:>6} {:>6.3}{} {:>6.2}{} {:>11.0}{} {:>12.0} {:>9.2} MB",
                row.name,
                row.set,
                row.bytes,
                mark(0),
                row.ramp,
                mark(2),
                ours,
                mark(3),
                theirs,
                row.simulated_bytes / 1e6
            )?;
        }
        for set in ["fit", "apart", "all"] {
            let shares = MEASURES.map(|measure| format!("{measure}: {:.0} %", self.share(set, measure)));
            writeln!(out, "{set}: {}", shares.join(", "))?;
        }
        Ok(())
    }
}
