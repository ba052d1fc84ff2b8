//! Which frames are those that a device counts as dropped: the VLAN that nobody knows, the protocol that nobody speaks.

use std::collections::BTreeMap;

use model::host::drops::{Counter, DropInterval, Frames, Layer};
use stats::correlation::{Correlation, among, correlate};

use super::series::Series;
use super::together::SURE;

/// Frames of one kind beside the drops of their device.
#[derive(Debug, Clone, PartialEq)]
pub struct Suspect {
    /// Name of the interface that received the frames and counted the drops.
    pub device: String,
    /// The VLAN of their tag; none without a tag.
    pub vlan: Option<u16>,
    /// Their protocol; none for all of the VLAN together.
    pub ethertype: Option<u16>,
    /// How many came.
    pub frames: u64,
    /// How many packets the device counted as dropped (`rx_dropped`).
    pub drops: u64,
    /// Intervals with drops in which as many came as were dropped.
    pub equal: usize,
    /// Intervals with drops.
    pub with_drops: usize,
    /// How closely the two go together; none where one of them never changes.
    pub correlation: Option<Correlation>,
    /// Probability that one of as many kinds as were looked at goes together so closely by chance.
    pub p: f64,
    /// What is thought of it.
    pub verdict: Verdict,
}

/// What is thought of frames beside drops.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// They are what is dropped.
    Explains,
    /// They have no tag, and the kernel does not count such frames as dropped while somebody listens: it drops as many
    /// when nobody does.
    Hidden,
    /// Nothing shows that they have to do with the drops.
    Unrelated,
}

/// All kinds of frames that were seen, those that explain most first.
#[must_use]
pub fn suspects(series: &Series) -> Vec<Suspect> {
    let kinds = kinds(series);
    let tried = kinds.len();
    let mut suspects: Vec<Suspect> = kinds.into_iter().map(|kind| suspect(series, kind, tried)).collect();
    add_those_together(series, &mut suspects);
    suspects.sort_by(|a, b| {
        let closeness = |each: &Suspect| each.correlation.map_or(0.0, |found| found.spearman);
        a.verdict.cmp(&b.verdict).then(closeness(b).total_cmp(&closeness(a))).then(b.frames.cmp(&a.frames))
    });
    suspects
}

/// Frames that came too fast to be looked at.
#[must_use]
pub fn missed(series: &Series) -> u64 {
    frames(&series.intervals).filter(|(_, each)| each.ethertype.is_none()).map(|(_, each)| each.frames).sum()
}

type Kind = (String, Option<u16>, Option<u16>);

/// Every kind, and each VLAN as a whole where it has several protocols.
fn kinds(series: &Series) -> Vec<Kind> {
    let mut protocols: BTreeMap<(String, Option<u16>), Vec<u16>> = BTreeMap::new();
    for (_, each) in frames(&series.intervals) {
        let Some(ethertype) = each.ethertype else { continue };
        let known = protocols.entry((each.device.clone(), each.vlan)).or_default();
        if !known.contains(&ethertype) {
            known.push(ethertype);
        }
    }
    let mut kinds = Vec::new();
    for ((device, vlan), ethertypes) in protocols {
        if vlan.is_some() && ethertypes.len() > 1 {
            kinds.push((device.clone(), vlan, None));
        }
        kinds.extend(ethertypes.into_iter().map(|ethertype| (device.clone(), vlan, Some(ethertype))));
    }
    kinds
}

fn frames(intervals: &[DropInterval]) -> impl Iterator<Item = (&DropInterval, &Frames)> {
    let known = intervals.iter().filter_map(|interval| Some((interval, interval.frames.as_ref()?.value()?)));
    known.flat_map(|(interval, frames)| frames.iter().map(move |each| (interval, each)))
}

fn suspect(series: &Series, (device, vlan, ethertype): Kind, tried: usize) -> Suspect {
    let (came, lost) = beside(series, &device, |each| {
        each.vlan == vlan && each.ethertype.is_some() && (ethertype.is_none() || each.ethertype == ethertype)
    });
    let correlation = correlate(&numbers(&came), &numbers(&lost));
    let with_drops = lost.iter().filter(|&&drops| drops > 0).count();
    let equal = came.iter().zip(&lost).filter(|(came, lost)| **lost > 0 && came == lost).count();
    let mut suspect = Suspect {
        device,
        vlan,
        ethertype,
        frames: came.iter().sum(),
        drops: lost.iter().sum(),
        equal,
        with_drops,
        p: correlation.map_or(1.0, |found| among(found.p_two_sided, tried)),
        correlation,
        verdict: Verdict::Unrelated,
    };
    suspect.verdict = suspect.judge();
    suspect
}

