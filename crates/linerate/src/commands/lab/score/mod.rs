//! `linerate lab score`.
//!
//! * [`mod@catalogue`]: by which causes is judged
//! * [`mod@cases`]: which scenarios, and what is true of them
//! * [`round_directory`]: rounds that are kept
//! * [`play_directory`]: playing one
//! * [`mod@fidelity`]: whether virtual plays tell what live ones told
//! * [`generated`]: incidents that nobody wrote
//! * [`incidents`]: playing these side by side
//! * [`merge`]: scores of several machines as one

pub mod cases;
mod catalogue;
mod fidelity;
mod generated;
pub mod incidents;
pub mod merge;
mod play_directory;
pub mod round_directory;

use std::time::{Duration, Instant};

use audit::Rules;
use diagnose::causes::Catalogue;
use diagnose::diagnosis::weigh;
use diagnose::score::{Missing, Verdict, judge, score};
use measure::stop::Stop;
use twin::play::{Setting, play_on};

use super::acquire_rights;
use crate::cli::Common;
use crate::cli::score::{ScoreArgs, SeedRange};
use crate::commands::attempt::stop_on_signals;
use crate::commands::examine::Examiner;
use crate::commands::print;
use crate::exit::Exit;
use crate::show;
use cases::{Case, cases};
use catalogue::catalogue;
use play_directory::PlayDirectory;
use round_directory::{About, Kept, RoundDirectory};

pub fn run(common: &Common, args: &ScoreArgs) -> anyhow::Result<Exit> {
    if args.scenarios.is_empty() {
        return generated::run(common, args, args.seeds.range());
    }
    let (cases, unread) = cases(&args.scenarios)?;
    let shelf = match (&args.keep, &args.evidence_from) {
        (Some(folder), _) => Some(RoundDirectory::open(folder, args.budget)?),
        (None, Some(folder)) => Some(RoundDirectory::read_only(folder)?),
        (None, None) => None,
    };
    let source = if args.evidence_from.is_some() {
        RoundSource::Kept
    } else if args.virtual_time {
        RoundSource::VirtualTime { budget: args.budget }
    } else {
        acquire_rights()?;
        RoundSource::Lab(PlayDirectory::open(args.budget)?)
    };
    if let Some(folder) = &args.fidelity {
        let seeds = args.seeds.range();
        return fidelity::run(common, &RoundDirectory::read_only(folder)?, &cases, seeds.from..=seeds.to);
    }
    let stop = stop_on_signals()?;
    let scorer = Scorer {
        common,
        shelf,
        source,
        stop: &stop,
        catalogue: catalogue(args.learnt.as_deref())?,
        rules: Rules::built_in(),
    };
    scorer.all(&cases, args.seeds.range(), unread)
}

/// Where a round comes from that is not kept yet.
enum RoundSource {
    /// From nowhere: only kept ones are judged.
    Kept,
    /// A play in virtual time, tested on for as long as tests may take.
    VirtualTime { budget: Option<Duration> },
    /// A live play.
    Lab(PlayDirectory),
}

/// All that judging a play needs.
struct Scorer<'a> {
    common: &'a Common,
    shelf: Option<RoundDirectory>,
    source: RoundSource,
    stop: &'a Stop,
    catalogue: Catalogue,
    rules: Rules,
}

impl Scorer<'_> {
    /// Every case with the first seed, then with the second: whoever stops early has seen all of them.
    fn all(&self, cases: &[Case], seeds: SeedRange, mut missing: Vec<Missing>) -> anyhow::Result<Exit> {
        missing.iter().for_each(|missing| self.tell(&show::score::missing(missing)));
        let mut verdicts = Vec::new();
        let plays = (seeds.from..=seeds.to).flat_map(|seed| cases.iter().map(move |case| (case, seed)));
        let count = usize::try_from(seeds.to - seeds.from + 1).unwrap_or(usize::MAX).saturating_mul(cases.len());
        for (number, (case, seed)) in plays.enumerate() {
            if self.stop.is_stopped() {
                break;
            }
            match self.judged(case, seed)? {
                Ok(verdict) => {
                    self.tell(&show::score::play(number + 1, count, &verdict));
                    verdicts.push(verdict);
                }
                Err(_) if self.stop.is_stopped() => break,
                Err(why) => {
                    let none = Missing { scenario: case.name.clone(), seed: Some(seed), why };
                    self.tell(&show::score::missing(&none));
                    missing.push(none);
                }
            }
        }
        let score = score(verdicts, missing);
        if self.common.json {
            print(&show::json::document(&score)?)?;
        } else {
            print(show::score::text(&score).as_bytes())?;
        }
        Ok(if self.stop.is_stopped() { Exit::Interrupted } else { Exit::Success })
    }

    /// The verdict on one play, or why there is none.
    fn judged(&self, case: &Case, seed: u64) -> anyhow::Result<Result<Verdict, String>> {
        let kept = match self.kept(case, seed)? {
            Ok(kept) => kept,
            Err(why) => return Ok(Err(why)),
        };
        let began = Instant::now();
        // No more than is judged: what flows were allowed is an explanation for people, and costs simulations.
        let problems = weigh(&kept.round, &self.catalogue, &self.rules).into_problems();
        let diagnosed = began.elapsed();
        Ok(Ok(Verdict {
            scenario: case.name.clone(),
            seed,
            measured: kept.round.elapsed,
            diagnosed,
            limited_by_emulation: kept.about.limited_by_emulation,
            ..judge(&case.truth, &problems)
        }))
    }

    /// The round of a play: a kept one, or else a new one.
    fn kept(&self, case: &Case, seed: u64) -> anyhow::Result<Result<Kept, String>> {
        if let Some(kept) = self.shelf.as_ref().map(|shelf| shelf.take(case, seed)).transpose()?.flatten() {
            return Ok(Ok(kept));
        }
        let played = match &self.source {
            RoundSource::Kept => return Ok(Err("there is no round of it".to_owned())),
            RoundSource::VirtualTime { budget } => Ok(simulated(case, seed, *budget)),
            RoundSource::Lab(stage) => stage.play(case, seed, self.stop),
        };
        if let (Ok(kept), Some(shelf)) = (&played, &self.shelf) {
            shelf.put(case, seed, kept)?;
        }
        Ok(played)
    }

    /// Where data is JSON, talk goes elsewhere.
    fn tell(&self, text: &str) {
        if !self.common.json {
            // A terminal that is gone is noticed at the end.
            let _ = print(text.as_bytes());
        } else if !self.common.quiet {
            eprint!("{text}");
        }
    }
}

/// A play in virtual time, tested on for as long as tests may take.
fn simulated(case: &Case, seed: u64, budget: Option<Duration>) -> Kept {
    let mut examiner = budget.map(Examiner::in_virtual_time);
    let setting = Setting::of(path::Seed(seed));
    let round = play_on(&case.scenario, &setting, &mut |round| examiner.as_mut()?.next(round)).round;
    let about = About { scenario_text: case.text.clone(), budget, ..About::default() };
    Kept { round, about }
}
