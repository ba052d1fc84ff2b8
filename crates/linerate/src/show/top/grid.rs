//! The grid of a test and metric: rows send, columns receive. A mark is always there; colour only repeats it.

use hub::api::mesh::{Grid, SeriesInfo, SeriesState};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Paragraph, Wrap};

use super::{CellPosition, Pane, Screen};
use crate::show::grid::text::{Colour, plain};
use crate::show::hub::amount;

impl Screen {
    pub(super) fn grid_title(&self) -> String {
        let Some(grid) = self.shown_grid() else { return "grid".to_owned() };
        let count = self.overview.as_ref().map_or(0, |overview| overview.grids.grids.len());
        format!("{} of test {}; grid {} of {count}", grid.metric, plain(&grid.test), self.grid + 1)
    }

    pub(super) fn draw_grid(&self, frame: &mut Frame<'_>, area: Rect) {
        let Some(grid) = self.shown_grid().filter(|_| area.height > DETAIL_LINES) else {
            let none =
                if self.overview.is_some() { "no result yet; `linerate hub plan` gives the hub its tests" } else { "" };
            frame.render_widget(Paragraph::new(none), area);
            return;
        };
        let rows = Rect { height: area.height - DETAIL_LINES, ..area };
        let below = Rect { y: area.y + rows.height, height: DETAIL_LINES, ..area };
        frame.render_widget(Paragraph::new(self.matrix(grid, rows)), rows);
        let selected_pair = Paragraph::new(vec![Line::raw(self.selected_pair(grid)), Line::raw(LEGEND)]);
        frame.render_widget(selected_pair.wrap(Wrap { trim: true }), below);
    }

    /// Lines that the whole grid takes, with its title and what is told below.
    pub(super) fn height_of_grid(&self) -> u16 {
        let hosts = self.shown_grid().map_or(0, |grid| grid.hosts.len());
        u16::try_from(hosts).unwrap_or(u16::MAX).saturating_add(DETAIL_LINES + 2)
    }

    /// Head and rows, around the cell that is selected.
    fn matrix(&self, grid: &Grid, area: Rect) -> Vec<Line<'static>> {
        let names: Vec<String> = grid.hosts.iter().map(|host| plain(host)).collect();
        let first = names.iter().map(|name| name.chars().count()).max().unwrap_or(0).min(MOST_OF_NAME);
        let room = usize::from(area.width).saturating_sub(first);
        let form = CellFormat::fitting(&names, room);
        let columns = visible(self.place.column, &names, room / form.width());
        let rows = visible(self.place.row, &names, usize::from(area.height).saturating_sub(1));
        let mut lines = vec![Line::raw(format!("{:first$}{}", "", form.head(&names, columns.clone())))];
        for row in rows {
            let mut spans = vec![Span::raw(format!("{:first$}", short(&names[row], first)))];
            for column in columns.clone() {
                spans.push(Span::raw(" "));
                spans.push(self.cell(grid, CellPosition { row, column }, &form));
            }
            lines.push(Line::from(spans));
        }
        lines
    }

    fn cell(&self, grid: &Grid, place: CellPosition, form: &CellFormat) -> Span<'static> {
        let info = at(grid, place);
        let width = form.width() - 1;
        let text = match (place.row == place.column, info, form) {
            (true, _, _) => String::new(),
            (false, None, _) => "·".to_owned(),
            (false, Some(info), CellFormat::Marks) => mark(info.state).to_owned(),
            (false, Some(info), CellFormat::Amounts { .. }) => {
                let amount = info.last.map_or_else(|| "-".to_owned(), |last| amount(info.series.metric, last.value));
                format!("{} {amount}", mark(info.state))
            }
        };
        let mut style = info.map_or(Style::new(), |info| style(info.state, self.colour));
        if self.pane == Pane::Grid && place == self.place {
            style = style.add_modifier(Modifier::REVERSED);
        }
        Span::styled(format!("{:width$}", short(&text, width)), style)
    }

    /// The cell that is selected, in words.
    fn selected_pair(&self, grid: &Grid) -> String {
        let name = |index: usize| grid.hosts.get(index).map(|host| plain(host)).unwrap_or_default();
        let pair = format!("{} to {}", name(self.place.row), name(self.place.column));
        match at(grid, self.place) {
            None if self.place.row == self.place.column => name(self.place.row),
            None => format!("{pair}: not tested"),
            Some(SeriesInfo { series, state, last, usual, .. }) => {
                let shown =
                    |value: Option<f64>| value.map_or_else(|| "-".to_owned(), |value| amount(series.metric, value));
                let last = last.map(|last| last.value);
                format!("{pair}: {}, usually {}: {}", shown(last), shown(*usual), words(*state))
            }
        }
    }
}

