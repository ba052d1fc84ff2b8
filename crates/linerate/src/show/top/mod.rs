//! A hub's mesh on a terminal: what is shown, and what keys do.
//!
//! [`Screen`] holds what the hub said last and where the reader is; it talks to nobody, so it is drawn on a terminal and into a
//! text alike.
//!
//! * `draw`: the parts of the picture
//! * `grid`: the grid of a test and metric
//! * `lists`: incidents and runs
//! * `text`: a picture as text

mod draw;
mod grid;
mod lists;
mod text;

use hub::api::mesh::{Grid, Grids, IncidentDetail, IncidentList, SeriesState};
use hub::api::runs::Runs;
use mesh::incident::{Incident, IncidentId};
use units::WallTime;

use super::grid::text::Colour;

pub use text::picture;

/// What a hub said.
#[derive(Debug, Clone)]
pub struct Overview {
    pub at: WallTime,
    pub grids: Grids,
    pub incidents: IncidentList,
    pub runs: Runs,
    /// The incident that was asked for.
    pub detail: Option<IncidentDetail>,
}

/// What a reader wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Key {
    Left,
    Right,
    Up,
    Down,
    NextPane,
    NextGrid,
    PreviousGrid,
    Open,
    Back,
    Refresh,
    Quit,
}

/// What a key asks of others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wish {
    Nothing,
    /// The hub is to be asked now; with this incident, where one is open.
    Ask(Option<IncidentId>),
    Quit,
}

/// Where the reader is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Pane {
    Grid,
    Incidents,
    Runs,
}

/// A cell of a grid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct CellPosition {
    row: usize,
    column: usize,
}

/// What is shown, and where the reader is in it.
#[derive(Debug)]
pub struct Screen {
    /// How the hub was named.
    hub: String,
    colour: Colour,
    overview: Option<Overview>,
    /// Why the hub has not answered since.
    failure: Option<String>,
    pane: Pane,
    grid: usize,
    place: CellPosition,
    incident: usize,
    run: usize,
    open: Option<IncidentId>,
    /// How far an open incident is scrolled.
    scrolled: u16,
}

impl Screen {
    pub fn new(hub: &str, colour: Colour) -> Self {
        Self {
            hub: hub.to_owned(),
            colour,
            overview: None,
            failure: None,
            pane: Pane::Grid,
            grid: 0,
            place: CellPosition::default(),
            incident: 0,
            run: 0,
            open: None,
            scrolled: 0,
        }
    }

    /// Takes what the hub said. The reader stays where it is as far as that is still there.
    pub fn update(&mut self, overview: Overview) {
        let selected = self.incidents().get(self.incident).map(|incident| incident.id.clone());
        let shown = self.shown_grid().map(|grid| (grid.test.clone(), grid.metric));
        let is_shown =
            |grid: &Grid| shown.as_ref().is_some_and(|(test, metric)| grid.test == *test && grid.metric == *metric);
        self.grid = overview.grids.grids.iter().position(is_shown).unwrap_or_else(|| worst(&overview.grids));
        self.overview = Some(overview);
        self.failure = None;
        let is_selected = |incident: &&Incident| selected.as_ref() == Some(&incident.id);
        self.incident = self.incidents().iter().position(is_selected).unwrap_or(self.incident);
        self.keep_within();
    }

    /// The hub did not answer; what it said before stays.
    pub fn failed(&mut self, why: String) {
        self.failure = Some(why);
    }

    pub fn press(&mut self, key: Key) -> Wish {
        match key {
            Key::Quit => return Wish::Quit,
            Key::Refresh => return Wish::Ask(self.open.clone()),
            Key::Back => {
                if self.open.take().is_none() {
                    self.pane = Pane::Grid;
                }
            }
            Key::Open => return self.open_selected(),
            Key::Up | Key::Down if self.open.is_some() => {
                self.scrolled =
                    stepped(usize::from(self.scrolled), key, usize::from(u16::MAX)).try_into().unwrap_or(u16::MAX);
            }
            Key::NextPane => {
                self.open = None;
                self.pane = match self.pane {
                    Pane::Grid => Pane::Incidents,
                    Pane::Incidents => Pane::Runs,
                    Pane::Runs => Pane::Grid,
                };
            }
            Key::NextGrid | Key::PreviousGrid => self.turn_to(key),
            Key::Left | Key::Right | Key::Up | Key::Down => self.step(key),
        }
        Wish::Nothing
    }

