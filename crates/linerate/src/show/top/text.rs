//! A picture as text, for `--once`.

use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::Buffer;
use ratatui::layout::Size;

use super::Screen;

/// The screen as lines of text, without what only fills them up.
pub fn picture(screen: &Screen, size: Size) -> String {
    let mut terminal = match Terminal::new(TestBackend::new(size.width, size.height)) {
        Ok(terminal) => terminal,
        Err(never) => match never {},
    };
    match terminal.draw(|frame| screen.draw(frame)) {
        Ok(_) => {}
        Err(never) => match never {},
    }
    lines(terminal.backend().buffer())
}

fn lines(buffer: &Buffer) -> String {
    let width = usize::from(buffer.area.width).max(1);
    let line = |cells: &[ratatui::buffer::Cell]| {
        let text: String = cells.iter().map(ratatui::buffer::Cell::symbol).collect();
        text.trim_end().to_owned() + "\n"
    };
    let text: String = buffer.content.chunks(width).map(line).collect();
    text.trim_end().to_owned() + "\n"
}
