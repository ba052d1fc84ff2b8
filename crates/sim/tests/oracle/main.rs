//! Simulated transfers against the same transfers by a kernel in virtual time (testdata/oracle). `make oracle` runs the
//! kernel, and prints the table of this test.

#[cfg(test)]
mod case;
#[cfg(test)]
mod kernel;
#[cfg(test)]
mod simulated;
#[cfg(test)]
mod table;

use std::path::Path;

use case::Case;
use table::Table;

/// Shares of all cases, in percent, that have to be within the bound. What is reached is in docs/simulator.md.
const FLOORS: [(&str, &str, f64); 4] = [
    ("all", "bytes 3 %", 84.0),
    ("all", "bytes 8 %", 88.0),
    ("all", "ramp-up 10 %", 88.0),
    ("all", "retransmits x1.5", 90.0),
];

/// The same of 67 cases on another release, a third of them with small buffers: there the two differ most.
const OTHERS: [(&str, &str, f64); 4] = [
    ("all", "bytes 3 %", 72.0),
    ("all", "bytes 8 %", 88.0),
    ("all", "ramp-up 10 %", 85.0),
    ("all", "retransmits x1.5", 90.0),
];

#[test]
fn simulated_transfers_are_those_of_the_kernel() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/oracle");
    for (file, floors) in [("linux-6.1.txt", FLOORS), ("linux-6.12.txt", OTHERS)] {
        let text = std::fs::read_to_string(folder.join(file)).unwrap();
        let only = std::env::var("ORACLE_ONLY").unwrap_or_default();
        let mut table = Table::default();
        for block in text.split_inclusive("\nend\n") {
            let (case, seen) = (Case::read(block), kernel::Seen::read(block));
            if case.name.contains(&only) {
                let simulated = simulated::run(&case, &seen);
                table.add(&case, &seen, &simulated);
            }
        }
        println!("{file}\n{table}");
        for (set, measure, floor) in floors {
            let share = table.share(set, measure);
            assert!(only.is_empty() && share >= floor, "{file}: {measure} of {set}: {share:.0} %, {floor} % before");
        }
    }
}
