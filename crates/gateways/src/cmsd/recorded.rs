//! Decisions of a real cluster, as `testdata/gateways/record` writes them.

use super::node::{Node, Selection, State, Table};

/// What a manager knew and chose, event by event, under one `cms.sched`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recording {
    /// The version of cmsd that was recorded.
    pub version: String,
    /// What `cms.sched` said.
    pub selection: Selection,
    /// How many servers there were.
    pub servers: usize,
    /// What happened, in order.
    pub events: Vec<Event>,
}

/// What happened in a recording.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// From here on the manager knows these loads, in the order of its table.
    Loads(Vec<i32>),
    /// What it logs of its counts: all selections of each server plus those since the last reset.
    References(Vec<u64>),
    /// An open, and the server that it was sent to, from zero.
    Open(usize),
    /// A server logged in again, from zero.
    Login(usize),
}

/// Why a text is no recording.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {why}")]
pub struct NoRecording {
    /// Where, from 1.
    pub line: usize,
    /// What was expected there.
    pub why: &'static str,
}

/// The longest recording that is read.
pub const LARGEST: usize = 1 << 20;
/// cmsd's table has no more places (`STMax`).
const MOST_SERVERS: usize = 64;

impl Recording {
    /// Reads a recording.
    ///
    /// # Errors
    /// Where it is none.
    pub fn read(text: &str) -> Result<Self, NoRecording> {
        if text.len() > LARGEST {
            return Err(NoRecording { line: 0, why: "more than a mebibyte" });
        }
        let mut lines = text.lines().enumerate().map(|(at, line)| (at + 1, line));
        let head = lines.next().map(|(_, line)| line.split(' ').collect::<Vec<_>>()).unwrap_or_default();
        let ["cmsd", version, "fuzz", fuzz, "maxload", max_load, "servers", servers] = head[..] else {
            return Err(NoRecording { line: 1, why: "not `cmsd VERSION fuzz N maxload N servers N`" });
        };
        let (Ok(fuzz), Ok(max_load), Ok(servers)) = (fuzz.parse(), max_load.parse(), servers.parse()) else {
            return Err(NoRecording { line: 1, why: "fuzz, maxload and servers are whole numbers" });
        };
        let is_sane = (0..=100).contains(&fuzz) && (0..=MAX_PERCENT).contains(&max_load);
        if !is_sane || !(1..=MOST_SERVERS).contains(&servers) {
            return Err(NoRecording { line: 1, why: "fuzz and maxload are 0 to 100, and there are 1 to 64 servers" });
        }
        let mut events = Vec::new();
        for (line, text) in lines.filter(|(_, text)| !text.is_empty()) {
            events.push(event(text, servers).map_err(|why| NoRecording { line, why })?);
        }
        Ok(Self { version: version.to_owned(), selection: Selection { fuzz, max_load }, servers, events })
    }

    /// The opens that our choice sends elsewhere than the recorded cmsd did: the number of each, and both servers.
    ///
    /// The counts are taken from the first line of them: what was opened before the recording is not in it.
    #[must_use]
    pub fn differences(&self) -> Vec<Difference> {
        let mut table = Table::new(self.servers);
        let mut differences = Vec::new();
        let (mut opens, mut are_counts_known) = (0, false);
        for event in &self.events {
            match event {
                Event::Loads(loads) => {
                    for (node, load) in table.nodes.iter_mut().zip(loads) {
                        node.load = *load;
                    }
                }
                Event::References(logged) if !are_counts_known => {
                    are_counts_known = true;
                    for (node, logged) in table.nodes.iter_mut().zip(logged) {
                        // An odd sum has the one selection that counts twice.
                        let references = logged.div_ceil(2);
                        *node = Node { references, total: logged - references, state: State::Online, load: node.load };
                    }
                }
                Event::References(logged) => {
                    let ours: Vec<u64> = table.nodes.iter().map(|node| node.total + node.references).collect();
                    if &ours != logged {
                        differences.push(Difference::Counts { before_open: opens, recorded: logged.clone(), ours });
                    }
                }
                Event::Open(recorded) => {
                    opens += 1;
                    let ours = self.choose(&mut table);
                    if ours != Some(*recorded) {
                        differences.push(Difference::Choice { open: opens, recorded: *recorded, ours });
                    }
                }
                Event::Login(server) => table.log_in(*server),
            }
        }
        differences
    }

    fn choose(&self, table: &mut Table) -> Option<usize> {
        // cmsd takes a fuzz of 100 for round robin (`sched_RR`).
        if self.selection.fuzz == 100 { table.by_references().ok() } else { table.by_load(self.selection).ok() }
    }
}

const MAX_PERCENT: i32 = 100;

/// Where our choice is not the recorded one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Difference {
    /// Another server.
    Choice {
        /// Which open, from 1.
        open: usize,
        /// Where cmsd sent it.
        recorded: usize,
        /// Where we would.
        ours: Option<usize>,
    },
    /// Other counts.
    Counts {
        /// After how many opens.
        before_open: usize,
        /// What cmsd logged.
        recorded: Vec<u64>,
        /// What we counted.
        ours: Vec<u64>,
    },
}

fn event(text: &str, servers: usize) -> Result<Event, &'static str> {
    let (name, rest) = text.split_once(' ').ok_or("an event has a name and numbers")?;
    let server = || {
        let number: usize = rest.parse().map_err(|_| "no number of a server")?;
        if (1..=servers).contains(&number) { Ok(number - 1) } else { Err("no server has this number") }
    };
    match name {
        "open" => Ok(Event::Open(server()?)),
        "login" => Ok(Event::Login(server()?)),
        "loads" => {
            let loads: Vec<i32> = numbers(rest, servers)?;
            let is_percent = loads.iter().all(|load| (0..=MAX_PERCENT).contains(load));
            if is_percent { Ok(Event::Loads(loads)) } else { Err("a load is 0 to 100") }
        }
        "references" => {
            let counts: Vec<u64> = numbers(rest, servers)?;
            let is_sane = counts.iter().all(|count| *count < 1 << 48);
            if is_sane { Ok(Event::References(counts)) } else { Err("nobody has opened that many files") }
        }
        _ => Err("not one of loads, references, open and login"),
    }
}

fn numbers<T: std::str::FromStr>(text: &str, servers: usize) -> Result<Vec<T>, &'static str> {
    let numbers: Option<Vec<T>> = text.split(' ').map(|word| word.parse().ok()).collect();
    numbers.filter(|numbers| numbers.len() == servers).ok_or("one whole number is needed for each server")
}
