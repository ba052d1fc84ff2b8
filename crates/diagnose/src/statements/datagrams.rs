//! Runs of UDP: what was lost at which rate, and of how many packets each datagram was made.

use import::one_way_tool;
use model::measurement::{DatagramCounts, DirectionTotal};
use model::played::Finding;
use model::round::Round;
use model::spec::Protocol;
use units::DataRate;
use units::duration::show;

use super::statement::{Statement, percent, ratio};
use super::transfers::from_to;
use crate::signs::{EmptiedBucket, emptied_bucket};

/// All of a round: each run by itself, then what runs of a pair say together.
pub(super) fn of(round: &Round) -> Vec<Statement> {
    let all = datagram_runs(round);
    let alone = all.iter().map(|run| run.statement(&all));
    alone.chain(at_any_rate(&all)).collect()
}

/// Datagrams in one direction of one run.
struct DatagramRun<'a> {
    whose: String,
    total: &'a DirectionTotal,
    counts: DatagramCounts,
    lost: f64,
    sent_at: Option<DataRate>,
    /// The program that sent a packet every now and then, and no load.
    sparse: Option<&'a str>,
    /// What passed at first and not later.
    bucket: Option<EmptiedBucket>,
}

fn datagram_runs(round: &Round) -> Vec<DatagramRun<'_>> {
    let runs = round.tests.iter().filter_map(|tested| match &tested.finding {
        Finding::Run(run) if run.spec.protocol == Protocol::Udp => Some((tested, run, run.measurement.as_ref()?)),
        _ => None,
    });
    let totals =
        runs.flat_map(|(tested, run, found)| found.totals.iter().map(move |total| (tested, run, found, total)));
    let counted = totals.filter_map(|(tested, run, found, total)| {
        let counts = total.datagrams.filter(|counts| counts.sent.get() > 0)?;
        let lost = ratio([lost_on_path(total, &counts), counts.sent.get()]);
        let sent_at = total.sent.and_then(|sent| DataRate::of(sent, total.elapsed));
        let (whose, bucket) = (from_to(tested, total), emptied_bucket(found, total.heading));
        Some(DatagramRun { whose, total, counts, lost, sent_at, sparse: one_way_tool(run), bucket })
    });
    counted.collect()
}

/// Datagrams of the last moment, of which the receiver saw none, are on their way when a test ends, and are no loss of a path that lost no
/// other.
fn lost_on_path(total: &DirectionTotal, counts: &DatagramCounts) -> u64 {
    let (lost, tail) = (counts.lost.get(), counts.lost_at_tail.get());
    let share = ratio([tail, counts.sent.get()]);
    let is_last_moment = lost == tail && share * total.elapsed.as_secs_f64() < LAST_MOMENT;
    if is_last_moment { 0 } else { lost }
}

/// Seconds that datagrams are under way, and in buffers, when a sender ends.
const LAST_MOMENT: f64 = 0.05;

