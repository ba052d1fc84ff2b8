//! What a watched mesh of few hosts reports, heard one result at a time: quarters without a fault, then faults of one host and of one
//! pair of it, and how many rounds they last until an incident opens: `few [SEED [MESHES]]`.

use std::error::Error;

use baseline::mesh::{Element, Fault, Mesh, Pair};
use baseline::monitor::{Incident, Monitor, Subject};
use baseline::pool::Pooling;
use baseline::watch::WatchSettings;
use path::Seed;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let seed = Seed(arguments.next().map_or(Ok(1), |seed| seed.parse())?);
    let meshes: u64 = arguments.next().map_or(Ok(20), |count| count.parse())?;
    for hosts in [2, 3, 4] {
        let (mut elements, mut series) = (0, 0);
        for mesh in 0..meshes {
            for incident in heard(&Mesh { hosts, rounds: 180, seed: seed.part(mesh), fault: None }, None) {
                match incident.subject {
                    Subject::Element(_) => elements += 1,
                    Subject::Series(_) => series += 1,
                }
            }
        }
        println!(
            "{meshes} quarters of {hosts} hosts without a fault: {elements} incidents of hosts, {series} of single pairs"
        );
        for drop in [0.5, 0.7, 0.9] {
            for what in ["a host", "one pair"] {
                let mut rounds: Vec<i64> = Vec::new();
                let (mut incidents, mut early) = (0, 0);
                for mesh in 0..meshes {
                    let lasts = (FAULT, FAULT + 20);
                    let of_host = Fault { element: Element::Host(1), rounds: lasts, drop };
                    let fault = Some(of_host).filter(|_| what == "a host");
                    let of_pair = (what == "one pair").then_some(drop);
                    let mesh = Mesh { hosts, rounds: FAULT + 40, seed: seed.part(1_000 + mesh), fault };
                    let found = heard(&mesh, of_pair);
                    let begins = i64::try_from(FAULT)? * 43_200;
                    let during = found.iter().filter(|one| (begins..begins + 20 * 43_200).contains(&one.opened_s));
                    incidents += during.clone().count();
                    let first = during.min_by_key(|one| one.opened_s);
                    rounds.extend(first.map(|one| (one.opened_s - begins) / 43_200 + 1));
                    early += usize::from(
                        first.is_some_and(|one| one.recovered_s.is_some_and(|back| back < begins + 20 * 43_200)),
                    );
                }
                rounds.sort_unstable();
                let at =
                    |share: usize| rounds.get(rounds.len() * share / 100).map_or("-".to_owned(), ToString::to_string);
                println!(
                    "  {:.0} % of {what}: {} of {meshes} seen, in round {} (median), {} (90 %); {incidents} incidents, {early} over too early",
                    drop * 100.0,
                    rounds.len(),
                    at(50),
                    at(90)
                );
            }
        }
    }
    Ok(())
}

/// `of_pair` is what one pair alone loses of its rate for 20 rounds.
fn heard(mesh: &Mesh, of_pair: Option<f64>) -> Vec<Incident<Pair, Element>> {
    let mut monitor = Monitor::new(WatchSettings::default(), Pooling::default()).pooled_over(2 * 43_200);
    mesh.pairs().into_iter().for_each(|(pair, elements)| monitor.add(pair, elements));
    for (round, mut results) in mesh.results().into_iter().enumerate() {
        if let Some(drop) = of_pair.filter(|_| (FAULT..FAULT + 20).contains(&round)) {
            let of_pair = results.iter_mut().filter(|result| result.series == (0, 1));
            of_pair.for_each(|result| result.sample.value *= 1.0 - drop);
        }
        results.sort_by_key(|result| result.sample.at_s);
        for result in results {
            monitor.round(&[result], result.sample.at_s);
        }
    }
    monitor.incidents().to_vec()
}

/// Rounds before the fault: a month.
const FAULT: usize = 60;
