//! Colours that colour-blind people tell apart (Okabe and Ito, "Color Universal Design"), each with a dash or hatching
//! of its own wherever two meet in one panel.

use super::scene::{Colour, Dash, Pen};

pub const INK: Colour = Colour(0x1f, 0x24, 0x28);
pub const GREY: Colour = Colour(0x5c, 0x63, 0x6a);
pub const FRAME: Colour = Colour(0xb4, 0xba, 0xc0);
pub const GRID: Colour = Colour(0xe6, 0xe9, 0xec);
pub const SHADE: Colour = Colour(0xf4, 0xf6, 0xf7);

pub const BLUE: Colour = Colour(0x00, 0x72, 0xb2);
pub const VERMILLION: Colour = Colour(0xd5, 0x5e, 0x00);
pub const GREEN: Colour = Colour(0x00, 0x9e, 0x73);
pub const PURPLE: Colour = Colour(0xcc, 0x79, 0xa7);
pub const ORANGE: Colour = Colour(0xe6, 0x9f, 0x00);
pub const SKY: Colour = Colour(0x56, 0xb4, 0xe9);

/// A limit that is known from elsewhere.
pub const LIMIT: Pen = Pen::new(INK, 1.3, Dash::Dotted);
