//! Pictures: a run, a transfer of a packet capture, a simulated transfer, a sweep, a search for settings, the grid of a round.
//!
//! Each subject decides what its panels show; all are laid out and drawn in the same way, so that they look alike:
//!
//! * [`run`], [`simulated`], [`swept`], [`tuned`], [`detected`], [`gateways`], [`grid`], [`trace`], [`ends`],
//!   [`bursts`], [`drops`]: the subjects
//! * `header`, `panel`, `axis`, `span`: what a picture consists of, with titles and units
//! * `layout`, `draw`, `font`, `palette`: from panels to a `scene` of shapes
//! * `svg` writes the scene as a document, `raster` and `png` as an image
//!
//! Pure: data in, the bytes of a file out. A picture is bound by its pixels, however many samples it shows.

mod axis;
pub mod bursts;
pub mod detected;
mod draw;
pub mod drops;
pub mod ends;
mod font;
pub mod gateways;
pub mod grid;
mod header;
mod layout;
mod palette;
mod panel;
mod png;
mod raster;
pub mod run;
mod scene;
pub mod simulated;
mod span;
mod svg;
pub mod swept;
pub mod trace;
pub mod tuned;

use std::ffi::OsStr;
use std::path::Path;

use font::Fonts;

/// Why there is no picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ChartError {
    /// The program was built with a font that cannot be read.
    #[error("a font of this program is damaged")]
    Font(#[from] ttf_parser::FaceParsingError),
    /// An image of so many pixels cannot be held in memory.
    #[error("the picture is too large")]
    TooLarge,
    /// There is nothing to draw an axis for.
    #[error("no quantity was drawn, so there is no axis")]
    NoAxis,
}

/// How a picture is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// A drawing that stays sharp, with text that can be searched.
    Svg,
    /// An image, two pixels for each of the drawing.
    Png,
}

impl Form {
    /// The form that a file's name asks for.
    pub fn of(path: &Path) -> Option<Self> {
        let extension = path.extension().and_then(OsStr::to_str)?;
        match extension.to_ascii_lowercase().as_str() {
            "svg" => Some(Self::Svg),
            "png" => Some(Self::Png),
            _ => None,
        }
    }
}

/// A scene, as the bytes of a file.
pub(crate) fn drawn(scene: &scene::Scene, fonts: &Fonts, form: Form) -> Result<Vec<u8>, ChartError> {
    match form {
        Form::Svg => Ok(svg::document(scene)),
        Form::Png => {
            let pixels = raster::pixels(scene, fonts).ok_or(ChartError::TooLarge)?;
            let rgb = pixels.data().chunks_exact(4).flat_map(|pixel| &pixel[..3]).copied().collect();
            Ok(png::file(&png::Image { width: pixels.width(), height: pixels.height(), rgb }))
        }
    }
}
