//! Simulated transfers against the same transfers by a kernel in virtual time (testdata/oracle). `make oracle` runs the
//! kernel, and prints the table of this test.

mod case;
mod kernel;
mod simulated;
mod table;

use std::num::NonZeroUsize;
use std::path::Path;

use case::Case;
use simulated::Simulated;
use table::Table;

/// Shares of all cases, in percent, that have to be within the bound. What is reached is in docs/simulator.md.
const FLOORS: [(&str, &str, f64); 4] = [
    ("all", "bytes 3 %", 93.0),
    ("all", "bytes 8 %", 98.0),
    ("all", "ramp-up 10 %", 94.0),
    ("all", "retransmits x1.5", 96.0),
];

/// The same of 67 cases on another release, a third of them with small buffers.
const OTHERS: [(&str, &str, f64); 4] = [
    ("all", "bytes 3 %", 91.0),
    ("all", "bytes 8 %", 97.0),
    ("all", "ramp-up 10 %", 94.0),
    ("all", "retransmits x1.5", 95.0),
];

#[test]
fn simulated_transfers_are_those_of_the_kernel() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/oracle");
    for (file, floors) in [("linux-6.1.txt", FLOORS), ("linux-6.12.txt", OTHERS)] {
        let text = std::fs::read_to_string(folder.join(file)).unwrap();
        let only = std::env::var("ORACLE_ONLY").unwrap_or_default();
        let cases: Vec<(Case, kernel::Seen)> =
            text.split_inclusive("\nend\n").map(|block| (Case::read(block), kernel::Seen::read(block))).collect();
        let cases: Vec<_> = cases.into_iter().filter(|(case, _)| case.name.contains(&only)).collect();
        let mut table = Table::default();
        for ((case, seen), simulated) in cases.iter().zip(simulate_all(&cases)) {
            table.add(case, seen, &simulated);
        }
        println!("{file}\n{table}");
        for (set, measure, floor) in floors {
            let share = table.share(set, measure);
            assert!(only.is_empty() && share >= floor, "{file}: {measure} of {set}: {share:.0} %, {floor} % before");
        }
    }
}

/// By as many threads as there are CPUs.
fn simulate_all(cases: &[(Case, kernel::Seen)]) -> Vec<Simulated> {
    let threads = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let part = cases.len().div_ceil(threads).max(1);
    std::thread::scope(|scope| {
        let parts: Vec<_> = cases
            .chunks(part)
            .map(|part| scope.spawn(|| part.iter().map(|(case, seen)| simulated::run(case, seen)).collect::<Vec<_>>()))
            .collect();
        parts
            .into_iter()
            .flat_map(|part| part.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    })
}
