//! Whether a rate is what TCP gets of an Ethernet link that is full.

use model::measurement::DirectionTotal;
use model::run::Run;
use model::spec::Protocol;
use units::DataRate;

/// A link that a flow fills.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FullLink {
    /// Its rate, all of a frame included.
    pub rate: DataRate,
    /// Bytes of its packets.
    pub mtu: u32,
    /// The goodput that is its: that of the flow once it had started, where intervals show it.
    pub reached: DataRate,
    /// Whether intervals show that the flow stays at that rate, so that nothing else can be its limit.
    pub is_steady: bool,
}

impl FullLink {
    /// The link that one direction of a run over TCP fills: its goodput is that of a usual rate of Ethernet with packets of 1500 or 9000
    /// bytes. `None` where it is near no such rate.
    #[must_use]
    pub fn of(run: &Run, total: &DirectionTotal) -> Option<Self> {
        (run.spec.protocol == Protocol::Tcp).then_some(())?;
        let intervals = run.measurement.iter().flat_map(|found| &found.intervals);
        let rates: Vec<DataRate> =
            intervals.filter(|interval| interval.heading == total.heading).map(|interval| interval.rate).collect();
        let of_total = Self::near(total.goodput);
        match settled(&rates) {
            Pace::Steady(rate) => Self::near(rate).map(|link| Self { is_steady: true, ..link }).or_else(|| {
                // The mean of a flow that has changed its rate is nobody's.
                of_total.filter(|_| rate.bps().abs_diff(total.goodput.bps()) * EVEN <= rate.bps())
            }),
            Pace::Unknown => of_total,
            // Rates of fast links are near each other, and a mean of any may be one of them.
            Pace::Uneven => of_total.filter(|link| link.rate <= COMMON),
        }
    }

    /// The link whose goodput a rate is.
    #[must_use]
    pub fn near(goodput: DataRate) -> Option<Self> {
        LINKS_MBITS.into_iter().find_map(|mbits| {
            let link = DataRate::from_bps(mbits * 1_000_000);
            let part = goodput.share_of(link)?;
            let fits = |(mtu, [least, most]): &(u32, [f64; 2])| {
                // Slower links have no larger packets.
                (*mtu == 1_500 || link >= COMMON) && (*least..=*most).contains(&part)
            };
            let (mtu, _) = [(1_500, PAYLOAD_OF_1500), (9_000, PAYLOAD_OF_9000)].into_iter().find(fits)?;
            Some(Self { rate: link, mtu, reached: goodput, is_steady: false })
        })
    }
}

/// How the rate of a run goes on in its later half.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Pace {
    /// Without intervals nobody knows.
    Unknown,
    /// It goes up and down.
    Uneven,
    /// It stays at this.
    Steady(DataRate),
}

fn settled(rates: &[DataRate]) -> Pace {
    let mut late: Vec<DataRate> = rates[rates.len() / 2..].to_vec();
    // The last interval may be a part of one.
    if late.len() > FEWEST {
        late.pop();
    }
    late.sort_unstable();
    let (Some(least), Some(middle), Some(most)) = (late.first(), late.get(late.len() / 2), late.last()) else {
        return Pace::Unknown;
    };
    let is_even = most.bps().saturating_sub(least.bps()) <= middle.bps() / EVEN;
    if is_even && rates.len() > FEWEST { Pace::Steady(*middle) } else { Pace::Uneven }
}

/// The fastest of links that are everywhere.
const COMMON: DataRate = DataRate::from_bps(1_000_000_000);
/// The rates of Ethernet, in Mbit/s (IEEE 802.3).
const LINKS_MBITS: [u64; 11] = [10, 100, 1_000, 2_500, 5_000, 10_000, 25_000, 40_000, 50_000, 100_000, 200_000];
/// What TCP has of a link: 1428 bytes (IPv6 with timestamps) to 1460 of 1538, as exact as three digits and clocks are.
const PAYLOAD_OF_1500: [f64; 2] = [0.926, 0.9505];
/// 8928 to 8960 bytes of 9038, where a sender's count may have its buffer in it.
const PAYLOAD_OF_9000: [f64; 2] = [0.985, 0.9935];
/// Intervals of a full link differ by a part of so many at most.
const EVEN: u64 = 40;
/// Intervals of which one may be left out.
const FEWEST: usize = 3;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn goodput_of_a_full_link_is_known_by_its_rate() {
        let near = |mbits: f64| {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a rate")]
            FullLink::near(DataRate::from_bps((mbits * 1e6) as u64)).map(|link| (link.rate.bps() / 1_000_000, link.mtu))
        };
        assert_eq!(near(941.0), Some((1_000, 1_500)));
        assert_eq!(near(94.1), Some((100, 1_500)));
        assert_eq!(near(9_900.0), Some((10_000, 9_000)));
        assert_eq!(near(9_414.0), Some((10_000, 1_500)));
        assert_eq!(near(2_354.0), Some((2_500, 1_500)));
        assert_eq!(near(99_000.0), Some((100_000, 9_000)));
        for other in [99.0, 372.0, 900.0, 960.0, 8_400.0, 23_000.0, 3_310.0] {
            assert_eq!(near(other), None, "{other}");
        }
    }

    #[test]
    fn a_rate_that_goes_up_and_down_is_none_of_a_full_link() {
        let rates =
            |mbits: &[u64]| settled(&mbits.iter().map(|rate| DataRate::from_bps(rate * 1_000_000)).collect::<Vec<_>>());
        assert_eq!(rates(&[500, 930, 941, 941, 940, 942, 60]), Pace::Steady(DataRate::from_bps(941_000_000)));
        assert_eq!(rates(&[941, 941, 700, 941, 700, 1_000, 941]), Pace::Uneven);
        assert_eq!(rates(&[]), Pace::Unknown);
    }
}
