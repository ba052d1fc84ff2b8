//! The change log of a host.

use std::collections::BTreeMap;

use model::host::change::{ActingProcess, Actor, ChangeEntry, ChangeSource, LoggedChange};

use crate::fact::{Fact, FactMap, Missing, Reason};

/// Entries as facts. A start of the host changes nothing that somebody decided, so it is no entry here.
pub(super) fn facts(changes: &[LoggedChange]) -> Fact {
    let entries = changes.iter().map(|change| &change.entry).filter(|entry| entry.source != ChangeSource::Boot);
    Fact::List(entries.map(entry).collect())
}

fn entry(entry: &ChangeEntry) -> Fact {
    let text = |words: &str| Fact::Text(words.to_owned());
    let kind = match entry.source {
        ChangeSource::Watch | ChangeSource::Comparison => "write",
        ChangeSource::Fix => "fix",
        ChangeSource::Boot => "boot",
        ChangeSource::Person => "note",
    };
    let process = match &entry.actor {
        Actor::Process(process) => Some(process),
        Actor::Unknown { .. } => None,
    };
    let scope = match (&entry.subject, &entry.namespace) {
        _ if entry.fact.starts_with("route") => "route",
        (Some(_), _) => "interface",
        (None, Some(_)) => "namespace",
        (None, None) => "host",
    };
    let notes = |pick: fn(&model::host::change::ChangeNote) -> Option<&str>| {
        text(entry.notes.iter().find_map(pick).unwrap_or_default())
    };
    let unlogged =
        || Fact::Missing(Missing::new(Reason::NotGiven, "the change log does not hold it: give it with --input"));
    let facts: BTreeMap<&str, Fact> = BTreeMap::from([
        ("what", text(&entry.fact)),
        ("kind", text(kind)),
        ("actor", text(process.and_then(|process| process.program.as_deref()).unwrap_or_default())),
        ("allowed", Fact::Bool(process.is_none_or(may_tune))),
        ("reason", notes(|note| Some(note.text.as_str()).filter(|text| !text.is_empty()))),
        ("ticket", notes(|note| note.ticket.as_deref())),
        ("scope", text(scope)),
        ("for_prefixes", unlogged()),
        ("runs_before", unlogged()),
        ("runs_after", unlogged()),
    ]);
    Fact::Map(facts.into_iter().map(|(name, fact)| (name.to_owned(), fact)).collect::<FactMap>())
}

/// Whether a change is one that somebody, or the boot, is there to make: a person had logged in, or the program is one that
/// sets what files say.
fn may_tune(process: &ActingProcess) -> bool {
    let program = process.program.as_deref().unwrap_or_default();
    let name = program.rsplit('/').next().unwrap_or_default();
    process.login.is_some() || SETTERS.contains(&name)
}

const SETTERS: [&str; 12] = [
    "ethtool",
    "ip",
    "linerate",
    "modprobe",
    "nmcli",
    "set_irq_affinity",
    "sysctl",
    "systemd-sysctl",
    "systemd-udevd",
    "tc",
    "udevadm",
    "udevd",
];

#[cfg(test)]
mod tests {
    use units::WallTime;

    use super::*;

    #[test]
    fn a_daemon_that_writes_is_told_from_a_person_and_from_the_boot() {
        let logged = |program: &str, login: Option<&str>, source| {
            let mut entry = ChangeEntry::new(WallTime::from_unix_nanos(0), "dtn1", "net.ipv4.tcp_rmem", source);
            entry.actor = Actor::Process(ActingProcess {
                program: Some(program.to_owned()),
                login: login.map(str::to_owned),
                ..ActingProcess::default()
            });
            LoggedChange { number: 1, entry }
        };
        let changes = [
            logged("/usr/sbin/bpftune", None, ChangeSource::Watch),
            logged("/usr/bin/bash", Some("anna"), ChangeSource::Watch),
            logged("/usr/lib/systemd/systemd-sysctl", None, ChangeSource::Watch),
            logged("", None, ChangeSource::Boot),
        ];
        let Fact::List(entries) = facts(&changes) else { panic!("no list") };
        let allowed: Vec<_> = entries.iter().map(|entry| entry.as_map().unwrap()["allowed"].clone()).collect();
        assert_eq!(allowed, [false, true, true].map(Fact::Bool));
    }
}
