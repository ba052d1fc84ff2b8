//! `linerate simulate gateways`: policies over clusters of gateways.

use std::fs::File;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::Context;
use chart::Form;
use chart::gateways::{Subject, Varied};
use gateways::cluster::run;
use gateways::experiment::description::{Experiment, LARGEST};
use gateways::experiment::report::Report;
use gateways::experiment::row::Row;
use gateways::experiment::table::Table;
use gateways::policy;
use sweep::Share;

use super::super::{attempt, file, print};
use super::journal::{Journal, Work};
use super::work::{Progress, Steps};
use super::{calibration, result, work};
use crate::cli::Common;
use crate::cli::gateways::simulate::ExperimentArgs;
use crate::exit::{Complaint, Exit};
use crate::show;

/// Experiments that come with the program.
const SHIPPED: [(&str, &str); 6] = [
    ("ral-policies", include_str!("../../../../../sweeps/gateways/ral-policies.toml")),
    ("ral-reports", include_str!("../../../../../sweeps/gateways/ral-reports.toml")),
    ("ral-leaving", include_str!("../../../../../sweeps/gateways/ral-leaving.toml")),
    ("ral-load", include_str!("../../../../../sweeps/gateways/ral-load.toml")),
    ("ral-days", include_str!("../../../../../sweeps/gateways/ral-days.toml")),
    ("ral-weeks", include_str!("../../../../../sweeps/gateways/ral-weeks.toml")),
];

pub fn run(common: &Common, args: &ExperimentArgs) -> anyhow::Result<Exit> {
    if args.policies {
        return print(show::gateways::policies().as_bytes());
    }
    if let Some(folder) = &args.plots {
        let complaint = || Complaint::new(Exit::Local, format!("cannot write to {}", folder.display()));
        std::fs::create_dir_all(folder).with_context(complaint)?;
    }
    if args.files.is_empty() {
        let read = calibration::read(&args.from_log)?;
        read.anomalies.iter().for_each(|line| eprintln!("note: {line}"));
        return print(show::gateways::calibration(&read.fitted).as_bytes());
    }
    if args.files.iter().all(|file| file.extension().is_some_and(|extension| extension == "parquet")) {
        return results(common, args);
    }
    let [file] = &args.files[..] else {
        return Err(Complaint::new(Exit::Usage, "one experiment is run at a time").into());
    };
    let experiment = load(common, file, args)?;
    let share = args.part.shard.unwrap_or(Share::WHOLE);
    let jobs = args.part.jobs.map_or_else(work::cpu_count, NonZeroUsize::get);
    let all: Vec<u64> = (0..experiment.len()).filter(|index| share.has(*index)).collect();
    if args.dry_run {
        return print(outlook(&experiment, &all, jobs)?.as_bytes());
    }
    let output = args.part.output.clone().unwrap_or_else(|| usual_output(&experiment, share));
    if output.exists() {
        let table = read(&output)?;
        if table.experiment.digest() != experiment.digest() || table.share != share || !table.is_whole() {
            return Err(Complaint::new(Exit::Local, format!("{} holds another result", output.display()))
                .hint("--output names another file; or remove this one")
                .into());
        }
        return shown(common, args, &Table { experiment, ..table });
    }
    let Some(rows) = simulated(common, &experiment, &Asked { share, jobs, all: &all, output: &output })? else {
        return Ok(Exit::Interrupted);
    };
    let table = Table { experiment, share, program: result::program(), rows };
    keep(&output, &table)?;
    if !common.quiet {
        eprintln!("{} runs are in {}", table.rows.len(), output.display());
    }
    shown(common, args, &table)
}

/// What is to be run.
struct Asked<'a> {
    share: Share,
    jobs: usize,
    all: &'a [u64],
    output: &'a Path,
}

