//! The grid as a picture.

use diagnose::grid::{Cell, Grade, Grid, Grids, Loss, Measured};
use units::DataRate;

use crate::font::Fonts;
use crate::palette::{BLUE, FRAME, GREY, INK, ORANGE, SHADE, SKY, VERMILLION};
use crate::scene::{Anchor, Backing, Colour, Dash, Group, Paint, Pen, Point, Scene, Shape, Text, Weight};
use crate::{ChartError, Form, drawn};

/// All grids of a round below each other, as the bytes of a file.
///
/// # Errors
/// See [`ChartError`].
pub fn picture(grids: &Grids, captions: &[Caption], form: Form) -> Result<Vec<u8>, ChartError> {
    let fonts = Fonts::new()?;
    let mut page = Page { y: 16.0, width: 0.0, groups: Vec::new(), fonts: &fonts };
    page.line("title", &grids.title, 17.0, Weight::Bold, INK);
    for (number, (grid, caption)) in grids.grids.iter().zip(captions).enumerate() {
        page.grid(number, grid, caption);
    }
    page.legend();
    let (width, height) = (page.width + MARGIN, page.y + MARGIN);
    let title = format!("{}: rows send, columns receive", grids.title);
    drawn(&Scene { width: width.ceil(), height: height.ceil(), title, groups: page.groups }, &fonts, form)
}

/// The words above a grid.
#[derive(Debug, Clone)]
pub struct Caption {
    /// What was measured, and in which network.
    pub heading: String,
    /// What the cells are relative to.
    pub relative_to: String,
}

struct Page<'a> {
    /// Where the next thing goes.
    y: f64,
    /// How far to the right something stands.
    width: f64,
    groups: Vec<Group>,
    fonts: &'a Fonts,
}

/// What stands in cells: their size, and how much.
#[derive(Clone, Copy)]
struct Cells {
    left: f64,
    top: f64,
    width: f64,
    height: f64,
    is_small: bool,
}

impl Page<'_> {
    fn line(&mut self, name: &str, words: &str, size: f64, weight: Weight, colour: Colour) {
        self.y += size * 1.4;
        self.width = self.width.max(MARGIN + self.fonts.width(words, size, weight));
        let at = Point { x: MARGIN, y: self.y };
        self.groups
            .push(Group { name: name.to_owned(), shapes: vec![text(at, words, size, weight, colour, Anchor::Start)] });
    }

    fn grid(&mut self, number: usize, grid: &Grid, caption: &Caption) {
        self.y += 8.0;
        self.line(
            &format!("heading-{number}"),
            &format!("{}; rows send, columns receive", caption.heading),
            SIZE,
            Weight::Bold,
            INK,
        );
        self.line(
            &format!("against-{number}"),
            &format!("relative to {}", caption.relative_to),
            SIZE,
            Weight::Regular,
            GREY,
        );
        self.y += 10.0;
        let names = grid.hosts.iter().map(|host| self.fonts.width(host, SIZE, Weight::Regular));
        let longest = names.fold(0.0, f64::max).min(LONGEST_NAME);
        let is_small = grid.hosts.len() > MOST_WITH_RATES;
        let width = if is_small { 18.0 } else { longest.max(64.0) + 8.0 };
        let height = if is_small { 18.0 } else { 38.0 };
        let cells = Cells {
            left: MARGIN + longest + 10.0 + if is_small { 28.0 } else { 0.0 },
            top: self.y + 18.0,
            width,
            height,
            is_small,
        };
        let mut shapes = Vec::new();
        for (at, host) in grid.hosts.iter().enumerate() {
            shapes.extend(self.names(at, host, cells, longest));
        }
        for (row, line) in grid.rows.iter().enumerate() {
            for (column, cell) in line.iter().enumerate() {
                shapes.extend(drawn_cell(cell, cells, [row, column]));
            }
        }
        self.groups.push(Group { name: format!("grid-{number}"), shapes });
        self.y = cells.top + height * count(grid.hosts.len()) + 8.0;
        self.width = self.width.max(cells.left + width * count(grid.hosts.len()));
    }

    /// The name of a host before its row and above its column; where cells are small, columns have numbers.
    fn names(&self, at: usize, host: &str, cells: Cells, longest: f64) -> Vec<Shape> {
        let name = self.fonts.fitted(host, longest, SIZE, Weight::Regular);
        let middle = cells.top + cells.height * (count(at) + 0.5) + SIZE * 0.35;
        let row = if cells.is_small { format!("{name}  {}", at + 1) } else { name.clone() };
        let column = if cells.is_small { (at + 1).to_string() } else { name };
        let above = Point { x: cells.left + cells.width * (count(at) + 0.5), y: cells.top - 6.0 };
        let size = if cells.is_small { 8.0 } else { SIZE };
        vec![
            text(Point { x: cells.left - 8.0, y: middle }, &row, SIZE, Weight::Regular, INK, Anchor::End),
            text(above, &column, size, Weight::Regular, INK, Anchor::Middle),
        ]
    }

    fn legend(&mut self) {
        self.y += 10.0;
        let mut shapes = Vec::new();
        let mut x = MARGIN;
        for (grade, least) in Grade::ALL {
            let words = if grade == Grade::F { "less".to_owned() } else { format!("at least {:.0} %", least * 100.0) };
            shapes.push(Shape::rectangle(x, self.y, x + 18.0, self.y + 18.0, Paint::Solid(ground(grade).0)));
            let letter = grade.letter().to_string();
            shapes.push(text(
                Point { x: x + 9.0, y: self.y + 13.5 },
                &letter,
                SIZE,
                Weight::Bold,
                ground(grade).1,
                Anchor::Middle,
            ));
            shapes.push(text(
                Point { x: x + 24.0, y: self.y + 13.5 },
                &words,
                SIZE,
                Weight::Regular,
                GREY,
                Anchor::Start,
            ));
            x += 24.0 + self.fonts.width(&words, SIZE, Weight::Regular) + 18.0;
        }
        let words = "? not judged   ! failed   · not planned";
        shapes.push(text(Point { x, y: self.y + 13.5 }, words, SIZE, Weight::Regular, GREY, Anchor::Start));
        self.width = self.width.max(x + self.fonts.width(words, SIZE, Weight::Regular));
        self.y += 18.0;
        self.groups.push(Group { name: "legend".to_owned(), shapes });
    }
}

