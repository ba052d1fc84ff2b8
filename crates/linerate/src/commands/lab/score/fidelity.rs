//! `linerate lab score --virtual --fidelity DIR`: whether virtual plays tell what kept live ones told.

use twin::fidelity::Fidelity;

use super::cases::Case;
use super::round_directory::RoundDirectory;
use crate::cli::Common;
use crate::commands::print;
use crate::exit::Exit;
use crate::show;

/// Compares each kept play with a virtual one of the same seed.
pub fn run(
    common: &Common,
    shelf: &RoundDirectory,
    cases: &[Case],
    seeds: impl Iterator<Item = u64>,
) -> anyhow::Result<Exit> {
    let mut fidelity = Fidelity::default();
    let mut plays = 0;
    for seed in seeds {
        for case in cases {
            let Some(kept) = shelf.take(case, seed)? else { continue };
            if !kept.about.limited_by_emulation.is_empty() && !common.quiet {
                eprintln!("{} #{seed}: the emulation was the limit of the live play", case.name);
            }
            let simulated = twin::play(&case.scenario, path::Seed(seed)).round;
            fidelity.add(&case.name, &kept.round, &simulated);
            plays += 1;
        }
    }
    print(show::score::fidelity(&fidelity, plays).as_bytes())
}
