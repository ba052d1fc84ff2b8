//! The grid on a terminal.

use std::io::IsTerminal;

use diagnose::grid::{Cell, Grade, Grid, Grids};

use super::{against, failures, foretold, heading};

/// Whether cells have a colour besides their letter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Colour {
    On,
    Off,
}

impl Colour {
    /// On where standard output is a terminal, and nobody wants none (no-color.org).
    pub fn of_standard_output() -> Self {
        Self::of(std::io::stdout().is_terminal())
    }

    /// The same of standard error.
    pub fn of_standard_error() -> Self {
        Self::of(std::io::stderr().is_terminal())
    }

    fn of(is_terminal: bool) -> Self {
        if is_terminal && std::env::var_os("NO_COLOR").is_none() { Self::On } else { Self::Off }
    }
}

/// All grids of a round, with what the letters mean.
pub fn text(grids: &Grids, colour: Colour) -> String {
    let mut text = format!("{}\n", plain(&grids.title));
    for grid in &grids.grids {
        text.push_str(&format!("\n{}; rows send, columns receive\n\n", heading(grid)));
        text.push_str(&matrix(grid, colour));
        let against = against(grid);
        // Where nothing was measured, nothing was held against anything.
        text.push_str(&if against.is_empty() { "\n".to_owned() } else { format!("\nrelative to {against}\n") });
        let foretold = foretold(grid);
        for line in foretold.iter().take(MOST_FORETOLD) {
            text.push_str(&format!("~ {}\n", plain(line)));
        }
        if let Some(more) = foretold.len().checked_sub(MOST_FORETOLD).filter(|more| *more > 0) {
            text.push_str(&format!(
                "~ and {more} more pairs that have far less than predicted, or that settings hold\n"
            ));
        }
        for (reason, pairs) in failures(grid) {
            let (shown, more) = pairs.split_at(pairs.len().min(MOST_PAIRS));
            let more = if more.is_empty() { String::new() } else { format!(" and {} more", more.len()) };
            text.push_str(&format!("! {}: {}{more}\n", plain(&reason), shown.join(", ")));
        }
    }
    text.push_str("\nA at least 90 %, B 70 %, C 40 %, D 10 %, F less; ? not judged, ! failed, · not planned\n");
    text
}

/// Its cells, a line for each host that sends.
fn matrix(grid: &Grid, colour: Colour) -> String {
    // Where there are many hosts, columns have numbers and cells only letters.
    let is_wide = grid.hosts.len() > MOST_NAMED;
    let labels: Vec<String> = grid.hosts.iter().enumerate().map(|(at, host)| row_label(is_wide, at, host)).collect();
    let first = labels.iter().map(|label| label.chars().count()).max().unwrap_or(0);
    let cells: Vec<Vec<(String, Option<Grade>)>> =
        grid.rows.iter().map(|row| row.iter().map(|cell| shown(cell, is_wide)).collect()).collect();
    let head = |at: usize| if is_wide { (at + 1).to_string() } else { plain(&grid.hosts[at]) };
    let widths: Vec<usize> = (0..grid.hosts.len())
        .map(|at| cells.iter().map(|row| row[at].0.chars().count()).max().unwrap_or(0).max(head(at).chars().count()))
        .collect();
    let mut text = " ".repeat(first);
    for (at, width) in widths.iter().enumerate() {
        text.push_str(&format!("  {:<width$}", head(at)));
    }
    text = text.trim_end().to_owned() + "\n";
    for (label, row) in labels.iter().zip(&cells) {
        let mut line = format!("{label:<first$}");
        for ((cell, grade), width) in row.iter().zip(&widths) {
            line.push_str(&format!("  {}", coloured(&format!("{cell:<width$}"), *grade, colour)));
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

fn row_label(is_wide: bool, at: usize, host: &str) -> String {
    if is_wide { format!("{:>3} {}", at + 1, plain(host)) } else { plain(host) }
}

fn shown(cell: &Cell, is_wide: bool) -> (String, Option<Grade>) {
    match cell {
        Cell::Same => (String::new(), None),
        Cell::NotPlanned => ("·".to_owned(), None),
        Cell::Failed { .. } => ("!".to_owned(), None),
        Cell::NotJudged { .. } if is_wide => ("?".to_owned(), None),
        Cell::NotJudged { goodput, .. } => (format!("? {}", chart::grid::short(*goodput)), None),
        Cell::Measured(found) => {
            let letter = found.grade.letter();
            let number = chart::grid::measured(found).filter(|_| !is_wide);
            let text = number.map_or_else(|| letter.to_string(), |number| format!("{letter} {number}"));
            (text, Some(found.grade))
        }
    }
}

/// The text on a ground of 256 colours that colour-blind people tell apart, from blue to vermillion.
pub fn coloured(text: &str, grade: Option<Grade>, colour: Colour) -> String {
    let (Some(grade), Colour::On) = (grade, colour) else { return text.to_owned() };
    let (ground, ink) = match grade {
        Grade::A => (25, 15),
        Grade::B => (117, 16),
        Grade::C => (229, 16),
        Grade::D => (214, 16),
        Grade::F => (166, 15),
    };
    format!("\u{1b}[48;5;{ground}m\u{1b}[38;5;{ink}m{text}\u{1b}[0m")
}

/// A text of somebody else, without what would command the terminal.
pub fn plain(text: &str) -> String {
    foreign::terminal::line(text).into_owned()
}

/// More columns with names do not fit a terminal.
const MOST_NAMED: usize = 12;
const MOST_PAIRS: usize = 4;
const MOST_FORETOLD: usize = 8;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_cannot_command_the_terminal() {
        assert_eq!(plain("a\u{1b}[2Jb\n"), "a␛[2Jb␊");
    }

    #[test]
    fn the_letter_stays_where_there_is_colour() {
        assert!(coloured("F 200k", Some(Grade::F), Colour::On).contains("F 200k"));
        assert_eq!(coloured("F 200k", Some(Grade::F), Colour::Off), "F 200k");
    }
}
