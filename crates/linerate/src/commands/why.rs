//! `linerate why`.

use std::fs::{self, File};
use std::io::Read;
use std::path::Path;
use std::time::Duration;

use anyhow::Context;
use archive::Archive;
use archive::transfers::{TransferError, TransferFilter};
use audit::Rules;
use diagnose::causes::{Catalogue, page};
use diagnose::diagnosis::{Diagnosis, diagnose};
use diagnose::statements::{HostCounters, Statement, with_facts};
use import::round::Together;
use model::counters::CounterReadings;
use model::played::Finding;
use model::round::{Endpoint, Member, Round, Tested};
use model::run::{Run, RunId};
use model::series::RunSamples;
use model::transfer::Transfer;
use passive::flows::beside::{self, Subject};
use passive::flows::evidence;

use super::runs::resolve_name;
use super::{archive as kept, print};
use crate::cli::Common;
use crate::cli::why::WhyArgs;
use crate::exit::{Complaint, Exit};
use crate::show;
use crate::show::statements::{StatementList, StatementSource};

pub fn run(common: &Common, args: &WhyArgs) -> anyhow::Result<Exit> {
    let catalogue = Catalogue::built_in();
    if let Some(id) = &args.explain {
        let cause = catalogue.get(id).ok_or_else(|| {
            Complaint::new(Exit::NotFound, format!("there is no cause `{id}`")).hint("docs/causes.md lists all causes")
        })?;
        return print(page::explained(cause).as_bytes());
    }
    if args.test {
        return super::why_test::run(common, args);
    }
    if let Some(status) = super::why_gateways::status_of(&args.what)? {
        return super::why_gateways::run(common, &status, catalogue);
    }
    if let [file] = args.what.as_slice()
        && super::why_trace::is_capture(Path::new(file))?
    {
        return super::why_trace::run(common, Path::new(file));
    }
    let kept = |name: &str| run_of_archive(&archive_for(common, name)?, name);
    let together = super::evidence::together(&args.what, &args.declared.facts(args.expect), kept)?;
    let is_of_files = together.is_some();
    let Together { round, counters, facts } = together.unwrap_or_default();
    let round = match (round, args.what.as_slice()) {
        (Some(round), _) => round,
        (None, names) if is_of_files => without_tests(names),
        (None, [file]) if Path::new(file).is_file() => of_file(Path::new(file))?,
        (None, names) => of_archive(&archive_for(common, names.first().map_or("last", String::as_str))?, names)?,
    };
    let diagnosis = diagnose(&round, catalogue, &Rules::built_in());
    if common.json {
        print(&show::json::document(&diagnosis)?)?;
    } else {
        if let [name] = args.what.as_slice() {
            print(of_transfer(common, name)?.as_bytes())?;
        }
        let says =
            if is_of_files { with_facts(&round, &of_hosts(counters), &facts) } else { watched(common, &args.what)? };
        let source = if is_of_files { StatementSource::Files } else { StatementSource::Watch };
        let says_of = StatementList { source, statements: &says };
        print(show::why::with_statements(&round, &diagnosis, catalogue, says_of).as_bytes())?;
        if says.iter().any(|statement| statement.kind.is_fault()) {
            return Ok(Exit::Found);
        }
    }
    Ok(exit(&diagnosis))
}

fn of_hosts(counters: Vec<(Option<String>, CounterReadings)>) -> Vec<HostCounters> {
    counters.into_iter().map(|(host, readings)| HostCounters { host, readings }).collect()
}

/// Files that hold counters and no test.
fn without_tests(names: &[String]) -> Round {
    Round {
        format: Round::FORMAT,
        id: RunId::new(units::WallTime::from_unix_nanos(0), 0),
        title: names.join(", "),
        started: units::WallTime::from_unix_nanos(0),
        elapsed: Duration::ZERO,
        members: Vec::new(),
        segments: Vec::new(),
        tests: Vec::new(),
    }
}

/// The archive that should have what is called so.
fn archive_for(common: &Common, name: &str) -> anyhow::Result<Archive> {
    if name == "last" { kept::open_to_read(common) } else { kept::open_for_name(common, || nowhere(name)) }
}

fn nowhere(name: &str) -> Complaint {
    Complaint::new(Exit::NotFound, format!("there is no file and no run `{name}`")).hint(
        "is the file's path right? `linerate runs list`, `round list` and `watch transfers` show what the archive has",
    )
}

fn exit(diagnosis: &Diagnosis) -> Exit {
    if diagnosis.is_healthy() { Exit::Success } else { Exit::Found }
}

fn of_file(path: &Path) -> anyhow::Result<Round> {
    let shown = path.display();
    let unreadable = || Complaint::new(Exit::NotFound, format!("cannot read {shown}"));
    if fs::metadata(path).with_context(unreadable)?.len() > LARGEST_FILE {
        return Err(Complaint::new(Exit::NotFound, format!("{shown} is larger than any round")).into());
    }
    let mut text = Vec::new();
    File::open(path).and_then(|file| file.take(LARGEST_FILE).read_to_end(&mut text)).with_context(unreadable)?;
    let round = Round::from_json(&text).with_context(|| {
        Complaint::new(Exit::NotFound, format!("{shown} is no round"))
            .hint("`linerate lab run SCENARIO --evidence FILE` writes one")
    })?;
    if round.format > Round::FORMAT {
        return Err(Complaint::new(Exit::NotFound, format!("{shown} was written by a newer linerate")).into());
    }
    Ok(round)
}

