//! Memory of a transfer, from what gateways had in flight and in use at the same moments.

use std::collections::BTreeMap;

use super::fit::{FEWEST, Fitted, Goodness};
use crate::cluster::bounds::small;
use crate::status::reading::Reading;

/// Memory at rest and of each transfer: the line through all moments, each gateway against its own means where there are
/// several, so that a gateway that needs more at rest does not pass for one with larger transfers.
///
/// Model: memory comes back slowly, so that it is above the line while load falls. That lowers what the line explains, and is
/// shown by it.
#[must_use]
pub fn of_readings(readings: &[Reading]) -> Vec<Fitted> {
    let mut of_gateway: BTreeMap<&str, Vec<Point>> = BTreeMap::new();
    for reading in readings {
        if let (Some(transfers), Some(bytes)) = (reading.in_flight, reading.memory_bytes) {
            of_gateway.entry(&reading.gateway).or_default().push(Point { transfers, gigabytes: bytes / 1e9 });
        }
    }
    let count: usize = of_gateway.values().map(Vec::len).sum();
    if count == 0 {
        return Vec::new();
    }
    let from = format!("{count} moments of {} gateways", of_gateway.len());
    if count < FEWEST {
        let goodness = Goodness::TooFew(count);
        return vec![Fitted { setting: PER_TRANSFER, value: f64::NAN, from, goodness }];
    }
    let Some(line) = Line::through(&of_gateway.into_values().collect::<Vec<_>>()) else {
        let from = format!("{from}, all with the same number in flight");
        return vec![Fitted { setting: PER_TRANSFER, value: f64::NAN, from, goodness: Goodness::Explained(0.0) }];
    };
    let goodness = Goodness::Explained(if line.slope > 0.0 { line.explained } else { 0.0 });
    vec![
        Fitted { setting: PER_TRANSFER, value: line.slope, from: from.clone(), goodness },
        Fitted { setting: IDLE, value: line.intercept.max(0.0), from, goodness },
    ]
}

const PER_TRANSFER: &str = "gateways.memory-per-transfer-gb";
const IDLE: &str = "gateways.memory-idle-gb";

struct Point {
    transfers: f64,
    gigabytes: f64,
}

struct Line {
    slope: f64,
    intercept: f64,
    /// The part of the variance within gateways that it explains, of 1.
    explained: f64,
}

impl Line {
    fn through(groups: &[Vec<Point>]) -> Option<Self> {
        let (mut xx, mut xy, mut yy) = (0.0, 0.0, 0.0);
        let mut means = Vec::new();
        for points in groups {
            let mean = |of: fn(&Point) -> f64| points.iter().map(of).sum::<f64>() / small(points.len());
            let (transfers, gigabytes) = (mean(|point| point.transfers), mean(|point| point.gigabytes));
            for point in points {
                let (x, y) = (point.transfers - transfers, point.gigabytes - gigabytes);
                xx += x * x;
                xy += x * y;
                yy += y * y;
            }
            means.push(Point { transfers, gigabytes });
        }
        if xx <= 0.0 {
            return None;
        }
        let slope = xy / xx;
        let rests = means.iter().map(|mean| mean.gigabytes - slope * mean.transfers);
        let intercept = rests.sum::<f64>() / small(means.len());
        Some(Self { slope, intercept, explained: if yy > 0.0 { xy * xy / (xx * yy) } else { 0.0 } })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::load::Draws;
    use path::Seed;

    fn readings(memory: impl Fn(f64, &mut Draws) -> f64) -> Vec<Reading> {
        let mut draws = Draws::new(Seed(4));
        let one = |at: u32| {
            let in_flight = 20.0 + 60.0 * draws.unit();
            let gateway = format!("gw{}", at % 3);
            let bytes = (memory(in_flight, &mut draws) + f64::from(at % 3)) * 1e9;
            Reading { gateway, in_flight: Some(in_flight), memory_bytes: Some(bytes), ..Reading::default() }
        };
        (0..300).map(one).collect()
    }

    #[test]
    fn memory_of_a_transfer_is_found_whatever_each_gateway_needs_at_rest() {
        let fitted = of_readings(&readings(|in_flight, draws| 4.0 + 0.3 * in_flight + draws.normal()));
        // 300 moments with 1 GB of noise: a standard error of 0.0033 GB; five of them.
        assert!((fitted[0].value - 0.3).abs() < 0.017, "{fitted:?}");
        assert!((fitted[1].value - 5.0).abs() < 1.0, "4 GB, and 0, 1 and 2 of each gateway: {fitted:?}");
        assert!(fitted.iter().all(Fitted::is_used), "{fitted:?}");
    }

    #[test]
    fn memory_that_does_not_follow_transfers_is_not_used() {
        let fitted = of_readings(&readings(|_, draws| 10.0 + 5.0 * draws.normal()));
        assert!(fitted.iter().all(|one| !one.is_used()), "{fitted:?}");
        let same =
            of_readings(&vec![Reading { in_flight: Some(3.0), memory_bytes: Some(1e9), ..Reading::default() }; 40]);
        assert!(!same[0].is_used());
        assert!(of_readings(&[Reading::default()]).is_empty());
    }
}
