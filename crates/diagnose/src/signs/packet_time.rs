//! Whether a link of the path is as slow as the flow, or only lets it have so much.
//!
//! A packet needs its size over the rate of each link to be sent there. A large echo takes longer than a small one by what its larger
//! part needs, over all links there and back. Where a link is slow, that is the time by which its rate says so; where others use the
//! link, where a policer or a shaper counts bytes, or where a firewall counts packets, single packets cross as fast as ever
//! (V. Jacobson, pathchar, 1997: the least RTT of each size).

use std::time::Duration;

use model::measurement::{Heading, PacketTimes};
use model::probe::echo::{EchoFate, EchoSeries};
use units::DataRate;
use units::duration::show;

use super::Observation;
use super::flow::{Flow, FlowKind};

/// Of a flow whose own test had packets of two sizes before its first byte.
pub(super) fn before_test(flow: &Flow, times: PacketTimes, heading: Heading) -> Option<Observation> {
    let grown = times.towards(heading)?;
    let passages = flow.way.len().max(1);
    state(flow, &Larger { more: u64::from(times.more_bytes), grown, passages, what: "packets" })
}

/// Of a flow between whose ends echoes of two sizes came back while nothing else was tested.
pub(super) fn of_echoes(flow: &Flow, series: &[&EchoSeries]) -> Option<Observation> {
    let small = series.iter().min_by_key(|series| series.spec.payload_bytes)?;
    let large = series.iter().max_by_key(|series| series.spec.payload_bytes)?;
    let more = u64::from(large.spec.payload_bytes - small.spec.payload_bytes);
    let grown = shortest(large)?.saturating_sub(shortest(small)?);
    state(flow, &Larger { more, grown, passages: flow.way.len().max(1) * 2, what: "echoes" })
}

/// Packets that were larger by so many bytes took so much longer over so many links.
struct Larger {
    more: u64,
    grown: Duration,
    passages: usize,
    what: &'static str,
}

fn state(flow: &Flow, larger: &Larger) -> Option<Observation> {
    let wanted = flow.wanted().filter(|wanted| flow.kind == FlowKind::Tcp && *wanted > flow.goodput)?;
    let Larger { more, grown, what, .. } = *larger;
    // On links that are well: of each passage no more than the rate that the flow should have says.
    let healthy = time(more, wanted)? * u32::try_from(larger.passages).ok()?;
    // One link is slow: that much longer in its direction.
    let of_slow = time(more, flow.goodput)?;
    let excess = of_slow.checked_sub(time(more, wanted)?).filter(|excess| *excess >= SHARPEST)?;
    let state = match grown {
        grown if grown * 2 < of_slow => "faster",
        grown if grown < healthy + excess / 3 && excess * 2 > healthy => "faster",
        // A link as slow as that would not have let the flow have what it had: the larger packets waited for those of others.
        grown if grown > healthy + excess * 2 + SHARPEST => return None,
        grown if grown > healthy + excess * 2 / 3 => "as-slow",
        _ => return None,
    };
    let says = format!(
        "{what} that are {more} bytes longer took {} longer; a link of {} would need {}",
        show(grown),
        flow.goodput,
        show(of_slow)
    );
    Observation::of("packet-time", state, says)
}

/// The least of enough round trips that one of them met no queue.
fn shortest(series: &EchoSeries) -> Option<Duration> {
    let answered = series.probes.iter().filter_map(|probe| match &probe.fate {
        EchoFate::Answered(answer) => Some(answer.rtt),
        _ => None,
    });
    let rtts: Vec<Duration> = answered.collect();
    rtts.iter().copied().min().filter(|_| rtts.len() >= FEWEST)
}

/// How long a link of this rate needs for so many bytes.
fn time(bytes: u64, rate: DataRate) -> Option<Duration> {
    let nanoseconds = u128::from(bytes) * 8 * 1_000_000_000 / u128::from(rate.bps().max(1));
    u64::try_from(nanoseconds).ok().map(Duration::from_nanos).filter(|time| *time < LONGEST)
}

/// Answers of a size at the least.
const FEWEST: usize = 8;
/// Round trips of two sizes that differ by less differ by chance.
const SHARPEST: Duration = Duration::from_micros(60);
/// No packet takes longer.
const LONGEST: Duration = Duration::from_secs(10);
