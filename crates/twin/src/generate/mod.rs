//! Incidents that nobody wrote: networks, faults and tests drawn from a seed. docs/incidents.md has the distributions.
//!
//! * `network`: hosts and links
//! * `plan`: pairs and tests
//! * `faults`: what goes wrong, from barely visible to total
//! * `noise`: red herrings, and noise of hosts and networks
//! * `wider`: what is met besides, for incidents that are learnt from
//! * `write`: all of it as a scenario file
//! * `withhold`: evidence that is taken away after a play
//! * `draw`: draws from one seed

mod draw;
mod faults;
mod network;
mod noise;
mod plan;
mod wider;
mod withhold;
mod write;

#[cfg(test)]
mod tests;

use model::measurement::Whose;
use model::played::Finding;
use model::round::Round;
use path::Seed;
use scenario::{Scenario, ScenarioError};
use units::WallTime;

pub use withhold::withhold_half;

use draw::{Draw, whole};
use faults::{Ground, Planted, RECIPES};
use network::Network;

/// An incident that was drawn.
#[derive(Debug, Clone)]
pub struct Incident {
    /// Seed from which all of it is drawn.
    pub seed: u64,
    /// Its scenario file.
    pub text: String,
    /// The same, read.
    pub scenario: Scenario,
}

/// Draws the incident of a seed.
///
/// # Errors
/// What is wrong with the file that was drawn: a mistake of this crate.
pub fn incident(seed: u64) -> Result<Incident, ScenarioError> {
    let text = text(seed);
    let scenario = Scenario::parse(&format!("incident-{seed}.toml"), &text)?;
    Ok(Incident { seed, text, scenario })
}

fn text(number: u64) -> String {
    let mut draw = Draw::new(Seed(number).part(INCIDENT));
    let mut network = Network::draw(&mut draw);
    let is_wider = wider::has(number);
    if is_wider {
        wider::enlarge(&mut network, &mut draw);
    }
    let pairs = plan::pairs(&network, &mut draw);
    let mut tests = plan::tests(&network, &pairs, &mut draw);
    noise::add(&mut network, &pairs, &mut draw);
    if is_wider {
        wider::add_tests(&pairs, &mut tests, &mut draw);
    }
    let count = draw.weighted(&[(10.0, 0), (35.0, 1), (12.0, 2), (3.0, 3)], 1);
    let mut planted: Vec<Planted> = Vec::new();
    // A fault that this network cannot have, or that another leaves no room for, is drawn anew.
    for _ in 0..count * ATTEMPTS {
        if planted.len() == count {
            break;
        }
        let kept = (network.clone(), tests.clone());
        let recipe = RECIPES[draw.below(RECIPES.len())];
        let severity = draw.unit();
        let mut ground = Ground { network: &mut network, pairs: &pairs, tests: &mut tests, draw: &mut draw };
        let mut drawn = recipe(&mut ground, severity);
        if is_wider {
            let length = tests.iter().map(|test| test.length).sum();
            drawn = drawn.map(|planted| wider::vary(planted, length, &mut draw));
            drawn = drawn.map(|planted| wider::begin_later(planted, &pairs, &mut tests, &mut draw));
        }
        let is_free =
            |one: &Planted| planted.iter().all(|other| other.claims.iter().all(|claim| !one.claims.contains(claim)));
        match drawn {
            Some(one) if is_free(&one) => planted.push(one),
            _ => (network, tests) = kept,
        }
    }
    if is_wider {
        wider::ask_less(&mut tests, &planted, &mut draw);
        wider::part_directions(&mut network, &pairs, &planted, &mut draw);
    }
    write::text(&write::Parts { number, network: &network, pairs: &pairs, tests: &tests, planted: &planted })
}

/// What clocks do to a round: in a third of incidents calendars differ, and half of these know no relation of clocks.
pub fn disturb_clocks(round: &mut Round, seed: Seed) {
    let mut draw = Draw::new(seed.part(CLOCKS));
    if !draw.is(1.0 / 3.0) {
        return;
    }
    for member in &mut round.members {
        let late = whole(draw.between([0.0, 300e9]));
        for snapshot in [&mut member.before, &mut member.after].into_iter().flatten() {
            snapshot.taken = WallTime::from_unix_nanos(snapshot.taken.unix_nanos().saturating_add(late));
        }
    }
    if draw.is(0.5) {
        return;
    }
    for tested in &mut round.tests {
        if let Some(samples) = &mut tested.samples {
            samples.streams.retain(|stream| stream.whose == Whose::Local || !stream.columns.is_empty());
            samples.probes.there_us.iter_mut().for_each(|there| *there = None);
        }
        if let Finding::Run(run) = &mut tested.finding
            && let Some(measurement) = &mut run.measurement
        {
            measurement.clock = None;
        }
    }
}

/// Parts of the seed.
const INCIDENT: u64 = 1;
const CLOCKS: u64 = 2;
/// How often a fault is drawn for each that is wanted.
const ATTEMPTS: usize = 12;
