//! Evidence that is not there: what a round would lack if it came from elsewhere (docs/incidents.md, "Evidence withheld").

use model::measurement::Whose;
use model::played::Finding;
use model::round::Round;
use path::Seed;

use super::draw::Draw;

/// Takes about half of the evidence from a round: at least one thing. Returns what is gone, in words.
pub fn withhold_half(round: &mut Round, seed: Seed) -> Vec<&'static str> {
    let mut draw = Draw::new(seed.part(WITHHELD));
    let mut gone: Vec<usize> = (0..THINGS.len()).filter(|number| draw.is(THINGS[*number].0)).collect();
    if gone.is_empty() {
        gone.push(draw.below(THINGS.len()));
    }
    for number in &gone {
        (THINGS[*number].2)(round, &mut draw);
    }
    gone.into_iter().map(|number| THINGS[number].1).collect()
}

/// Probability, name, and how it is taken away.
type Thing = (f64, &'static str, fn(&mut Round, &mut Draw));

const THINGS: &[Thing] = &[
    (0.5, "facts after the tests", facts_after),
    (0.25, "all facts", all_facts),
    (0.5, "expected rates", rates),
    (0.5, "samples of one end", one_end),
    (0.2, "all samples", samples),
    (0.4, "ways", ways),
    (0.3, "half of the tests", tests),
];

fn facts_after(round: &mut Round, _draw: &mut Draw) {
    round.members.iter_mut().for_each(|member| member.after = None);
}

fn all_facts(round: &mut Round, _draw: &mut Draw) {
    for member in &mut round.members {
        (member.before, member.after) = (None, None);
    }
}

fn rates(round: &mut Round, _draw: &mut Draw) {
    for tested in &mut round.tests {
        tested.expected = None;
        if let Finding::Run(run) = &mut tested.finding {
            run.declared_line_rate = None;
        }
    }
}

/// As an iperf3 at the other end leaves it: neither its samples nor its counters.
fn one_end(round: &mut Round, draw: &mut Draw) {
    let whose = if draw.is(0.5) { Whose::Peer } else { Whose::Local };
    for tested in &mut round.tests {
        if let Some(samples) = &mut tested.samples {
            samples.streams.retain(|stream| stream.whose != whose);
        }
        let Finding::Run(run) = &mut tested.finding else { continue };
        let Some(measurement) = &mut run.measurement else { continue };
        match whose {
            Whose::Peer => {
                (measurement.peer_counters, measurement.peer_cpu, measurement.clock) = (None, None, None);
            }
            Whose::Local => (measurement.local_counters, measurement.local_cpu) = (None, None),
        }
    }
}

fn samples(round: &mut Round, _draw: &mut Draw) {
    round.tests.iter_mut().for_each(|tested| tested.samples = None);
}

fn ways(round: &mut Round, _draw: &mut Draw) {
    round.segments.clear();
    for tested in &mut round.tests {
        tested.way.clear();
        tested.way_back.clear();
    }
}

fn tests(round: &mut Round, draw: &mut Draw) {
    let before = round.tests.len();
    round.tests.retain(|_| draw.is(0.5));
    // Something has to be there to be judged.
    if round.tests.is_empty() && before > 0 {
        round.title.push_str(" (no test is left)");
    }
}

/// The part of the seed from which it is drawn.
const WITHHELD: u64 = 3;
