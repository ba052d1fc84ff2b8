//! Scores of incidents that nobody wrote, drawn from seeds, played and judged in virtual time.

use std::time::Instant;

use audit::Rules;
use diagnose::causes::Catalogue;
use diagnose::diagnosis::weigh;
use diagnose::score::{Missing, Truth, Verdict, judge, score};

use path::Seed;
use twin::effect::of_causes;

use super::catalogue::catalogue;
use super::incidents::{Incident, JudgedEvidence, Watch, name, play, side_by_side};
use crate::cli::Common;
use crate::cli::score::{ScoreArgs, SeedRange};
use crate::commands::attempt::stop_on_signals;
use crate::commands::print;
use crate::exit::Exit;
use crate::show;

/// Judges the incidents of a range of seeds, or this share of them.
pub fn run(common: &Common, args: &ScoreArgs, range: SeedRange) -> anyhow::Result<Exit> {
    let share = args.shard.unwrap_or(sweep::Share::WHOLE);
    let seeds: Vec<u64> = (range.from..=range.to).filter(|seed| share.has(*seed)).collect();
    let stop = stop_on_signals()?;
    let began = Instant::now();
    let judge = Judge { args, catalogue: catalogue(args.learnt.as_deref())?, rules: Rules::built_in() };
    let judged =
        side_by_side("incidents", &seeds, Watch { stop: &stop, quiet: common.quiet }, |seed| judge.verdict(seed));
    let took = began.elapsed();
    let (mut verdicts, mut missing) = (Vec::new(), Vec::new());
    for judged in judged {
        match judged {
            Ok(verdict) => verdicts.push(verdict),
            Err(none) => missing.push(none),
        }
    }
    let count = verdicts.len();
    let score = score(verdicts, missing);
    if common.json {
        print(&show::json::document(&score)?)?;
    } else {
        print(show::score::text(&score).as_bytes())?;
        print(show::score::pace(count, took).as_bytes())?;
    }
    Ok(if stop.is_stopped() { Exit::Interrupted } else { Exit::Success })
}

/// All that incidents are judged by.
struct Judge<'a> {
    args: &'a ScoreArgs,
    catalogue: Catalogue,
    rules: Rules,
}

impl Judge<'_> {
    fn verdict(&self, seed: u64) -> Result<Verdict, Missing> {
        let Self { args, catalogue, rules } = self;
        let Incident { round, planted, scenario } =
            play(seed, JudgedEvidence { withhold: args.withhold, budget: args.budget })?;
        let effects = if args.without_faults { of_causes(&scenario, Seed(seed), &round) } else { Vec::new() };
        let truth = Truth { causes: planted, innocent: Vec::new() };
        let began = Instant::now();
        let problems = weigh(&round, catalogue, rules).into_problems();
        let diagnosed = began.elapsed();
        let mut verdict = judge(&truth, &problems);
        for (found, effect) in verdict.planted.iter_mut().zip(effects) {
            found.rate_change = effect.map(|effect| effect.rate_change);
            found.leaves_trace = effect.map(|effect| effect.leaves_trace);
        }
        Ok(Verdict { scenario: name(seed), seed, measured: round.elapsed, diagnosed, ..verdict })
    }
}
