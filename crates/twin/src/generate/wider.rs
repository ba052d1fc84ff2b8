//! A wider world for incidents that are learnt from: what networks have beside what is drawn for judging (docs/incidents.md, "The
//! wider world"). Who learns from one distribution alone takes its habits for laws.

use super::draw::{Draw, whole};
use super::faults::{Claim, Planted};
use super::plan::{self, Pair, Test};

/// Whether an incident is drawn from it: every second one that is learnt from.
pub(super) const fn has(seed: u64) -> bool {
    seed > LEARNING.0 && seed <= LEARNING.1 && seed % 2 == 1
}

/// Tests that people run besides: paced ones, and such as last longer.
pub(super) fn add_tests(pairs: &[Pair], tests: &mut Vec<Test>, draw: &mut Draw) {
    for (number, pair) in pairs.iter().enumerate() {
        if draw.is(PACED) {
            let rate = whole(pair.rate * draw.between([0.4, 0.95]) / 1e3);
            let pace = format!("pace = \"{rate}kbit/s\"");
            tests.push(plan::tcp(pair, number, &[&pace, "label = \"paced\""]));
        }
    }
    if draw.is(LONGER) {
        for test in tests.iter_mut().filter(|test| test.kind == "tcp") {
            test.length *= 2.0;
            if let Some(time) = test.keys.first_mut() {
                *time = format!("time = \"{}ms\"", whole(test.length * 1e3));
            }
        }
    }
}

/// A fault as it is met as well: in both directions of a link, or a single burst.
pub(super) fn vary(planted: Planted, length: f64, draw: &mut Draw) -> Planted {
    match planted.cause {
        "microburst" if draw.is(SINGLE) => single_burst(planted, length, draw),
        cause if BOTH_WAYS.contains(&cause) && draw.is(IN_BOTH) => both_ways(planted),
        _ => planted,
    }
}

fn both_ways(mut planted: Planted) -> Planted {
    planted.place.retain(|key| !key.starts_with("towards"));
    planted.faults.iter_mut().for_each(|fault| fault.retain(|key| !key.starts_with("towards")));
    let others: Vec<Claim> = planted.claims.iter().filter_map(|claim| claim.other_direction()).collect();
    planted.claims.extend(others);
    planted
}

/// One burst, somewhen while it is tested.
fn single_burst(mut planted: Planted, length: f64, draw: &mut Draw) -> Planted {
    let start = whole(draw.between([0.1, 0.8]) * length * 1e3);
    for fault in &mut planted.faults {
        for key in fault.iter_mut() {
            if let Some((burst, rest)) = key.split_once(", period = \"").map(|(a, b)| (a.to_owned(), b.to_owned())) {
                let rest = rest.split_once('"').map_or("", |(_, rest)| rest);
                *key = format!("{burst}{rest}").replace("start = \"100ms\"", &format!("start = \"{start}ms\""));
            }
        }
    }
    Planted { from: None, ..planted }
}

/// Seeds of incidents that are learnt from, the first of them excluded.
const LEARNING: (u64, u64) = (1_000_000, 2_000_000);
const PACED: f64 = 0.25;
const LONGER: f64 = 0.3;
const SINGLE: f64 = 0.35;
const IN_BOTH: f64 = 0.35;
/// What contracts, cables and devices do in both directions as a rule.
const BOTH_WAYS: [&str; 7] =
    ["policer", "slow-segment", "shallow-queue", "bufferbloat", "random-loss", "firewall", "cross-traffic"];
