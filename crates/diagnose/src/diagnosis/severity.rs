//! How bad each flow is, and how much more likely that is under one fault than in the background of a round.
//!
//! In the spirit of Flock (Harsh and others 2023): a cause is weighed by the likelihood of what each flow that it hits lost, against a
//! background rate of mild, scattered slowness that is learnt from the round. Flows that it does not hit are as likely under
//! every cause, and say nothing. So a group of severe flows is explained first, however many mild ones stand elsewhere.

use std::collections::BTreeMap;

use crate::signs::Flow;
use crate::signs::flow::{Complaint, FlowKind};

/// The depth of each flow, and the background.
#[derive(Debug, Clone)]
pub(crate) struct Severity {
    /// −ln of the part of its target that a flow reached; 0 for one that is well.
    depths: Vec<f64>,
    /// What carried it. One loss leaves TCP over a long path nothing, and takes little of datagrams: depths of one kind are compared.
    kinds: Vec<FlowKind>,
    /// How far each can be trusted, 0 to 1.
    weights: Vec<f64>,
    background: Background,
}

/// What slowness is like that no single cause explains.
#[derive(Debug, Clone, Copy)]
struct Background {
    /// The part of the flows that are mildly slow.
    part: f64,
    /// Their mean depth.
    mean: f64,
}

impl Severity {
    pub(crate) fn of(flows: &[Flow]) -> Self {
        let depths: Vec<f64> = flows.iter().map(depth).collect();
        Self {
            background: Background::of(&depths),
            kinds: flows.iter().map(|flow| flow.kind).collect(),
            weights: flows.iter().map(|flow| flow.weight).collect(),
            depths,
        }
    }

    /// What flows speak for one cause that hits all of them: ln of the likelihood of their depths under it, over that of the
    /// background.
    pub(crate) fn gain(&self, numbers: &[usize]) -> f64 {
        let common = self.common_depths(numbers);
        let of_flow = |number: usize| self.of_flow(self.depths[number], common[&self.kinds[number]]);
        numbers.iter().map(|number| self.weights[*number] * of_flow(*number)).sum()
    }

    /// Which of the flows that a cause hits it explains: not one that is far deeper than the others of its kind.
    pub(crate) fn explained(&self, hit: &[usize]) -> Vec<usize> {
        let common = self.common_depths(hit);
        let is_explained = |number: &usize| self.depths[*number] <= common[&self.kinds[*number]] * 1.5 + DEEPER;
        hit.iter().copied().filter(is_explained).collect()
    }

    /// The median depth of flows, by their kind.
    fn common_depths(&self, numbers: &[usize]) -> BTreeMap<FlowKind, f64> {
        let mut of_kinds: BTreeMap<FlowKind, Vec<f64>> = BTreeMap::new();
        for number in numbers {
            of_kinds.entry(self.kinds[*number]).or_default().push(self.depths[*number]);
        }
        let median = |mut depths: Vec<f64>| {
            depths.sort_by(f64::total_cmp);
            depths.get(depths.len() / 2).copied().unwrap_or_default()
        };
        of_kinds.into_iter().map(|(kind, depths)| (kind, median(depths))).collect()
    }

    fn of_flow(&self, depth: f64, common: f64) -> f64 {
        let scale = (common / 4.0).max(LEAST_SCALE);
        let hit = HIT * (-(depth - common).abs() / scale).exp() / (2.0 * scale) + (1.0 - HIT) / DEEPEST;
        (hit.ln() - self.background.ln_density(depth)).clamp(-AGAINST, MOST)
    }
}

impl Background {
    fn of(depths: &[f64]) -> Self {
        let mild: Vec<f64> = depths.iter().copied().filter(|depth| (MILD.0..MILD.1).contains(depth)).collect();
        #[expect(clippy::cast_precision_loss, reason = "counts of flows")]
        let part = mild.len() as f64 / depths.len().max(1) as f64;
        #[expect(clippy::cast_precision_loss, reason = "counts of flows")]
        let mean = mild.iter().sum::<f64>() / mild.len().max(1) as f64;
        Self { part: part.clamp(0.02, 0.6), mean: mean.clamp(0.35, 0.9) }
    }

