//! Incidents and runs, a line each.

use std::time::Duration;

use hub::api::runs::{RunInfo, RunProgress};
use mesh::incident::Incident;
use mesh::notify;
use mesh::run::Priority;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use ratatui::text::Line;
use ratatui::widgets::{List, ListState, Paragraph};
use units::{WallTime, duration};

use super::{Pane, Screen};
use crate::show::grid::text::plain;

impl Screen {
    pub(super) fn incidents_title(&self) -> String {
        match self.incidents().len() {
            0 => "incidents".to_owned(),
            count => format!("incidents: {count} open"),
        }
    }

    pub(super) fn draw_incidents(&self, frame: &mut Frame<'_>, area: Rect) {
        let Some(now) = self.now() else { return };
        let incidents = self.incidents();
        if incidents.is_empty() {
            frame.render_widget(Paragraph::new("no open incident"), area);
            return;
        }
        let lines = incidents.iter().map(|incident| Line::raw(incident_line(incident, now))).collect();
        self.draw_list(frame, area, Lines { pane: Pane::Incidents, lines, selected: self.incident });
    }

    pub(super) fn runs_title(&self) -> String {
        let runs = &self.runs().runs;
        let running = runs.iter().filter(|run| run.progress == RunProgress::Running).count();
        format!("runs: {running} under way")
    }

    pub(super) fn draw_runs(&self, frame: &mut Frame<'_>, area: Rect) {
        let Some(now) = self.now() else { return };
        let runs = self.runs();
        if runs.runs.is_empty() {
            frame.render_widget(Paragraph::new("no run waits"), area);
            return;
        }
        let mut lines: Vec<Line<'static>> = runs.runs.iter().map(|run| Line::raw(run_line(run, now))).collect();
        if runs.more > 0 {
            lines.push(Line::raw(format!("and {} more that wait", runs.more)));
        }
        self.draw_list(frame, area, Lines { pane: Pane::Runs, lines, selected: self.run });
    }

    fn draw_list(&self, frame: &mut Frame<'_>, area: Rect, list: Lines) {
        let here = self.pane == list.pane;
        let style = if here { Style::new().add_modifier(Modifier::REVERSED) } else { Style::new() };
        let mut state = ListState::default().with_selected(here.then_some(list.selected));
        frame.render_stateful_widget(List::new(list.lines).highlight_style(style), area, &mut state);
    }

    /// When the hub said what is shown.
    fn now(&self) -> Option<WallTime> {
        self.overview.as_ref().map(|overview| overview.at)
    }
}

/// The lines of a part, and which is selected.
struct Lines {
    pane: Pane,
    lines: Vec<Line<'static>>,
    selected: usize,
}

fn incident_line(incident: &Incident, now: WallTime) -> String {
    let ago = Duration::from_secs(now.unix_seconds().saturating_sub(incident.since.unix_seconds()));
    let explained = incident
        .explanation
        .as_ref()
        .map_or_else(String::new, |explanation| format!(": {explanation} ({:.0} %)", 100.0 * explanation.probability));
    plain(&format!("{}, for {}{explained}", notify::subject(incident), duration::show(ago)))
}

fn run_line(run: &RunInfo, now: WallTime) -> String {
    let asked = if run.priority == Priority::OnDemand { ", asked for" } else { "" };
    let progress = match run.progress {
        RunProgress::Running => "runs".to_owned(),
        RunProgress::Missing => "missing, its agent is silent".to_owned(),
        RunProgress::Waiting if run.not_before <= now => "due".to_owned(),
        RunProgress::Waiting => match run.not_before.unix_seconds().saturating_sub(now.unix_seconds()) {
            seconds @ ..120 => format!("in {seconds} s"),
            seconds => format!("in {}", duration::show(Duration::from_secs(seconds))),
        },
    };
    plain(&format!("{} from {} to {}: {progress}{asked}", run.test, run.from, run.to))
}