fn drawn_cell(cell: &Cell, cells: Cells, [row, column]: [usize; 2]) -> Vec<Shape> {
    let (left, top) = (cells.left + cells.width * count(column), cells.top + cells.height * count(row));
    let (right, bottom) = (left + cells.width, top + cells.height);
    let (x, middle) = (f64::midpoint(left, right), f64::midpoint(top, bottom));
    let letter_size = if cells.is_small { 10.0 } else { 14.0 };
    let letter =
        |letter: &str, colour, y| text(Point { x, y }, letter, letter_size, Weight::Bold, colour, Anchor::Middle);
    let mut shapes = Vec::new();
    match cell {
        Cell::Same => shapes.push(Shape::rectangle(left, top, right, bottom, Paint::Solid(SHADE))),
        Cell::NotPlanned => shapes.push(letter("·", GREY, middle + letter_size * 0.35)),
        Cell::Failed { .. } => {
            shapes.push(Shape::rectangle(left, top, right, bottom, Paint::Rising(FRAME)));
            shapes.push(letter("!", INK, middle + letter_size * 0.35));
        }
        Cell::NotJudged { goodput, .. } => {
            shapes.push(Shape::rectangle(left, top, right, bottom, Paint::Solid(SHADE)));
            let at = if cells.is_small { middle + letter_size * 0.35 } else { middle - 2.0 };
            shapes.push(letter("?", INK, at));
            if !cells.is_small {
                let at = Point { x, y: middle + 13.0 };
                shapes.push(text(at, &short(*goodput), SMALL, Weight::Regular, INK, Anchor::Middle));
            }
        }
        Cell::Measured(found) => {
            let (fill, ink) = ground(found.grade);
            shapes.push(Shape::rectangle(left, top, right, bottom, Paint::Solid(fill)));
            let at = if cells.is_small { middle + letter_size * 0.35 } else { middle - 2.0 };
            shapes.push(letter(&found.grade.letter().to_string(), ink, at));
            if !cells.is_small {
                let words = measured(found).unwrap_or_default();
                shapes.push(text(Point { x, y: middle + 13.0 }, &words, SMALL, Weight::Regular, ink, Anchor::Middle));
            }
        }
    }
    let corners = [(left, top), (right, top), (right, bottom), (left, bottom), (left, top)];
    let pen = Pen::new(Colour::WHITE, 1.5, Dash::Solid);
    shapes.push(Shape::Lines { lines: vec![corners.map(|(x, y)| Point { x, y }).to_vec()], pen });
    shapes
}

/// The colour of a grade, and that of letters on it.
fn ground(grade: Grade) -> (Colour, Colour) {
    match grade {
        Grade::A => (BLUE, Colour::WHITE),
        Grade::B => (SKY, INK),
        Grade::C => (ORANGE.thinned(0.35), INK),
        Grade::D => (ORANGE, INK),
        Grade::F => (VERMILLION, Colour::WHITE),
    }
}

fn text(at: Point, words: &str, size: f64, weight: Weight, colour: Colour, anchor: Anchor) -> Shape {
    Shape::Text(Text { at, text: words.to_owned(), size, weight, colour, anchor, backing: Backing::None })
}

#[expect(clippy::cast_precision_loss, reason = "numbers of hosts are small")]
fn count(of: usize) -> f64 {
    of as f64
}

const MARGIN: f64 = 20.0;
const SIZE: f64 = 12.0;
const SMALL: f64 = 11.0;
/// Longer names lose their middle.
const LONGEST_NAME: f64 = 160.0;
/// Of more hosts there are only letters.
const MOST_WITH_RATES: usize = 16;

/// The number of a cell in few letters: its rate, or the part of its packets that was lost.
#[must_use]
pub fn measured(cell: &Measured) -> Option<String> {
    cell.goodput.map(short).or_else(|| Some(lost(cell.loss?)))
}

/// Loss in few letters, with digits that tell it from none: `0%`, `0.020%`, `1.3%`.
fn lost(loss: Loss) -> String {
    let percent = loss.lost.share_of(loss.sent).unwrap_or(0.0) * 100.0;
    match percent {
        _ if loss.lost.get() == 0 => "0%".to_owned(),
        _ if percent < 0.1 => format!("{percent:.3}%"),
        _ if percent < 10.0 => format!("{percent:.1}%"),
        _ => format!("{percent:.0}%"),
    }
}

/// A rate in few letters: `3.92G`, `200k`, `5.00k`.
#[must_use]
pub fn short(rate: DataRate) -> String {
    let shown = rate.to_string();
    let (number, unit) = shown.split_once(' ').unwrap_or((shown.as_str(), ""));
    format!("{number}{}", unit.trim_end_matches("bit/s"))
}