    fn ln_density(self, depth: f64) -> f64 {
        (self.part.ln() - depth / self.mean - self.mean.ln()).max(LEAST_LN)
    }
}

/// How bad a flow is, in terms of the rate that TCP would have.
fn depth(flow: &Flow) -> f64 {
    let of_rate = || flow.attained.map_or(0.0, |attained| -attained.max(LEAST_PART).ln()).max(0.0);
    match flow.complaint {
        None => 0.0,
        Some(Complaint::Slow | Complaint::Short) => of_rate().max(0.2),
        // Fast enough all the same.
        Some(Complaint::Lossy) if flow.kind == FlowKind::Tcp && flow.is_fast() => 0.4,
        // Loss leaves TCP one over its square root (Mathis and others 1997), all of it up to 1 in 10,000.
        Some(Complaint::Lossy) => flow.lost.map_or(1.0, |lost| 0.5 * (lost.max(1e-9) / 1e-4).ln()).max(0.3),
        Some(Complaint::Clipped) => 4.6,
        Some(Complaint::Uneven | Complaint::WindowLimited) => 0.7,
        Some(Complaint::Losing | Complaint::Stalled | Complaint::CutOff) => 0.3,
        Some(Complaint::Delaying) => 1.0,
    }
}

/// Depths of mild slowness: 0.8 to 0.2 of the target.
const MILD: (f64, f64) = (0.22, 1.6);
/// How often a flow is as deep as the others that a cause hits.
const HIT: f64 = 0.85;
/// The spread of flows that one cause hits, at the least: their RTTs and senders differ.
const LEAST_SCALE: f64 = 0.35;
/// A part in ten millions.
const DEEPEST: f64 = 16.2;
const LEAST_PART: f64 = 1e-7;
const LEAST_LN: f64 = -12.0;
/// What one flow weighs at the most, for a cause and against it.
const MOST: f64 = 6.0;
const AGAINST: f64 = 1.0;
/// A flow that is deeper than others by this is hit by something else as well.
const DEEPER: f64 = 1.0;

#[cfg(test)]
mod tests {
    use super::*;

    fn severity(depths: &[f64]) -> Severity {
        Severity {
            depths: depths.to_vec(),
            kinds: vec![FlowKind::Tcp; depths.len()],
            weights: vec![1.0; depths.len()],
            background: Background::of(depths),
        }
    }

    #[test]
    fn nine_severe_flows_outweigh_eighteen_mild_ones() {
        let mild = (0..18).map(|number| 0.22 + f64::from(number) * 0.07);
        let depths: Vec<f64> = mild.chain([8.1; 9]).collect();
        let severity = severity(&depths);
        let (mild, severe) = ((0..18).collect::<Vec<_>>(), (18..27).collect::<Vec<_>>());
        assert!(severity.gain(&severe) > severity.gain(&mild), "{severity:?}");
        let both: Vec<usize> = (0..27).collect();
        assert!(!severity.explained(&both).contains(&20), "what made eighteen mild ones slow did not stop nine");
    }

    #[test]
    fn a_loss_explains_tcp_that_it_stops_beside_datagrams_that_it_thins() {
        let mut severity = severity(&[7.1, 3.0, 3.0]);
        severity.kinds = vec![FlowKind::Tcp, FlowKind::Udp, FlowKind::Udp];
        assert_eq!(severity.explained(&[0, 1, 2]), [0, 1, 2]);
    }

    #[test]
    fn more_flows_of_the_same_depth_speak_louder() {
        let severity = severity(&[2.0; 6]);
        assert!(severity.gain(&[0, 1, 2, 3]) > severity.gain(&[0, 1]));
    }
}
