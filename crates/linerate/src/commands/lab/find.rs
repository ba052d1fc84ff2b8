//! Labs and hosts by what a person typed.

use lab::network::kept::{HostRecord, Kept};

use crate::exit::{Complaint, Exit};

/// The lab of this name; without a name, the only one.
pub fn lab(mut running: Vec<Kept>, name: Option<&str>) -> anyhow::Result<Kept> {
    let names = names(&running);
    match name {
        Some(name) => running.retain(|kept| kept.record.name == name),
        None if running.len() > 1 => {
            let complaint = Complaint::new(Exit::Usage, format!("{} labs are running: which?", running.len()));
            return Err(complaint.hint(format!("name one of them, or all with --all: {names}")).into());
        }
        None => {}
    }
    running.pop().ok_or_else(|| match name {
        Some(name) => absent(format!("no lab `{name}` is running"), &names),
        None => absent("no lab is running".to_owned(), &names),
    })
}

/// The host of `LAB/HOST`, or of `HOST` where one lab only has it.
pub fn host<'a>(running: &'a [Kept], typed: &str) -> anyhow::Result<(&'a Kept, &'a HostRecord)> {
    let (lab, host) = typed.split_once('/').map_or((None, typed), |(lab, host)| (Some(lab), host));
    let named = running.iter().filter(|kept| lab.is_none_or(|lab| kept.record.name == lab));
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