impl DatagramRun<'_> {
    fn statement(&self, all: &[DatagramRun<'_>]) -> Statement {
        if let Some(tool) = self.sparse {
            return self.of_series(tool);
        }
        let rate = self.sent_at.map_or_else(String::new, |rate| format!(" at {rate}"));
        let (whose, goodput, counts) = (&self.whose, self.total.goodput, &self.counts);
        let lost = lost_on_path(self.total, counts);
        let part = if lost == 0 { String::new() } else { format!(" ({})", percent(self.lost)) };
        let says = format!("{whose}: {lost} of {} datagrams lost{part}{rate}", counts.sent);
        if self.lost >= LOSSY && counts.lost.get() > 1 {
            let through = (self.lost >= MUCH && !self.is_unlimited(all)).then(|| self.bucket.map(of_bucket));
            let through = through.map(|bucket| {
                bucket.unwrap_or_else(|| format!("; {goodput} came through, which may be what the bottleneck carries"))
            });
            let packets = self.in_packets().unwrap_or_default();
            return Statement::fault(format!("{says}{}{packets}", through.unwrap_or_default()));
        }
        let overtaken = ratio([counts.reordered.get(), counts.sent.get()]);
        if overtaken >= LOSSY && counts.reordered > counts.lost && counts.reordered.get() >= FEW_OVERTAKEN {
            return Statement::fault(format!(
                "{says}, and {} of them arrived after later ones ({}): packets are overtaken and not lost, as where a pair of links or paths \
                 takes them in turn (balancing by packet); TCP takes that for loss and is slow: balance by flow",
                counts.reordered,
                percent(overtaken)
            ));
        }
        if goodput <= SLOW_TEST {
            let at = if rate.is_empty() { format!(" at {goodput}") } else { String::new() };
            return Statement::fact(format!("{says}{at}, which says nothing of higher rates (`-b`)"));
        }
        Statement::fact(says)
    }

    /// A packet every now and then: what is lost of them is lost without a load.
    fn of_series(&self, tool: &str) -> Statement {
        let (whose, counts) = (&self.whose, &self.counts);
        let part = if counts.lost.get() == 0 { String::new() } else { format!(" ({})", percent(self.lost)) };
        let more = [("overtaken", counts.reordered), ("twice", counts.duplicated)];
        let more =
            more.into_iter().filter(|(_, count)| count.get() > 0).map(|(what, count)| format!(", {count} {what}"));
        let says = format!(
            "{whose}: {} of {} packets of {tool} lost in this direction{part}{}",
            counts.lost,
            counts.sent,
            more.collect::<String>()
        );
        let is_lossy = self.lost >= LOSSY && counts.lost.get() > 1;
        if is_lossy {
            return Statement::fault(format!(
                "{says}: TCP over a long path is slow with a loss of one in ten thousand"
            ));
        }
        Statement::fact(says)
    }

    /// Whether another run of the pair was slower than what came through of this one, and lost as much: then no limit of rate cuts this one.
    fn is_lost_when_slower(&self, all: &[DatagramRun<'_>]) -> bool {
        let is_slower = |other: &&DatagramRun<'_>| {
            other.whose == self.whose && other.sent_at.is_some_and(|sent| sent < self.total.goodput)
        };
        all.iter().filter(is_slower).any(|other| other.lost * 3.0 > self.lost)
    }

    /// Whether runs of the pair show that no limit of rate cuts them.
    fn is_unlimited(&self, all: &[DatagramRun<'_>]) -> bool {
        all.iter().filter(|run| run.whose == self.whose).any(|run| run.is_lost_when_slower(all))
    }

    /// Where datagrams do not fit into a packet of the usual MTU, each is lost with any of its fragments (RFC 8900 section 3.4).
    fn in_packets(&self) -> Option<String> {
        let length = self.total.sent?.get() / self.counts.sent.get();
        // A measured size is that of a payload only where all are alike; jumbo frames hold up to 8,972 bytes.
        let fragments = (length + UDP_HEADER).div_ceil(FRAGMENT);
        if length <= USUAL_PAYLOAD || fragments < 2 {
            return None;
        }
        let kept = (1.0 - self.lost).max(0.0).powf(1.0 / f64::from(u32::try_from(fragments).unwrap_or(u32::MAX)));
        Some(format!(
            "; where the MTU is 1500 each datagram of {length} B travels as {fragments} fragments and is lost with any of them: {} of the \
             packets (`-l 1448` sends one packet each)",
            percent(1.0 - kept)
        ))
    }
}

/// A few are overtaken where a queue is served by two CPUs.
const FEW_OVERTAKEN: u64 = 10;

/// What a token bucket let pass, as its run shows it.
fn of_bucket(bucket: EmptiedBucket) -> String {
    let EmptiedBucket { until, first, later: [least, most], lost, burst } = bucket;
    format!(
        "; {first} passed without a loss for the first {}, then evenly {least} to {most} with {} lost: a token bucket of about {burst} at that \
         rate (a policer, or a shaper without a queue); a queue before a slower link would let nothing pass faster",
        show(until),
        percent(lost)
    )
}

/// Where the same part is lost at rates far apart, nothing limits a rate.
fn at_any_rate(all: &[DatagramRun<'_>]) -> Option<Statement> {
    let lossy = |run: &&DatagramRun<'_>| run.lost >= LOSSY && run.counts.lost.get() >= FEWEST;
    let fast = all.iter().filter(lossy).find(|run| run.is_lost_when_slower(all))?;
    let of_pair = all.iter().filter(lossy).filter(|run| run.whose == fast.whose);
    let mut rates: Vec<(DataRate, f64)> = of_pair.filter_map(|run| Some((run.sent_at?, run.lost))).collect();
    rates.sort_by_key(|(rate, _)| *rate);
    let (slowest, fastest) = (rates.first()?, rates.last()?);
    let is_alike = slowest.1 * ALIKE > fastest.1 && fastest.1 * ALIKE > slowest.1;
    (is_alike && slowest.0.bps() * 2 < fastest.0.bps()).then(|| {
        Statement::fact(format!(
            "{}: {} were lost at {}, {} at {}: what limits a rate (policer, slow link, full queue) would spare the slower",
            fast.whose,
            percent(fastest.1),
            fastest.0,
            percent(slowest.1),
            slowest.0
        ))
    })
}

/// iperf3 sends datagrams at 1.05 Mbit/s where nothing is asked for.
const SLOW_TEST: DataRate = DataRate::from_bps(1_200_000);
/// Ten times what research networks promise.
const LOSSY: f64 = 3e-4;
/// From here on the rest may be what a limit lets through.
const MUCH: f64 = 0.1;
/// Parts that differ by less are the same.
const ALIKE: f64 = 1.5;
/// Fewer are chance.
const FEWEST: u64 = 10;
/// Payload of a datagram in one packet of 1,500 bytes.
const USUAL_PAYLOAD: u64 = 1472;
/// Bytes of UDP in a fragment of it.
const FRAGMENT: u64 = 1480;
const UDP_HEADER: u64 = 8;
