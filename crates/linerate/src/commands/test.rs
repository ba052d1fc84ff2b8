//! `linerate test`: what was typed is settled once, then each run is made, shown and kept.

use std::path::Path;

use anyhow::Context;
use archive::export::Export;
use measure::session::client::Request;
use measure::stop::Stop;
use measure::tools::Tool;
use model::run::{FailureKind, Outcome, Run, RunId};
use model::series::RunSamples;

use super::archive::RunStore;
use super::attempt::{Attempt, Frame, attempt, stop_on_signals};
use super::capturing::{self, Captured};
use super::hints::{UNTIL_THEN, hints};
use super::{compare, expectation, hops, plot, print, print_text, tool};
use crate::cli::Common;
use crate::cli::test::TestArgs;
use crate::exit::{Complaint, Exit};
use crate::show;
use crate::show::nagios::Thresholds;
use crate::show::progress::Talk;
use crate::show::run::Detail;

pub fn run(common: &Common, args: &TestArgs) -> anyhow::Result<Exit> {
    let session = Session::settle(common, args)?;
    if args.hops {
        return hops::run(common, args, session.keeper, &session.stop);
    }
    session.carry_out()
}

/// Everything that was typed, checked and opened: from here on nothing is looked up again.
struct Session<'a> {
    args: &'a TestArgs,
    request: Request,
    tool: Option<Tool>,
    keeper: Option<RunStore>,
    /// Stored runs of the same test, to compare with.
    against: Option<Vec<Run>>,
    form: Form,
    talk: Talk,
    stop: Stop,
}

/// How a run looks on standard output.
#[derive(Debug, Clone, Copy)]
enum Form {
    /// Lines for a person.
    Text,
    /// The run as a line of JSON.
    Json,
    /// With its samples.
    Export,
    /// A line for a monitoring system.
    Nagios(Thresholds),
}

impl<'a> Session<'a> {
    fn settle(common: &Common, args: &'a TestArgs) -> anyhow::Result<Self> {
        check_sense(args)?;
        let spec = args.spec();
        check_place(&spec.place)?;
        // Before the test, so that nobody measures for an hour and then cannot keep the result.
        let keeper = if args.no_archive { None } else { Some(RunStore::open(common)?) };
        let archive = keeper.as_ref().and_then(RunStore::archive);
        let against = match (archive, &args.against) {
            (Some(archive), Some(run)) => Some(compare::batch(archive, run)?),
            _ => None,
        };
        if let Some(path) = &args.plot {
            plot::check(path)?;
        }
        let form = match (args.nagios, args.samples, common.json) {
            (true, ..) => Form::Nagios(Thresholds { warning: args.warning, critical: args.critical }),
            (_, true, _) => Form::Export,
            (_, _, true) => Form::Json,
            (false, false, false) => Form::Text,
        };
        let quiet = common.quiet || !matches!(form, Form::Text);
        Ok(Self {
            args,
            request: Request {
                host: args.peer().to_owned(),
                port: args.port,
                spec,
                queue_wait: args.wait,
                ticket: ticket(args)?,
            },
            tool: args.tool,
            keeper,
            against,
            form,
            talk: if quiet { Talk::Nothing } else { Talk::Progress },
            stop: stop_on_signals()?,
        })
    }

    /// Runs the test as often as it was asked for.
    fn carry_out(mut self) -> anyhow::Result<Exit> {
        let mut runs: Vec<Run> = Vec::new();
        let mut exit = Exit::Success;
        for number in 1..=self.args.repeat {
            let capturing = self.args.capture.as_deref().map(|file| self.capture(file, number)).transpose()?;
            let Attempt { run, samples } = self.attempt(runs.first().map(|first| first.id))?;
            let captured = capturing.map(capturing::Capturing::end).transpose();
            exit = self.report(&run, &samples, number)?;
            if let Some(captured) = captured? {
                self.tell(&captured);
            }
            runs.push(run);
            // What cannot be done once cannot be done again; the runs until then are kept.
            if exit != Exit::Success || self.stop.is_stopped() {
                break;
            }
        }
        if matches!(self.form, Form::Text) && (runs.len() > 1 || self.against.is_some()) {
            print_text(&show::compare::repeated(&runs, self.against.as_deref()))?;
        }
        if let (Form::Json | Form::Export, Some(stored)) = (self.form, &self.against) {
            print(&show::json::document(&show::compare::comparison(stored, &runs))?)?;
        }
        Ok(exit)
    }

    /// Keeps the packets of one run.
    fn capture(&self, file: &Path, number: u32) -> anyhow::Result<capturing::Capturing> {
        let numbered = plot::numbered(file, number as usize);
        let file = if self.args.repeat > 1 { &numbered } else { file };
        capturing::start(file, self.args.port, self.args.netns.as_deref())
    }

    /// Beside the result, whatever form that has.
    fn tell(&self, captured: &Captured) {
        if self.talk == Talk::Nothing && captured.missed == 0 {
            return;
        }
        let Captured { path, packets, missed } = captured;
        let missed = if *missed > 0 { format!(", and {missed} more that came too fast") } else { String::new() };
        eprintln!("capture: {packets} packets{missed} in {0}: linerate trace {0}", path.display());
    }