/// All rows; [`None`] where it was stopped before.
fn simulated(common: &Common, experiment: &Experiment, asked: &Asked<'_>) -> anyhow::Result<Option<Vec<Row>>> {
    let identity =
        Work { experiment: format!("gateways 1 {}", experiment.digest()), rows: experiment.len(), share: asked.share };
    let (mut journal, mut rows) = Journal::open::<Row>(asked.output, &identity)?;
    let done: std::collections::HashSet<u64> = rows.iter().map(|row| row.index).collect();
    let left: Vec<u64> = asked.all.iter().copied().filter(|index| !done.contains(index)).collect();
    let stop = attempt::stop_on_signals()?;
    let mut progress = Progress::new(common, "runs", Steps { done: done.len(), of: asked.all.len() });
    let make = |number: usize| simulate(experiment, left[number]);
    let made = work::run(left.len(), asked.jobs, &stop, &make, &mut |_, row: Row| {
        progress.step();
        journal.keep(&row)?;
        rows.push(row);
        Ok(())
    });
    progress.finish();
    made?;
    if rows.len() < asked.all.len() {
        journal.flush()?;
        eprintln!("stopped after {} of {} runs, which are kept in {}", rows.len(), asked.all.len(), journal.name());
        eprintln!("hint: the same command goes on from there");
        return Ok(None);
    }
    journal.remove()?;
    rows.sort_unstable_by_key(|row| row.index);
    Ok(Some(rows))
}

fn simulate(experiment: &Experiment, index: u64) -> anyhow::Result<Row> {
    let (cell, repetition) = experiment.case(index).context("a run beyond the last one was asked for")?;
    let entry = policy::find(cell.policy).context("a policy that is not in the table was read")?;
    Ok(Row::new(index, &run::run(&cell.settings, entry, experiment.seed(repetition))?))
}

/// Results of one or of all shards.
fn results(common: &Common, args: &ExperimentArgs) -> anyhow::Result<Exit> {
    let tables = args.files.iter().map(|file| read(file)).collect::<anyhow::Result<Vec<_>>>()?;
    let is_one = tables.len() == 1;
    let table = if is_one {
        tables.into_iter().next().context("one result was given")?
    } else {
        Table::merge(tables)
            .with_context(|| Complaint::new(Exit::Usage, "these are not the shares of one experiment"))?
    };
    if let Some(output) = args.part.output.as_deref().filter(|_| !is_one) {
        keep(output, &table)?;
    }
    shown(common, args, &table)
}

fn shown(common: &Common, args: &ExperimentArgs, table: &Table) -> anyhow::Result<Exit> {
    let report = Report::new(table);
    if let Some(folder) = &args.plots {
        plot(folder, &report, &table.experiment)?;
    }
    if common.json {
        return print(&show::json::document(&report)?);
    }
    print(show::gateways::text(&report).as_bytes())
}

/// Policies over what varies, where that is a number, and the first run of each policy of the first setting over time.
fn plot(folder: &Path, report: &Report, experiment: &Experiment) -> anyhow::Result<()> {
    let first = experiment.cells.first().context("an experiment has a combination")?;
    if let Some((name, _)) = first.varied.first() {
        let values = experiment.cells.iter().filter_map(|cell| Some((cell.label(), cell.abscissa()?))).collect();
        match chart::gateways::over_setting(report, &Varied { name, values }, Form::Svg) {
            Ok(picture) => file::write(&folder.join(format!("{}.svg", experiment.name)), &picture)?,
            Err(chart::ChartError::NoAxis) => {}
            Err(error) => return Err(error.into()),
        }
    }
    // Variants are few and each is a story; of what varies the first value stands for all.
    let of_first = |cell: &&gateways::experiment::cell::Cell| cell.varied == first.varied;
    for cell in experiment.cells.iter().filter(of_first) {
        let entry = policy::find(cell.policy).context("a policy that is not in the table was read")?;
        let (outcome, trace) = run::traced(&cell.settings, entry, experiment.seed(0))?;
        let label = cell.label();
        let subject = Subject {
            title: if label.is_empty() { cell.policy.to_owned() } else { format!("{}: {label}", cell.policy) },
            about: format!(
                "offered {:.0} % of the capacity; goodput {:.1} Gbit/s, {} restarts",
                100.0 * outcome.utilisation,
                outcome.goodput_gbit_s,
                outcome.restarts
            ),
            first_kind: cell.settings.gateways.first().map_or(0, |class| class.count),
            trace: &trace,
        };
        let name: String = format!("{}-{label}", cell.policy)
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
            .collect();
        let picture = chart::gateways::over_time(&subject, Form::Svg)?;
        file::write(&folder.join(format!("{}.svg", name.trim_end_matches('-'))), &picture)?;
    }
    Ok(())
}

