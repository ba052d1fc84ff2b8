//! The fonts that come with the program, so that there is text on machines without any.

use ttf_parser::{Face, FaceParsingError, GlyphId};

use crate::scene::Weight;

/// Both weights of one family.
pub(crate) struct Fonts {
    regular: Face<'static>,
    bold: Face<'static>,
}

/// One letter, where its line of text has it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Placed {
    pub(crate) glyph: GlyphId,
    /// Distance from the start of the text.
    pub(crate) x: f64,
}

impl Fonts {
    /// Reads the fonts.
    ///
    /// # Errors
    /// If the program was built with a damaged font.
    pub(crate) fn new() -> Result<Self, FaceParsingError> {
        Ok(Self { regular: Face::parse(REGULAR, 0)?, bold: Face::parse(BOLD, 0)? })
    }

    /// The outlines of one weight.
    pub(crate) fn face(&self, weight: Weight) -> &Face<'static> {
        match weight {
            Weight::Regular => &self.regular,
            Weight::Bold => &self.bold,
        }
    }

    /// Pixels for one unit of the font's own grid.
    pub(crate) fn scale(&self, size: f64, weight: Weight) -> f64 {
        size / f64::from(self.face(weight).units_per_em())
    }

    /// How wide a line of text is.
    pub(crate) fn width(&self, text: &str, size: f64, weight: Weight) -> f64 {
        self.place(text, size, weight).1
    }

    /// Each letter with its place, and the width of all.
    ///
    /// Letters stand side by side without kerning: numbers and names of hosts need no more.
    pub(crate) fn place(&self, text: &str, size: f64, weight: Weight) -> (Vec<Placed>, f64) {
        let (face, scale) = (self.face(weight), self.scale(size, weight));
        let mut x = 0.0;
        let placed = text
            .chars()
            .map(|letter| {
                let glyph = glyph(face, letter);
                let here = Placed { glyph, x };
                x += f64::from(face.glyph_hor_advance(glyph).unwrap_or(0)) * scale;
                here
            })
            .collect();
        (placed, x)
    }

    /// `text`, its middle left out where it is wider than `width`.
    pub(crate) fn fitted(&self, text: &str, width: f64, size: f64, weight: Weight) -> String {
        if self.width(text, size, weight) <= width {
            return text.to_owned();
        }
        let letters: Vec<char> = text.chars().collect();
        let cut = |kept: usize| -> String {
            let (head, tail) = (kept.div_ceil(2), kept / 2);
            letters[..head].iter().chain(&['…']).chain(&letters[letters.len() - tail..]).collect()
        };
        let fits = |kept: &usize| self.width(&cut(*kept), size, weight) <= width;
        (0..letters.len()).rev().find(fits).map_or_else(|| "…".to_owned(), cut)
    }
}

/// A letter that the font lacks is shown as the sign for that.
fn glyph(face: &Face<'_>, letter: char) -> GlyphId {
    face.glyph_index(letter).or_else(|| face.glyph_index('\u{fffd}')).unwrap_or(GlyphId(0))
}

const REGULAR: &[u8] = include_bytes!("font/DejaVuSans.ttf");
const BOLD: &[u8] = include_bytes!("font/DejaVuSans-Bold.ttf");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fonts_have_every_letter_that_pictures_use() {
        let fonts = Fonts::new().unwrap();
        for weight in [Weight::Regular, Weight::Bold] {
            for letter in "AZaz09 µ→←↑…–·×%/(),;:ÄéñłŻ".chars() {
                assert!(fonts.face(weight).glyph_index(letter).is_some(), "{letter} in {weight:?}");
            }
        }
    }

    #[test]
    fn a_long_name_loses_its_middle() {
        let fonts = Fonts::new().unwrap();
        let name = "data-transfer-node-17.storage.example.org";
        let short = fonts.fitted(name, 120.0, 12.0, Weight::Regular);
        assert!(fonts.width(&short, 12.0, Weight::Regular) <= 120.0, "{short}");
        assert!(short.starts_with("data-") && short.contains('…') && short.ends_with(".org"), "{short}");
        assert_eq!(fonts.fitted("dtn", 120.0, 12.0, Weight::Regular), "dtn");
    }
}