    /// One run, with what it should have reached.
    fn attempt(&self, first: Option<RunId>) -> anyhow::Result<Attempt> {
        let frame = Frame { declared_line_rate: self.args.expect, batch: first };
        let mut made = match self.tool {
            Some(program) => tool::attempt(&tool::request_of(program, &self.request), frame, &self.stop)?,
            None => attempt(&self.request, frame, &self.stop, self.talk)?,
        };
        if self.args.repeat > 1 {
            made.run.batch.get_or_insert(made.run.id);
        }
        expectation::add(&mut made.run, self.keeper.as_ref().and_then(RunStore::archive));
        Ok(made)
    }

    /// Shows a run, then keeps it: what is on the screen is not lost with the disk, and what cannot be shown, since nobody
    /// reads any more, is kept all the same.
    fn report(&mut self, run: &Run, samples: &RunSamples, number: u32) -> anyhow::Result<Exit> {
        let shown = self.show(run, samples);
        if let Some(keeper) = &mut self.keeper {
            keeper.keep(run, samples)?;
        }
        let exit = shown?;
        if let Some(path) = &self.args.plot {
            let path = if self.args.repeat > 1 { &plot::numbered(path, number as usize) } else { path };
            plot::write(path, run, samples)?;
        }
        Ok(exit)
    }

    fn show(&self, run: &Run, samples: &RunSamples) -> anyhow::Result<Exit> {
        if let Form::Nagios(thresholds) = self.form {
            let (line, code) = show::nagios::line(run, thresholds);
            print(line.as_bytes())?;
            return Ok(Exit::Nagios(code));
        }
        match self.form {
            Form::Export => {
                print(&show::json::document(&Export { run: run.clone(), samples: samples.clone() })?)?;
            }
            Form::Json => drop(print(&show::json::explained(run, samples)?)?),
            Form::Text | Form::Nagios(_) => {
                let detail = if self.keeper.is_some() { Detail::Fresh } else { Detail::Unkept };
                let mut text = show::run::text(run, samples, detail);
                if self.args.get_server_output {
                    text.push_str(&show::run::server_output(run));
                }
                print_text(&text)?;
            }
        }
        if let Outcome::Failed(failure) = &run.outcome {
            let mut hints = hints(failure, &run.peer.target, self.tool);
            if failure.kind == FailureKind::Lost && self.keeper.is_some() {
                hints.push(UNTIL_THEN.to_owned());
            }
            show::error::print_failure(failure, &hints);
        }
        Ok(Exit::of_outcome(&run.outcome))
    }
}

/// What a hub has signed, from its file.
fn ticket(args: &TestArgs) -> anyhow::Result<Option<String>> {
    let Some(file) = &args.ticket else { return Ok(None) };
    let read = std::fs::read_to_string(file);
    read.map(Some).with_context(|| Complaint::new(Exit::Usage, format!("cannot read {}", file.display())))
}

/// What would silently do nothing is refused before anything is measured.
fn check_sense(args: &TestArgs) -> anyhow::Result<()> {
    if let Some((option, why)) = args.idle_option() {
        let complaint = Complaint::new(Exit::Usage, format!("{option} would do nothing: {why}"));
        return Err(anyhow::Error::from(complaint.hint(format!("leave out {option}"))));
    }
    if let (Some(warning), Some(critical)) = (args.warning, args.critical)
        && critical > warning
    {
        let what = format!("--critical {critical} is above --warning {warning}: nothing would ever be a WARNING");
        return Err(Complaint::new(Exit::Usage, what).hint("CRITICAL is the lower rate of the two").into());
    }
    // Read only where it matters: the first byte waits for it.
    let online = (!args.cpu.is_empty()).then(|| linux::affinity::online_cpus().ok().map(|cpus| cpus.len())).flatten();
    let missing = online.and_then(|online| args.cpu.iter().find(|cpu| usize::from(**cpu) >= online).zip(Some(online)));
    if let Some((cpu, online)) = missing {
        let complaint = Complaint::new(Exit::Usage, format!("this host has no CPU {cpu}"));
        return Err(anyhow::Error::from(complaint.hint(format!("its CPUs are numbered from 0 to {}", online - 1))));
    }
    Ok(())
}

/// A namespace that does not exist is a slip of the user, not a run.
fn check_place(place: &model::spec::TestBinding) -> anyhow::Result<()> {
    let Some(netns) = place.netns.as_deref() else { return Ok(()) };
    let entered = linux::netns::NetnsRef::parse(netns)
        .map_err(anyhow::Error::from)
        .and_then(|netns| linux::netns::with_netns(&netns, || ()).map_err(anyhow::Error::from));
    entered.map_err(|error| {
        error.context(
            Complaint::new(Exit::Usage, format!("network namespace `{netns}` cannot be entered"))
                .hint("`ip netns list` and `lsns -t net` show those there are; a path or `pid:N` works as well"),
        )
    })
}
