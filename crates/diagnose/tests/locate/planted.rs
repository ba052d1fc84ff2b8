//! Faults planted in random networks are found, and healthy networks are left alone.

use diagnose::locate::element::{FaultLocation, Other, Selector};
use diagnose::locate::explanation::{Blamed, Located};
use diagnose::locate::{Topology, locate};

use crate::random::{Network, SeededRng};
use crate::world::goodput;

const NOISE: f64 = 0.15;
const MISSING: f64 = 0.1;

#[test]
fn one_planted_fault_comes_first() {
    let mut tally = Tally::default();
    for seed in 0..160 {
        let mut rng = SeededRng::new(seed);
        let hosts = 4 + rng.below(17);
        let network = Network::random(&mut rng, hosts);
        let fault = (network.place(&mut rng), 0.01 + 0.39 * rng.part());
        let located = measured(&mut rng, &network, std::slice::from_ref(&fault));
        if located.bad < 3 {
            continue;
        }
        tally.count(seed, &[fault], &located);
    }
    tally.check(0.95);
}

#[test]
fn two_planted_faults_are_both_named() {
    let mut tally = Tally::default();
    for seed in 10_000..10_150 {
        let mut rng = SeededRng::new(seed);
        let hosts = 6 + rng.below(15);
        let network = Network::random(&mut rng, hosts);
        let faults = [(); 2].map(|()| (network.place(&mut rng), 0.01 + 0.39 * rng.part()));
        // Each must be seen without the other, or only one of them is there to be found.
        let alone = faults.iter().enumerate().all(|(at, fault)| {
            let mut rng = SeededRng::new(seed);
            let cells = |rng: &mut SeededRng, faults: &[_]| network.measured(rng, faults, 0.0, 0.0);
            let both = cells(&mut rng, &faults);
            let other = cells(&mut rng, &faults[1 - at..2 - at]);
            let _ = fault;
            both.iter().zip(&other).filter(|(both, other)| both.quality != other.quality).count() >= 3
        });
        if faults[0].0 != faults[1].0 && alone {
            let located = measured(&mut rng, &network, &faults);
            tally.count(seed, &faults, &located);
        }
    }
    tally.check(0.90);
}

#[test]
fn healthy_networks_are_left_alone() {
    let mut blamed = 0;
    for seed in 20_000..20_120 {
        let mut rng = SeededRng::new(seed);
        let hosts = 4 + rng.below(17);
        let network = Network::random(&mut rng, hosts);
        let located = measured(&mut rng, &network, &[]);
        if !located.explanations.is_empty() {
            blamed += 1;
            println!("seed {seed}\n{located}");
        }
    }
    assert_eq!(blamed, 0);
}

fn measured(rng: &mut SeededRng, network: &Network, faults: &[(FaultLocation, f64)]) -> Located {
    let layer = goodput(network.measured(rng, faults, NOISE, MISSING));
    locate(&layer, Topology { members: &network.members, segments: &network.segments })
}

#[derive(Default)]
struct Tally {
    all: u32,
    found: u32,
    named_alone: u32,
}

impl Tally {
    fn count(&mut self, seed: u64, faults: &[(FaultLocation, f64)], located: &Located) {
        self.all += 1;
        let first = located.explanations.first();
        let blamed = first.map(|first| first.blamed.as_slice()).unwrap_or_default();
        let found = blamed.len() == faults.len()
            && faults.iter().all(|(place, _)| blamed.iter().any(|blamed| names(blamed, place)));
        let alone = blamed.iter().all(|blamed| blamed.or.is_empty());
        self.found += u32::from(found);
        self.named_alone += u32::from(found && alone);
        if !found {
            println!("seed {seed}: planted {faults:?}\n{located}");
        }
    }

    fn check(&self, least: f64) {
        println!("{} of {} found, {} of them without an alternative", self.found, self.all, self.named_alone);
        assert!(self.all >= 100, "too few cases to tell: {}", self.all);
        assert!(f64::from(self.found) >= least * f64::from(self.all));
    }
}

/// Whether an element, or what the cells cannot tell from it, is the one that was planted.
fn names(blamed: &Blamed, place: &FaultLocation) -> bool {
    let same = |element: &FaultLocation| element == place || is_alone_on_its_machine(element, place, blamed);
    same(&blamed.element.place) || blamed.or.iter().any(|element| same(&element.place))
}

/// A machine of one guest is that guest.
fn is_alone_on_its_machine(element: &FaultLocation, planted: &FaultLocation, blamed: &Blamed) -> bool {
    match (element, planted) {
        (FaultLocation::Hosts { does, .. }, FaultLocation::Hosts { who, does: planted, other: Other::Elsewhere }) => {
            does == planted && blamed.alias.iter().any(|alias| alias == who) && matches!(who, Selector::On { .. })
        }
        _ => false,
    }
}
