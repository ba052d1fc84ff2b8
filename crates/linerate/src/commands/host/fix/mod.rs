//! `linerate host fix` and `linerate host undo`.
//!
//! * [`plan`]: what is to be done
//! * [`session`]: one fix at the helper, from its first change to its end; [`helper`]: reaching it
//! * [`verify`]: proof by tests; [`printed`]: the number that a program prints
//! * [`keeping`]: files that keep it, and the change log
//! * [`rollout`]: several hosts, one after the other; [`super::transport`]: programs on them

mod helper;
mod keeping;
mod plan;
mod printed;
mod rollout;
mod session;
mod verify;

use audit::fix::report::{FixReport, Outcome, Verdict};
use audit::fix::{ansible, exact};
use host::helper::{Fixed, LookError};
use measure::stop::Stop;
use model::host::fix::talk::Others;

use self::plan::Ready;
use self::session::{Session, take_back};
use self::verify::{Proof, Proven};
use crate::cli::Common;
use crate::cli::host::fix::{FixArgs, UndoArgs};
use crate::commands::attempt::stop_on_signals;
use crate::commands::print;
use crate::commands::question::{self, Reply};
use crate::exit::{Complaint, Exit};
use crate::show;

/// `linerate host fix`.
pub fn run(common: &Common, args: &FixArgs) -> anyhow::Result<Exit> {
    if args.list {
        return list(common, args);
    }
    let proof = Proof::read(args)?;
    if !args.hosts.is_empty() {
        return rollout::run(common, args);
    }
    let ready = plan::ready(common, args)?;
    if args.ansible {
        return print(ansible::playbook(&ready.plan, &ready.commands, "all").as_bytes());
    }
    let report = if ready.plan.steps.is_empty() {
        report(&ready, Outcome::NothingToDo)
    } else if args.dry_run {
        report(&ready, Outcome::Planned)
    } else {
        apply(common, args, &ready, proof.as_ref())?
    };
    say(common, &report)?;
    Ok(match report.outcome {
        Outcome::TakenBack { .. } => Exit::TakenBack,
        _ => Exit::Success,
    })
}

/// `linerate host undo`.
pub fn undo(common: &Common, args: &UndoArgs) -> anyhow::Result<Exit> {
    let session = Session::new(args.helper.helper.as_ref(), Vec::new(), String::new())?;
    let others = if args.overwrite { Others::Overwrite } else { Others::Keep };
    let undone = session.undo(args.fix.map(model::host::fix::journal::FixId), others)?;
    keeping::log_undone(common, &undone);
    let files = keeping::remove(&args.root, undone.entry.fix)?;
    if common.json {
        return print(&show::json::document(&undone.entry)?);
    }
    print(show::host::fix::undone(&undone.entry, &files).as_bytes())
}

fn list(common: &Common, args: &FixArgs) -> anyhow::Result<Exit> {
    let looked = host::helper::look(args.helper.helper.as_deref());
    let (entries, unreadable) = looked.map_err(|error| {
        let complaint = Complaint::new(Exit::Local, "the journal of this host cannot be read");
        let complaint = match &error {
            LookError::Ask(_) => complaint.hint("`linerate helper --socket FILE` listens there"),
            LookError::Fix(_) => {
                complaint.hint("as root, or while `linerate helper --group GROUP` runs for your group")
            }
        };
        anyhow::Error::from(error).context(complaint)
    })?;
    for what in &unreadable {
        eprintln!("warning: an entry cannot be read, so what its fix has changed is not known: {what}");
    }
    if common.json {
        for entry in &entries {
            print(&show::json::document(entry)?)?;
        }
        return Ok(Exit::Success);
    }
    print(show::host::fix::list(&entries).as_bytes())
}

fn say(common: &Common, report: &FixReport) -> anyhow::Result<Exit> {
    if common.json {
        return print(&show::json::document(report)?);
    }
    print(show::host::fix::text(report).as_bytes())
}