/// Reads an experiment from a file, or one that comes with the program where no file has that name.
fn load(common: &Common, file: &Path, args: &ExperimentArgs) -> anyhow::Result<Experiment> {
    let mut text = match SHIPPED.iter().find(|(name, _)| Path::new(name) == file && !file.exists()) {
        Some((_, text)) => (*text).to_owned(),
        None => read_text(file)?,
    };
    if !args.from_log.is_empty() {
        let read = calibration::read(&args.from_log)?;
        let (calibrated, own) = calibration::applied(&text, &read)?;
        text = calibrated;
        if !common.quiet {
            eprint!("{}", show::gateways::calibration(&read.fitted));
            own.iter().chain(&read.anomalies).for_each(|line| eprintln!("note: {line}"));
        }
    }
    Experiment::read(&text).with_context(|| {
        Complaint::new(Exit::NotFound, format!("{} is no experiment with gateways", file.display()))
            .hint("`linerate simulate gateways --help` has a short one; --policies lists the policies")
    })
}

fn read_text(file: &Path) -> anyhow::Result<String> {
    let names = SHIPPED.map(|(name, _)| name).join(", ");
    let complaint = || {
        Complaint::new(Exit::NotFound, format!("{} cannot be read as an experiment", file.display()))
            .hint(format!("these come with the program: {names}"))
    };
    let size = std::fs::metadata(file).with_context(complaint)?.len();
    if size > LARGEST as u64 {
        return Err(complaint().hint(format!("it has {size} bytes; an experiment has at most a mebibyte")).into());
    }
    std::fs::read_to_string(file).with_context(complaint)
}

fn read(path: &Path) -> anyhow::Result<Table> {
    let complaint = || {
        Complaint::new(Exit::NotFound, format!("{} cannot be read as a result of `simulate gateways`", path.display()))
            .hint("what ends in .partial is not one yet")
    };
    let opened = File::open(path).with_context(complaint)?;
    Table::read(opened).with_context(complaint)
}

fn keep(path: &Path, table: &Table) -> anyhow::Result<()> {
    let mut bytes = Vec::new();
    table.write(&mut bytes).context("the result cannot be put into a table")?;
    file::write(path, &bytes)
}

fn usual_output(experiment: &Experiment, share: Share) -> PathBuf {
    let allowed = |c: char| if c.is_alphanumeric() || c == '-' { c } else { '_' };
    let name: String = experiment.name.chars().map(allowed).collect();
    if share == Share::WHOLE {
        PathBuf::from(format!("{name}.parquet"))
    } else {
        PathBuf::from(format!("{name}.{}-of-{}.parquet", share.number(), share.of()))
    }
}

fn outlook(experiment: &Experiment, all: &[u64], jobs: usize) -> anyhow::Result<String> {
    const TRIED: usize = 4;
    let step = all.len().div_ceil(TRIED).max(1);
    let tried: Vec<u64> = all.iter().copied().skip(step / 2).step_by(step).collect();
    let began = Instant::now();
    for index in &tried {
        simulate(experiment, *index)?;
    }
    let each = began.elapsed() / u32::try_from(tried.len().max(1)).unwrap_or(1);
    let whole = each.saturating_mul(u32::try_from(all.len().div_ceil(jobs)).unwrap_or(u32::MAX));
    let show = units::duration::show;
    Ok(format!(
        "{}: {}\n{} runs: {} combinations, {} seeds each\nabout {} with {jobs} at once: {} of them took {} each\n",
        experiment.name,
        experiment.about,
        all.len(),
        experiment.cells.len(),
        experiment.repetitions,
        show(whole),
        tried.len(),
        show(each)
    ))
}
