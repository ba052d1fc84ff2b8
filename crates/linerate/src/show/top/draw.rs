//! The parts of the picture, each in its place.

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Modifier, Style};
use ratatui::text::Line;
use ratatui::widgets::{Block, Borders, Paragraph, Wrap};

use super::{Pane, Screen};
use crate::show::grid::text::plain;

impl Screen {
    /// Draws all of it into the room that there is.
    pub fn draw(&self, frame: &mut Frame<'_>) {
        let [head, body, foot] =
            Layout::vertical([Constraint::Length(1), Constraint::Min(0), Constraint::Length(1)]).areas(frame.area());
        frame.render_widget(Paragraph::new(self.heading()).style(Style::new().add_modifier(Modifier::BOLD)), head);
        frame.render_widget(Paragraph::new(self.keys()).style(Style::new().add_modifier(Modifier::DIM)), foot);
        if let Some(id) = &self.open {
            let body = framed(frame, body, &plain(&id.0), Focus::Here);
            self.draw_incident(frame, body);
            return;
        }
        let (grid, incidents, runs) = places(body, self.height_of_grid());
        let grid = framed(frame, grid, &self.grid_title(), self.focus(Pane::Grid));
        self.draw_grid(frame, grid);
        let incidents = framed(frame, incidents, &self.incidents_title(), self.focus(Pane::Incidents));
        self.draw_incidents(frame, incidents);
        let runs = framed(frame, runs, &self.runs_title(), self.focus(Pane::Runs));
        self.draw_runs(frame, runs);
    }

    fn focus(&self, pane: Pane) -> Focus {
        if self.pane == pane { Focus::Here } else { Focus::Elsewhere }
    }

    fn heading(&self) -> Line<'static> {
        let overview = self.overview.as_ref().map(|overview| mesh::clock::shown(overview.at));
        let state = match (&self.failure, overview) {
            (Some(why), Some(at)) => format!("{}; shown is {at}", plain(why)),
            (Some(why), None) => plain(why),
            (None, Some(at)) => at,
            (None, None) => "asking".to_owned(),
        };
        Line::raw(format!("linerate top {}  {state}", plain(&self.hub)))
    }

    const fn keys(&self) -> &'static str {
        match (&self.open, self.pane) {
            (Some(_), _) => "up, down scroll   Esc back   r ask anew   q quit",
            (None, Pane::Grid) => "arrows move   m, M other grid   Tab incidents   r ask anew   q quit",
            (None, Pane::Incidents) => "up, down choose   Enter open   Tab runs   r ask anew   q quit",
            (None, Pane::Runs) => "up, down choose   Tab grid   r ask anew   q quit",
        }
    }

    fn draw_incident(&self, frame: &mut Frame<'_>, area: Rect) {
        let detail = self.overview.as_ref().and_then(|overview| overview.detail.as_ref());
        let text = match detail.filter(|detail| Some(&detail.incident.id) == self.open.as_ref()) {
            Some(detail) => foreign::terminal::lines(&crate::show::hub::incident(detail)).into_owned(),
            None => "asking".to_owned(),
        };
        frame.render_widget(Paragraph::new(text).wrap(Wrap { trim: false }).scroll((self.scrolled, 0)), area);
    }
}

/// Whether keys go to a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Focus {
    Here,
    Elsewhere,
}

/// Grid, incidents, runs: side by side where there is room for it, else one below the other, the grid no higher than it is.
fn places(body: Rect, height_of_grid: u16) -> (Rect, Rect, Rect) {
    if body.width >= WIDE {
        let [grid, lists] = Layout::horizontal([Constraint::Percentage(60), Constraint::Percentage(40)]).areas(body);
        let [incidents, runs] = Layout::vertical([Constraint::Fill(1), Constraint::Fill(1)]).areas(lists);
        (grid, incidents, runs)
    } else {
        let [grid, incidents, runs] = Layout::vertical([
            Constraint::Length(height_of_grid.min(body.height * 3 / 5)),
            Constraint::Fill(1),
            Constraint::Fill(1),
        ])
        .areas(body);
        (grid, incidents, runs)
    }
}

/// Draws a line with a title above a part; the room below it.
fn framed(frame: &mut Frame<'_>, area: Rect, title: &str, focus: Focus) -> Rect {
    let (mark, style) = match focus {
        Focus::Here => ("> ", Style::new().add_modifier(Modifier::BOLD)),
        Focus::Elsewhere => ("", Style::new()),
    };
    let block = Block::new().borders(Borders::TOP).title(format!("{mark}{title} ")).title_style(style);
    let inner = block.inner(area);
    frame.render_widget(block, area);
    inner
}

/// Columns of a terminal from which lists stand beside the grid.
const WIDE: u16 = 110;
