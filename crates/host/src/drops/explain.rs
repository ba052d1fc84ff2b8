//! Which frames are those that a device counts as dropped: the VLAN that nobody knows, the protocol that nobody speaks.

use std::collections::BTreeMap;

use model::host::drops::{Counter, DropInterval, Frames, Layer};
use stats::correlation::{Correlation, among, correlate};

use super::series::Series;
use super::together::SURE;

/// Frames of one kind beside the drops of their device.
#[derive(Debug, Clone, PartialEq)]
pub struct Suspect {
    /// The device.
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
    let dropped = Counter { layer: Layer::Device, of: device.clone(), name: "rx_dropped".to_owned() };
    let (mut came, mut lost) = (Vec::new(), Vec::new());
    for interval in &series.intervals {
        let Some(frames) = interval.frames.as_ref().and_then(|frames| frames.value()) else { continue };
        let Some(drops) = interval.increase(&dropped) else { continue };
        let of_kind = frames.iter().filter(|each| {
            each.device == device
                && each.vlan == vlan
                && each.ethertype.is_some()
                && (ethertype.is_none() || each.ethertype == ethertype)
        });
        came.push(of_kind.map(|each| each.frames).sum::<u64>());
        lost.push(drops);
    }
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

impl Suspect {
    /// What cannot be: fewer came than half of what was dropped, or far more than that.
    fn judge(&self) -> Verdict {
        if self.vlan.is_none() {
            return Verdict::Hidden;
        }
        let together = self.p < SURE && self.correlation.is_some_and(|found| found.spearman > 0.0);
        // Where the rate hardly changes, no correlation shows; equal counts in many intervals do.
        let the_same = self.with_drops >= LEAST_EQUAL && self.equal * 10 >= self.with_drops * 9;
        let of_that_size = self.frames >= self.drops / 2 && self.frames / 2 <= self.drops;
        if self.drops > 0 && of_that_size && (together || the_same) { Verdict::Explains } else { Verdict::Unrelated }
    }
}

#[expect(clippy::cast_precision_loss, reason = "no interval has 2^53 packets")]
fn numbers(counts: &[u64]) -> Vec<f64> {
    counts.iter().map(|&count| count as f64).collect()
}

/// Intervals with drops that it takes before equal counts say something.
const LEAST_EQUAL: usize = 5;
