//! Where everything stands on the picture: the header, the panels on one axis of time, the footer.

use crate::axis::{Quantity, Ticks};
use crate::draw::{Frame, layer, level};
use crate::font::Fonts;
use crate::header::Header;
use crate::palette::{FRAME, GREY, GRID, INK, SHADE};
use crate::panel::{Key, Mark, Panel};
use crate::scene::{Anchor, Backing, Colour, Dash, Group, Paint, Pen, Point, Scene, Shape, Text, Weight};
use crate::span::{Axis, Span};

pub(crate) const WIDTH: f64 = 1000.0;
const LEFT: f64 = 72.0;
const RIGHT: f64 = WIDTH - 24.0;
const SMALL: f64 = 11.5;
const LINE: f64 = 17.0;

/// The whole picture.
pub(crate) fn scene(header: &Header, panels: &[Panel], span: Span, fonts: &Fonts) -> Scene {
    let mut page = Page { y: 0.0, groups: Vec::new(), fonts, span };
    page.header(header);
    // The axis of time stands under the last panel that needs it.
    let axis_under = panels.iter().rposition(|panel| !panel.is_empty());
    for (index, panel) in panels.iter().enumerate() {
        let is_last = index + 1 == panels.len();
        page.panel(
            panel,
            if axis_under == Some(index) {
                Below::TimeAxis
            } else if is_last {
                Below::Nothing
            } else {
                Below::Panel
            },
        );
    }
    page.footer(header);
    Scene { width: WIDTH, height: page.y.ceil(), title: header.title.clone(), groups: page.groups }
}

/// What stands under a panel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Below {
    TimeAxis,
    Panel,
    Nothing,
}

struct Page<'a> {
    /// Where the next thing goes.
    y: f64,
    groups: Vec<Group>,
    fonts: &'a Fonts,
    span: Span,
}

