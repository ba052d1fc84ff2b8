//! At which hop a way becomes bad, from tests towards each.
//!
//! A router answers echoes when it has time, so what a single hop loses says nothing: a loss on the way is one that all hops
//! behind it share.

use model::measurement::Heading;
use model::probe::along::{Along, HopTests};
use model::run::{Outcome, Run};
use units::{DataRate, Mtu};

/// What becomes worse at a hop.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Worse {
    /// From here on nobody answers.
    Silence,
    /// From here on echoes are lost, this part of them at the least.
    Loss(f64),
    /// Larger packets reach the hop before and not this one.
    Mtu {
        /// What reached the hop before.
        before: Mtu,
        /// What reaches this one.
        now: Mtu,
    },
    /// A flow to this hop has much less than one to a hop before.
    There {
        /// The most to a hop before.
        before: DataRate,
        /// That to this one.
        now: DataRate,
    },
    /// The same of a flow from this hop.
    Back {
        /// The most from a hop before.
        before: DataRate,
        /// That from this one.
        now: DataRate,
    },
}

/// The hops at which something becomes worse, by their numbers, the nearest first.
#[must_use]
pub fn turns(along: &Along) -> Vec<(u8, Worse)> {
    let hops = &along.hops;
    let rates = |of: fn(&HopTests) -> Option<&Run>, heading| {
        hops.iter().filter_map(|hop| Some((hop.number, rate(of(hop)?, heading)?))).collect::<Vec<_>>()
    };
    let there = drop_of(&rates(|hop| hop.there.as_deref(), Heading::Outbound));
    let back = drop_of(&rates(|hop| hop.back.as_deref(), Heading::Inbound));
    let mut found: Vec<(u8, Worse)> = silence(hops).or_else(|| loss(hops)).into_iter().collect();
    found.extend(sizes(hops));
    found.extend(there.map(|(hop, before, now)| (hop, Worse::There { before, now })));
    found.extend(back.map(|(hop, before, now)| (hop, Worse::Back { before, now })));
    found.sort_by_key(|(hop, _)| *hop);
    found
}

/// The first of the hops at the end of which none answers.
fn silence(hops: &[HopTests]) -> Option<(u8, Worse)> {
    let last = hops.iter().rposition(|hop| part_lost(hop).is_none_or(|part| part < 1.0));
    let first = hops.get(last.map_or(0, |last| last + 1))?;
    Some((first.number, Worse::Silence))
}

fn loss(hops: &[HopTests]) -> Option<(u8, Worse)> {
    let clean = hops.iter().rposition(|hop| part_lost(hop).is_none_or(|part| part < WORTH_TELLING));
    let lossy = &hops[clean.map_or(0, |clean| clean + 1)..];
    let least = lossy.iter().filter_map(part_lost).reduce(f64::min)?;
    Some((lossy.first()?.number, Worse::Loss(least)))
}

#[expect(clippy::cast_precision_loss, reason = "a part of some echoes")]
fn part_lost(hop: &HopTests) -> Option<f64> {
    let rtt = &hop.echo.summary.rtt;
    (rtt.sent.get() > 0).then(|| rtt.lost.get() as f64 / rtt.sent.get() as f64)
}

fn sizes(hops: &[HopTests]) -> Vec<(u8, Worse)> {
    let known: Vec<(u8, Mtu)> = hops.iter().filter_map(|hop| Some((hop.number, hop.path_mtu.path_mtu?))).collect();
    let steps = known.windows(2).filter_map(|step| {
        let &[(_, before), (hop, now)] = step else { return None };
        (now < before).then_some((hop, Worse::Mtu { before, now }))
    });
    steps.collect()
}

fn rate(run: &Run, heading: Heading) -> Option<DataRate> {
    let measurement = run.measurement.as_ref().filter(|_| run.outcome == Outcome::Complete)?;
    measurement.totals.iter().find(|total| total.heading == heading).map(|total| total.goodput)
}

/// The first that has much less than the best before it.
fn drop_of(rates: &[(u8, DataRate)]) -> Option<(u8, DataRate, DataRate)> {
    let mut best = DataRate::ZERO;
    for &(hop, now) in rates {
        // Half is no chance: flows of a few seconds vary by a fifth.
        if now.bps() < best.bps() / 2 {
            return Some((hop, best, now));
        }
        best = best.max(now);
    }
    None
}

/// One echo in two hundred: TCP over a long path feels less, and echoes of a few seconds cannot show less.
const WORTH_TELLING: f64 = 0.005;

#[cfg(test)]
mod tests {
    use super::*;
    use model::probe::Subject;
    use model::probe::echo::{EchoSeries, EchoSpec, EchoSummary};
    use model::probe::hops::{HopsSpec, Trace, TraceEnd};
    use model::probe::path_mtu::{PathMtu, PathMtuSpec};
    use units::{PacketCount, WallTime};

    fn subject() -> Subject {
        Subject { target: "h".to_owned(), address: None, started: WallTime::from_unix_nanos(0) }
    }

    fn along(hops: &[(u64, u32)]) -> Along {
        let trace = Trace {
            subject: subject(),
            spec: HopsSpec::default(),
            outcome: Outcome::Complete,
            access: None,
            end: TraceEnd::Destination,
            hops: Vec::new(),
        };
        let hops = hops.iter().zip(1..).map(|(&(lost, mtu), number)| {
            let mut summary = EchoSummary::default();
            summary.rtt.sent = PacketCount::new(100);
            summary.rtt.lost = PacketCount::new(lost);
            HopTests {
                number,
                address: "192.0.2.1".parse().unwrap(),
                echo: EchoSeries {
                    subject: subject(),
                    spec: EchoSpec::default(),
                    outcome: Outcome::Complete,
                    access: None,
                    summary,
                    probes: Vec::new(),
                },
                path_mtu: PathMtu {
                    subject: subject(),
                    spec: PathMtuSpec::default(),
                    outcome: Outcome::Complete,
                    access: None,
                    interface_mtu: None,
                    path_mtu: Mtu::new(mtu).ok(),
                    limit: None,
                    sizes: Vec::new(),
                },
                there: None,
                back: None,
            }
        });
        Along { trace, hops: hops.collect() }
    }

    #[test]
    fn loss_is_on_the_way_where_all_hops_behind_it_share_it() {
        assert_eq!(turns(&along(&[(0, 1500), (60, 1500), (0, 1500)])), [], "a router that has no time");
        assert_eq!(turns(&along(&[(0, 1500), (8, 1500), (5, 1500)])), [(2, Worse::Loss(0.05))]);
        assert_eq!(turns(&along(&[(0, 1500), (100, 1500), (100, 1500)])), [(2, Worse::Silence)]);
        assert_eq!(turns(&along(&[(100, 1500), (0, 1500)])), []);
    }

    #[test]
    fn hop_that_takes_only_smaller_packets_is_named() {
        let [before, now] = [9000, 1500].map(|bytes| Mtu::new(bytes).unwrap());
        assert_eq!(turns(&along(&[(0, 9000), (0, 1500), (0, 1500)])), [(2, Worse::Mtu { before, now })]);
    }

    #[test]
    fn flow_is_worse_where_it_has_less_than_half_of_one_before() {
        let rates = |rates: &[u64]| {
            let rates: Vec<_> = rates.iter().zip(1..).map(|(rate, hop)| (hop, DataRate::from_bps(*rate))).collect();
            drop_of(&rates).map(|(hop, ..)| hop)
        };
        assert_eq!((rates(&[100, 80, 90]), rates(&[100, 80, 40, 30]), rates(&[10, 100, 45])), (None, Some(3), Some(3)));
    }
}