/// How cells look.
#[derive(Debug, Clone, PartialEq, Eq)]
enum CellFormat {
    /// A mark for each, where there are many hosts.
    Marks,
    /// A mark and the last result, so wide with the space before it.
    Amounts { width: usize },
}

impl CellFormat {
    fn fitting(names: &[String], room: usize) -> Self {
        let longest = names.iter().map(|name| name.chars().count()).max().unwrap_or(0);
        let width = longest.clamp(AMOUNT, MOST_OF_NAME) + 1;
        if names.len() * width <= room { Self::Amounts { width } } else { Self::Marks }
    }

    const fn width(&self) -> usize {
        match self {
            Self::Marks => 2,
            Self::Amounts { width } => *width,
        }
    }

    /// Names of columns, or the last digit of their numbers.
    fn head(&self, names: &[String], columns: std::ops::Range<usize>) -> String {
        let width = self.width() - 1;
        let head = |column: usize| match self {
            Self::Marks => format!(" {}", (column + 1) % 10),
            Self::Amounts { .. } => format!(" {:width$}", short(&names[column], width)),
        };
        columns.map(head).collect()
    }
}

/// As many as fit, with the selected one among them.
fn visible(selected: usize, names: &[String], fitting: usize) -> std::ops::Range<usize> {
    let count = names.len();
    let fitting = fitting.min(count);
    let start = (selected + 1).saturating_sub(fitting).min(count - fitting);
    start..start + fitting
}

fn at(grid: &Grid, place: CellPosition) -> Option<&SeriesInfo> {
    let (from, to) = (grid.hosts.get(place.row)?, grid.hosts.get(place.column)?);
    grid.cells.iter().find(|cell| cell.series.from == *from && cell.series.to == *to)
}

/// A text in so many columns at most.
fn short(text: &str, columns: usize) -> String {
    if text.chars().count() <= columns {
        return text.to_owned();
    }
    text.chars().take(columns.saturating_sub(1)).chain(['…']).collect()
}

const fn mark(state: SeriesState) -> &'static str {
    match state {
        SeriesState::Good => "=",
        SeriesState::Worse => "!",
        SeriesState::Suspect => "~",
        SeriesState::Learning => "+",
        SeriesState::Stale => "?",
        SeriesState::NoData => "-",
    }
}

const fn words(state: SeriesState) -> &'static str {
    match state {
        SeriesState::Good => "as usual",
        SeriesState::Worse => "worse than usual",
        SeriesState::Suspect => "suspect, the evidence is not enough",
        SeriesState::Learning => "learning, too few results for a baseline",
        SeriesState::Stale => "stale, no good result for too long",
        SeriesState::NoData => "never a result",
    }
}

/// Colours that colour-blind people tell apart, as those of the grid of a round.
fn style(state: SeriesState, colour: Colour) -> Style {
    if colour == Colour::Off {
        return Style::new();
    }
    match state {
        SeriesState::Good => Style::new().bg(Color::Indexed(25)).fg(Color::Indexed(15)),
        SeriesState::Worse => Style::new().bg(Color::Indexed(166)).fg(Color::Indexed(15)),
        SeriesState::Suspect => Style::new().bg(Color::Indexed(214)).fg(Color::Indexed(16)),
        SeriesState::Learning | SeriesState::Stale | SeriesState::NoData => Style::new().add_modifier(Modifier::DIM),
    }
}

const LEGEND: &str = "= as usual  ! worse  ~ suspect  + learning  ? stale  - no result  · not tested";
/// Lines below the grid.
const DETAIL_LINES: u16 = 3;
/// Columns of a name.
const MOST_OF_NAME: usize = 16;
/// Columns of a mark and an amount.
const AMOUNT: usize = 13;
