//! Proof of a fix: the same test without and with it in alternation, and a rank test over both.

use std::cell::Cell;
use std::ffi::{OsStr, OsString};
use std::time::Duration;

use anyhow::Context;
use archive::Archive;
use audit::fix::report::{Counted, Series, Verdict, Verification};
use clap::Parser;
use host::helper::Fixed;
use measure::session::client::Request;
use measure::stop::Stop;
use model::host::fix::journal::FixId;
use model::run::{Outcome as RunOutcome, RunId};
use model::spec::Limit;
use round::carrier::{Call, Here, Voice};
use round::program::{self, Ended};
use stats::gain;
use stats::summary::Ordered;
use units::duration;

use super::printed::{self, Outputs, Unit, slowest};
use super::session::{Session, is_without_effect, take_back};
use crate::cli::host::fix::FixArgs;
use crate::cli::test::TestArgs;
use crate::cli::{Cli, Command, Common, habits};
use crate::commands::archive as kept;
use crate::commands::attempt::{Frame, attempt};
use crate::commands::host::words;
use crate::exit::{Complaint, Exit};
use crate::show::progress::Talk;

/// A test that decides.
pub struct Proof {
    words: Vec<String>,
    test: Test,
    pairs: u32,
    confidence: f64,
}

/// What is run.
enum Test {
    /// `linerate test`, in this process.
    Own(Box<TestArgs>),
    /// Any program.
    Program(ProgramTest),
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

/// What one run of the test gave.
struct Outcome {
    run: Option<RunId>,
    value: f64,
    counted: Counted,
    /// What a program that failed said of it.
    complaint: String,
}

/// What is gathered of one side.
#[derive(Default)]
struct Gathered {
    runs: Vec<RunId>,
    values: Vec<f64>,
}

impl Proof {
    /// Reads the command of `--verify`.
    pub fn read(args: &FixArgs) -> anyhow::Result<Option<Self>> {
        let Some(line) = &args.verify else { return Ok(None) };
        let wrong = |what: String| {
            Complaint::new(Exit::Usage, format!("--verify: {what}"))
                .hint("it is a command such as 'linerate test dtn2 -R -P 4', a program of your own, or a line for a shell: sh -c '...'")
        };
        let words = words::split(line).map_err(wrong)?;
        let Some(program) = words.first() else { return Err(wrong("it is empty".to_owned()).into()) };
        let test = if program == "linerate" {
            Test::Own(own(line, &words).map_err(wrong)?)
        } else {
            Test::Program(ProgramTest {
                words: words.clone(),
                limit: args.test_limit,
                less_is_better: args.less_is_better,
                unit: Cell::new(None),
            })
        };
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
        let mut archive = match &self.test {
            Test::Own(test) if !test.no_archive => Some(kept::open(common)?),
            _ => None,
        };
        let mut gathered = [Gathered::default(), Gathered::default()];
        let mut applied: Option<FixId> = None;
        let (mut counted, mut complaint) = (None, String::new());
        let patience = args.confirm_within + self.longest();
        for (number, side) in order(self.pairs).enumerate() {
            match (side, applied) {
                (Side::After, None) => {
                    let fixed = session.apply(patience)?;
                    if is_without_effect(&fixed) {
                        let what = "it changes nothing here: every setting has the wanted value already";
                        return Ok(Proven::Failed(what.to_owned()));
                    }
                    applied = Some(fixed.entry.fix);
                }
                (Side::Before, Some(fix)) => {
                    take_back(session, fix)?;
                    applied = None;
                }
                _ => {}
            }
            let of_side = &mut gathered[side as usize];
            let outcome = match &self.test {
                Test::Own(test) => self.own_once(test, of_side.runs.first().copied(), &mut archive, stop),
                Test::Program(test) => test.once(stop),
            };
            let mixes = outcome.as_ref().is_ok_and(|done| counted.is_some_and(|counted| counted != done.counted));
            let failed = match &outcome {
                Ok(_) if mixes => Some("it printed a number in one run and none in another".to_owned()),
                Ok(_) => None,
                Err(why) => Some(why.clone()),
            };
            if failed.is_some() || stop.is_stopped() {
                if let Some(fix) = applied {
                    take_back(session, fix)?;
                }
                let with = if side == Side::After { "with" } else { "without" };
                let words = failed.map(|failed| format!("the test {with} the fix failed: {failed}"));
                return Ok(words.filter(|_| !stop.is_stopped()).map_or(Proven::Interrupted, Proven::Failed));
            }
            let Ok(outcome) = outcome else { return Ok(Proven::Interrupted) };
            self.say(common, number, side, &outcome);
            counted = Some(outcome.counted);
            complaint = outcome.complaint;
            of_side.runs.extend(outcome.run);
            of_side.values.push(outcome.value);
        }
        if counted == Some(Counted::Success)
            && gathered.iter().all(|side| side.values.iter().all(|value| *value == 0.0))
        {
            if let Some(fix) = applied {
                take_back(session, fix)?;
            }
            let why = if complaint.is_empty() { complaint } else { format!(": {complaint}") };
            return Ok(Proven::Failed(format!(
                "the test failed with the fix and without it, which decides nothing{why}"
            )));
        }
        self.answer(session, args, applied, (gathered, counted.unwrap_or_default()))
    }

