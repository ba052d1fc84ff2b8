//! How well a relay kept its times while a test ran over it.

use model::quality::EmulatorConditions;
use units::{MonoTime, PacketCount};

use super::{Lateness, Relay, Report};

/// What a relay had done when a test began.
#[derive(Debug)]
pub struct ConditionsBefore {
    at: MonoTime,
    emulated: MonoTime,
    report: Report,
}

impl ConditionsBefore {
    /// Looks now.
    #[must_use]
    pub fn read(relay: &Relay) -> Self {
        let at = linux::clock::now();
        Self { at, emulated: relay.clock().at(at), report: relay.report() }
    }

    /// What has become of it since: of all directions, for tests that run at the same time disturb each other.
    #[must_use]
    pub fn until_now(&self, relay: &Relay) -> EmulatorConditions {
        let now = linux::clock::now();
        let report = relay.report();
        let directions = |report: &Report| -> Vec<(Lateness, u64)> {
            let all = report.wires.iter().flat_map(|wire| &wire.directions);
            all.map(|direction| (direction.lateness.clone(), direction.lost.unintended())).collect()
        };
        let since: Vec<_> = directions(&report)
            .into_iter()
            .zip(directions(&self.report))
            .map(|((late, lost), (late_before, lost_before))| {
                (late.since(&late_before), lost.saturating_sub(lost_before))
            })
            .collect();
        // A handful of packets has no hundredth.
        let late = since.iter().filter(|(late, _)| late.count() >= FEWEST).map(|(late, _)| late.p99());
        EmulatorConditions {
            elapsed: now.since(self.at),
            emulated: relay.clock().at(now).since(self.emulated),
            longest_stop: relay.clock().longest_stop(self.at),
            late_p99: late.max().unwrap_or_default(),
            late_limit: relay.late,
            lost_packets: PacketCount::new(since.iter().map(|(_, lost)| lost).sum()),
        }
    }
}

const FEWEST: u64 = 100;
