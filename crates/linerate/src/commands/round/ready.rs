//! A plan that can be carried out: its order is known, its hosts are found, and signals end it.

use std::ffi::OsStr;
use std::num::NonZeroUsize;
use std::thread;
use std::time::Duration;

use anyhow::Context;
use lab::network::kept::{HostRecord, Kept as Lab, running};
use measure::stop::Stop;
use model::run::RunId;
use plan::plan::Reach;
use plan::{Plan, Schedule};
use round::carrier::{Call, Carrier, SHELL};
use round::leader::Lead;
use round::leader::journal::{Interrupted, Journal};
use round::leader::roster::Roster;

use crate::commands::attempt::{new_id, stop_on_signals};
use crate::commands::lab::find;

/// A plan with all that leading it takes.
pub struct Ready<'a> {
    plan: &'a Plan,
    pub schedule: Schedule,
    pub roster: Roster,
    pub stop: Stop,
    pub id: RunId,
}

/// How long to wait.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// For a host to answer.
    pub patience: Duration,
    /// For the round, beyond the time that it was planned to take.
    pub overtime: Duration,
    /// For tests that were disturbed, once more.
    pub repeats: Duration,
}

impl<'a> Ready<'a> {
    pub fn new(plan: &'a Plan) -> anyhow::Result<Self> {
        let program = std::env::current_exe().context("this program does not know where it is")?;
        Ok(Self {
            plan,
            schedule: Schedule::new(plan),
            roster: Roster::new(plan, &program, &in_lab),
            stop: stop_on_signals()?,
            id: new_id(linux::clock::wall_now())?,
        })
    }

    /// The round of it.
    pub fn lead<'s>(
        &'s self,
        limits: Limits,
        journal: Option<&'s Journal>,
        resumed: Option<&'s Interrupted>,
    ) -> Lead<'s> {
        Lead {
            plan: self.plan,
            schedule: &self.schedule,
            roster: &self.roster,
            id: self.id,
            patience: limits.patience,
            repeats: limits.repeats,
            overtime: limits.overtime,
            at_once: at_once(self.plan),
            stop: &self.stop,
            journal,
            resumed,
        }
    }
}

/// Hosts of a lab and other namespaces of this machine share its processors: of more flows than it has, none would be what the
/// network lets pass.
fn at_once(plan: &Plan) -> usize {
    let mut reached = plan.hosts.iter().filter_map(|host| host.reach.as_ref());
    if reached.all(|reach| matches!(reach, Reach::Lab(_) | Reach::Netns(_))) {
        thread::available_parallelism().map_or(1, NonZeroUsize::get)
    } else {
        usize::MAX
    }
}

/// A host of a lab that is running.
#[derive(Debug)]
struct InLab {
    lab: Lab,
    host: HostRecord,
}

impl Carrier for InLab {
    fn start(&self, call: &Call<'_>) -> std::io::Result<std::process::Child> {
        let gone = || std::io::Error::other("it is gone");
        call.spawn(&mut self.lab.command(&self.host, OsStr::new(SHELL)).ok_or_else(gone)?)
    }

    fn place(&self) -> String {
        format!("host {} of the lab {}", self.host.name, self.lab.record.name)
    }
}

fn in_lab(name: &str) -> Result<Box<dyn Carrier>, String> {
    let running = running().map_err(|error| error.to_string())?;
    let (lab, host) = find::host(&running, name, None).map_err(|error| error.to_string())?;
    let (lab, host) = (lab.record.name.clone(), host.clone());
    let lab = running.into_iter().find(|kept| kept.record.name == lab);
    let lab = lab.ok_or_else(|| format!("no lab is running that has `{name}`"))?;
    Ok(Box::new(InLab { lab, host }))
}