    fn own_once(
        &self,
        test: &TestArgs,
        batch: Option<RunId>,
        archive: &mut Option<Archive>,
        stop: &Stop,
    ) -> Result<Outcome, String> {
        let told = |error: anyhow::Error| format!("{error:#}");
        let request = Request {
            host: test.host.clone(),
            port: test.port,
            spec: test.spec(),
            queue_wait: test.wait,
            ticket: None,
        };
        let frame = Frame { declared_line_rate: test.expect, batch };
        let mut done = attempt(&request, frame, stop, Talk::Nothing).map_err(told)?;
        done.run.batch = Some(batch.unwrap_or(done.run.id));
        done.run.command.clone_from(&self.words);
        if let Some(archive) = archive {
            kept::keep(archive, &done.run, &done.samples).map_err(told)?;
        }
        match (&done.run.outcome, done.run.measurement.as_ref().and_then(slowest)) {
            #[expect(clippy::cast_precision_loss, reason = "a rate below 2^53 bit/s is exact")]
            (RunOutcome::Complete, Some(rate)) => {
                let (run, value) = (Some(done.run.id), rate.bps() as f64);
                Ok(Outcome { run, value, counted: Counted::Goodput, complaint: String::new() })
            }
            (RunOutcome::Complete, None) => Err("it measured nothing".to_owned()),
            (RunOutcome::Failed(failure), _) => Err(failure.detail.clone()),
        }
    }

