//! What the relay did, and whether it was the limit.

use std::fmt;
use std::time::Duration;

use path::Tally;
use units::duration::show;
use units::{ByteCount, PacketCount};

use super::lateness::Lateness;

/// What a relay did since it was started.
#[derive(Debug, Clone)]
pub struct Report {
    /// How long it has run.
    pub elapsed: Duration,
    /// For how long the clock of its paths stood still, since it was not scheduled.
    pub stopped: Duration,
    /// Its wires, in the order in which they were given.
    pub wires: Vec<WireReport>,
    /// Threads that carried packets, two of each link.
    pub threads: Vec<ThreadReport>,
    /// Why results of this run say something about the relay and not about the path; nothing where they do not.
    pub limited: Option<Limited>,
}

/// What one wire did.
#[derive(Debug, Clone)]
pub struct WireReport {
    /// Name of the link in the scenario.
    pub name: String,
    /// From end 0 to end 1, and back.
    pub directions: [DirectionReport; 2],
}

/// What one direction of a wire did. Every packet is somewhere: what was taken and what was duplicated is what was given,
/// dropped by elements, lost or is held.
#[derive(Debug, Clone, Default)]
pub struct DirectionReport {
    /// What each element of the chain did.
    pub elements: Vec<Tally>,
    /// How much later than its instant each train was written.
    pub lateness: Lateness,
    /// What came from the sending device.
    pub taken: Carried,
    /// What the receiving device got. What was duplicated counts, and what is under way does not.
    pub given: Carried,
    /// Packets that are under way: taken or duplicated, and not yet given, dropped or lost.
    pub held: PacketCount,
    /// What the relay lost, which no element did.
    pub lost: Losses,
    /// How often a sender was told that its packets are too big, and how often that was withheld: to keep to the rate
    /// at which routers answer, or since there was nobody to be told, or nobody to tell.
    pub answers: Answers,
}

/// An amount of traffic.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Carried {
    /// Frames, each of which may be many packets.
    pub frames: u64,
    /// Packets.
    pub packets: PacketCount,
    /// Their bytes on the link.
    pub bytes: ByteCount,
}

/// What the relay lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Losses {
    /// Frames that the sending device dropped, since the relay had not read those before.
    pub unread_frames: u64,
    /// Packets for which there was no memory.
    pub no_room: PacketCount,
    /// Packets for a device that was down: the host's doing, not the relay's.
    pub down: PacketCount,
    /// Packets that the kernel did not take for another reason.
    pub refused: PacketCount,
}

impl Losses {
    /// What was lost that should not have been. Frames count as one packet.
    #[must_use]
    pub fn unintended(&self) -> u64 {
        self.unread_frames + self.no_room.get() + self.refused.get()
    }
}

impl fmt::Display for Losses {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { unread_frames, no_room, refused, .. } = self;
        let parts = [
            (*unread_frames, "frames that it had not read"),
            (no_room.get(), "packets for which it had no memory"),
            (refused.get(), "packets that the kernel did not take"),
        ];
        let said = parts.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}"));
        f.write_str(&said.collect::<Vec<_>>().join(", "))
    }
}

/// See [`DirectionReport::answers`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Answers {
    /// Told.
    pub given: u64,
    /// Not told.
    pub withheld: u64,
}

/// What one thread did.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ThreadReport {
    /// Processor time it has used, with what it spent waiting without sleeping.
    pub processor: Duration,
    /// Time in which it had something to do, whether or not it had a processor.
    pub busy: Duration,
    /// The largest share of a whole second in which it had something to do, 0 to 1.
    pub busiest: f64,
    /// Why it has ended early.
    pub failed: Option<String>,
}

/// Whether the relay was the limit, with numbers.
#[derive(Debug, Clone, PartialEq)]
pub struct Limited {
    /// Each way in which it was.
    pub because: Vec<Limit>,
}

/// A way in which the relay was the limit.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Limit {
    /// One in a hundred trains was written later than is allowed.
    #[error(
        "{wire}, direction {direction}: 1 % of packet bursts more than {} late (limit {})",
        show(*p99), show(*allowed)
    )]
    Late {
        /// Name of the link.
        wire: String,
        /// 0 for packets from the link's first host, 1 for those from its second.
        direction: usize,
        /// How late.
        p99: Duration,
        /// What is allowed.
        allowed: Duration,
    },
    /// It lost packets.
    #[error("{wire}, direction {direction}: the relay lost {losses}")]
    Lossy {
        /// Name of the link.
        wire: String,
        /// 0 for packets from the link's first host, 1 for those from its second.
        direction: usize,
        /// What it lost.
        losses: Losses,
    },
    /// Its clock stood still for much of the time: it was not scheduled, or had more to carry than it can.
    #[error("the emulator was not scheduled for {:.0} % of the time (limit {:.0} %)", share * 100.0, MOST_STOPPED * 100.0)]
    Slow {
        /// The share of its time.
        share: f64,
    },
    /// A thread has ended early.
    #[error("thread {thread} of the relay failed: {why}")]
    Failed {
        /// The number of the thread.
        thread: usize,
        /// Why.
        why: String,
    },
}

