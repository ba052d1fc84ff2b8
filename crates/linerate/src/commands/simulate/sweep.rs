//! `linerate simulate sweep`: many transfers on all processors, kept as they are done.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::Context;
use sweep::table::Table;
use sweep::{Row, Share, Sweep};

use super::super::{attempt, print};
use super::journal::{Journal, Work};
use super::{result, work};
use crate::cli::Common;
use crate::cli::sweep::SweepArgs;
use crate::exit::{Complaint, Exit};
use work::{Progress, Steps};

/// Experiments that come with the program.
const SHIPPED: [(&str, &str); 2] = [
    ("amlight", include_str!("../../../../../sweeps/amlight.toml")),
    ("amlight-open", include_str!("../../../../../sweeps/amlight-open.toml")),
];
/// Transfers that are simulated without being asked again.
const MOST: u64 = 10_000;

pub fn run(common: &Common, args: &SweepArgs) -> anyhow::Result<Exit> {
    let sweep = load(&args.file)?;
    let by = result::by(&args.reading, &sweep)?;
    let jobs = args.part.jobs.map_or_else(work::cpu_count, NonZeroUsize::get);
    let share = args.part.shard.unwrap_or(Share::WHOLE);
    let all: Vec<u64> = (0..sweep.experiment.len()).filter(|index| share.has(*index)).collect();
    if args.dry_run {
        return print(outlook(&sweep, &all, jobs)?.as_bytes());
    }
    let output = args.part.output.clone().unwrap_or_else(|| usual_output(&sweep, share));
    if let Some(table) = done_before(&output, &sweep, share)? {
        talk(common, &format!("{} was finished before; this is what it says", output.display()));
        return result::show(common, &args.reading, &table, &by);
    }
    if all.len() as u64 > MOST && !args.yes {
        return Err(Complaint::new(Exit::Usage, format!("these are {} transfers, more than {MOST}", all.len()))
            .hint("--dry-run says how long they would take, and --yes does them")
            .hint("--shard 1/8 does an eighth of them")
            .into());
    }
    result::check_plots(&args.reading)?;
    let (mut journal, mut rows) = Journal::open::<Row>(&output, &Work::of_sweep(&sweep, share))?;
    let done: std::collections::HashSet<u64> = rows.iter().map(|row| row.index).collect();
    let left: Vec<u64> = all.iter().copied().filter(|index| !done.contains(index)).collect();
    if !done.is_empty() {
        talk(common, &format!("{} of {} transfers were done before", done.len(), all.len()));
    }
    let stop = attempt::stop_on_signals()?;
    let mut progress = Progress::new(common, "transfers", Steps { done: done.len(), of: all.len() });
    let make = |number: usize| simulate(&sweep, left[number]);
    let done = work::run(left.len(), jobs, &stop, &make, &mut |_, row: Row| {
        progress.step();
        journal.keep(&row)?;
        rows.push(row);
        Ok(())
    });
    progress.finish();
    done?;
    if rows.len() < all.len() {
        journal.flush()?;
        eprintln!("stopped after {} of {} transfers, which are kept in {}", rows.len(), all.len(), journal.name());
        eprintln!("hint: the same command goes on from there");
        return Ok(Exit::Interrupted);
    }
    rows.sort_unstable_by_key(|row| row.index);
    let table = Table { sweep, share, program: result::program(), rows };
    result::write(&output, &table)?;
    journal.remove()?;
    talk(common, &format!("{} transfers are in {}", table.rows.len(), output.display()));
    result::show(common, &args.reading, &table, &by)
}

/// Simulates one transfer.
fn simulate(sweep: &Sweep, index: u64) -> anyhow::Result<Row> {
    let case = sweep.experiment.case(index).context("a transfer beyond the last one was asked for")?;
    case.run().with_context(|| format!("transfer {index} of {} cannot be simulated", sweep.experiment.name))
}

fn talk(common: &Common, line: &str) {
    if !common.quiet {
        eprintln!("{line}");
    }
}

