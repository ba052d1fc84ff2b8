//! Archive servers of NRAO in 2022: guests on four machines, one of which received the overlay of the others at a
//! ten-thousandth of its rate for five months. Tables 3, 6 and 7 of the report, in Mbit/s; rows send, columns receive.

use diagnose::locate::cell::{Cell, Layer, Quality};
use diagnose::locate::element::{Doing, FaultLocation, Other, Selector};
use diagnose::locate::explanation::{Located, Tester};
use model::round::Member;

use crate::world::{cell, end, goodput, is_shown, member, of_members};

/// What users read of this incident.
const PAGE: &str = include_str!("../../../../docs/localisation.md");

const NODES: [&str; 6] = ["na-arc-1", "na-arc-2", "na-arc-3", "na-arc-4", "na-arc-5", "na-arc-6"];
const MACHINES: [&str; 6] = ["naasc-vs-4", "naasc-vs-4", "naasc-vs-3", "naasc-vs-4", "naasc-vs-5", "naasc-vs-2"];
const OWN: f64 = f64::NAN;

/// Before the sixth node was there.
const TABLE_3: [[f64; 5]; 5] = [
    [OWN, 4000.0, 2000.0, 4000.0, 3000.0],
    [4000.0, OWN, 2000.0, 4000.0, 3000.0],
    [0.3, 0.3, OWN, 0.3, 3000.0],
    [4000.0, 4000.0, 2000.0, OWN, 3000.0],
    [0.3, 0.3, 2000.0, 0.3, OWN],
];

const TABLE_6: [[f64; 6]; 6] = [
    [OWN, 3920.0, 2300.0, 4200.0, 3110.0, 3280.0],
    [3950.0, OWN, 2630.0, 4000.0, 3350.0, 3530.0],
    [0.2, 0.3, OWN, 0.2, 2720.0, 2810.0],
    [3860.0, 3580.0, 2410.0, OWN, 3390.0, 3290.0],
    [0.2, 0.2, 2480.0, 0.2, OWN, 2550.0],
    [0.005, 0.005, 2790.0, 0.005, 3290.0, OWN],
];

/// After `rx-gro-hw` was turned off.
const TABLE_7: [[f64; 6]; 6] = [
    [OWN, 4460.0, 2580.0, 4630.0, 2860.0, 3150.0],
    [4060.0, OWN, 2590.0, 4220.0, 3690.0, 2570.0],
    [2710.0, 2580.0, OWN, 3080.0, 2770.0, 2920.0],
    [1090.0, 3720.0, 2200.0, OWN, 2970.0, 3200.0],
    [4010.0, 3970.0, 2340.0, 4010.0, OWN, 3080.0],
    [3380.0, 3060.0, 3060.0, 3010.0, 3080.0, OWN],
];

/// What the healthy overlay does.
const EXPECTED: f64 = 3000.0;

fn layer<const N: usize>(table: &[[f64; N]; N]) -> Layer {
    let pairs = (0..N).flat_map(|from| (0..N).map(move |to| (from, to))).filter(|(from, to)| from != to);
    let overlay = |host: usize| end(NODES[host], Some("ingress"));
    let cell = |(from, to): (usize, usize)| Cell {
        from: overlay(from),
        to: overlay(to),
        ..cell(NODES[from], NODES[to], table[from][to] / EXPECTED)
    };
    goodput(pairs.map(cell).collect())
}

fn members(nodes: usize) -> Vec<Member> {
    let guests = NODES.iter().zip(MACHINES).take(nodes);
    let machines = MACHINES.into_iter().take(nodes).collect::<std::collections::BTreeSet<_>>();
    let guests = guests.map(|(node, machine)| member(node, &[("vm-host", machine), ("role", "archive")]));
    guests.chain(machines.into_iter().map(|machine| member(machine, &[("role", "machine")]))).collect()
}

fn receivers_on_vs_4() -> FaultLocation {
    FaultLocation::Hosts {
        who: Selector::On { attribute: "vm-host".to_owned(), host: "naasc-vs-4".to_owned() },
        does: Doing::Receives,
        other: Other::Elsewhere,
    }
}

#[test]
fn the_machine_is_named_with_its_direction_and_its_own_guests_exculpate_the_rest() {
    let located = of_members(&layer(&TABLE_6), &members(6));
    println!("{located}");
    let first = &located.explanations[0];
    assert_eq!(first.blamed.len(), 1);
    assert_eq!(first.blamed[0].element.place, receivers_on_vs_4());
    assert_eq!((first.explained.len(), first.contradicting.len(), located.bad), (9, 0, 9));
    assert_eq!(first.hit_ratio(), 1.0);
    assert!(first.probability > 0.9, "{located}");
    assert!(located.unexplained.is_empty(), "{located}");
    assert_eq!(located.ambiguity, None, "{located}");
    // About 0.2 of 3000.
    assert!((1e-5..1e-3).contains(&first.blamed[0].passes), "{located}");
    assert!(is_shown(PAGE, &located.to_string()), "docs/localisation.md shows something else than\n{located}");
}

