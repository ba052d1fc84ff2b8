//! Proof of a fix: the same test without and with it in alternation, and a rank test over both.

use std::time::Duration;

use anyhow::Context;
use archive::Archive;
use audit::fix::report::{Series, Verdict, Verification};
use clap::Parser;
use host::helper::Fixed;
use measure::session::client::Request;
use measure::stop::Stop;
use model::host::fix::journal::FixId;
use model::run::{Outcome, Run, RunId};
use model::spec::Limit;
use stats::gain;
use stats::summary::Ordered;
use units::DataRate;

use super::session::{Session, take_back};
use super::words;
use crate::cli::host::fix::FixArgs;
use crate::cli::test::TestArgs;
use crate::cli::{Cli, Command, Common};
use crate::commands::archive as kept;
use crate::commands::attempt::{Frame, attempt};
use crate::exit::{Complaint, Exit};
use crate::show::progress::Talk;

/// A test that decides.
pub struct Proof {
    words: Vec<String>,
    test: Box<TestArgs>,
    pairs: u32,
    confidence: f64,
}

/// What became of it.
pub enum Proven {
    /// The answer; the fix is applied where it is a gain.
    Answered(Box<Verification>, Option<Box<Fixed>>),
    /// A test failed, so there is no answer; the fix is taken back.
    Failed(String),
    /// The user stopped it; the fix is taken back.
    Interrupted,
}

/// Whether the fix is applied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    Before,
    After,
}

impl Proof {
    /// Reads the command of `--verify`.
    pub fn read(args: &FixArgs) -> anyhow::Result<Option<Self>> {
        let Some(line) = &args.verify else { return Ok(None) };
        let wrong = |what: String| {
            Complaint::new(Exit::Usage, format!("--verify: {what}"))
                .hint("it is a command such as 'linerate test dtn2 -R -P 4'")
        };
        let words = words::split(line).map_err(wrong)?;
        let cli = Cli::try_parse_from(&words).map_err(|error| wrong(format!("`{line}`: {error}")))?;
        let Command::Test(test) = cli.command else {
            return Err(wrong(format!("`{line}` is no `linerate test`")).into());
        };
        if test.repeat > 1 || test.nagios || test.tool.is_some() || test.against.is_some() || test.plot.is_some() {
            let what = "--repeat, --against, --plot, --nagios and --tool have no place there: --pairs says how often";
            return Err(wrong(what.to_owned()).into());
        }
        let fewest = gain::fewest(args.confidence);
        if fewest.is_none_or(|fewest| args.pairs < fewest) {
            let enough = fewest.map_or("no number of pairs is enough".to_owned(), |fewest| format!("--pairs {fewest}"));
            let what = format!("{} pairs cannot show a gain with confidence {}", args.pairs, args.confidence);
            return Err(Complaint::new(Exit::Usage, what).hint(format!("the least that can: {enough}")).into());
        }
        Ok(Some(Self { words, test, pairs: args.pairs, confidence: args.confidence }))
    }

    /// Runs it. Where the answer is a gain the fix is applied and waits to be confirmed, else it is not.
    pub fn run(&self, common: &Common, session: &Session, args: &FixArgs, stop: &Stop) -> anyhow::Result<Proven> {
        let mut archive = if self.test.no_archive { None } else { Some(kept::open(common)?) };
        let mut runs: [Vec<Run>; 2] = [Vec::new(), Vec::new()];
        let mut applied: Option<FixId> = None;
        let patience = args.confirm_within + self.longest();
        for (number, side) in order(self.pairs).enumerate() {
            match (side, applied) {
                (Side::After, None) => applied = Some(session.apply(patience)?.entry.fix),
                (Side::Before, Some(fix)) => {
                    take_back(session, fix)?;
                    applied = None;
                }
                _ => {}
            }
            let series = &mut runs[side as usize];
            let run = self.test_once(series.first().map(|first| first.id), &mut archive, stop);
            let failed = match &run {
                Ok(run) => failure(run),
                Err(error) => Some(format!("{error:#}")),
            };
            if failed.is_some() || stop.is_stopped() {
                if let Some(fix) = applied {
                    take_back(session, fix)?;
                }
                let with = if side == Side::After { "with" } else { "without" };
                let words = failed.map(|failed| format!("the test {with} the fix failed: {failed}"));
                return Ok(words.filter(|_| !stop.is_stopped()).map_or(Proven::Interrupted, Proven::Failed));
            }
            let run = run?;
            self.say(common, number, side, &run);
            series.push(run);
        }
        self.answer(session, args, applied, &runs)
    }

    fn test_once(&self, batch: Option<RunId>, archive: &mut Option<Archive>, stop: &Stop) -> anyhow::Result<Run> {
        let test = &self.test;
        let request = Request { host: test.host.clone(), port: test.port, spec: test.spec(), queue_wait: test.wait };
        let frame = Frame { declared_line_rate: test.expect, batch };
        let mut done = attempt(&request, frame, stop, Talk::Nothing)?;
        done.run.batch = Some(batch.unwrap_or(done.run.id));
        done.run.command.clone_from(&self.words);
        if let Some(archive) = archive {
            kept::keep(archive, &done.run, &done.samples)?;
        }
        Ok(done.run)
    }

