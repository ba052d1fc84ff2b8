//! `linerate simulate tune`: which settings keep a deadline most often.

use std::num::NonZeroUsize;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::Context;
use measure::stop::Stop;
use tune::fixes::Places;
use tune::search::LEAST_BUDGET;
use tune::{Answer, Halt, Question, QuestionError, Runner, Score, Trial, Wanted};

use super::work::{self, Progress, Steps};
use crate::cli::Common;
use crate::cli::tune::{Budget, MOST_BUDGET, TuneArgs};
use crate::commands::{attempt, file, plot, print};
use crate::exit::{Complaint, Exit};
use crate::show;
use chart::Form;

/// Questions that come with the program.
const SHIPPED: [(&str, &str); 1] = [("amlight", include_str!("../../../../tune/questions/amlight.toml"))];

pub fn run(common: &Common, args: &TuneArgs) -> anyhow::Result<Exit> {
    if let Some(picture) = &args.plot {
        plot::check(picture)?;
    }
    let question = read(args)?;
    if args.plot.is_some() && question.drawn.is_empty() {
        return Err(Complaint::new(Exit::Usage, "nothing is drawn, so the picture would have no axis")
            .hint("draw something: --burst-length 25ms..2s")
            .into());
    }
    let jobs = args.jobs.map_or_else(work::cpu_count, NonZeroUsize::get);
    if args.dry_run {
        let each = pace(&question)?;
        let flows = flows(args.budget, each, jobs);
        return print(show::tune::outlook(&question, flows, each, jobs).as_bytes());
    }
    if let Some(folder) = &args.fixes {
        std::fs::create_dir_all(folder)
            .with_context(|| Complaint::new(Exit::Local, format!("cannot write to {}", folder.display())))?;
    }
    let budget = match args.budget {
        Budget::Flows(flows) => flows,
        time @ Budget::Time(_) => flows(time, pace(&question)?, jobs),
    };
    let stop = attempt::stop_on_signals()?;
    let most = usize::try_from(budget).unwrap_or(usize::MAX);
    let mut machine = Machine {
        jobs,
        stop: &stop,
        progress: Progress::new(common, "transfers", Steps { done: 0, of: most }),
        failed: None,
    };
    let found = tune::tune(&question, budget, &mut machine);
    machine.progress.finish();
    if let Some(error) = machine.failed {
        return Err(error);
    }
    let found = match found {
        Ok(found) => found,
        Err(Halt::Stopped) => {
            eprintln!("stopped before anything was known");
            return Ok(Exit::Interrupted);
        }
        Err(error @ Halt::Failed(_)) => return Err(Complaint::new(Exit::Usage, error.to_string()).into()),
    };
    let places = Places { route: args.route.clone(), device: args.device.clone() };
    let answer = Answer::new(&question, &found, &super::result::program(), &places);
    let written = args.fixes.as_deref().map(|folder| write(folder, &answer)).transpose()?;
    if let Some(path) = &args.plot {
        let form = Form::of(path).unwrap_or(Form::Svg);
        file::write(path, &chart::tuned::picture(&question, &answer, form)?)?;
    }
    if common.json {
        print(&show::json::document(&answer)?)?;
    } else {
        print(show::tune::text(&question, &found, &answer, written.as_deref()).as_bytes())?;
    }
    if found.is_whole { Ok(Exit::Success) } else { stopped(&answer) }
}

fn stopped(answer: &Answer) -> anyhow::Result<Exit> {
    eprintln!("stopped after {} transfers: this is the best so far", answer.flows);
    Ok(Exit::Interrupted)
}

/// Reads a question from a file, one that comes with the program, or from nothing but what was typed.
fn read(args: &TuneArgs) -> anyhow::Result<Question> {
    let mut wanted = Wanted { keep: args.keep.clone(), seed: args.seed, ..Wanted::default() };
    for (parameter, text) in &args.set.0 {
        wanted.set(parameter.name, text).map_err(|why| {
            Complaint::new(Exit::Usage, format!("--{} {text}: {why}", parameter.name))
                .hint("write one value, a list a,b,c of values that are as likely, or a..b for all between")
        })?;
    }
    args.vary.iter().for_each(|text| wanted.vary(text));
    let Some(path) = &args.file else {
        let read = Question::read("name = \"tune\"", &wanted);
        return read.map_err(|error| refused(&error, "this cannot be asked"));
    };
    let shipped = SHIPPED.iter().find(|(name, _)| Path::new(name) == path && !path.exists());
    let text = match shipped {
        Some((_, text)) => (*text).to_owned(),
        None => text_of(path)?,
    };
    Question::read(&text, &wanted).map_err(|error| refused(&error, &format!("{} is no question", path.display())))
}

