//! Colours that colour-blind people tell apart (Okabe and Ito, "Color Universal Design"), each with a dash or hatching
//! of its own wherever two meet in one panel.

use crate::scene::{Colour, Dash, Pen};

pub(crate) const INK: Colour = Colour(0x1f, 0x24, 0x28);
pub(crate) const GREY: Colour = Colour(0x5c, 0x63, 0x6a);
pub(crate) const FRAME: Colour = Colour(0xb4, 0xba, 0xc0);
pub(crate) const GRID: Colour = Colour(0xe6, 0xe9, 0xec);
pub(crate) const SHADE: Colour = Colour(0xf4, 0xf6, 0xf7);

pub(crate) const BLUE: Colour = Colour(0x00, 0x72, 0xb2);
pub(crate) const VERMILLION: Colour = Colour(0xd5, 0x5e, 0x00);
pub(crate) const GREEN: Colour = Colour(0x00, 0x9e, 0x73);
pub(crate) const PURPLE: Colour = Colour(0xcc, 0x79, 0xa7);
pub(crate) const ORANGE: Colour = Colour(0xe6, 0x9f, 0x00);
pub(crate) const SKY: Colour = Colour(0x56, 0xb4, 0xe9);

/// A limit that is known from elsewhere.
pub(crate) const LIMIT: Pen = Pen::new(INK, 1.3, Dash::Dotted);