    fn answer(
        &self,
        session: &Session,
        args: &FixArgs,
        applied: Option<FixId>,
        ([before, after], counted): ([Gathered; 2], Counted),
    ) -> anyhow::Result<Proven> {
        // Of a cost less is a gain.
        let towards = if counted == Counted::Cost { -1.0 } else { 1.0 };
        let signed = |values: &[f64]| values.iter().map(|value| value * towards).collect::<Vec<_>>();
        let judged = gain::judge(&signed(&before.values), &signed(&after.values), self.confidence)
            .context("no test has a result")?;
        let verdict = match judged.verdict {
            gain::Verdict::Gain => Verdict::Gain,
            gain::Verdict::Loss => Verdict::Loss,
            gain::Verdict::Noise => Verdict::Noise,
        };
        let verification = Verification {
            command: self.words.clone(),
            confidence: self.confidence,
            before: series(before),
            after: series(after),
            p_two_sided: judged.comparison.p_two_sided,
            shift: judged.comparison.shift * towards,
            counted,
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

    fn say(&self, common: &Common, number: usize, side: Side, outcome: &Outcome) {
        if !common.quiet {
            let side = if side == Side::After { "with the fix" } else { "without it" };
            eprintln!("test {} of {}, {side}: {}", number + 1, 2 * self.pairs, outcome.counted.shown(outcome.value));
        }
    }

    /// How long two tests in a row may take, so that the fix is not taken back meanwhile. It is if this process dies.
    fn longest(&self) -> Duration {
        let test = match &self.test {
            Test::Program(test) => return 2 * (test.limit + DRAINING),
            Test::Own(test) => test,
        };
        let spec = test.spec();
        let one = match spec.limit {
            Limit::Time(time) => time + spec.omit,
            Limit::Bytes(_) | Limit::Blocks(_) => LONGEST_TRANSFER,
        };
        2 * (one + spec.connect_timeout + test.wait + DRAINING)
    }
}

/// A `linerate test` that can be repeated.
fn own(line: &str, words: &[String]) -> Result<Box<TestArgs>, String> {
    // Typed in a shell the same words are read like this.
    let (words, _) = habits::translated(words.iter().map(OsString::from).collect());
    let cli = Cli::try_parse_from(words).map_err(|error| format!("`{line}`: {error}"))?;
    let Command::Test(test) = cli.command else {
        return Err(format!("`{line}` is no `linerate test`"));
    };
    if test.repeat > 1 || test.nagios || test.tool.is_some() || test.against.is_some() || test.plot.is_some() {
        return Err(
            "--repeat, --against, --plot, --nagios and --tool have no place there: --pairs says how often".to_owned()
        );
    }
    Ok(Box::new(*test))
}

/// A program whose number, or success, decides.
struct ProgramTest {
    words: Vec<String>,
    limit: Duration,
    less_is_better: bool,
    /// In which all numbers count: that of the first.
    unit: Cell<Option<Unit>>,
}

impl ProgramTest {
    fn once(&self, stop: &Stop) -> Result<Outcome, String> {
        let arguments: Vec<OsString> = self.words[1..].iter().map(OsString::from).collect();
        let call = Call { program: OsStr::new(&self.words[0]), arguments: &arguments, voice: Voice::Silent };
        let said = program::run(&Here, &call, self.limit, stop).map_err(|error| error.to_string())?;
        let status = match said.ended {
            Ended::By(status) => status,
            Ended::Stopped => return Err("it was stopped".to_owned()),
            Ended::Flooded(most) => return Err(format!("it printed more than {most} bytes")),
            Ended::Overdue(limit) => return Err(format!("it took longer than {}", duration::show(limit))),
        };
        // The shell's own codes for what cannot be started.
        if matches!(status.code(), Some(126 | 127)) {
            return Err(format!("`{}` cannot be started: {}", self.words[0], said.stderr));
        }
        let counted = if self.less_is_better { Counted::Cost } else { Counted::Number };
        let complaint = said.stderr.lines().last().unwrap_or_default().to_owned();
        let stdout = String::from_utf8_lossy(&said.stdout);
        match printed::result(Outputs { stdout: &stdout, stderr: &said.stderr })? {
            Some(printed) if status.success() => {
                let unit = self.unit.get().unwrap_or(printed.unit);
                self.unit.set(Some(unit));
                if unit.counts != printed.unit.counts {
                    return Err("it printed a number of another unit than before".to_owned());
                }
                Ok(Outcome { run: None, value: printed.within(unit), counted, complaint })
            }
            Some(_) => Err(format!("it ended with {status}: {}", said.stderr)),
            None => {
                let value = f64::from(u8::from(status.success()));
                Ok(Outcome { run: None, value, counted: Counted::Success, complaint })
            }
        }
    }
}

/// Without, with, with, without: what drifts evenly meanwhile weighs on both sides alike, and every second change is saved.
fn order(pairs: u32) -> impl Iterator<Item = Side> {
    (0..pairs).flat_map(|pair| if pair % 2 == 0 { [Side::Before, Side::After] } else { [Side::After, Side::Before] })
}

fn series(gathered: Gathered) -> Series {
    let median = Ordered::new(gathered.values.clone()).median().unwrap_or_default();
    Series { runs: gathered.runs, values: gathered.values, median }
}

/// For tests that end after so many bytes.
const LONGEST_TRANSFER: Duration = Duration::from_secs(600);
/// For what is still on its way when a test ends.
const DRAINING: Duration = Duration::from_secs(60);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_of_iperf3_mean_what_they_mean_in_a_shell() {
        let read = |line: &str| own(line, &line.split(' ').map(str::to_owned).collect::<Vec<_>>());
        let test = read("linerate test dtn2 -R -t 1 -b 50M").unwrap();
        assert_eq!((test.time, test.rate), (Some(Duration::from_secs(1)), Some(units::DataRate::from_bps(50_000_000))));
        assert!(read("linerate test dtn2 --time 1").is_err(), "written out it wants its unit");
    }

    #[test]
    fn both_sides_are_tested_equally_often_and_none_is_always_the_first() {
        let sides: Vec<Side> = order(5).collect();
        assert_eq!(sides.iter().filter(|side| **side == Side::After).count(), 5);
        assert_eq!(sides.len(), 10);
        assert_eq!(sides[..4], [Side::Before, Side::After, Side::After, Side::Before]);
    }
}