fn refused(error: &QuestionError, what: &str) -> anyhow::Error {
    let complaint = Complaint::new(Exit::Usage, format!("{what}: {error}"));
    match error {
        QuestionError::Missing { name, .. } => {
            complaint.hint(format!("--{name} says it, or a line in [set] of a file"))
        }
        QuestionError::Nothing => complaint.hint("--vary names what may be changed; --keep leaves too little"),
        QuestionError::Form(_) | QuestionError::Parameter(_) => complaint
            .hint("docs/tuning.md says how a question is written; `linerate simulate tune --help` has a short one"),
        QuestionError::Case { .. } => complaint.hint("each value of each setting has to be one that a host can have"),
    }
    .into()
}

fn text_of(path: &Path) -> anyhow::Result<String> {
    let complaint = || {
        let names = SHIPPED.map(|(name, _)| name).join(", ");
        Complaint::new(Exit::NotFound, format!("{} cannot be read as a question", path.display()))
            .hint(format!("these come with the program: {names}"))
    };
    let size = std::fs::metadata(path).with_context(complaint)?.len();
    if size > tune::question::LARGEST as u64 {
        return Err(complaint().hint(format!("it has {size} bytes; a question has at most a mebibyte")).into());
    }
    std::fs::read_to_string(path).with_context(complaint)
}

/// How long a transfer takes to simulate: some with the settings as they are are tried.
fn pace(question: &Question) -> anyhow::Result<Duration> {
    const TRIED: u32 = 8;
    let candidate = tune::candidate::Candidate::present(question);
    let began = Instant::now();
    for draw in 0..TRIED {
        Trial { candidate: candidate.clone(), draw: draw.into() }.run(question)?;
    }
    Ok(began.elapsed() / TRIED)
}

/// How many transfers a budget comes to.
fn flows(budget: Budget, each: Duration, jobs: usize) -> u64 {
    match budget {
        Budget::Flows(flows) => flows,
        Budget::Time(time) => {
            let each = each.as_nanos().max(1);
            let flows = time.as_nanos().saturating_mul(jobs as u128) / each;
            u64::try_from(flows).unwrap_or(MOST_BUDGET).clamp(LEAST_BUDGET, MOST_BUDGET)
        }
    }
}

/// This machine, simulating trials on all its processors.
struct Machine<'a> {
    jobs: usize,
    stop: &'a Stop,
    progress: Progress,
    failed: Option<anyhow::Error>,
}

impl Runner for Machine<'_> {
    fn run(&mut self, question: &Question, trials: &[Trial]) -> Result<Vec<Score>, Halt> {
        let mut scores: Vec<Option<Score>> = vec![None; trials.len()];
        let make = |number: usize| Ok(trials[number].run(question)?);
        let progress = &mut self.progress;
        let made = work::run(trials.len(), self.jobs, self.stop, &make, &mut |number, score| {
            progress.step();
            scores[number] = Some(score);
            Ok(())
        });
        if let Err(error) = made {
            self.failed = Some(error);
            return Err(Halt::Stopped);
        }
        // What is not whole is not told: an order of draws that depends on the machine would be.
        scores.into_iter().collect::<Option<Vec<_>>>().ok_or(Halt::Stopped)
    }
}

/// Writes the plans; says which there are.
fn write(folder: &Path, answer: &Answer) -> anyhow::Result<Vec<String>> {
    let mut written = Vec::new();
    for (name, plan) in [("sender.toml", &answer.sender), ("receiver.toml", &answer.receiver)] {
        let path = folder.join(name);
        if plan.steps.is_empty() {
            // A plan of an earlier answer would be taken for one of this.
            if path.exists() {
                std::fs::remove_file(&path).with_context(|| format!("{} is of an earlier answer", path.display()))?;
            }
            continue;
        }
        let text = toml::to_string(plan).context("a plan cannot be written as TOML")?;
        let head = format!("# {}: `linerate host fix {name}` applies this, --dry-run shows it.\n", answer.name);
        file::write(&path, format!("{head}{text}").as_bytes())?;
        written.push(path.display().to_string());
    }
    Ok(written)
}
