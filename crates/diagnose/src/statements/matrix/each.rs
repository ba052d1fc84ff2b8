//! A limit of each flow: one stream beside several, a larger window, a copy of files beside a test.

use std::time::Duration;

use import::evidence::HostFact;
use predict::physics::FullLink;
use units::duration::show;
use units::{ByteCount, DataRate};

use super::measurement::{Matrix, Measurement};
use crate::statements::beside::MOST_FACTS;
use crate::statements::statement::Statement;

/// Of each pair.
pub(super) fn of(matrix: &Matrix<'_>) -> Vec<Statement> {
    let mut all = Vec::new();
    for pair in matrix.pairs() {
        let tests: Vec<&Measurement<'_>> = matrix
            .of_pair(pair)
            .into_iter()
            .filter(|one| one.is_tcp() && one.is_test() && !one.is_paced() && one.rate().bps() > 0)
            .collect();
        let Some(pairing) = Pairing::of(&tests) else { continue };
        all.extend(
            test_alone(matrix, &pairing)
                .or_else(|| larger_window(pair, &tests, &pairing))
                .or_else(|| each(matrix, pair, &pairing)),
        );
    }
    all
}

/// A few streams, and many that have more together.
struct Pairing<'m, 'a> {
    few: &'m Measurement<'a>,
    many: &'m Measurement<'a>,
}

impl<'m, 'a> Pairing<'m, 'a> {
    fn of(tests: &[&'m Measurement<'a>]) -> Option<Self> {
        let few = tests.iter().copied().filter(|one| one.run.spec.window.is_none()).min_by_key(|one| one.streams())?;
        let more = tests
            .iter()
            .copied()
            .filter(|one| one.streams() > few.streams() && one.rate().bps() * 2 > few.rate().bps() * 3);
        let many = more.max_by_key(|one| one.rate())?;
        Some(Self { few, many })
    }

    /// Of each stream of many, beside one alone.
    fn part(&self) -> f64 {
        let each = self.many.steady().bps() / u64::from(self.many.streams().max(1));
        let one = self.few.steady().bps() / u64::from(self.few.streams().max(1));
        DataRate::from_bps(each).share_of(DataRate::from_bps(one)).unwrap_or_default()
    }

    fn says(&self) -> String {
        let (few, many) = (self.few, self.many);
        let has = if few.streams() == 1 { "stream has" } else { "streams have" };
        format!("{} {has} {}, {} have {} together", few.streams(), few.rate(), many.streams(), many.rate())
    }

    /// What a stream of the few has under way.
    fn under_way(&self) -> Option<(ByteCount, Duration)> {
        let rtt = self.few.rtt.or(self.many.rtt).filter(|rtt| *rtt >= NEAR)?;
        Some((DataRate::from_bps(self.few.steady().bps() / u64::from(self.few.streams().max(1))) * rtt, rtt))
    }
}