/// A round that is kept, or runs seen together. The last is whichever of the two ended last.
fn of_archive(archive: &Archive, names: &[String]) -> anyhow::Result<Round> {
    if let [name] = names
        && let Ok(id) = archive.resolve_round(name)
        && (name != "last" || is_newest(archive)?)
    {
        return archive.round(&id).context(Complaint::new(Exit::Local, "the round cannot be read from the archive"));
    }
    of_runs(archive, names)
}

/// Whether no run has begun since the last round ended.
fn is_newest(archive: &Archive) -> anyhow::Result<bool> {
    let Some(round) = archive.rounds(1)?.into_iter().next() else { return Ok(false) };
    let Ok(last) = archive.resolve("last") else { return Ok(true) };
    let since = archive.run(&last)?.started.unix_nanos().saturating_sub(round.started.unix_nanos());
    Ok(Duration::from_nanos(since) <= round.elapsed)
}

/// Stored runs seen together, as far as their hosts have names.
fn of_runs(archive: &Archive, names: &[String]) -> anyhow::Result<Round> {
    let mut runs: Vec<(Run, RunSamples)> = Vec::new();
    for name in names {
        runs.push(run_of_archive(archive, name)?);
    }
    runs.sort_by_key(|(run, _)| run.started);
    let Some((first, _)) = runs.first() else {
        return Err(Complaint::new(Exit::Usage, "no run was named").into());
    };
    let (id, started) = (first.id, first.started);
    let mut round = Round {
        format: Round::FORMAT,
        id,
        title: "stored runs".to_owned(),
        started,
        elapsed: Duration::ZERO,
        members: Vec::new(),
        segments: Vec::new(),
        tests: Vec::new(),
    };
    for (run, samples) in runs {
        let tested = tested(run, samples, started);
        for name in [&tested.from.host, &tested.to.host] {
            if round.members.iter().all(|member| member.name != *name) {
                round.members.push(Member::named(name));
            }
        }
        round.elapsed = round.elapsed.max(tested.began);
        round.tests.push(tested);
    }
    Ok(round)
}

/// A run that is kept, or a watched transfer as a run.
fn run_of_archive(archive: &Archive, name: &str) -> anyhow::Result<(Run, RunSamples)> {
    if let Some((transfer, samples)) = transfer(archive, name)? {
        return Ok((evidence::run(&transfer, &samples), samples));
    }
    let id = resolve_name(archive, name, || nowhere(name))?;
    Ok((archive.run(&id)?, archive.samples(&id)?))
}

/// The watched transfer of a name; none where it is the name of something else.
fn transfer(archive: &Archive, name: &str) -> anyhow::Result<Option<(Transfer, RunSamples)>> {
    if name == "last" {
        return Ok(None);
    }
    match archive.resolve_transfer(name) {
        Ok(id) => Ok(Some(archive.transfer(&id)?)),
        Err(TransferError::Unknown { .. }) => Ok(None),
        Err(error) => {
            Err(anyhow::Error::from(error).context(Complaint::new(Exit::NotFound, format!("`{name}` is not found"))))
        }
    }
}

/// What watched transfers say beside the one run or transfer that was named.
fn watched(common: &Common, names: &[String]) -> anyhow::Result<Vec<Statement>> {
    let [name] = names else { return Ok(Vec::new()) };
    if Path::new(name).is_file() {
        return Ok(Vec::new());
    }
    let archive = kept::open_to_read(common)?;
    let (subjects, started) = match transfer(&archive, name)? {
        Some((transfer, _)) => (vec![Subject::of_transfer(&transfer)], transfer.started),
        None => match archive.resolve(name) {
            Ok(id) if archive.resolve_round(name).is_err() || name == "last" => {
                let run = archive.run(&id)?;
                (Subject::of_run(&run), run.started)
            }
            _ => return Ok(Vec::new()),
        },
    };
    let since = started.unix_nanos().saturating_sub(units::duration::nanos(beside::HISTORY));
    let filter = TransferFilter { since: Some(units::WallTime::from_unix_nanos(since)), ..TransferFilter::default() };
    let transfers = archive.transfers(&filter)?;
    Ok(subjects.iter().flat_map(|subject| subject.statements(&transfers)).collect())
}

/// What is said of a watched transfer before its diagnosis: what it moved, and where the line rate went.
fn of_transfer(common: &Common, name: &str) -> anyhow::Result<String> {
    if Path::new(name).is_file() || name == "-" {
        return Ok(String::new());
    }
    let Some((transfer, samples)) = transfer(&kept::open_to_read(common)?, name)? else { return Ok(String::new()) };
    let run = evidence::run(&transfer, &samples);
    Ok(format!("{}{}\n", show::watch::transfers::head(&transfer), show::explain::text(&run, &samples)))
}

fn tested(run: Run, samples: RunSamples, start: units::WallTime) -> Tested {
    let endpoint = |host: String| Endpoint { host, network: None };
    Tested {
        label: format!("run {}", run.id),
        from: endpoint(run.local_name()),
        to: endpoint(run.peer_name()),
        began: Duration::from_nanos(run.started.unix_nanos().saturating_sub(start.unix_nanos())),
        expected: run.declared_line_rate,
        way: Vec::new(),
        way_back: Vec::new(),
        emulator: None,
        attempt: None,
        finding: Finding::Run(Box::new(run)),
        samples: Some(Box::new(samples)),
    }
}

/// A round of a hundred hosts with all their facts and samples is below this.
const LARGEST_FILE: u64 = 1 << 30;
