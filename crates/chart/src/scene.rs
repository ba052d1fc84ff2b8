//! What a picture consists of, before it becomes SVG or pixels.
//!
//! Both forms are made from the same few shapes, so that they look the same and neither can do what the other cannot.

/// A picture on white. Lengths are in CSS pixels, `y` grows downwards.
#[derive(Debug, Clone)]
pub(crate) struct Scene {
    pub(crate) width: f64,
    pub(crate) height: f64,
    /// What it shows, for readers that cannot see it.
    pub(crate) title: String,
    pub(crate) groups: Vec<Group>,
}

/// Shapes that belong together, drawn in order.
#[derive(Debug, Clone)]
pub(crate) struct Group {
    pub(crate) name: String,
    pub(crate) shapes: Vec<Shape>,
}

/// One mark on the picture.
#[derive(Debug, Clone)]
pub(crate) enum Shape {
    /// Open lines of one pen.
    Lines { lines: Vec<Vec<Point>>, pen: Pen },
    /// A filled outline.
    Area { outline: Vec<Point>, paint: Paint },
    /// Round dots.
    Dots { centres: Vec<Point>, diameter: f64, colour: Colour },
    /// A line of text.
    Text(Text),
}

impl Shape {
    /// A filled rectangle.
    pub(crate) fn rectangle(left: f64, top: f64, right: f64, bottom: f64, paint: Paint) -> Self {
        let outline = [(left, top), (right, top), (right, bottom), (left, bottom)];
        Self::Area { outline: outline.map(|(x, y)| Point { x, y }).to_vec(), paint }
    }

    /// One straight line.
    pub(crate) fn line(from: Point, to: Point, pen: Pen) -> Self {
        Self::Lines { lines: vec![vec![from, to]], pen }
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Point {
    pub(crate) x: f64,
    pub(crate) y: f64,
}

/// How a line is drawn. Dashes tell lines apart where colours do not.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Pen {
    pub(crate) colour: Colour,
    pub(crate) width: f64,
    pub(crate) dash: Dash,
}

impl Pen {
    pub(crate) const fn new(colour: Colour, width: f64, dash: Dash) -> Self {
        Self { colour, width, dash }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dash {
    Solid,
    Long,
    Short,
    Dotted,
}

impl Dash {
    /// Lengths of line and gap, in turn; nothing where the line is solid.
    pub(crate) const fn lengths(self) -> &'static [f64] {
        match self {
            Self::Solid => &[],
            Self::Long => &[7.0, 3.5],
            Self::Short => &[4.0, 2.5],
            Self::Dotted => &[1.2, 2.4],
        }
    }
}

/// How an area is filled. Hatching tells areas apart where colours do not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Paint {
    Solid(Colour),
    /// Lines that rise to the right, on the colour thinned.
    Rising(Colour),
    /// Lines that fall to the right, on the colour thinned.
    Falling(Colour),
}

impl Paint {
    /// Distance between the lines of a hatching.
    pub(crate) const HATCH_SPACING: f64 = 5.0;
    /// Width of the lines of a hatching.
    pub(crate) const HATCH_WIDTH: f64 = 1.4;
}

/// Red, green, blue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Colour(pub u8, pub u8, pub u8);

impl Colour {
    pub(crate) const WHITE: Self = Self(255, 255, 255);

    /// The colour mixed with white, `share` of it left.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between two values of a byte")]
    pub(crate) fn thinned(self, share: f64) -> Self {
        let mix = |part: u8| (255.0 - (255.0 - f64::from(part)) * share.clamp(0.0, 1.0)).round() as u8;
        Self(mix(self.0), mix(self.1), mix(self.2))
    }
}

/// A line of text that starts at, is centred on, or ends at a point of its baseline.
#[derive(Debug, Clone)]
pub(crate) struct Text {
    pub(crate) at: Point,
    pub(crate) text: String,
    pub(crate) size: f64,
    pub(crate) weight: Weight,
    pub(crate) colour: Colour,
    pub(crate) anchor: Anchor,
    pub(crate) backing: Backing,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Weight {
    Regular,
    Bold,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

/// What keeps a text readable above lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Backing {
    None,
    /// A white seam around the letters.
    Seam,
}

impl Backing {
    /// Width of the seam's pen; half of it is seen.
    pub(crate) const SEAM_WIDTH: f64 = 4.0;
}