impl Page<'_> {
    fn header(&mut self, header: &Header) {
        let mut shapes = Vec::new();
        self.y += 34.0;
        let width = RIGHT - 24.0;
        let title = self.fonts.fitted(&header.title, width, 19.0, Weight::Bold);
        shapes.push(write(24.0, self.y, &title, 19.0, INK, Weight::Bold));
        for line in &header.lines {
            self.y += 19.0;
            let line = self.fonts.fitted(line, width, 12.5, Weight::Regular);
            shapes.push(write(24.0, self.y, &line, 12.5, GREY, Weight::Regular));
        }
        self.y += 14.0;
        self.groups.push(Group { name: "header".to_owned(), shapes });
    }

    fn panel(&mut self, panel: &Panel, below: Below) {
        let mut shapes = self.title_and_keys(panel);
        for note in &panel.notes {
            self.y += LINE - 2.0;
            let note = self.fonts.fitted(note, RIGHT - LEFT, SMALL, Weight::Regular);
            shapes.push(write(LEFT, self.y, &note, SMALL, GREY, Weight::Regular));
        }
        let height = if panel.is_empty() { EMPTY_HEIGHT } else { panel.height };
        let top = self.y + 7.0;
        let frame = Frame { left: LEFT, right: RIGHT, top, bottom: top + height, span: self.span, highest: panel.top };
        if !panel.is_empty() {
            self.inside(&mut shapes, &frame, panel);
        } else if below == Below::Panel {
            // Without marks the words say it all; a line keeps the panels apart.
            shapes.push(Shape::line(frame.at_floor(LEFT), frame.at_floor(RIGHT), Pen::new(GRID, 1.0, Dash::Solid)));
        }
        self.y = frame.bottom;
        if below == Below::TimeAxis {
            self.time_axis(&mut shapes, &frame);
        }
        self.groups.push(Group { name: panel.name.clone(), shapes });
    }

    fn title_and_keys(&mut self, panel: &Panel) -> Vec<Shape> {
        self.y += 28.0;
        let mut shapes = vec![write(LEFT, self.y, &panel.title, 13.0, INK, Weight::Bold)];
        let mut x = LEFT + self.fonts.width(&panel.title, 13.0, Weight::Bold);
        let unit = self.unit_text(panel);
        if !unit.is_empty() {
            shapes.push(write(x, self.y, &unit, SMALL, GREY, Weight::Regular));
            x += self.fonts.width(&unit, SMALL, Weight::Regular);
        }
        let widths: Vec<f64> = panel.keys.iter().map(|key| self.key_width(key)).collect();
        let all: f64 = widths.iter().sum();
        let mut at = RIGHT - all + KEY_GAP;
        if at < x + KEY_GAP {
            self.y += LINE;
            at = LEFT;
        }
        for (key, width) in panel.keys.iter().zip(widths) {
            if at > LEFT && at + width - KEY_GAP > RIGHT {
                self.y += LINE;
                at = LEFT;
            }
            shapes.extend(draw_key(key, at, self.y));
            at += width;
        }
        shapes
    }

    fn unit_text(&self, panel: &Panel) -> String {
        let unit = panel.quantity.unit(panel.top).name;
        match (panel.is_empty(), unit.is_empty(), panel.per.is_empty()) {
            (true, ..) | (_, true, true) => String::new(),
            (_, false, true) => format!(", {unit}"),
            (_, false, false) => format!(", {unit} {}", panel.per),
            (_, true, false) => format!(", {}", panel.per),
        }
    }

    fn inside(&self, shapes: &mut Vec<Shape>, frame: &Frame, panel: &Panel) {
        if let Some(steady) = self.span.steady_us.filter(|steady| *steady > 0.0) {
            let (from, to) = (frame.x(0.0), frame.x(steady));
            shapes.push(Shape::rectangle(from, frame.top, to, frame.bottom, Paint::Solid(SHADE)));
        }
        let ticks = value_ticks(panel);
        let grid = Pen::new(GRID, 1.0, Dash::Solid);
        let across = |y: f64| vec![Point { x: frame.left, y }, Point { x: frame.right, y }];
        let upright = |x: f64| vec![Point { x, y: frame.top }, Point { x, y: frame.bottom }];
        let mut lines: Vec<Vec<Point>> = ticks.values.iter().map(|value| across(frame.y(*value))).collect();
        lines.extend(self.time_ticks().values.iter().map(|at| upright(frame.x(*at))));
        shapes.push(Shape::Lines { lines, pen: grid });
        for value in &ticks.values {
            let at = Point { x: frame.left - 7.0, y: frame.y(*value) + 4.0 };
            shapes.push(placed(at, &ticks.label(*value), Anchor::End));
        }
        for marks in &panel.layers {
            shapes.extend(layer(marks, frame));
        }
        if let Some(steady) = self.span.steady_us.filter(|steady| *steady > 0.0) {
            let lines = vec![upright(frame.x(steady))];
            shapes.push(Shape::Lines { lines, pen: Pen::new(GREY, 1.0, Dash::Short) });
        }
        for line in &panel.levels {
            shapes.push(level(line, frame));
        }
        let (left, right, top, bottom) = (frame.left, frame.right, frame.top, frame.bottom);
        let corners = [(left, top), (right, top), (right, bottom), (left, bottom), (left, top)];
        let border = corners.map(|(x, y)| Point { x, y }).to_vec();
        shapes.push(Shape::Lines { lines: vec![border], pen: Pen::new(FRAME, 1.0, Dash::Solid) });
    }

    fn time_ticks(&self) -> Ticks {
        Ticks::between(self.span.from_us, self.span.to_us, 10, self.unit_of_time(), 0.0)
    }

    fn unit_of_time(&self) -> crate::axis::Unit {
        let width = self.span.to_us - self.span.from_us;
        match self.span.axis {
            Axis::Time | Axis::Of { quantity: Quantity::Micros, .. } => Quantity::unit_of_time(width),
            Axis::Of { quantity, .. } => quantity.unit(self.span.to_us),
        }
    }

    fn time_axis(&mut self, shapes: &mut Vec<Shape>, frame: &Frame) {
        self.y += 17.0;
        let ticks = self.time_ticks();
        for at in &ticks.values {
            shapes.push(placed(Point { x: frame.x(*at), y: self.y }, &ticks.label(*at), Anchor::Middle));
        }
        self.y += LINE + 1.0;
        let unit = self.unit_of_time().name;
        let text = match self.span.axis {
            Axis::Time => format!("time since the start of the test, {unit}"),
            Axis::Of { name, .. } if unit.is_empty() => name.to_owned(),
            Axis::Of { name, .. } => format!("{name}, {unit}"),
        };
        shapes.push(placed(Point { x: f64::midpoint(LEFT, RIGHT), y: self.y }, &text, Anchor::Middle));
    }

    fn footer(&mut self, header: &Header) {
        self.y += 26.0;
        let right = placed(Point { x: RIGHT, y: self.y }, &header.made_by, Anchor::End);
        let left = write(24.0, self.y, &header.footer, SMALL, GREY, Weight::Regular);
        self.groups.push(Group { name: "footer".to_owned(), shapes: vec![left, right] });
        self.y += 16.0;
    }

    fn key_width(&self, key: &Key) -> f64 {
        mark_width(key.mark) + 6.0 + self.fonts.width(&key.text, SMALL, Weight::Regular) + KEY_GAP
    }
}

