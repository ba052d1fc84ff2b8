//! Text on standard error that is drawn anew in its place.

use std::io::IsTerminal;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Text in one place of a terminal.
pub struct Redrawn(ProgressBar);

impl Redrawn {
    /// Whether somebody watches at a terminal that can move its cursor (TERM=dumb cannot).
    pub fn is_possible() -> bool {
        std::io::stdout().is_terminal() && !ProgressDrawTarget::stderr().is_hidden()
    }

    /// Shows `text` first.
    pub fn new(text: &'static str) -> Self {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
        if let Ok(style) = ProgressStyle::with_template("{msg}") {
            bar.set_style(style);
        }
        bar.set_message(text);
        Self(bar)
    }

    /// Shows `text` instead.
    pub fn draw(&self, text: String) {
        self.0.set_message(text);
        self.0.tick();
    }

    /// Has something printed that stays above the text.
    pub fn above(&self, print: impl FnOnce()) {
        self.0.suspend(print);
    }

    /// Leaves the terminal as it was.
    pub fn clear(&self) {
        self.0.finish_and_clear();
    }
}
