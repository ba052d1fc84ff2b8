//! A hundred hosts: 9,900 cells with ways of many segments, and the answer is still the planted one.

use std::time::Instant;

use diagnose::locate::cell::{Cell, Quality};
use diagnose::locate::element::{Doing, FaultLocation, Other, Selector};
use diagnose::locate::{Topology, locate};
use model::round::{Member, Passage, Segment};

use crate::random::{SeededRng, covers};
use crate::world::{end, goodput, member};

const HOSTS: usize = 100;

/// Three hosts on a machine, two machines at a switch, and rows of two hundred routers between the switches: 100 links to
/// hosts and 200 others, of which a path crosses up to eleven.
fn network() -> (Vec<Member>, Vec<Segment>) {
    let machine = |host: usize| format!("m{}", host / 3);
    let kernel = |host: usize| format!("kernel{}", host % 4);
    let nic = |host: usize| format!("nic{}", host % 7);
    let site = |host: usize| format!("site{}", host / 10);
    let hosts = (0..HOSTS).map(|host| {
        let attributes =
            [("vm-host", machine(host)), ("kernel", kernel(host)), ("nic", nic(host)), ("site", site(host))];
        let attributes: Vec<(&str, &str)> = attributes.iter().map(|(key, value)| (*key, value.as_str())).collect();
        member(&format!("h{host}"), &attributes)
    });
    let machines = (0..HOSTS.div_ceil(3)).map(|machine| member(&format!("m{machine}"), &[]));
    let members = hosts.chain(machines).collect();
    let access = (0..HOSTS).map(|host| (format!("access{host}"), format!("h{host}"), format!("r{}", host / 10)));
    let trunks = (0..200).map(|trunk| (format!("trunk{trunk}"), format!("x{trunk}"), format!("x{}", trunk + 1)));
    let segment = |(name, a, b)| Segment { name, between: [a, b], rate: None, interfaces: None };
    (members, access.chain(trunks).map(segment).collect())
}

/// Out of the host, through nine trunks that depend on both sites, and into the other host.
fn way(from: usize, to: usize) -> Vec<Passage> {
    let passage = |segment: String, towards: String| Passage { segment, towards };
    let mut way = vec![passage(format!("access{from}"), format!("r{}", from / 10))];
    let (a, b) = (from / 10, to / 10);
    if a != b {
        let first = (a * 20 + b * 2) % 190;
        way.extend((first..first + 9).map(|trunk| passage(format!("trunk{trunk}"), format!("x{}", trunk + 1))));
    }
    way.push(passage(format!("access{to}"), format!("h{to}")));
    way
}

fn cells(rng: &mut SeededRng, fault: Option<&(FaultLocation, f64)>) -> Vec<Cell> {
    let pairs = (0..HOSTS).flat_map(|from| (0..HOSTS).map(move |to| (from, to))).filter(|(from, to)| from != to);
    let name = |host: usize| [format!("h{host}"), format!("m{}", host / 3)];
    pairs
        .map(|(from, to)| {
            let (way, a, b) = (way(from, to), name(from), name(to));
            let hit = fault.is_some_and(|(place, _)| covers(place, [&a[0], &a[1]], [&b[0], &b[1]], &way));
            let part = fault.filter(|_| hit).map_or(1.0, |(_, part)| *part) * (0.85 + 0.3 * rng.part());
            Cell { from: end(&a[0], None), to: end(&b[0], None), quality: Quality::measured(part), way }
        })
        .collect()
}

#[test]
fn a_fault_among_a_hundred_hosts_comes_first() {
    let (members, segments) = network();
    let machine = Selector::On { attribute: "vm-host".to_owned(), host: "m7".to_owned() };
    let faults = [
        Some((FaultLocation::Hosts { who: machine, does: Doing::Receives, other: Other::Elsewhere }, 0.05)),
        Some((FaultLocation::Passage(Passage { segment: "trunk30".to_owned(), towards: "x31".to_owned() }), 0.2)),
        None,
    ];
    for fault in faults {
        let layer = goodput(cells(&mut SeededRng::new(7), fault.as_ref()));
        let began = Instant::now();
        let located = locate(&layer, Topology { members: &members, segments: &segments });
        println!("{:?}\n{located}", began.elapsed());
        let first = located.explanations.first();
        let blamed =
            first.map(|first| first.blamed.iter().map(|blamed| blamed.element.place.clone()).collect::<Vec<_>>());
        assert_eq!(blamed, fault.map(|(place, _)| vec![place]));
    }
}
