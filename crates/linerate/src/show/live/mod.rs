//! Tests while they run: on a terminal a grid that fills up, elsewhere a line for each; all of it on standard error.
//!
//! * [`Board`]: the grid
//! * [`round`]: the tests of a plan
//! * [`redrawn`]: other text that is drawn anew in its place
//! * [`overlay`]: the tests inside of an overlay of the lab

pub mod overlay;
pub mod redrawn;
pub mod round;

use std::collections::BTreeMap;
use std::io::IsTerminal;
use std::time::Duration;

use diagnose::grid::Grade;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use units::DataRate;

use super::grid::text::{Colour, coloured, plain};
use super::progress::Talk;
use chart::grid::short;

/// A grid that fills up, if anybody watches.
struct Board {
    bar: Option<ProgressBar>,
    talk: Talk,
    hosts: Vec<Host>,
    /// By the numbers of who sends and who receives.
    cells: BTreeMap<(usize, usize), Cell>,
    colour: Colour,
}

/// A row and a column of the grid.
struct Host {
    number: usize,
    name: String,
}

/// What is known of a pair so far.
#[derive(Debug, Clone, Copy)]
enum Cell {
    Waiting,
    Running,
    /// How good it is shows only where it is known what it should be.
    Rate(DataRate, Option<Grade>),
    Failed,
}

impl Board {
    /// An empty grid, and how many tests are going to run, of which some may be of no pair in it.
    fn new(hosts: Vec<Host>, pairs: impl Iterator<Item = (usize, usize)>, tests: usize, talk: Talk) -> Self {
        let is_watched = talk == Talk::Progress && std::io::stderr().is_terminal();
        Self {
            // A terminal that cannot move its cursor (TERM=dumb) gets lines, as a file does.
            bar: is_watched.then(|| bar(tests)).filter(|bar| !bar.is_hidden()),
            talk,
            hosts,
            cells: pairs.map(|pair| (pair, Cell::Waiting)).collect(),
            colour: Colour::of_standard_error(),
        }
    }

    /// What there is to say while there is no grid to show.
    fn message(&self, text: &str) {
        if let Some(bar) = &self.bar {
            bar.set_message(text.to_owned());
        }
    }

    /// A line that stays.
    fn say(&self, line: &str) {
        match &self.bar {
            Some(bar) => bar.println(line),
            None if self.talk == Talk::Nothing => {}
            None => eprintln!("{line}"),
        }
    }

    /// A test of a pair begins.
    fn begins(&mut self, pair: (usize, usize)) {
        if let Some(cell) = self.cells.get_mut(&pair) {
            *cell = Cell::Running;
            self.draw();
        }
    }

    /// A test has ended: what it says of a pair, if it is one of the grid; else a line, if it is not empty.
    fn ended(&mut self, of: Option<((usize, usize), Cell)>, line: impl FnOnce() -> String) {
        if let Some((pair, cell)) = of {
            self.cells.insert(pair, cell);
            self.draw();
        }
        match &self.bar {
            Some(bar) => bar.inc(1),
            None => {
                let line = line();
                if !line.is_empty() {
                    self.say(&line);
                }
            }
        }
    }

    /// Leaves the terminal as it was.
    fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }

    fn draw(&self) {
        if let Some(bar) = &self.bar {
            bar.set_message(self.grid());
        }
    }

    /// Rows send, columns receive.
    fn grid(&self) -> String {
        if self.hosts.is_empty() || self.hosts.len() > MOST_HOSTS {
            return String::new();
        }
        let names: Vec<String> = self.hosts.iter().map(|host| plain(&host.name)).collect();
        let first = names.iter().map(|name| name.chars().count()).max().unwrap_or(0);
        let mut text = " ".repeat(first);
        for name in &names {
            text.push_str(&format!("  {name:<WIDTH$}"));
        }
        for (row, name) in self.hosts.iter().zip(&names) {
            text.push_str(&format!("\n{name:<first$}"));
            for (column, head) in self.hosts.iter().zip(&names) {
                let (cell, grade) = self.cell(row.number, column.number);
                let width = head.chars().count().max(WIDTH);
                text.push_str(&format!("  {}", coloured(&format!("{cell:<width$}"), grade, self.colour)));
            }
        }
        text + "\n"
    }

    fn cell(&self, from: usize, to: usize) -> (String, Option<Grade>) {
        let plain = |text: &str| (text.to_owned(), None);
        match self.cells.get(&(from, to)) {
            None if from == to => plain(""),
            None => plain("·"),
            Some(Cell::Waiting) => plain("-"),
            Some(Cell::Running) => plain("…"),
            Some(Cell::Failed) => plain("!"),
            Some(Cell::Rate(rate, None)) => (short(*rate), None),
            Some(Cell::Rate(rate, Some(grade))) => (format!("{} {}", grade.letter(), short(*rate)), Some(*grade)),
        }
    }
}

fn bar(tests: usize) -> ProgressBar {
    let tests = u64::try_from(tests).unwrap_or(u64::MAX);
    let bar = ProgressBar::with_draw_target(Some(tests), ProgressDrawTarget::stderr());
    if let Ok(style) = ProgressStyle::with_template("{msg}\n{bar:40} {pos} of {len} tests, {elapsed}") {
        bar.set_style(style.progress_chars("=> "));
    }
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}

/// A wider grid does not fit a terminal.
const MOST_HOSTS: usize = 12;
/// Of a letter and a rate.
const WIDTH: usize = 7;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_grid_shows_how_far_each_pair_is() {
        let names = ["archive", "x"].into_iter().zip([3, 5]);
        let hosts = names.map(|(name, number)| Host { number, name: name.to_owned() }).collect();
        let mut board = Board::new(hosts, [(3, 5), (5, 3)].into_iter(), 3, Talk::Nothing);
        board.colour = Colour::Off;
        let rate = DataRate::from_bps(3_920_000_000);
        assert_eq!(board.grid(), "         archive  x      \narchive           -      \nx        -               \n");
        board.begins((3, 5));
        board.ended(Some(((5, 3), Cell::Rate(rate, Some(Grade::A)))), String::new);
        assert_eq!(board.grid(), "         archive  x      \narchive           …      \nx        A 3.92G         \n");
        board.ended(Some(((3, 5), Cell::Failed)), String::new);
        board.ended(Some(((5, 3), Cell::Rate(rate, None))), String::new);
        board.ended(None, String::new);
        assert_eq!(board.grid(), "         archive  x      \narchive           !      \nx        3.92G           \n");
    }
}
