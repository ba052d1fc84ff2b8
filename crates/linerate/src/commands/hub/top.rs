//! `linerate top`.
//!
//! One thread asks the hub; this one draws and reads keys, so that a hub that hangs never holds the keyboard.

use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Context;
use hub::trust::token::Purpose;
use mesh::incident::IncidentId;
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use ratatui::layout::Size;

use super::mesh::{Hub, connect, quoted};
use crate::cli::Common;
use crate::cli::hub::ConnectArgs;
use crate::cli::top::TopArgs;
use crate::commands::attempt::stop_on_signals;
use crate::commands::print;
use crate::exit::{Complaint, Exit};
use crate::show::grid::text::Colour;
use crate::show::top::{Key, Overview, Screen, Wish, picture};

pub fn run(common: &Common, args: &TopArgs) -> anyhow::Result<Exit> {
    if common.json {
        let mistake = Complaint::new(Exit::Usage, "top has no --json");
        return Err(mistake.hint("the hub's requests answer in JSON: `linerate hub openapi`").into());
    }
    let mut screen = Screen::new(&args.connect.hub, Colour::of_standard_output());
    // What is wrong with the address or the token is said before the terminal is taken.
    let mut source = Source { connect: args.connect.clone(), hub: connect(&args.connect, Purpose::View)? };
    screen.update(source.ask(None)?);
    if args.once || !rustix::termios::isatty(std::io::stdout()) {
        return print(picture(&screen, size_of_terminal()).as_bytes());
    }
    let stop = stop_on_signals()?;
    let (wishes, wished) = mpsc::channel();
    let (answers, answered) = mpsc::channel();
    let every = args.every;
    thread::Builder::new().name("hub".to_owned()).spawn(move || source.serve(every, &wished, &answers))?;
    let shown = ratatui::try_init().context(Complaint::new(Exit::Local, "the terminal cannot be drawn on"))?;
    let ended = watch(shown, screen, &Talk { wishes, answered }, &stop);
    ratatui::restore();
    ended.map(|()| Exit::Success)
}

/// What the two threads say to each other.
struct Talk {
    wishes: Sender<Option<IncidentId>>,
    answered: Receiver<anyhow::Result<Overview>>,
}

/// Draws and reads keys until somebody quits.
fn watch(
    mut terminal: ratatui::DefaultTerminal,
    mut screen: Screen,
    talk: &Talk,
    stop: &measure::stop::Stop,
) -> anyhow::Result<()> {
    while !stop.is_stopped() {
        for answer in talk.answered.try_iter() {
            match answer {
                Ok(overview) => screen.update(overview),
                Err(error) => screen.failed(format!("{error:#}")),
            }
        }
        terminal.draw(|frame| screen.draw(frame))?;
        if !event::poll(GLANCE)? {
            continue;
        }
        let Event::Key(pressed) = event::read()? else { continue };
        match key(&pressed).map(|key| screen.press(key)) {
            Some(Wish::Quit) => break,
            // The thread is there as long as this one.
            Some(Wish::Ask(incident)) => drop(talk.wishes.send(incident)),
            Some(Wish::Nothing) | None => {}
        }
    }
    Ok(())
}

fn key(pressed: &KeyEvent) -> Option<Key> {
    if pressed.kind == KeyEventKind::Release {
        return None;
    }
    let control = pressed.modifiers.contains(KeyModifiers::CONTROL);
    match pressed.code {
        KeyCode::Char('c') if control => Some(Key::Quit),
        KeyCode::Char('q') => Some(Key::Quit),
        KeyCode::Char('r') => Some(Key::Refresh),
        KeyCode::Char('m') => Some(Key::NextGrid),
        KeyCode::Char('M') => Some(Key::PreviousGrid),
        KeyCode::Left | KeyCode::Char('h') => Some(Key::Left),
        KeyCode::Right | KeyCode::Char('l') => Some(Key::Right),
        KeyCode::Up | KeyCode::Char('k') => Some(Key::Up),
        KeyCode::Down | KeyCode::Char('j') => Some(Key::Down),
        KeyCode::Tab => Some(Key::NextPane),
        KeyCode::Enter => Some(Key::Open),
        KeyCode::Esc | KeyCode::Backspace => Some(Key::Back),
        _ => None,
    }
}

/// A hub that is asked again and again.
struct Source {
    connect: ConnectArgs,
    hub: Hub,
}

impl Source {
    /// Asks when it is time or wished, until nobody listens. The incident that was wished last is asked for with the rest.
    fn serve(
        mut self,
        every: Duration,
        wished: &Receiver<Option<IncidentId>>,
        answers: &Sender<anyhow::Result<Overview>>,
    ) {
        let mut incident = None;
        let mut next = Instant::now() + every;
        loop {
            match wished.recv_timeout(next.saturating_duration_since(Instant::now())) {
                Ok(wish) => incident = wish,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
            next = Instant::now() + every;
            if answers.send(self.ask_twice(incident.as_ref())).is_err() {
                return;
            }
        }
    }

    /// A token of a directory counts for a minute, and a hub may have been started anew: a second try is with a new connection.
    fn ask_twice(&mut self, incident: Option<&IncidentId>) -> anyhow::Result<Overview> {
        if let Ok(overview) = self.ask(incident) {
            return Ok(overview);
        }
        self.hub = connect(&self.connect, Purpose::View)?;
        self.ask(incident)
    }

    fn ask(&mut self, incident: Option<&IncidentId>) -> anyhow::Result<Overview> {
        let detail = incident.map(|id| self.hub.get(&format!("/api/v1/incident?id={}", quoted(&id.0)))).transpose()?;
        Ok(Overview {
            grids: self.hub.get("/api/v1/grid")?,
            incidents: self.hub.get("/api/v1/incidents")?,
            runs: self.hub.get("/api/v1/runs")?,
            detail,
            at: linux::clock::wall_now(),
        })
    }
}

/// That of standard output, else what terminals have had for long.
fn size_of_terminal() -> Size {
    match rustix::termios::tcgetwinsize(std::io::stdout()) {
        Ok(size) if size.ws_col > 0 && size.ws_row > 0 => Size { width: size.ws_col, height: size.ws_row },
        _ => Size { width: 80, height: 24 },
    }
}

/// How soon answers and signals are heeded.
const GLANCE: Duration = Duration::from_millis(100);
