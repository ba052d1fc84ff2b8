//! `linerate round init`.

use plan::PlanError;
use plan::init::{HostAccess, mesh_of};
use plan::plan::Reach;

use crate::cli::round::InitArgs;
use crate::commands::print;
use crate::exit::{Complaint, Exit};

pub fn run(args: &InitArgs) -> anyhow::Result<Exit> {
    let hosts: Vec<HostAccess> = args.hosts.iter().map(|text| access(text)).collect();
    let plan = mesh_of(&hosts).map_err(|error| refused(&error))?;
    print(plan.to_toml().as_bytes())
}

/// How a host is reached, from what was typed.
fn access(text: &str) -> HostAccess {
    if text == "." {
        let name = linux::host::hostname();
        return HostAccess { address: Some(name.clone()), name, reach: Reach::Here };
    }
    if let Some(host) = text.strip_prefix("lab:") {
        return HostAccess { name: host.to_owned(), address: None, reach: Reach::Lab(host.to_owned()) };
    }
    let name = text.rsplit_once('@').map_or(text, |(_user, host)| host).to_owned();
    HostAccess { address: Some(name.clone()), name, reach: Reach::Ssh(text.to_owned()) }
}

/// Only what was typed can be wrong with such a plan: its places are those of a file that nobody has.
fn refused(error: &PlanError) -> anyhow::Error {
    let what = match error {
        PlanError::Refused(complaints) => {
            let problems: Vec<String> = complaints.iter().map(|complaint| complaint.problem.to_string()).collect();
            problems.join("; ")
        }
        PlanError::TooLarge { .. } => error.to_string(),
    };
    let complaint = Complaint::new(Exit::Usage, format!("no plan can be made of these hosts: {what}"));
    error.hints().into_iter().fold(complaint, Complaint::hint).into()
}