    fn turn_to(&mut self, key: Key) {
        let count = self.overview.as_ref().map_or(0, |overview| overview.grids.grids.len());
        if count > 0 {
            self.grid = (self.grid + if key == Key::NextGrid { 1 } else { count - 1 }) % count;
            self.keep_within();
        }
    }

    fn step(&mut self, key: Key) {
        let hosts = self.shown_grid().map_or(0, |grid| grid.hosts.len());
        match (self.pane, key) {
            (Pane::Grid, Key::Left | Key::Right) => self.place.column = stepped(self.place.column, key, hosts),
            (Pane::Grid, _) => self.place.row = stepped(self.place.row, key, hosts),
            (Pane::Incidents, Key::Up | Key::Down) => {
                self.incident = stepped(self.incident, key, self.incidents().len());
            }
            (Pane::Runs, Key::Up | Key::Down) => self.run = stepped(self.run, key, self.runs().runs.len()),
            (Pane::Incidents | Pane::Runs, _) => {}
        }
    }

    fn open_selected(&mut self) -> Wish {
        let selected = self.incidents().get(self.incident).map(|incident| incident.id.clone());
        match selected {
            Some(id) if self.pane == Pane::Incidents => {
                self.scrolled = 0;
                self.open = Some(id.clone());
                Wish::Ask(Some(id))
            }
            _ => Wish::Nothing,
        }
    }

    /// Nothing is selected that is not there.
    fn keep_within(&mut self) {
        let hosts = self.shown_grid().map_or(0, |grid| grid.hosts.len());
        let within = |at: usize, count: usize| at.min(count.saturating_sub(1));
        self.place = CellPosition { row: within(self.place.row, hosts), column: within(self.place.column, hosts) };
        self.incident = within(self.incident, self.incidents().len());
        self.run = within(self.run, self.runs().runs.len());
    }

    fn shown_grid(&self) -> Option<&Grid> {
        self.overview.as_ref()?.grids.grids.get(self.grid)
    }

    /// Those that are open, the newest first.
    fn incidents(&self) -> Vec<&Incident> {
        let all = self.overview.iter().flat_map(|overview| &overview.incidents.incidents);
        let mut active: Vec<&Incident> = all.filter(|incident| incident.status.is_active()).collect();
        active.reverse();
        active
    }

    fn runs(&self) -> &Runs {
        const NONE: &Runs = &Runs { runs: Vec::new(), more: 0 };
        self.overview.as_ref().map_or(NONE, |overview| &overview.runs)
    }
}

/// The grid with which a reader begins: that with the most series that are worse than usual, the first of several.
fn worst(grids: &Grids) -> usize {
    let worse = |grid: &Grid| grid.cells.iter().filter(|cell| cell.state == SeriesState::Worse).count();
    let all = grids.grids.iter().enumerate();
    all.min_by_key(|(_, grid)| std::cmp::Reverse(worse(grid))).map_or(0, |(at, _)| at)
}

/// One back or on, within a count.
fn stepped(at: usize, key: Key, count: usize) -> usize {
    match key {
        Key::Left | Key::Up => at.saturating_sub(1),
        _ => (at + 1).min(count.saturating_sub(1)),
    }
}

#[cfg(test)]
mod tests {
    use hub::api::mesh::SeriesInfo;
    use ratatui::layout::Size;
    use serde_json::{Value, json};

    use super::*;

    const AT: u64 = 1_795_526_284_000_000_000;

    fn of<T: serde::de::DeserializeOwned>(value: Value) -> T {
        serde_json::from_value(value).unwrap()
    }

    fn cell(pair: (&str, &str), state: &str) -> SeriesInfo {
        of(json!({
            "from": pair.0, "to": pair.1, "test": "tcp", "metric": "goodput", "state": state, "results": 9, "usual": 42e6,
            "last": { "at_unix_ns": AT, "value": 7e6, "judged": true, "record": 1 },
        }))
    }

    fn incident(id: &str, host: &str) -> Value {
        json!({
            "id": id, "status": "open", "subject": { "element": { "host": host } }, "hosts": [host], "symptoms": [],
            "since_unix_ns": AT - 60_000_000_000, "opened_unix_ns": AT, "timeline": [],
        })
    }