/// Frames that are meant, and packets that their device dropped, interval by interval.
fn beside(series: &Series, device: &str, is_meant: impl Fn(&Frames) -> bool) -> (Vec<u64>, Vec<u64>) {
    let dropped = Counter { layer: Layer::Device, of: device.to_owned(), name: "rx_dropped".to_owned() };
    let (mut came, mut lost) = (Vec::new(), Vec::new());
    for interval in &series.intervals {
        let Some(frames) = interval.frames.as_ref().and_then(|frames| frames.value()) else { continue };
        let Some(drops) = interval.increase(&dropped) else { continue };
        let meant = frames.iter().filter(|each| each.device == device && is_meant(each));
        came.push(meant.map(|each| each.frames).sum::<u64>());
        lost.push(drops);
    }
    (came, lost)
}

/// Several VLANs that nobody knows are dropped side by side, so that none alone is as many as the drops. The fewest kinds
/// that together are as many, interval by interval, are what is dropped.
fn add_those_together(series: &Series, suspects: &mut [Suspect]) {
    let devices: std::collections::BTreeSet<String> = suspects.iter().map(|suspect| suspect.device.clone()).collect();
    for device in devices {
        // A VLAN of several protocols stands for them.
        let tagged: Vec<usize> = (0..suspects.len())
            .filter(|&at| {
                let suspect = &suspects[at];
                let whole_vlan = |other: &Suspect| {
                    other.device == suspect.device && other.vlan == suspect.vlan && other.ethertype.is_none()
                };
                let stands_alone = suspect.ethertype.is_none() || !suspects.iter().any(whole_vlan);
                suspect.device == device && suspect.vlan.is_some() && suspect.frames > 0 && stands_alone
            })
            .take(MOST_TOGETHER)
            .collect();
        // One that goes together with the drops may be the larger part of them; one that is as many is all of them.
        if tagged.iter().any(|&at| suspects[at].is_the_same()) {
            continue;
        }
        let came: Vec<Vec<u64>> = tagged
            .iter()
            .map(|&at| {
                let of = &suspects[at];
                beside(series, &device, |each| {
                    each.vlan == of.vlan
                        && each.ethertype.is_some()
                        && (of.ethertype.is_none() || each.ethertype == of.ethertype)
                })
                .0
            })
            .collect();
        let lost = beside(series, &device, |_| false).1;
        for at in fewest_that_sum_to(&came, &lost).unwrap_or_default() {
            suspects[tagged[at]].verdict = Verdict::Explains;
        }
    }
}

/// The fewest of several series whose sum is the last one, in nine of ten intervals with drops.
fn fewest_that_sum_to(came: &[Vec<u64>], lost: &[u64]) -> Option<Vec<usize>> {
    let with_drops = lost.iter().filter(|&&drops| drops > 0).count();
    if with_drops < LEAST_EQUAL {
        return None;
    }
    let mut sets: Vec<u32> = (1..1_u32 << came.len()).filter(|set| set.count_ones() > 1).collect();
    sets.sort_by_key(|set| set.count_ones());
    let members = |set: u32| (0..came.len()).filter(move |at| set & 1 << at != 0);
    let fits = |set: &u32| {
        let sum = |interval: usize| members(*set).map(|at| came[at][interval]).sum::<u64>();
        let equal = (0..lost.len()).filter(|&interval| lost[interval] > 0 && sum(interval) == lost[interval]).count();
        equal * 10 >= with_drops * 9
    };
    sets.into_iter().find(fits).map(|set| members(set).collect())
}

impl Suspect {
    /// What cannot be: fewer came than half of what was dropped, or far more than that.
    fn judge(&self) -> Verdict {
        if self.vlan.is_none() {
            return Verdict::Hidden;
        }
        let together = self.p < SURE && self.correlation.is_some_and(|found| found.spearman > 0.0);
        // Where the rate hardly changes, no correlation shows; equal counts in many intervals do.
        let of_that_size = self.frames >= self.drops / 2 && self.frames / 2 <= self.drops;
        if self.drops > 0 && of_that_size && (together || self.is_the_same()) {
            Verdict::Explains
        } else {
            Verdict::Unrelated
        }
    }

    /// Whether as many came as were dropped, in nine of ten intervals with drops.
    const fn is_the_same(&self) -> bool {
        self.with_drops >= LEAST_EQUAL && self.equal * 10 >= self.with_drops * 9
    }
}

#[expect(clippy::cast_precision_loss, reason = "no interval has 2^53 packets")]
fn numbers(counts: &[u64]) -> Vec<f64> {
    counts.iter().map(|&count| count as f64).collect()
}

/// Kinds that are tried together: with more, one sum in so many would fit by chance.
const MOST_TOGETHER: usize = 8;

/// Intervals with drops that it takes before equal counts say something.
const LEAST_EQUAL: usize = 5;