#[test]
fn with_five_nodes_the_senders_are_not_cleared_and_a_node_on_a_further_machine_would_decide() {
    let located = of_members(&layer(&TABLE_3), &members(5));
    println!("{located}");
    assert_eq!(located.explanations[0].blamed[0].element.place, receivers_on_vs_4());
    assert_eq!(located.explanations[0].explained.len(), 6);
    let ambiguity = located.ambiguity.as_ref().unwrap();
    assert_eq!(ambiguity.between.len(), 2, "{located}");
    let texts: Vec<String> = ambiguity.between[1].iter().map(ToString::to_string).collect();
    assert!(texts.iter().any(|text| text.contains("naasc-vs-3") || text.contains("na-arc-3")), "{texts:?}");
    assert!(texts.iter().any(|text| text.contains("naasc-vs-5") || text.contains("na-arc-5")), "{texts:?}");
    let test = ambiguity.test.as_ref().unwrap();
    let Tester::Newcomer { apart_from } = &test.from else { panic!("{test}") };
    let apart: Vec<String> = apart_from.iter().map(ToString::to_string).collect();
    assert!(apart.contains(&"on naasc-vs-4".to_owned()), "{apart:?}");
    assert_eq!(test.to, Tester::Member { host: "na-arc-1".to_owned() });
    assert_eq!((test.bad_under.as_slice(), test.good_under.as_slice()), ([0].as_slice(), [1].as_slice()));
    assert!(is_shown(PAGE, &located.to_string()), "docs/localisation.md shows something else than\n{located}");
}

#[test]
fn after_the_fix_nothing_is_blamed_and_the_one_odd_pair_is_told() {
    let located = of_members(&layer(&TABLE_7), &members(6));
    println!("{located}");
    assert!(located.explanations.is_empty(), "{located}");
    let unexplained: Vec<String> = located.unexplained.iter().map(ToString::to_string).collect();
    assert_eq!(unexplained, ["na-arc-4.ingress to na-arc-1.ingress"]);
    assert!(is_shown(PAGE, &located.to_string()), "docs/localisation.md shows something else than\n{located}");
}

#[test]
fn the_same_hosts_by_another_name_are_an_alias_and_not_a_second_cause() {
    let mut members = members(6);
    for (member, machine) in members.iter_mut().zip(MACHINES) {
        let nic = if machine == "naasc-vs-4" { "BCM57412" } else { "SFC9020" };
        member.attributes.insert("nic".to_owned(), nic.to_owned());
    }
    let located = of_members(&layer(&TABLE_6), &members);
    println!("{located}");
    assert_eq!(located.explanations[0].blamed.len(), 1);
    assert_eq!(located.explanations[0].blamed[0].element.place, receivers_on_vs_4());
    assert!(format!("{located}").contains("with nic BCM57412"), "{located}");
}

#[test]
fn a_network_that_is_well_beside_the_overlay_narrows_the_blame_to_the_overlay() {
    let mut layer = layer(&TABLE_6);
    // The machines pass 10 Gbit/s outside the overlay, and so do their guests.
    let underlay: Vec<Cell> = layer
        .cells
        .iter()
        .map(|cell| Cell {
            from: end(&cell.from.host, None),
            to: end(&cell.to.host, None),
            quality: Quality::measured(0.97),
            way: Vec::new(),
        })
        .collect();
    layer.cells.extend(underlay);
    let located = of_members(&layer, &members(6));
    println!("{located}");
    assert_eq!(
        located.explanations[0].blamed[0].element.to_string(),
        "receiver on naasc-vs-4, sender elsewhere, in ingress only"
    );
    assert_eq!(located.explanations[0].hit_ratio(), 1.0);
}

#[test]
fn an_answer_can_be_stored_and_read_back() {
    let located = of_members(&layer(&TABLE_3), &members(5));
    let text = serde_json::to_string(&located).unwrap();
    let read: Located = serde_json::from_str(&text).unwrap();
    // Decimal fractions of probabilities need not be the same to the last bit; what is printed is.
    assert_eq!(read.to_string(), located.to_string());
    assert_eq!(read.explanations[0].blamed[0].element, located.explanations[0].blamed[0].element);
}