const KEY_GAP: f64 = 18.0;
/// Room that a panel without marks takes below its words.
const EMPTY_HEIGHT: f64 = 6.0;

fn value_ticks(panel: &Panel) -> Ticks {
    let wanted = if panel.height > 120.0 { 6 } else { 4 };
    let least = if panel.quantity == Quantity::Count { 1.0 } else { 0.0 };
    Ticks::between(0.0, panel.top, wanted, panel.quantity.unit(panel.top), least)
}

fn mark_width(mark: Mark) -> f64 {
    match mark {
        Mark::Line(_) => 26.0,
        Mark::Fill(_) | Mark::Blank => 16.0,
        Mark::Dot(_) | Mark::Cross(_) => 8.0,
    }
}

fn draw_key(key: &Key, x: f64, y: f64) -> Vec<Shape> {
    let middle = y - 4.0;
    let width = mark_width(key.mark);
    let mut shapes = match key.mark {
        Mark::Line(pen) => vec![Shape::line(Point { x, y: middle }, Point { x: x + width, y: middle }, pen)],
        Mark::Fill(paint) => vec![Shape::rectangle(x, middle - 5.0, x + width, middle + 5.0, paint)],
        Mark::Dot(colour) => {
            vec![Shape::Dots { centres: vec![Point { x: x + width / 2.0, y: middle }], diameter: 4.0, colour }]
        }
        Mark::Blank => {
            let (right, top, bottom) = (x + width, middle - 5.0, middle + 5.0);
            let corners = [(x, top), (right, top), (right, bottom), (x, bottom), (x, top)];
            let border = corners.map(|(x, y)| Point { x, y }).to_vec();
            vec![Shape::Lines { lines: vec![border], pen: Pen::new(FRAME, 1.0, Dash::Solid) }]
        }
        Mark::Cross(pen) => vec![crate::draw::cross(Point { x: x + width / 2.0, y: middle }, pen)],
    };
    shapes.push(write(x + width + 6.0, y, &key.text, SMALL, INK, Weight::Regular));
    shapes
}

fn write(x: f64, y: f64, text: &str, size: f64, colour: Colour, weight: Weight) -> Shape {
    let (anchor, backing) = (Anchor::Start, Backing::None);
    Shape::Text(Text { at: Point { x, y }, text: text.to_owned(), size, weight, colour, anchor, backing })
}

fn placed(at: Point, text: &str, anchor: Anchor) -> Shape {
    let (weight, backing) = (Weight::Regular, Backing::None);
    Shape::Text(Text { at, text: text.to_owned(), size: SMALL, weight, colour: GREY, anchor, backing })
}
