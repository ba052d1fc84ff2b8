//! `linerate round init`.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use anyhow::Context;
use plan::PlanError;
use plan::init::{HostAccess, mesh_of, partners_of};
use plan::partners::PartnerList;
use plan::plan::Reach;

use crate::cli::round::InitArgs;
use crate::commands::print;
use crate::exit::{Complaint, Exit};

pub fn run(args: &InitArgs) -> anyhow::Result<Exit> {
    let hosts: Vec<HostAccess> = args.hosts.iter().map(|text| access(text)).collect();
    let made = match &args.hosts_from {
        Some(file) => partners_of(&hosts, &partners(file, &hosts)?),
        None if hosts.len() < 2 => {
            return Err(Complaint::new(Exit::Usage, "one host tests nobody")
                .hint("name another host, or partners by --hosts-from FILE")
                .into());
        }
        None => mesh_of(&hosts),
    };
    let plan = made.map_err(|error| refused(&error))?;
    print(plan.to_toml().as_bytes())
}

/// The hosts of a list, without those that were typed. A list is read and never fetched: whoever asks a service of others says so.
fn partners(file: &Path, hosts: &[HostAccess]) -> anyhow::Result<Vec<String>> {
    let unreadable = || Complaint::new(Exit::NotFound, format!("cannot read {}", file.display()));
    let mut bytes = Vec::new();
    let limit = LONGEST_LIST.saturating_add(1);
    if file == Path::new("-") {
        io::stdin().lock().take(limit).read_to_end(&mut bytes).with_context(unreadable)?;
    } else {
        File::open(file).and_then(|file| file.take(limit).read_to_end(&mut bytes)).with_context(unreadable)?;
    }
    let list = PartnerList::read(&bytes).with_context(|| {
        Complaint::new(Exit::Usage, format!("{} is no list of hosts", file.display()))
            .hint("curl -s 'http://SERVICE:8090/lookup/records?type=service&service-type=owamp' > FILE fetches one")
    })?;
    if list.left_out > 0 {
        eprintln!("note: {} entries name no host that a plan can have", list.left_out);
    }
    let is_typed = |name: &String| hosts.iter().any(|host| host.name == *name);
    Ok(list.hosts.into_iter().filter(|name| !is_typed(name)).collect())
}

/// As long as the longest template.
const LONGEST_LIST: u64 = 16 << 20;

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
