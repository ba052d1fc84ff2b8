//! A scene as SVG: text stays text, so it can be searched, copied and read aloud.

use std::fmt::{self, Write};

use crate::scene::{Anchor, Backing, Colour, Paint, Pen, Point, Scene, Shape, Text, Weight};

/// SVG document of a scene, as UTF-8.
pub(crate) fn document(scene: &Scene) -> Vec<u8> {
    let mut svg = String::new();
    // Writing to a string cannot fail.
    let _ = write(&mut svg, scene);
    svg.into_bytes()
}

fn write(svg: &mut String, scene: &Scene) -> fmt::Result {
    let (width, height) = (number(scene.width), number(scene.height));
    writeln!(
        svg,
        r#"<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" role="img" font-family="{FAMILY}">"#
    )?;
    writeln!(svg, "<title>{}</title>", escaped(&scene.title))?;
    patterns(svg, scene)?;
    writeln!(svg, r#"<rect width="{width}" height="{height}" fill="{}"/>"#, hex(Colour::WHITE))?;
    for group in &scene.groups {
        writeln!(svg, r#"<g id="{}">"#, escaped(&group.name))?;
        for shape in &group.shapes {
            write_shape(svg, shape)?;
        }
        writeln!(svg, "</g>")?;
    }
    writeln!(svg, "</svg>")
}

fn write_shape(svg: &mut String, shape: &Shape) -> fmt::Result {
    match shape {
        Shape::Lines { lines, pen } => {
            let data: String = lines.iter().map(|line| path(line)).collect();
            writeln!(svg, r#"<path d="{data}" fill="none" {}/>"#, stroke(pen))
        }
        Shape::Area { outline, paint } => {
            writeln!(svg, r#"<path d="{}Z" fill="{}"/>"#, path(outline), fill(*paint))
        }
        Shape::Dots { centres, diameter, colour } => {
            // A line of no length with round ends: a third of the bytes of a circle.
            let data: String = centres.iter().map(|dot| format!("M{} {}h0", number(dot.x), number(dot.y))).collect();
            writeln!(
                svg,
                r#"<path d="{data}" stroke="{}" stroke-width="{}" stroke-linecap="round"/>"#,
                hex(*colour),
                number(*diameter)
            )
        }
        Shape::Text(text) => write_text(svg, text),
    }
}

fn write_text(svg: &mut String, text: &Text) -> fmt::Result {
    let anchor = match text.anchor {
        Anchor::Start => "",
        Anchor::Middle => r#" text-anchor="middle""#,
        Anchor::End => r#" text-anchor="end""#,
    };
    let weight = match text.weight {
        Weight::Regular => "",
        Weight::Bold => r#" font-weight="bold""#,
    };
    let seam = match text.backing {
        Backing::None => String::new(),
        Backing::Seam => format!(
            r##" stroke="#fff" stroke-width="{}" stroke-linejoin="round" paint-order="stroke""##,
            number(Backing::SEAM_WIDTH)
        ),
    };
    writeln!(
        svg,
        r#"<text x="{}" y="{}" font-size="{}" fill="{}"{anchor}{weight}{seam}>{}</text>"#,
        number(text.at.x),
        number(text.at.y),
        number(text.size),
        hex(text.colour),
        escaped(&text.text)
    )
}

/// The hatchings that the scene uses, each once.
fn patterns(svg: &mut String, scene: &Scene) -> fmt::Result {
    let mut used: Vec<Paint> = Vec::new();
    for shape in scene.groups.iter().flat_map(|group| &group.shapes) {
        if let Shape::Area { paint, .. } = shape
            && !matches!(paint, Paint::Solid(_))
            && !used.contains(paint)
        {
            used.push(*paint);
        }
    }
    if used.is_empty() {
        return Ok(());
    }
    writeln!(svg, "<defs>")?;
    for paint in used {
        let (colour, angle) = match paint {
            Paint::Solid(colour) => (colour, 0),
            Paint::Rising(colour) => (colour, -45),
            Paint::Falling(colour) => (colour, 45),
        };
        let spacing = number(Paint::HATCH_SPACING);
        writeln!(
            svg,
            r#"<pattern id="{}" width="{spacing}" height="{spacing}" patternUnits="userSpaceOnUse" patternTransform="rotate({angle})"><rect width="{spacing}" height="{spacing}" fill="{}"/><path d="M0 1H{spacing}" stroke="{}" stroke-width="{}"/></pattern>"#,
            pattern_name(paint),
            hex(colour.thinned(THIN)),
            hex(colour),
            number(Paint::HATCH_WIDTH),
        )?;
    }
    writeln!(svg, "</defs>")
}

fn fill(paint: Paint) -> String {
    match paint {
        Paint::Solid(colour) => hex(colour),
        Paint::Rising(_) | Paint::Falling(_) => format!("url(#{})", pattern_name(paint)),
    }
}

fn pattern_name(paint: Paint) -> String {
    let (kind, colour) = match paint {
        Paint::Solid(colour) => ("solid", colour),
        Paint::Rising(colour) => ("rising", colour),
        Paint::Falling(colour) => ("falling", colour),
    };
    format!("{kind}-{}", hex(colour).trim_start_matches('#'))
}

fn stroke(pen: &Pen) -> String {
    let mut text =
        format!(r#"stroke="{}" stroke-width="{}" stroke-linejoin="round""#, hex(pen.colour), number(pen.width));
    let dash: Vec<String> = pen.dash.lengths().iter().map(|length| number(*length)).collect();
    if !dash.is_empty() {
        text.push_str(&format!(r#" stroke-dasharray="{}""#, dash.join(" ")));
    }
    text
}

/// A polyline; runs along an axis are written short.
fn path(points: &[Point]) -> String {
    let mut data = String::new();
    let mut before: Option<(String, String)> = None;
    for point in points {
        let now = (number(point.x), number(point.y));
        let piece = match &before {
            None => format!("M{} {}", now.0, now.1),
            Some(before) if *before == now => String::new(),
            Some((_, y)) if *y == now.1 => format!("H{}", now.0),
            Some((x, _)) if *x == now.0 => format!("V{}", now.1),
            Some(_) => format!("L{} {}", now.0, now.1),
        };
        data.push_str(&piece);
        before = Some(now);
    }
    data
}

/// A tenth of a pixel is as fine as anybody sees.
fn number(value: f64) -> String {
    let text = format!("{value:.1}");
    match text.strip_suffix(".0") {
        Some("-0") => "0".to_owned(),
        Some(whole) => whole.to_owned(),
        None => text,
    }
}

fn hex(colour: Colour) -> String {
    format!("#{:02x}{:02x}{:02x}", colour.0, colour.1, colour.2)
}

/// Text as XML allows it: names may come from a peer, so anything may be in them.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            letter if letter.is_control() || matches!(letter, '\u{fffe}' | '\u{ffff}') => escaped.push('\u{fffd}'),
            letter => escaped.push(letter),
        }
    }
    escaped
}

/// DejaVu is the font that widths are reckoned with; Verdana has the same widths and the rest is narrower.
const FAMILY: &str = "DejaVu Sans, Verdana, Arial, sans-serif";

/// How much colour the ground of a hatching keeps.
pub(crate) const THIN: f64 = 0.3;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_a_tenth_at_most_and_no_needless_digits() {
        assert_eq!([0.0, -0.01, 12.0, 12.34, -3.5].map(number), ["0", "0", "12", "12.3", "-3.5"]);
    }

    #[test]
    fn text_of_a_peer_cannot_become_markup() {
        assert_eq!(escaped("a<b>&\"c\"\u{1b}[0m\0"), "a&lt;b&gt;&amp;&quot;c&quot;\u{fffd}[0m\u{fffd}");
    }

    #[test]
    fn stairs_are_written_short() {
        let points = [(0.0, 5.0), (10.0, 5.0), (10.0, 5.0), (10.0, 7.0), (12.0, 9.0)].map(|(x, y)| Point { x, y });
        assert_eq!(path(&points), "M0 5H10V7L12 9");
    }
}