/// A larger window that makes the same test faster, with the streams beside it.
fn larger_window(pair: [&str; 2], tests: &[&Measurement<'_>], pairing: &Pairing<'_, '_>) -> Option<Statement> {
    let few = pairing.few;
    let wide = tests.iter().find(|one| {
        one.streams() == few.streams() && one.run.spec.window.is_some() && one.rate().bps() * 2 > few.rate().bps() * 3
    })?;
    let asked = wide.run.spec.window?;
    let under_way = pairing
        .under_way()
        .map_or_else(String::new, |(bytes, rtt)| format!(" ({bytes} under way at an RTT of {})", show(rtt)));
    Some(Statement::decisive(format!(
        "{} to {}: {}{under_way}, and one with a window of {asked} has {}: the window is the limit (the receiver's buffer or the sender's), and neither the \
         path, losses nor a CPU; let both ends use larger buffers (auto-tuning, `net.ipv4.tcp_rmem` and `tcp_wmem`, or the program's own setting)",
        pair[0],
        pair[1],
        pairing.says(),
        wide.rate()
    )))
}

/// A copy of files that is faster than the test of one stream.
fn test_alone(matrix: &Matrix<'_>, pairing: &Pairing<'_, '_>) -> Option<Statement> {
    let few = pairing.few;
    (few.streams() == 1).then_some(())?;
    let copy = matrix.all.iter().find(|one| {
        let is_near = one.total.heading == few.total.heading && one.rate().bps() * 2 > few.rate().bps() * 3;
        !one.is_test() && is_near
    })?;
    let tool = copy.run.local.software.as_deref().unwrap_or("a copy");
    Some(Statement::well(format!(
        "{}, and one copy of files by {tool} has {}: the network, both hosts and their disks carry that; the test of one stream is slow by itself (its \
         window, its version, one CPU), and nothing else is",
        pairing.says(),
        copy.rate()
    )))
}

/// What a limit of each flow may be, by what else is known of one alone.
fn each(matrix: &Matrix<'_>, pair: [&str; 2], pairing: &Pairing<'_, '_>) -> Option<Statement> {
    let few = pairing.few;
    let begin = format!("{} to {}: {}", pair[0], pair[1], pairing.says());
    if let Some(allows) = &few.by_loss {
        return Some(Statement::fault(format!(
            "{begin}, so that the path carries more than a stream gets: {allows}; find where packets are lost, and until then use several streams or \
             another congestion control"
        )));
    }
    let is_each = pairing.part() >= ALIKE;
    // Near by, a stream that does not fill a link is limited by its own program; far off, by a window.
    let full = FullLink::of(pairing.many.run, pairing.many.total).filter(|_| pairing.under_way().is_none());
    if let Some(full) = full {
        return Some(Statement::well(format!(
            "{begin}, all that a link of {} gives: the network carries that, and one stream is slow by itself (its window, the version of the test, one CPU)",
            full.rate
        )));
    }
    let is_lossy = few.again().is_some_and(|again| again >= LOSSY);
    if is_lossy {
        return Some(Statement::fact(format!(
            "{begin}: one stream does not use what the path carries, and loses packets"
        )));
    }
    // What the congestion window allows shows that no window is the limit.
    let allows = few.window().zip(few.rtt).and_then(|([least, _], rtt)| DataRate::of(ByteCount::new(least), rtt));
    if let Some(allows) = allows.filter(|allows| allows.bps() > few.steady().bps() * 3) {
        return Some(of_flow(matrix, &begin, few, allows));
    }
    if let Some((bytes, rtt)) = pairing.under_way().filter(|_| is_each) {
        let even = if few.is_even() { "evenly " } else { "" };
        return Some(Statement::fault(format!(
            "{begin}: each stream has {even}{bytes} under way at an RTT of {}: a window or a buffer of that size (the receiver's, the sender's, or the \
             program's) limits each, or something on the path gives each connection the same; neither the path's rate nor losses; the same with `-w`, and `ss -ti`, \
             tell which",
            show(rtt)
        )));
    }
    let each = if is_each {
        "each stream has a limit of its own (window, buffer or one CPU), which the path does not have"
    } else {
        "one stream does not use what the path carries"
    };
    Some(Statement::fact(format!("{begin}: {each}")))
}

/// A flow that no window, no loss and, where it is known, no CPU limits.
fn of_flow(matrix: &Matrix<'_>, begin: &str, few: &Measurement<'_>, allows: DataRate) -> Statement {
    let idle = matrix.beside.facts.iter().take(MOST_FACTS).filter_map(|(_, fact)| match fact {
        HostFact::Cpu(shares) => shares.idle_of_one,
        _ => None,
    });
    let idle = idle.min();
    let even = if few.is_even() { ", evenly" } else { "" };
    let window = format!("its congestion window would allow {allows}, and it loses next to nothing{even}");
    let is_clouds = few.is_even() && (CLOUD[0]..=CLOUD[1]).contains(&few.steady().bps());
    let cloud = if is_clouds {
        " (about 5 Gbit/s is what AWS gives one flow outside of a cluster placement group)"
    } else {
        ""
    };
    match idle {
        Some(idle) if idle >= IDLE => Statement::decisive(format!(
            "{begin}: {window}, and the busiest CPU is {} % idle: a limit for each flow on the path (a provider's, a policer for each flow, one link of a \
             bundle){cloud}, and no window, no loss and no CPU; several flows at once get more",
            idle / 100
        )),
        _ => {
            let says = format!(
                "{begin}: {window}: a limit for each flow (a provider's, a policer for each flow, one link of a bundle){cloud}, or one CPU of a host \
                 (`mpstat -P ALL` while it runs tells); no window and no loss"
            );
            if is_clouds { Statement::decisive(says) } else { Statement::fault(says) }
        }
    }
}

/// Of many streams each has so much of what one has alone.
const ALIKE: f64 = 0.8;
/// One segment in two thousand.
const LOSSY: f64 = 5e-4;
/// On a LAN a window is hardly ever the limit.
const NEAR: Duration = Duration::from_millis(3);
/// A CPU that has so much left is not the limit, in hundredths of a percent.
const IDLE: u32 = 2_500;
/// What AWS gives a flow, as TCP's payload.
const CLOUD: [u64; 2] = [4_850_000_000, 5_000_000_000];