    fn overview(hosts: &[&str]) -> Overview {
        let pairs = hosts.iter().flat_map(|from| hosts.iter().map(move |to| (*from, *to)));
        let state = |pair: &(&str, &str)| if pair.0 == hosts[1] { "worse" } else { "good" };
        let cells = pairs.filter(|(from, to)| from != to).map(|pair| cell(pair, state(&pair))).collect();
        let hosts = hosts.iter().map(|&host| host.to_owned()).collect();
        let goodput = Grid { metric: mesh::incident::Metric::Goodput, test: "tcp".to_owned(), hosts, cells };
        let loss = Grid { metric: mesh::incident::Metric::Loss, cells: Vec::new(), ..goodput.clone() };
        let run = json!({
            "id": "tcp/all/a/b/1", "test": "tcp", "from": "a", "to": "b", "agent": "a", "priority": "periodic",
            "progress": "running", "not_before_unix_ns": AT, "keep_us": 5_000_000,
        });
        Overview {
            at: WallTime::from_unix_nanos(AT),
            grids: Grids { grids: vec![loss, goodput] },
            incidents: of(json!({ "incidents": [] })),
            runs: of(json!({ "runs": [run], "more": 3 })),
            detail: None,
        }
    }

    fn screen(overview: Overview) -> Screen {
        let mut screen = Screen::new("hub", Colour::Off);
        screen.update(overview);
        screen
    }

    const SIZE: Size = Size { width: 80, height: 24 };

    #[test]
    fn few_hosts_have_amounts_and_the_selected_pair_is_told() {
        let mut screen = screen(overview(&["a", "b", "c"]));
        screen.press(Key::Down);
        let text = picture(&screen, SIZE);
        assert!(text.contains("goodput of test tcp; grid 2 of 2"), "{text}");
        assert_eq!(text.matches("! 7.00 Mbit/s").count(), 2, "{text}");
        assert_eq!(text.matches("= 7.00 Mbit/s").count(), 4, "{text}");
        assert!(text.contains("b to a: 7.00 Mbit/s, usually 42.0 Mbit/s: worse than usual"), "{text}");
        assert!(text.contains("tcp from a to b: runs") && text.contains("and 3 more that wait"), "{text}");
    }

    #[test]
    fn of_a_hundred_hosts_those_around_the_selected_one_are_shown() {
        let names: Vec<String> = (0..100).map(|number| format!("host{number:02}")).collect();
        let hosts: Vec<&str> = names.iter().map(String::as_str).collect();
        let mut screen = screen(overview(&hosts));
        for _ in 0..200 {
            screen.press(Key::Down);
            screen.press(Key::Right);
        }
        screen.press(Key::Left);
        let text = picture(&screen, SIZE);
        assert!(text.contains("\nhost99 = = ") && !text.contains("host01"), "{text}");
        assert!(text.contains("host99 to host98: 7.00 Mbit/s"), "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    }

    #[test]
    fn an_open_incident_is_asked_for_and_stays_selected_when_another_one_opens() {
        let mut first = overview(&["a", "b"]);
        first.incidents = of(json!({ "incidents": [incident("I1", "a")] }));
        let mut screen = screen(first);
        screen.press(Key::NextPane);
        let mut second = overview(&["a", "b"]);
        second.incidents = of(json!({ "incidents": [incident("I1", "a"), incident("I2", "b")] }));
        screen.update(second.clone());
        let id = IncidentId("I1".to_owned());
        assert_eq!(screen.press(Key::Open), Wish::Ask(Some(id.clone())));
        second.detail = Some(of(json!({ "incident": incident("I1", "a"), "text": "it is slow\u{1b}[2J" })));
        screen.update(second);
        let text = picture(&screen, SIZE);
        assert!(text.contains("it is slow␛[2J"), "{text}");
        assert_eq!(screen.press(Key::Refresh), Wish::Ask(Some(id)));
        screen.press(Key::Back);
        assert!(picture(&screen, SIZE).contains("> incidents: 2 open"));
    }

    #[test]
    fn a_name_cannot_command_the_terminal_and_any_size_is_drawn() {
        let hostile = screen(overview(&["a\u{1b}[2J", "b"]));
        assert!(picture(&hostile, SIZE).contains("a␛[2J"));
        for (width, height) in [(1, 1), (3, 2), (20, 5), (80, 3), (200, 60)] {
            picture(&hostile, Size { width, height });
        }
    }

    #[test]
    fn a_hub_that_is_away_leaves_what_it_said() {
        let mut screen = screen(overview(&["a", "b"]));
        screen.failed("the hub does not answer".to_owned());
        let text = picture(&screen, SIZE);
        assert!(
            text.contains("the hub does not answer; shown is 2026-11-24") && text.contains("7.00 Mbit/s"),
            "{text}"
        );
        screen.update(overview(&["a", "b"]));
        assert!(!picture(&screen, SIZE).contains("does not answer"));
    }
}
