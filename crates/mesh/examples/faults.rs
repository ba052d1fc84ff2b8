//! Simulates meshes with faults: `cargo run --release -p mesh --example faults -- FIRST LAST`.
//!
//! Prints each violation with its seed, and what all of them together did.

#![allow(clippy::print_stdout, reason = "an example is there to print")]

use mesh::simulation::{Settings, Summary, run};
use path::Seed;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<u64> = std::env::args().skip(1).map(|text| text.parse()).collect::<Result<_, _>>()?;
    let [first, last] = arguments[..] else { return Err("give the first and the last seed".into()) };
    let mut all = Summary::default();
    for seed in first..=last {
        let summary = run(Settings::of_size(Seed(seed)), Seed(seed))?;
        for violation in &summary.violations {
            println!("seed {seed}: {violation:?}");
        }
        all.add(summary);
    }
    println!(
        "{} meshes: {} faults, {} runs planned, {} carried out, {} stored, {} closed with a reason, {} leases expired, {} violations",
        last + 1 - first,
        all.faults,
        all.planned,
        all.carried_out,
        all.stored,
        all.closed,
        all.expired,
        all.violations.len()
    );
    Ok(())
}