fn report(ready: &Ready, outcome: Outcome) -> FixReport {
    FixReport {
        host: ready.snapshot.machine.name.value().cloned().unwrap_or_default(),
        outcome,
        fix: None,
        undo_order: exact::undo_order(&ready.plan.steps),
        plan: ready.plan.clone(),
        commands: ready.commands.clone(),
        changes: Vec::new(),
        verification: None,
        kept_in: None,
    }
}

/// Applies a plan and sees it to its end: it holds, or every old value is back.
fn apply(common: &Common, args: &FixArgs, ready: &Ready, proof: Option<&Proof>) -> anyhow::Result<FixReport> {
    if !args.yes && !args.ask && !question::can_ask() {
        return Err(Complaint::new(Exit::Usage, "nobody is there to confirm the fix")
            .hint("--yes confirms it over a new connection; --dry-run shows what it would do")
            .into());
    }
    let stop = stop_on_signals()?;
    let reason = args.reason.clone().unwrap_or_else(|| ready.plan.rules().join(", "));
    let session = Session::new(args.helper.helper.as_ref(), ready.steps.clone(), reason)?;
    let mut report = report(ready, Outcome::NothingToDo);
    let fixed = match proof {
        None => session.apply(args.confirm_within)?,
        Some(proof) => match proof.run(common, &session, args, &stop)? {
            Proven::Interrupted => return Ok(back(report, "it was stopped".to_owned())),
            Proven::Failed(because) => return Ok(back(report, because)),
            Proven::Answered(verification, fixed) => {
                let because = match verification.verdict {
                    Verdict::Loss => "the tests are slower with it",
                    Verdict::Gain | Verdict::Noise => "the tests show no gain above the noise",
                };
                report.verification = Some(*verification);
                match fixed {
                    Some(fixed) => *fixed,
                    None => return Ok(back(report, because.to_owned())),
                }
            }
        },
    };
    report.fix = Some(fixed.entry.fix.0);
    if session::is_without_effect(&fixed) {
        return Ok(FixReport { outcome: Outcome::AlreadySo, ..report });
    }
    report.changes.clone_from(&fixed.changes);
    confirm(common, args, &session, &fixed, &stop).map(|outcome| report.outcome = outcome)?;
    if report.outcome == Outcome::Kept {
        keeping::log(common, &fixed, &ready.plan);
        if args.persist {
            report.kept_in = Some(keeping::write(args, ready, fixed.entry.fix)?);
        }
    }
    Ok(report)
}

/// Asks where somebody is to be asked, and keeps the fix or takes it back.
fn confirm(common: &Common, args: &FixArgs, session: &Session, fixed: &Fixed, stop: &Stop) -> anyhow::Result<Outcome> {
    let fix = fixed.entry.fix;
    let within = units::duration::show(args.confirm_within);
    let reply = if stop.is_stopped() {
        Reply::Interrupted
    } else if args.yes {
        Reply::Yes
    } else {
        if !common.quiet {
            eprint!("{}", show::host::fix::changes(&fixed.changes));
        }
        question::ask(&format!("fix {fix} is applied, and undone in {within}. Keep it?"), args.confirm_within, stop)
    };
    let because = match reply {
        Reply::Yes => match session.confirm(fix) {
            Ok(_) => return Ok(Outcome::Kept),
            Err(error) => format!("it could not be confirmed: {error:#}"),
        },
        Reply::No => "it was not wanted".to_owned(),
        Reply::Interrupted => "it was stopped".to_owned(),
        Reply::Silence => format!("nobody confirmed it within {within}"),
    };
    // Where it was not confirmed in time it may be gone already: what holds is the journal.
    let still_open = session.journal()?.into_iter().any(|entry| entry.fix == fix && entry.is_open());
    if still_open {
        take_back(session, fix)?;
    }
    Ok(Outcome::TakenBack { because })
}

fn back(report: FixReport, because: String) -> FixReport {
    FixReport { outcome: Outcome::TakenBack { because }, ..report }
}