impl Limit {
    /// How bad it is, for comparison with others of any kind: what was lost and what broke is worse than what came late.
    fn weight(&self) -> (u8, u128) {
        match self {
            Self::Failed { .. } => (3, 0),
            Self::Lossy { losses, .. } => (2, losses.unintended().into()),
            Self::Late { p99, .. } => (1, p99.as_nanos()),
            Self::Slow { .. } => (0, 0),
        }
    }
}

impl Limited {
    /// Each way in which it was, in words: at most the three worst, and how many more there are.
    #[must_use]
    pub fn worst(&self) -> Vec<String> {
        let mut limits: Vec<_> = self.because.iter().collect();
        limits.sort_by_key(|limit| std::cmp::Reverse(limit.weight()));
        let mut said: Vec<_> = limits.iter().take(SAID).map(ToString::to_string).collect();
        if let Some(last) = said.last_mut()
            && limits.len() > SAID
        {
            last.push_str(&format!("; and {} more", limits.len() - SAID));
        }
        said
    }
}

/// What more than this says, nobody reads.
const SAID: usize = 3;

/// An emulator whose clock stood still for a larger share of the time emulates mostly its own machine.
pub const MOST_STOPPED: f64 = 0.6;

/// How the relay's clock has kept.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Kept {
    pub(super) elapsed: Duration,
    pub(super) stopped: Duration,
}

/// The rule: a run is limited by the relay where, in any direction, one train in a hundred was written more than
/// `late` after its instant, or where the relay lost anything (what a device that was down did not take aside), or where
/// its clock stood still for more than [`MOST_STOPPED`] of the time, or a thread failed.
pub(super) fn judge(wires: &[WireReport], threads: &[ThreadReport], kept: Kept, late: Duration) -> Option<Limited> {
    let mut because = Vec::new();
    for wire in wires {
        for (direction, report) in wire.directions.iter().enumerate() {
            let p99 = report.lateness.p99();
            if p99 > late {
                because.push(Limit::Late { wire: wire.name.clone(), direction, p99, allowed: late });
            }
            if report.lost.unintended() > 0 {
                because.push(Limit::Lossy { wire: wire.name.clone(), direction, losses: report.lost });
            }
        }
    }
    for (thread, report) in threads.iter().enumerate() {
        because.extend(report.failed.clone().map(|why| Limit::Failed { thread, why }));
    }
    let share = kept.stopped.as_secs_f64() / kept.elapsed.as_secs_f64().max(f64::MIN_POSITIVE);
    if share > MOST_STOPPED {
        because.push(Limit::Slow { share });
    }
    (!because.is_empty()).then_some(Limited { because })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relay_is_the_limit_when_late_lossy_or_hardly_scheduled() {
        let wire = |change: fn(&mut DirectionReport)| {
            let mut directions = [DirectionReport::default(), DirectionReport::default()];
            change(&mut directions[1]);
            [WireReport { name: "w".to_owned(), directions }]
        };
        let late = Duration::from_millis(1);
        let idle = [ThreadReport::default()];
        let kept = |stopped| Kept { elapsed: Duration::from_secs(10), stopped: Duration::from_secs(stopped) };
        assert_eq!(judge(&wire(|_| ()), &idle, kept(5), late), None);
        assert_eq!(judge(&wire(|report| report.lost.down = PacketCount::new(9)), &idle, kept(0), late), None);
        let limits =
            |wires: &[WireReport], threads, stopped| judge(wires, threads, kept(stopped), late).unwrap().because;
        let lossy = limits(&wire(|report| report.lost.unread_frames = 1), &idle, 0);
        assert!(matches!(lossy[..], [Limit::Lossy { direction: 1, .. }]));
        let slow = limits(&wire(|report| report.lateness.record(Duration::from_millis(2))), &idle, 0);
        assert!(matches!(slow[..], [Limit::Late { direction: 1, .. }]));
        let slow = limits(&wire(|_| ()), &idle, 7);
        assert!(matches!(slow[..], [Limit::Slow { .. }]));
    }

    #[test]
    fn worst_three_limits_are_told_and_the_others_counted() {
        let late = |millis| Limit::Late {
            wire: "w".to_owned(),
            direction: 0,
            p99: Duration::from_millis(millis),
            allowed: Duration::from_millis(1),
        };
        let losses = Losses { unread_frames: 4, ..Losses::default() };
        let lossy = Limit::Lossy { wire: "w".to_owned(), direction: 1, losses };
        let limited = Limited { because: vec![late(2), late(7), lossy, late(5), late(3)] };
        let told = [
            "w, direction 1: the relay lost 4 frames that it had not read",
            "w, direction 0: 1 % of packet bursts more than 7.00 ms late (limit 1.00 ms)",
            "w, direction 0: 1 % of packet bursts more than 5.00 ms late (limit 1.00 ms); and 2 more",
        ];
        assert_eq!(limited.worst(), told);
    }
}
