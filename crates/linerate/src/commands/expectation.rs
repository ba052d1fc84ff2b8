//! What runs should have reached: the run itself, with what the archive knows of its hosts.

use archive::Archive;
use archive::snapshots::find::Wanted;
use model::expectation::Expectation;
use model::host::HostIdentity;
use model::host::snapshot::Snapshot;
use model::measurement::Heading;
use model::run::Run;
use predict::book::Book;
use predict::case::Case;

/// The facts of both hosts of a run, as far as the archive has them.
pub struct Facts {
    local: Option<Snapshot>,
    peer: Option<Snapshot>,
}

impl Facts {
    /// Nothing is known but the run.
    pub const NONE: Self = Self { local: None, peer: None };

    /// The newest snapshots that were taken before a run began.
    pub fn of(archive: &Archive, run: &Run) -> Self {
        let snapshot = |host: &HostIdentity| {
            let wanted = Wanted::At { host: host.name.clone()?, time: run.started };
            let found = archive.find_snapshot(&wanted).ok()?;
            // A host that was started anew may have lost what was set.
            let is_of_this_boot = host.boot_id.is_none() || found.boot_id == host.boot_id;
            archive.snapshot(found.id).ok().filter(|_| is_of_this_boot)
        };
        Self { local: snapshot(&run.local), peer: snapshot(&run.peer.host) }
    }

    /// The directions of a run with these facts.
    pub fn cases<'a>(&'a self, run: &'a Run) -> Vec<Case<'a>> {
        let (local, peer) = (self.local.as_ref(), self.peer.as_ref());
        let cases = Case::all(run).into_iter();
        cases
            .map(|case| match case.total.heading {
                Heading::Outbound => case.between(local, peer),
                Heading::Inbound => case.between(peer, local),
            })
            .collect()
    }
}

/// Reckons what each direction of a run should have reached, and keeps it with the run.
pub fn add(run: &mut Run, archive: Option<&Archive>) {
    let facts = archive.map_or(Facts::NONE, |archive| Facts::of(archive, run));
    let mut book = Book::default();
    let expectations: Vec<Expectation> = facts.cases(run).iter().map(|case| book.expectation(case)).collect();
    if let Some(measurement) = &mut run.measurement {
        measurement.expectations = expectations;
    }
}
