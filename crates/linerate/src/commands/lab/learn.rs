//! `linerate lab learn`: how causes show, and what a probability is worth, from incidents whose causes are known.

use anyhow::Context;
use audit::Rules;
use diagnose::causes::Catalogue;
use diagnose::diagnosis::weigh;
use diagnose::learn::{LearningCase, Lesson, Outcome, Regularization, calibrate, learn, refine};
use diagnose::signs::Coverage;
use path::Seed;

use super::score::cases::cases;
use super::score::incidents::{Incident, JudgedEvidence, Watch, play, side_by_side};
use super::score::round_directory::RoundDirectory;
use crate::cli::Common;
use crate::cli::score::{LearnArgs, SeedRange, Withhold};
use crate::commands::attempt::stop_on_signals;
use crate::commands::{file, print};
use crate::exit::{Complaint, Exit};

/// Learns from one range of seeds, calibrates with another, and writes both as files of the catalogue.
pub fn run(common: &Common, args: &LearnArgs) -> anyhow::Result<Exit> {
    std::fs::create_dir_all(&args.output)
        .with_context(|| Complaint::new(Exit::Local, format!("cannot make {}", args.output.display())))?;
    let stop = stop_on_signals()?;
    let rules = Rules::built_in();
    let of_seed = |seed| {
        let Incident { round, planted, .. } = play(seed, withheld(seed)).ok()?;
        Some(LearningCase::of(round, &planted, &rules))
    };
    let watch = Watch { stop: &stop, quiet: common.quiet };
    let cases = side_by_side("incidents to learn from", &seeds(args.seeds), watch, of_seed);
    let mut cases: Vec<LearningCase> = cases.into_iter().flatten().collect();
    cases.extend(of_files(args, &rules)?);
    if stop.is_stopped() {
        return Ok(Exit::Interrupted);
    }
    let lesson =
        if args.refine { refine(&cases, Catalogue::built_in(), Regularization::default()) } else { learn(&cases) };
    let outcomes = outcomes(args.calibrate, &lesson.catalogue, &rules, watch);
    if stop.is_stopped() {
        return Ok(Exit::Interrupted);
    }
    let weights = calibrate(&lesson.weights, &outcomes);
    let before = if args.refine { "what was learnt before, with incidents" } else { "incidents" };
    let made_of = format!(
        "{before} {} to {}, calibrated with {} to {}",
        args.seeds.from, args.seeds.to, args.calibrate.from, args.calibrate.to
    );
    file::write(&args.output.join("learnt.toml"), lesson.likelihoods.as_bytes())?;
    file::write(&args.output.join("weights.toml"), weights.text(&made_of).as_bytes())?;
    print(account(&lesson, &cases, &outcomes).as_bytes())
}

/// What plays of scenario files teach: in virtual time, and live where rounds of them were kept.
fn of_files(args: &LearnArgs, rules: &Rules) -> anyhow::Result<Vec<LearningCase>> {
    if args.scenarios.is_empty() {
        return Ok(Vec::new());
    }
    let (files, unread) = cases(&args.scenarios)?;
    if let Some(missing) = unread.first() {
        return Err(Complaint::new(Exit::Usage, format!("{}: {}", missing.scenario, missing.why)).into());
    }
    let plays = files.iter().flat_map(|case| (1..=PLAYS_OF_FILES).map(move |seed| (case, seed)));
    let mut found: Vec<LearningCase> = plays
        .map(|(case, seed)| LearningCase::of(twin::play(&case.scenario, Seed(seed)).round, &case.truth.causes, rules))
        .collect();
    if let Some(folder) = &args.evidence_from {
        let shelf = RoundDirectory::read_only(folder)?;
        for case in &files {
            let mut seed = 1;
            while let Some(kept) = shelf.take(case, seed)? {
                found.push(LearningCase::of(kept.round, &case.truth.causes, rules));
                seed += 1;
            }
        }
    }
    Ok(found)
}

/// How often each file is played.
const PLAYS_OF_FILES: u64 = 3;

fn seeds(range: SeedRange) -> Vec<u64> {
    (range.from..=range.to).collect()
}

/// Two of four incidents as they are, two with half of their evidence: a diagnosis meets both.
const fn withheld(seed: u64) -> JudgedEvidence {
    let withhold = if seed % 4 < 2 { None } else { Some(Withhold::Half) };
    JudgedEvidence { withhold, budget: None }
}

/// What became of first names, before any calibration.
fn outcomes(range: SeedRange, catalogue: &Catalogue, rules: &Rules, watch: Watch<'_>) -> Vec<Outcome> {
    let of_seed = |seed| {
        let Ok(Incident { round, planted, .. }) = play(seed, withheld(seed)) else { return Vec::new() };
        let weighing = weigh(&round, catalogue, rules);
        let coverage = Coverage::of(&round, &weighing.flows);
        let problems = weighing.into_problems();
        let firsts = problems.iter().enumerate().filter_map(|(number, problem)| {
            let first = problem.ranking.first()?;
            let is_right = planted.iter().any(|planted| planted.cause == first.cause);
            Some(Outcome { probability: first.probability, is_right, is_later: number > 0, coverage })
        });
        firsts.collect()
    };
    side_by_side("incidents to calibrate with", &seeds(range), watch, of_seed).into_iter().flatten().collect()
}

fn account(lesson: &Lesson, cases: &[LearningCase], outcomes: &[Outcome]) -> String {
    let complaining = cases.iter().filter(|case| case.complains()).count();
    let right = outcomes.iter().filter(|outcome| outcome.is_right).count();
    let fitted = &lesson.fitted;
    format!(
        "learnt from     {} incidents, {complaining} of which have an affected flow\n\
         weights         fitted to {} decisions: -ln of the probability of the right answer {:.3}, before {:.3}\n\
         calibrated with {} first names, {right} of them right\n",
        cases.len(),
        fitted.decisions,
        fitted.after,
        fitted.before,
        outcomes.len()
    )
}
