//! Files that a program moved, as a run of TCP: how much, how long, how fast.

use model::host::HostIdentity;
use model::measurement::{DirectionTotal, Measurement, SteadyState};
use model::run::{Failure, FailureKind, Outcome, Peer, Run, RunId};
use model::spec::Limit;
use units::{ByteCount, PacketCount, WallTime};

use super::declared::UserFacts;
use super::evidence::FileTransfer;
use super::seen::Seen;

/// The run. Storage and the program are part of what it measures, which its note says.
pub(crate) fn run(transfer: &FileTransfer, id: RunId, at: WallTime, facts: &UserFacts) -> Run {
    let total = DirectionTotal {
        heading: transfer.heading,
        sent: Some(transfer.moved),
        received: Some(transfer.moved),
        elapsed: transfer.elapsed,
        goodput: transfer.rate,
        retransmits: transfer.retransmits.map(PacketCount::new),
        datagrams: None,
        steady: SteadyState::NotReached,
    };
    let note = format!("a transfer of {}: disks and the program at both ends are part of its rate", transfer.tool);
    let mut measurement = Measurement { totals: vec![total], anomalies: vec![note], ..Measurement::default() };
    if transfer.faults > 0 {
        measurement.anomalies.push(format!("{} attempts failed and were repeated", transfer.faults));
    }
    if let Some(files) = transfer.files.filter(|files| *files > 1) {
        let each = ByteCount::new(transfer.moved.get() / files);
        measurement.anomalies.push(format!("{files} files, {each} on average"));
    }
    let outcome = if transfer.is_whole {
        Outcome::Complete
    } else {
        Outcome::Failed(Failure { kind: FailureKind::Interrupted, detail: "the transfer is not whole".to_owned() })
    };
    let seen = Seen {
        id,
        at,
        limit: Limit::Bytes(transfer.moved),
        local: HostIdentity {
            name: transfer.local.clone(),
            software: Some(transfer.tool.to_owned()),
            ..HostIdentity::default()
        },
        peer: Peer {
            target: transfer.target.clone().unwrap_or_else(|| "the other host".to_owned()),
            address: None,
            host: HostIdentity::default(),
        },
        outcome,
        measurement,
    };
    seen.into_run(facts)
}
