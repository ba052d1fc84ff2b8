//! `linerate check`.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::Context;
use archive::{Archive, Filter};
use baseline::screen::Screen;
use baseline::series::Sample;
use baseline::watch::{Quality, State, Status as SeriesStatus, Watch, WatchSettings};
use linux::clock;
use model::archived::ListedRun;
use model::run::Outcome;
use model::spec::{Direction, Protocol};
use units::WallTime;

use super::{archive as kept, print};
use crate::cli::Common;
use crate::cli::check::CheckArgs;
use crate::exit::{Complaint, Exit};
use crate::show::check::{Health, line};
use crate::show::json::document;
use crate::show::nagios::unknown;

pub fn run(common: &Common, args: &CheckArgs) -> anyhow::Result<Exit> {
    // Whatever goes wrong is something that a monitoring system has to show, in its words.
    let (text, code) = match health(common, args) {
        Ok(health) => line(&health),
        Err(error) => unknown(&format!("{error:#}")),
    };
    if common.json {
        print(&document(&serde_json::json!({ "code": code, "text": text.trim_end() }))?)?;
    } else {
        print(text.as_bytes())?;
    }
    Ok(Exit::Nagios(code))
}

fn health(common: &Common, args: &CheckArgs) -> anyhow::Result<Health> {
    #[cfg(feature = "hub")]
    if let Some(what) = args.what.as_deref().filter(|what| super::hub::check::is_hub(what)) {
        return super::hub::check::health(what, args);
    }
    let archive = match &args.what {
        Some(what) => open(what)?,
        None => kept::open_to_read(common)?,
    };
    of_archive(&archive, args)
}

fn open(path: &Path) -> anyhow::Result<Archive> {
    let none = || Complaint::new(Exit::NotFound, format!("{} is no archive and no hub", path.display()));
    // Opening would make it.
    std::fs::metadata(path).with_context(none)?;
    Archive::open_to_read(path).with_context(none)
}

/// TCP's goodput of each peer and direction, against its own history.
fn of_archive(archive: &Archive, args: &CheckArgs) -> anyhow::Result<Health> {
    let mut runs = archive.list(&Filter { peer: args.host.clone(), limit: Some(MOST_RUNS), ..Filter::default() })?;
    runs.sort_by_key(|run| (run.started, run.id));
    let settings = WatchSettings {
        stale_after_s: i64::try_from(args.stale_after.as_secs()).unwrap_or(i64::MAX),
        ..WatchSettings::default()
    };
    let (mut watches, mut screen) = (BTreeMap::<String, Watch>::new(), Screen::default());
    for (run, sample) in runs.iter().filter_map(|run| Some((run, sample(run)?))) {
        let name = format!("{}, {}", run.peer, direction(run.direction));
        let watch = watches.entry(name).or_insert_with(|| Watch::new(settings));
        watch.record(sample, Quality::Good, &mut screen);
    }
    let mut health = Health::default();
    let now_s = seconds(clock::wall_now());
    for (name, watch) in &watches {
        match watch.status(now_s) {
            SeriesStatus::NoData => {}
            SeriesStatus::Stale { last_s, .. } => {
                health.series.stale += 1;
                health.warning.push(format!("{name}: no result for {} h", (now_s - last_s) / 3_600));
            }
            SeriesStatus::Fresh(State::Changed(open)) => {
                health.series.worse += 1;
                let percent = 100.0 * (open.change.after / open.change.before - 1.0);
                health.critical.push(format!("{name}: goodput {percent:+.0} %"));
            }
            SeriesStatus::Fresh(State::Suspect) => {
                health.series.suspect += 1;
                health.warning.push(format!("{name}: goodput may have changed"));
            }
            SeriesStatus::Fresh(State::Steady) => health.series.good += 1,
            SeriesStatus::Fresh(State::Learning) => health.series.learning += 1,
        }
    }
    Ok(health)
}

/// What a run says of the goodput of TCP; [`None`] of failed runs and of other protocols.
#[expect(clippy::cast_precision_loss, reason = "a rate, for statistics")]
fn sample(run: &ListedRun) -> Option<Sample> {
    let is_result = run.protocol == Protocol::Tcp && run.outcome == Outcome::Complete;
    let goodput = run.goodput.filter(|_| is_result)?;
    Some(Sample { at_s: seconds(run.started), value: goodput.bps() as f64 })
}

const fn direction(direction: Direction) -> &'static str {
    match direction {
        Direction::Forward => "sending to it",
        Direction::Reverse => "receiving from it",
        Direction::Bidirectional => "in both directions",
    }
}

fn seconds(at: WallTime) -> i64 {
    i64::try_from(at.unix_seconds()).unwrap_or(i64::MAX)
}

/// Runs of an archive that are judged: the newest.
const MOST_RUNS: u32 = 20_000;
