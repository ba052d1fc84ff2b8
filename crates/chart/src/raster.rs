//! A scene as pixels.

use tiny_skia::{
    Color, FillRule, LineCap, LineJoin, Mask, Paint as Ink, Path, PathBuilder, Pixmap, Stroke, StrokeDash, Transform,
};
use ttf_parser::OutlineBuilder;

use crate::font::Fonts;
use crate::scene::{Anchor, Backing, Colour, Dash, Paint, Pen, Point, Scene, Shape, Text};
use crate::svg::THIN;

/// Pixels for each CSS pixel: sharp on dense screens and in print.
const DENSITY: f32 = 2.0;

/// The picture; `None` where it is too large to hold in memory.
pub(crate) fn pixels(scene: &Scene, fonts: &Fonts) -> Option<Pixmap> {
    let mut canvas = Canvas { pixmap: Pixmap::new(dense(scene.width), dense(scene.height))?, fonts };
    canvas.pixmap.fill(Color::WHITE);
    for shape in scene.groups.iter().flat_map(|group| &group.shapes) {
        canvas.shape(shape);
    }
    Some(canvas.pixmap)
}

struct Canvas<'a> {
    pixmap: Pixmap,
    fonts: &'a Fonts,
}

impl Canvas<'_> {
    fn shape(&mut self, shape: &Shape) {
        match shape {
            Shape::Lines { lines, pen } => {
                if let Some(path) = open(lines) {
                    self.stroke(&path, pen.colour, &stroke_of(pen), None);
                }
            }
            Shape::Area { outline, paint } => self.area(outline, *paint),
            Shape::Dots { centres, diameter, colour } => {
                let mut path = PathBuilder::new();
                for dot in centres {
                    path.push_circle(single(dot.x), single(dot.y), single(*diameter / 2.0));
                }
                if let Some(path) = path.finish() {
                    self.fill(&path, *colour);
                }
            }
            Shape::Text(text) => self.text(text),
        }
    }

    fn area(&mut self, outline: &[Point], paint: Paint) {
        let Some(path) = closed(outline) else { return };
        let (colour, slope) = match paint {
            Paint::Solid(colour) => return self.fill(&path, colour),
            Paint::Rising(colour) => (colour, -1.0),
            Paint::Falling(colour) => (colour, 1.0),
        };
        self.fill(&path, colour.thinned(THIN));
        let Some(mut mask) = Mask::new(self.pixmap.width(), self.pixmap.height()) else { return };
        mask.fill_path(&path, FillRule::Winding, true, density());
        if let Some(lines) = open(&hatching(outline, slope)) {
            let stroke = Stroke { width: single(Paint::HATCH_WIDTH), ..Stroke::default() };
            self.stroke(&lines, colour, &stroke, Some(&mask));
        }
    }

    fn text(&mut self, text: &Text) {
        let (letters, width) = self.fonts.place(&text.text, text.size, text.weight);
        let start = match text.anchor {
            Anchor::Start => text.at.x,
            Anchor::Middle => text.at.x - width / 2.0,
            Anchor::End => text.at.x - width,
        };
        let face = self.fonts.face(text.weight);
        let scale = single(self.fonts.scale(text.size, text.weight));
        let mut pen = Outline { path: PathBuilder::new(), scale, x: 0.0, y: single(text.at.y) };
        for letter in letters {
            pen.x = single(start + letter.x);
            face.outline_glyph(letter.glyph, &mut pen);
        }
        let Some(path) = pen.path.finish() else { return };
        if text.backing == Backing::Seam {
            let seam = Stroke { width: single(Backing::SEAM_WIDTH), line_join: LineJoin::Round, ..Stroke::default() };
            self.stroke(&path, Colour::WHITE, &seam, None);
        }
        self.fill(&path, text.colour);
    }

    fn fill(&mut self, path: &Path, colour: Colour) {
        self.pixmap.fill_path(path, &ink(colour), FillRule::Winding, density(), None);
    }

    fn stroke(&mut self, path: &Path, colour: Colour, stroke: &Stroke, mask: Option<&Mask>) {
        self.pixmap.stroke_path(path, &ink(colour), stroke, density(), mask);
    }
}

