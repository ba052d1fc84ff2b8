//! Random networks: hosts as guests on machines, machines at sites, sites on a tree of trunks.

use std::collections::BTreeMap;

use diagnose::locate::cell::{Cell, Quality};
use diagnose::locate::element::{Doing, FaultLocation, Other, Selector};
use model::round::{Member, Passage, Segment};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::world::{end, member};

pub(crate) struct SeededRng(Xoshiro256PlusPlus);

impl SeededRng {
    pub(crate) fn new(seed: u64) -> Self {
        Self(Xoshiro256PlusPlus::seed_from_u64(seed))
    }

    /// From 0 to 1.
    #[expect(clippy::cast_precision_loss, reason = "53 bits")]
    pub(crate) fn part(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }

    pub(crate) fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.0.next_u64() % limit as u64).unwrap()
    }

    /// Standard normal (Box and Muller 1958).
    fn normal(&mut self) -> f64 {
        let (a, b) = (1.0 - self.part(), self.part());
        (-2.0 * a.ln()).sqrt() * (std::f64::consts::TAU * b).cos()
    }
}

pub(crate) struct Network {
    pub(crate) members: Vec<Member>,
    pub(crate) segments: Vec<Segment>,
    /// Guests, each with its machine.
    pub(crate) hosts: Vec<(String, String)>,
    site_of: BTreeMap<String, usize>,
    /// For each site its parent, nearer to the first.
    parent: Vec<usize>,
}

impl Network {
    pub(crate) fn random(rng: &mut SeededRng, hosts: usize) -> Self {
        let sites = 2 + rng.below(hosts.min(6) - 1);
        let parent = (0..sites).map(|site| if site == 0 { 0 } else { rng.below(site) }).collect::<Vec<_>>();
        let machines = 2 + rng.below(hosts - 1);
        let site_of_machine: Vec<usize> = (0..machines).map(|_| rng.below(sites)).collect();
        let mut network = Self {
            members: Vec::new(),
            segments: Vec::new(),
            hosts: Vec::new(),
            site_of: BTreeMap::new(),
            parent: parent.clone(),
        };
        for host in 0..hosts {
            let machine = rng.below(machines);
            let (name, on) = (format!("h{host}"), format!("m{machine}"));
            let site = site_of_machine[machine];
            let nic = format!("nic{}", rng.below(3));
            let kernel = format!("kernel{}", rng.below(2));
            let attributes =
                [("vm-host", on.as_str()), ("site", &format!("site{site}")), ("nic", &nic), ("kernel", &kernel)];
            network.members.push(member(&name, &attributes));
            network.site_of.insert(name.clone(), site);
            network.hosts.push((name, on));
        }
        network.members.extend((0..machines).map(|machine| member(&format!("m{machine}"), &[])));
        network.members.extend((0..sites).map(|site| member(&format!("r{site}"), &[])));
        let trunks = (1..sites).map(|site| Segment {
            name: format!("trunk{site}"),
            between: [format!("r{site}"), format!("r{}", parent[site])],
            rate: None,
            interfaces: None,
        });
        network.segments.extend(trunks);
        network
    }

    /// The trunks from one site to another.
    fn way(&self, from: &str, to: &str) -> Vec<Passage> {
        let (mut up, mut down) = (Vec::new(), Vec::new());
        let (mut a, mut b) = (self.site_of[from], self.site_of[to]);
        while a != b {
            if a > b {
                up.push(Passage { segment: format!("trunk{a}"), towards: format!("r{}", self.parent[a]) });
                a = self.parent[a];
            } else {
                down.push(Passage { segment: format!("trunk{b}"), towards: format!("r{b}") });
                b = self.parent[b];
            }
        }
        up.extend(down.into_iter().rev());
        up
    }

    /// Every directed pair, as good as the slowest of `faults` on its way lets it be, times noise.
    pub(crate) fn measured(
        &self,
        rng: &mut SeededRng,
        faults: &[(FaultLocation, f64)],
        noise: f64,
        missing: f64,
    ) -> Vec<Cell> {
        let mut cells = Vec::new();
        for (from, from_machine) in &self.hosts {
            for (to, to_machine) in self.hosts.iter().filter(|(to, _)| to != from) {
                let way = self.way(from, to);
                let hit = |place: &FaultLocation| covers(place, [from, from_machine], [to, to_machine], &way);
                let part = faults.iter().filter(|(place, _)| hit(place)).map(|(_, part)| *part).fold(1.0, f64::min);
                let measured = Quality::measured(part * (noise * rng.normal()).exp());
                let lost = Quality::Unknown { reason: "timed out".to_owned() };
                let quality = if rng.part() < missing { lost } else { measured };
                cells.push(Cell { from: end(from, None), to: end(to, None), quality, way });
            }
        }
        cells
    }

    /// A place that at least two pairs cross.
    pub(crate) fn place(&self, rng: &mut SeededRng) -> FaultLocation {
        let (host, machine) = &self.hosts[rng.below(self.hosts.len())];
        let side = |who, does, other| FaultLocation::Hosts { who, does, other };
        let alone = || Selector::Host { name: host.clone() };
        let on = Selector::On { attribute: "vm-host".to_owned(), host: machine.clone() };
        let trunk = 1 + rng.below(self.parent.len() - 1);
        let ends = [trunk, self.parent[trunk]];
        match rng.below(4) {
            0 => side(alone(), Doing::Receives, Other::Anybody),
            1 => side(alone(), Doing::Sends, Other::Anybody),
            2 => side(on, Doing::Receives, Other::Elsewhere),
            _ => FaultLocation::Passage(Passage {
                segment: format!("trunk{trunk}"),
                towards: format!("r{}", ends[rng.below(2)]),
            }),
        }
    }
}

/// Whether a place is on the way between two hosts, each given with its machine.
pub(crate) fn covers(place: &FaultLocation, from: [&String; 2], to: [&String; 2], way: &[Passage]) -> bool {
    match place {
        FaultLocation::Hosts { who, does, .. } => {
            let (name, level) = match who {
                Selector::On { host, .. } => (host, 1),
                Selector::Host { name } => (name, 0),
                Selector::Having { value, .. } => (value, 1),
            };
            let leaves = from[level] != to[level];
            leaves && if *does == Doing::Sends { from[level] == name } else { to[level] == name }
        }
        FaultLocation::Passage(passage) => way.contains(passage),
        _ => false,
    }
}
