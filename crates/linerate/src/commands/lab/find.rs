//! Labs and hosts by what a person typed.

use lab::network::kept::{HostRecord, Kept, Owner};

use crate::exit::{Complaint, Exit};

/// The labs that this owner has started.
pub fn own(running: Vec<Kept>, owner: &Owner) -> Vec<Kept> {
    running.into_iter().filter(|kept| kept.is_of(owner)).collect()
}

/// The lab of this name; without a name, the only one that this owner has started. A lab of somebody else has to be named.
pub fn lab(mut running: Vec<Kept>, name: Option<&str>, owner: &Owner) -> anyhow::Result<Kept> {
    let all = names(&running);
    let Some(name) = name else {
        let mut own = own(running, owner);
        if own.len() > 1 {
            let complaint = Complaint::new(Exit::Usage, format!("{} labs are running: which?", own.len()));
            return Err(complaint.hint(format!("name one of them, or all with --all: {}", names(&own))).into());
        }
        let what = if all.is_empty() { "no lab is running" } else { "no lab of yours is running" };
        return own.pop().ok_or_else(|| absent(what.to_owned(), &all));
    };
    running.retain(|kept| kept.record.name == name);
    running.pop().ok_or_else(|| absent(format!("no lab `{name}` is running"), &all))
}

/// The host of `LAB/HOST`, or of `HOST` where one lab of this owner, or of any without one, only has it.
pub fn host<'a>(running: &'a [Kept], typed: &str, owner: Option<&Owner>) -> anyhow::Result<(&'a Kept, &'a HostRecord)> {
    let (lab, host) = typed.split_once('/').map_or((None, typed), |(lab, host)| (Some(lab), host));
    let named = running
        .iter()
        .filter(|kept| lab.map_or_else(|| owner.is_none_or(|owner| kept.is_of(owner)), |lab| kept.record.name == lab));
    let mut having = named.clone().filter_map(|kept| Some((kept, kept.record.host(host)?)));
    match (having.next(), having.next()) {
        (Some(found), None) => Ok(found),
        (Some((one, _)), Some((other, _))) => {
            let (one, other) = (&one.record.name, &other.record.name);
            let complaint = Complaint::new(Exit::Usage, format!("more than one lab has a host `{host}`"));
            Err(complaint.hint(format!("say which: {one}/{host} or {other}/{host}")).into())
        }
        (None, _) => match named.clone().next() {
            None => Err(absent(format!("no lab is running that has `{typed}`"), &names(running))),
            Some(kept) => {
                let hosts = kept.record.hosts.iter().map(|host| host.name.as_str()).collect::<Vec<_>>().join(", ");
                let complaint = Complaint::new(Exit::NotFound, format!("there is no host `{host}`"));
                Err(complaint.hint(format!("the lab {} has {hosts}", kept.record.name)).into())
            }
        },
    }
}

fn absent(what: String, names: &str) -> anyhow::Error {
    let complaint = Complaint::new(Exit::NotFound, what);
    let hint =
        if names.is_empty() { "`linerate lab up NAME` makes one".to_owned() } else { format!("there is: {names}") };
    complaint.hint(hint).into()
}

fn names(running: &[Kept]) -> String {
    running.iter().map(|kept| kept.record.name.as_str()).collect::<Vec<_>>().join(", ")
}