/// Reads an experiment from a file, or one that comes with the program where no file has that name.
pub fn load(file: &Path) -> anyhow::Result<Sweep> {
    let shipped = SHIPPED.iter().find(|(name, _)| Path::new(name) == file && !file.exists());
    let text = match shipped {
        Some((_, text)) => (*text).to_owned(),
        None => read(file)?,
    };
    Sweep::read(&text).with_context(|| {
        Complaint::new(Exit::NotFound, format!("{} is no experiment", file.display()))
            .hint("docs/formats/sweep.md says how one is written; `linerate simulate sweep --help` has a short one")
    })
}

fn read(file: &Path) -> anyhow::Result<String> {
    let complaint = || Complaint::new(Exit::NotFound, format!("{} cannot be read as an experiment", file.display()));
    let names = SHIPPED.map(|(name, _)| name).join(", ");
    let size = std::fs::metadata(file)
        .with_context(|| complaint().hint(format!("these come with the program: {names}")))?
        .len();
    if size > sweep::description::LARGEST as u64 {
        return Err(complaint().hint(format!("it has {size} bytes; a description has at most a mebibyte")).into());
    }
    std::fs::read_to_string(file).with_context(complaint)
}

fn usual_output(sweep: &Sweep, share: Share) -> PathBuf {
    let name: String =
        sweep.experiment.name.chars().map(|c| if c.is_alphanumeric() || c == '-' { c } else { '_' }).collect();
    if share == Share::WHOLE {
        PathBuf::from(format!("{name}.parquet"))
    } else {
        PathBuf::from(format!("{name}.{}-of-{}.parquet", share.number(), share.of()))
    }
}

/// The result, where the same was done before; a result of anything else is not overwritten.
fn done_before(output: &Path, sweep: &Sweep, share: Share) -> anyhow::Result<Option<Table>> {
    if !output.exists() {
        return Ok(None);
    }
    let refused = |why: &str| {
        Complaint::new(Exit::Local, format!("{} is there already, and {why}", output.display()))
            .hint("--output names another file; or remove this one")
    };
    let table = result::read(output).with_context(|| refused("is not the result of a sweep"))?;
    if table.sweep.experiment.digest() != sweep.experiment.digest() || table.share != share {
        return Err(refused("holds the result of another experiment, or of another share of it").into());
    }
    if !table.is_whole() {
        return Err(refused("lacks some of its transfers").into());
    }
    // What is drawn and expected may have changed since.
    Ok(Some(Table { sweep: sweep.clone(), ..table }))
}

/// How many transfers, and about how long they take: some of them are tried.
fn outlook(sweep: &Sweep, all: &[u64], jobs: usize) -> anyhow::Result<String> {
    const TRIED: usize = 8;
    let step = all.len().div_ceil(TRIED).max(1);
    let tried: Vec<u64> = all.iter().copied().skip(step / 2).step_by(step).collect();
    let began = Instant::now();
    for index in &tried {
        simulate(sweep, *index)?;
    }
    let each = began.elapsed() / u32::try_from(tried.len().max(1)).unwrap_or(1);
    let rounds = u32::try_from(all.len().div_ceil(jobs)).unwrap_or(u32::MAX);
    let whole: Duration = each.saturating_mul(rounds);
    let show = units::duration::show;
    let mut text = format!("{}: {}\n", sweep.experiment.name, sweep.experiment.about);
    text.push_str(&format!(
        "{} transfers: {} combinations of settings, {} each\n",
        all.len(),
        sweep.experiment.cells.len(),
        if sweep.experiment.repetitions == 1 {
            "once".to_owned()
        } else {
            format!("{} times", sweep.experiment.repetitions)
        },
    ));
    for (parameter, values) in sweep.experiment.varied() {
        let values = values.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
        text.push_str(&format!("  {}: {values}\n", parameter.name));
    }
    text.push_str(&format!(
        "about {} with {jobs} at once: {} of them took {} each\n",
        show(whole),
        tried.len(),
        show(each)
    ));
    Ok(text)
}