/// Letters as a path, the font's grid turned over and scaled.
struct Outline {
    path: PathBuilder,
    scale: f32,
    x: f32,
    y: f32,
}

impl Outline {
    fn at(&self, x: f32, y: f32) -> (f32, f32) {
        (self.x + x * self.scale, self.y - y * self.scale)
    }
}

impl OutlineBuilder for Outline {
    fn move_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.at(x, y);
        self.path.move_to(x, y);
    }

    fn line_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.at(x, y);
        self.path.line_to(x, y);
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        let ((x1, y1), (x, y)) = (self.at(x1, y1), self.at(x, y));
        self.path.quad_to(x1, y1, x, y);
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        let ((x1, y1), (x2, y2), (x, y)) = (self.at(x1, y1), self.at(x2, y2), self.at(x, y));
        self.path.cubic_to(x1, y1, x2, y2, x, y);
    }

    fn close(&mut self) {
        self.path.close();
    }
}

/// Lines across the box around an outline.
fn hatching(outline: &[Point], slope: f64) -> Vec<Vec<Point>> {
    let least = |value: fn(&Point) -> f64| outline.iter().map(value).fold(f64::INFINITY, f64::min);
    let most = |value: fn(&Point) -> f64| outline.iter().map(value).fold(f64::NEG_INFINITY, f64::max);
    let (left, right) = (least(|p| p.x), most(|p| p.x));
    let (top, bottom) = (least(|p| p.y), most(|p| p.y));
    // Measured along the edge, the distance between lines at 45 degrees is longer.
    let spacing = Paint::HATCH_SPACING * std::f64::consts::SQRT_2;
    let height = bottom - top;
    let mut lines = Vec::new();
    let mut x = ((left - height) / spacing).floor() * spacing;
    while x < right + height {
        let (from, to) = if slope > 0.0 { (top, bottom) } else { (bottom, top) };
        lines.push(vec![Point { x, y: from }, Point { x: x + height, y: to }]);
        x += spacing;
    }
    lines
}

fn open(lines: &[Vec<Point>]) -> Option<Path> {
    let mut path = PathBuilder::new();
    for line in lines {
        trace(&mut path, line);
    }
    path.finish()
}

fn closed(outline: &[Point]) -> Option<Path> {
    let mut path = PathBuilder::new();
    trace(&mut path, outline);
    path.close();
    path.finish()
}

fn trace(path: &mut PathBuilder, points: &[Point]) {
    let Some((first, rest)) = points.split_first() else { return };
    path.move_to(single(first.x), single(first.y));
    for point in rest {
        path.line_to(single(point.x), single(point.y));
    }
}

fn stroke_of(pen: &Pen) -> Stroke {
    let lengths = pen.dash.lengths().iter().map(|length| single(*length)).collect();
    Stroke {
        width: single(pen.width),
        line_join: LineJoin::Round,
        line_cap: LineCap::Butt,
        dash: if pen.dash == Dash::Solid { None } else { StrokeDash::new(lengths, 0.0) },
        ..Stroke::default()
    }
}

fn ink(colour: Colour) -> Ink<'static> {
    let mut ink = Ink::default();
    ink.set_color_rgba8(colour.0, colour.1, colour.2, 255);
    ink
}

fn density() -> Transform {
    Transform::from_scale(DENSITY, DENSITY)
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a picture has a few thousand pixels")]
fn dense(length: f64) -> u32 {
    (length * f64::from(DENSITY)).ceil() as u32
}

#[expect(clippy::cast_possible_truncation, reason = "a place in a picture needs no more")]
fn single(value: f64) -> f32 {
    value as f32
}
