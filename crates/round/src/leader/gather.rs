//! What hosts say before and after the tests: which linerate they have, how late it is there, and all their facts.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use measure::stop::Stop;
use model::host::snapshot::Snapshot;
use model::round::Member;
use units::{WallTime, duration};

use super::Lead;
use super::crew::Crew;
use crate::clock::{Clock, SystemClock};
use crate::facts;
use crate::task::Site;

/// Whether a host answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Answers {
    Yes,
    /// For this reason it does not.
    No(String),
}

/// Asks all hosts who they are, and for their facts. One that does not answer takes no part.
pub(super) fn before(lead: &Lead<'_>, crew: &dyn Crew<'_>, members: &mut [Member]) {
    each(lead, crew, members, |host, member| {
        if let Some(why) = lead.roster.lost(host) {
            member.failure = Some(why.to_owned());
            return;
        }
        let site = lead.roster.site(lead.plan, host);
        if site.carrier.is_none() {
            return;
        }
        match facts::version(&site, lead.patience, lead.stop) {
            Err(why) => member.failure = Some(why),
            Ok(version) => {
                if version != OWN_VERSION {
                    member.remarks.push(format!("has linerate {version}, the round was led by {OWN_VERSION}"));
                }
                member.before = look(&site, lead, member);
            }
        }
    });
}

/// Asks those that still answer for their facts once more.
pub(super) fn after(lead: &Lead<'_>, crew: &dyn Crew<'_>, members: &mut [Member]) {
    // Whoever wants to stop does not want to wait for this.
    if lead.stop.is_stopped() {
        return;
    }
    each(lead, crew, members, |host, member| {
        let site = lead.roster.site(lead.plan, host);
        if member.before.is_some() && member.failure.is_none() {
            member.after = look(&site, lead, member);
        }
    });
}

/// Whether a host still answers.
pub(super) fn answers(lead: &Lead<'_>, host: usize, halt: &Stop) -> Answers {
    match facts::version(&lead.roster.site(lead.plan, host), lead.patience, halt) {
        Ok(_) => Answers::Yes,
        // What was stopped says nothing about the host.
        Err(_) if halt.is_stopped() => Answers::Yes,
        Err(why) => Answers::No(why),
    }
}

/// Does something for all hosts, some at a time.
fn each(lead: &Lead<'_>, crew: &dyn Crew<'_>, members: &mut [Member], work: impl Fn(usize, &mut Member) + Sync) {
    /// Each is a process here, which waits for its host most of the time.
    const AT_ONCE: usize = 16;
    for (batch, members) in members.chunks_mut(AT_ONCE).enumerate() {
        if lead.stop.is_stopped() {
            return;
        }
        let members: Vec<Mutex<&mut Member>> = members.iter_mut().map(Mutex::new).collect();
        crew.each(members.len(), &|place| {
            let mut member = members[place].lock().unwrap_or_else(PoisonError::into_inner);
            work(batch * AT_ONCE + place, &mut member);
        });
    }
}

/// All facts of a host. That they cannot be had is worth a remark; it can test all the same.
fn look(site: &Site<'_>, lead: &Lead<'_>, member: &mut Member) -> Option<Box<Snapshot>> {
    let wall_now = || site.carrier.map_or_else(|| SystemClock.wall_now(), |carrier| carrier.clock().wall_now());
    let asked = wall_now();
    let seen = facts::snapshot(site, lead.patience, lead.stop);
    let answered = wall_now();
    match seen {
        Ok(snapshot) => {
            if let Some(remark) = of_clock(snapshot.taken, asked, answered)
                && !member.remarks.contains(&remark)
            {
                member.remarks.push(remark);
            }
            Some(snapshot)
        }
        Err(why) => {
            member.remarks.push(format!("no facts: {why}"));
            None
        }
    }
}

/// What is wrong with a clock that has shown `taken` between two instants of ours.
fn of_clock(taken: WallTime, asked: WallTime, answered: WallTime) -> Option<String> {
    let nanos = WallTime::unix_nanos;
    let ahead = Duration::from_nanos(nanos(taken).saturating_sub(nanos(answered)));
    let behind = Duration::from_nanos(nanos(asked).saturating_sub(nanos(taken)));
    if ahead > NOBODY_NOTICES {
        return Some(format!("its clock is {} ahead", duration::show(ahead)));
    }
    (behind > NOBODY_NOTICES).then(|| format!("its clock is {} behind", duration::show(behind)))
}

/// Hosts with a time server are within milliseconds; below a second no two log files are confused.
const NOBODY_NOTICES: Duration = Duration::from_secs(1);

/// All crates have one version.
const OWN_VERSION: &str = env!("CARGO_PKG_VERSION");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clock_is_wrong_where_it_shows_what_it_cannot_have_been() {
        let at = |seconds: u64| WallTime::from_unix_nanos(seconds * 1_000_000_000);
        let said = |taken| of_clock(at(taken), at(1_000), at(1_010));
        assert_eq!((said(1_005), said(999), said(1_011)), (None, None, None));
        assert_eq!(said(4_610).as_deref(), Some("its clock is 3600 s ahead"));
        assert_eq!(said(990).as_deref(), Some("its clock is 10.0 s behind"));
    }
}