    fn answer(
        &self,
        session: &Session,
        args: &FixArgs,
        applied: Option<FixId>,
        runs: &[Vec<Run>; 2],
    ) -> anyhow::Result<Proven> {
        let [before, after] = [goodputs(&runs[0]), goodputs(&runs[1])];
        let judged =
            gain::judge(&floats(&before), &floats(&after), self.confidence).context("no test has a goodput")?;
        let verdict = match judged.verdict {
            gain::Verdict::Gain => Verdict::Gain,
            gain::Verdict::Loss => Verdict::Loss,
            gain::Verdict::Noise => Verdict::Noise,
        };
        #[expect(clippy::cast_possible_truncation, reason = "a difference of rates below 2^63 bit/s")]
        let shift_bps = judged.comparison.shift.round() as i64;
        let verification = Verification {
            command: self.words.clone(),
            confidence: self.confidence,
            before: series(&runs[0], before),
            after: series(&runs[1], after),
            p_two_sided: judged.comparison.p_two_sided,
            shift_bps,
            verdict,
        };
        let fixed = match (verdict, applied) {
            // Made anew, so that the time to confirm it begins now.
            (Verdict::Gain, Some(fix)) => {
                take_back(session, fix)?;
                Some(Box::new(session.apply(args.confirm_within)?))
            }
            (Verdict::Gain, None) => Some(Box::new(session.apply(args.confirm_within)?)),
            (_, Some(fix)) => {
                take_back(session, fix)?;
                None
            }
            (_, None) => None,
        };
        Ok(Proven::Answered(Box::new(verification), fixed))
    }

    fn say(&self, common: &Common, number: usize, side: Side, run: &Run) {
        if !common.quiet {
            let side = if side == Side::After { "with the fix" } else { "without it" };
            let goodput = slowest(run).map_or_else(|| "nothing".to_owned(), |rate| rate.to_string());
            eprintln!("test {} of {}, {side}: {goodput}", number + 1, 2 * self.pairs);
        }
    }

    /// How long two tests in a row may take, so that the fix is not taken back meanwhile. It is if this process dies.
    fn longest(&self) -> Duration {
        let spec = self.test.spec();
        let one = match spec.limit {
            Limit::Time(time) => time + spec.omit,
            Limit::Bytes(_) | Limit::Blocks(_) => LONGEST_TRANSFER,
        };
        2 * (one + spec.connect_timeout + self.test.wait + DRAINING)
    }
}

/// Without, with, with, without: what drifts evenly meanwhile weighs on both sides alike, and every second change is saved.
fn order(pairs: u32) -> impl Iterator<Item = Side> {
    (0..pairs).flat_map(|pair| if pair % 2 == 0 { [Side::Before, Side::After] } else { [Side::After, Side::Before] })
}

fn failure(run: &Run) -> Option<String> {
    match &run.outcome {
        Outcome::Complete if slowest(run).is_some() => None,
        Outcome::Complete => Some("it measured nothing".to_owned()),
        Outcome::Failed(failure) => Some(failure.detail.clone()),
    }
}

/// The goodput; of a test both ways that of the slower direction.
fn slowest(run: &Run) -> Option<DataRate> {
    run.measurement.as_ref()?.totals.iter().map(|total| total.goodput).min()
}

fn goodputs(runs: &[Run]) -> Vec<DataRate> {
    runs.iter().filter_map(slowest).collect()
}

#[expect(clippy::cast_precision_loss, reason = "a rate below 2^53 bit/s is exact")]
fn floats(rates: &[DataRate]) -> Vec<f64> {
    rates.iter().map(|rate| rate.bps() as f64).collect()
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a median of rates is a rate")]
fn series(runs: &[Run], goodput_bps: Vec<DataRate>) -> Series {
    let median = Ordered::new(floats(&goodput_bps)).median().unwrap_or_default();
    Series {
        runs: runs.iter().map(|run| run.id).collect(),
        median_bps: DataRate::from_bps(median.round() as u64),
        goodput_bps,
    }
}

/// For tests that end after so many bytes.
const LONGEST_TRANSFER: Duration = Duration::from_secs(600);
/// For what is still on its way when a test ends.
const DRAINING: Duration = Duration::from_secs(60);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_sides_are_tested_equally_often_and_none_is_always_the_first() {
        let sides: Vec<Side> = order(5).collect();
        assert_eq!(sides.iter().filter(|side| **side == Side::After).count(), 5);
        assert_eq!(sides.len(), 10);
        assert_eq!(sides[..4], [Side::Before, Side::After, Side::After, Side::Before]);
    }
}
