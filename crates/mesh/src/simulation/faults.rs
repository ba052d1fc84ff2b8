//! What goes wrong when.

use std::time::Duration;

use path::random::SeededRng;

use super::settings::Settings;

/// Something that goes wrong.
#[derive(Debug, Clone, Copy)]
pub(super) enum Fault {
    /// An agent is killed, and started after a while.
    AgentKilled { agent: usize, for_: Duration },
    /// A hub is.
    HubKilled { hub: usize, for_: Duration },
    /// The database is.
    DatabaseDown { for_: Duration },
    /// An agent reaches some hubs no more.
    Partition { agent: usize, hubs: u32, for_: Duration },
    /// The calendar of a hub is set by an hour.
    CalendarSet { hub: usize, seconds: i64 },
    /// The disk of an agent takes nothing new.
    DiskFull { agent: usize, for_: Duration },
    /// An agent is replaced by a program from before.
    OldProgram { agent: usize },
}

/// The faults of a run, each with its moment.
pub(super) fn plan(settings: Settings, rng: &mut SeededRng) -> Vec<(Duration, Fault)> {
    let count = 2 + rng.below(MOST);
    let minutes = settings.minutes;
    let fault = |rng: &mut SeededRng| {
        let agent = pick(settings.agents, rng);
        let hub = pick(settings.hubs, rng);
        // From less than a test to longer than leases last and windows are.
        let scale = 10 + rng.below(11);
        let for_ = Duration::from_millis(1_000 + rng.below(1 << scale));
        match rng.below(13) {
            0..=2 => Fault::AgentKilled { agent, for_ },
            3 | 4 => Fault::HubKilled { hub, for_ },
            5 => Fault::DatabaseDown { for_ },
            6 | 7 => {
                let some = 1 + u32::try_from(rng.below((1 << settings.hubs) - 1)).unwrap_or(0);
                Fault::Partition { agent, hubs: some, for_ }
            }
            8 | 9 => Fault::CalendarSet { hub, seconds: if rng.hits(0.5) { 3_600 } else { -3_600 } },
            10 | 11 => Fault::DiskFull { agent, for_ },
            _ => Fault::OldProgram { agent },
        }
    };
    let mut faults: Vec<(Duration, Fault)> =
        (0..count).map(|_| (Duration::from_millis(rng.below(minutes * 60_000)), fault(rng))).collect();
    faults.sort_by_key(|(at, _)| *at);
    faults
}

pub(super) fn pick(of: usize, rng: &mut SeededRng) -> usize {
    usize::try_from(rng.below(of as u64)).unwrap_or(0)
}

/// In one run.
const MOST: u64 = 16;
