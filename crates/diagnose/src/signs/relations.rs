//! Signs of a flow compared with others of its round.

use std::collections::BTreeMap;
use std::time::Duration;

use model::round::Endpoint;
use model::target::{TargetRate, TargetSource};
use units::DataRate;
use units::duration::show;

use super::Observation;
use super::asked_buffer::asked_buffer;
use super::carried::carried;
use super::datagram_rate::datagram_rate;
use super::flow::{Complaint, Flow, FlowKind};
use super::numbers;
use super::percent::percent;

/// Downloads should be as fast as TCP between the same hosts was.
pub(super) fn judge_downloads(flows: &mut [Flow]) {
    for number in 0..flows.len() {
        let flow = &flows[number];
        if flow.kind != FlowKind::Http || flow.target.is_some() {
            continue;
        }
        let of_tcp = |other: &&Flow| other.kind == FlowKind::Tcp && other.is_same_pair(flow) && other.is_good();
        let Some(best) = flows.iter().filter(of_tcp).map(|other| other.goodput).max() else { continue };
        let flow = &mut flows[number];
        let from = "TCP between the same hosts".to_owned();
        flow.target = Some(TargetRate { rate: best, source: TargetSource::SamePair, from });
        judge_download(flow, best);
    }
}

/// Holds a download against a rate. Files are served by programs and disks, which are slower than a test by themselves.
pub(super) fn judge_download(flow: &mut Flow, rate: DataRate) {
    flow.attained = flow.goodput.share_of(rate);
    flow.observations.extend(flow.attained.and_then(numbers::attained));
    if flow.attained.is_some_and(|attained| attained < SLOW_DOWNLOAD) {
        flow.complaint = Some(Complaint::Slow);
    }
}

/// Whoever loses far more of its large packets than of small ones between the same hosts has a complaint, however fast it is.
pub(super) fn judge_sizes(flows: &mut [Flow]) {
    let mut of_pair: BTreeMap<(&Endpoint, &Endpoint), Vec<&Flow>> = BTreeMap::new();
    for flow in &*flows {
        of_pair.entry((&flow.sender, &flow.receiver)).or_default().push(flow);
    }
    let loses = |flow: &Flow| {
        let others = &of_pair[&(&flow.sender, &flow.receiver)];
        let smaller = others.iter().copied().filter(|other| other.shape.has_smaller_packets(&flow.shape));
        small_segments_are_spared(flow, &smaller.collect::<Vec<_>>()).is_some()
    };
    let found: Vec<bool> =
        flows.iter().map(|flow| flow.kind == FlowKind::Tcp && !flow.is_bad() && loses(flow)).collect();
    for (flow, _) in flows.iter_mut().zip(found).filter(|(_, found)| *found) {
        flow.complaint = Some(Complaint::Losing);
    }
}

/// Adds to each flow that suffers what others say of it.
pub(super) fn add(flows: &mut [Flow]) {
    let ends = Ends::of(flows);
    let of_flow = |flow: &Flow| {
        if !flow.is_bad() {
            return Vec::new();
        }
        all(flow, &ends.near(flow, flows)).into_iter().flatten().collect()
    };
    let found: Vec<Vec<Observation>> = flows.iter().map(of_flow).collect();
    for (flow, found) in flows.iter_mut().zip(found) {
        flow.observations.extend(found);
    }
}

/// The flows that begin or end at each host, by number and in order. Whoever shares no end with a flow says nothing of it, and
/// rounds have thousands of those.
struct Ends(BTreeMap<String, Vec<usize>>);

impl Ends {
    fn of(flows: &[Flow]) -> Self {
        let mut ends: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (number, flow) in flows.iter().enumerate() {
            for host in [&flow.sender.host, &flow.receiver.host] {
                ends.entry(host.clone()).or_default().push(number);
            }
        }
        Self(ends)
    }

    fn near<'f>(&self, flow: &Flow, flows: &'f [Flow]) -> Vec<&'f Flow> {
        let at = |host: &String| self.0.get(host).into_iter().flatten().copied();
        let mut numbers: Vec<usize> = at(&flow.sender.host).chain(at(&flow.receiver.host)).collect();
        numbers.sort_unstable();
        numbers.dedup();
        numbers.into_iter().filter_map(|number| flows.get(number)).collect()
    }
}

fn all(flow: &Flow, flows: &[&Flow]) -> [Option<Observation>; 17] {
    [
        reverse(flow, flows),
        other_sender(flow, flows),
        other_receiver(flow, flows),
        other_network(flow, flows),
        streams(flow, flows),
        members(flow, flows),
        small_packets(flow, flows),
        other_control(flow, flows),
        paced(flow, flows),
        same_again(flow, flows),
        before(flow, flows),
        after(flow, flows),
        datagram_loss(flow, flows),
        datagram_rate(flow, flows),
        base_rtt(flow, flows),
        carried(flow, flows),
        asked_buffer(flow, flows),
    ]
}

/// `good` where one of `others` did what it should, `bad` where all failed, nothing where there is none.
fn judged(sign: &str, others: &[&Flow], who: &str) -> Option<Observation> {
    if others.is_empty() {
        return None;
    }
    let best = others.iter().find(|other| other.is_good());
    let (state, says) = match best {
        Some(best) => ("good", format!("{who} ({}) did well", best.label)),
        None => ("bad", format!("{who} did badly as well")),
    };
    Observation::of(sign, state, says)
}

/// Flows that can be compared with this one: the same kind of thing, measured.
fn rivals<'a>(flow: &'a Flow, flows: &'a [&'a Flow]) -> impl Iterator<Item = &'a Flow> {
    let measured = |other: &&Flow| !std::ptr::eq(*other, flow) && (other.is_bad() || other.is_good());
    flows.iter().copied().filter(measured).filter(|other| other.kind.is_like(flow.kind))
}

/// The same without those between hosts on the way: a test towards a hop tells of places, not of the hosts beside.
fn beside<'a>(flow: &'a Flow, flows: &'a [&'a Flow]) -> impl Iterator<Item = &'a Flow> {
    rivals(flow, flows).filter(|other| !flow.has_part(other) && !other.has_part(flow))
}

fn reverse(flow: &Flow, flows: &[&Flow]) -> Option<Observation> {
    let back = rivals(flow, flows).filter(|other| other.sender == flow.receiver && other.receiver == flow.sender);
    judged("reverse", &back.collect::<Vec<_>>(), "the other direction")
}

fn other_sender(flow: &Flow, flows: &[&Flow]) -> Option<Observation> {
    let others =
        beside(flow, flows).filter(|other| other.receiver == flow.receiver && other.sender.host != flow.sender.host);
    judged("other-sender", &others.collect::<Vec<_>>(), "another sender to the same host")
}

fn other_receiver(flow: &Flow, flows: &[&Flow]) -> Option<Observation> {
    let others =
        beside(flow, flows).filter(|other| other.sender == flow.sender && other.receiver.host != flow.receiver.host);
    judged("other-receiver", &others.collect::<Vec<_>>(), "the same sender to another host")
}

fn other_network(flow: &Flow, flows: &[&Flow]) -> Option<Observation> {
    let others = rivals(flow, flows).filter(|other| {
        let same_hosts = other.sender.host == flow.sender.host && other.receiver.host == flow.receiver.host;
        same_hosts && other.sender.network != flow.sender.network
    });
    judged("other-network", &others.collect::<Vec<_>>(), "the same hosts in another network")
}

/// Flows of the same pair that differ in what `differs` says, and in nothing that `alike` compares.
fn variants<'a>(flow: &'a Flow, flows: &'a [&'a Flow], differs: impl Fn(&Flow) -> bool) -> Vec<&'a Flow> {
    rivals(flow, flows).filter(|other| other.is_same_pair(flow) && differs(other)).collect()
}

fn streams(flow: &Flow, flows: &[&Flow]) -> Option<Observation> {
    let more = variants(flow, flows, |other| other.shape.has_more_streams(&flow.shape));
    let best = more.into_iter().max_by_key(|other| other.goodput)?;
    let times = best.goodput.share_of(flow.goodput)?;
    let state = if times > 1.8 { "faster" } else { "not" };
    Observation::of("streams", state, format!("{} streams attained {times:.1} times its rate", best.shape.streams))
}

/// What a test of many streams tells of the members of a bundle holds for a single stream of the pair as well.
fn members(flow: &Flow, flows: &[&Flow]) -> Option<Observation> {
    if flow.state("members").is_some() {
        return None;
    }
    let told = variants(flow, flows, |other| other.kind == flow.kind)
        .into_iter()
        .filter_map(|other| other.observations.iter().find(|observation| observation.seen.sign().name == "members"));
    told.max_by_key(|observation| observation.seen).cloned()
}

fn small_packets(flow: &Flow, flows: &[&Flow]) -> Option<Observation> {
    let smaller = variants(flow, flows, |other| other.shape.has_smaller_packets(&flow.shape));
    if flow.kind == FlowKind::Udp {
        return small_datagrams(flow, &smaller);
    }
    if let Some((small, lost)) = small_segments_are_spared(flow, &smaller) {
        let size = small.shape.payload.unwrap_or_default();
        let says = format!("{} were retransmitted, {} of segments of {size} bytes", percent(lost[0]), percent(lost[1]));
        return Observation::of("small-packets", "better", says);
    }
    let best = smaller.into_iter().max_by_key(|other| other.goodput)?;
    let times = best.goodput.share_of(flow.goodput)?;
    let state = match times {
        times if times > 1.5 => "better",
        times if times < as_many_packets(best, flow).sqrt() => "worse",
        _ => "not",
    };
    let size = best.shape.payload.unwrap_or_default();
    Observation::of("small-packets", state, format!("segments of {size} bytes attained {times:.1} times its rate"))
}

/// What a flow of smaller segments attains of the rate of another where both carry as many segments a second: what counts packets
/// holds both back alike, and what counts bytes lets both attain the same. The square root lies midway between.
fn as_many_packets(smaller: &Flow, flow: &Flow) -> f64 {
    let [small, full] = [smaller, flow].map(|flow| f64::from(flow.shape.payload.unwrap_or_default()));
    small / full
}

/// A flow over TCP with small segments that loses far less of them, with what both lost. A flow that fills a queue loses a few in a
/// thousand itself, and many of them at its start: what is lost while the queue is full says nothing of sizes.
fn small_segments_are_spared<'a>(flow: &Flow, smaller: &[&'a Flow]) -> Option<(&'a Flow, [f64; 2])> {
    let lost = flow.lost.filter(|lost| *lost >= FAR_MORE && flow.state("queue-at-loss") != Some("full"))?;
    let small =
        smaller.iter().find(|other| other.kind == FlowKind::Tcp && other.shape.streams == flow.shape.streams)?;
    let there = small.lost?;
    (there * 5.0 < lost).then_some((*small, [lost, there]))
}

/// Whether small datagrams are lost less often, where enough of them were sent to tell.
fn small_datagrams(flow: &Flow, smaller: &[&Flow]) -> Option<Observation> {
    let lost = flow.lost.filter(|lost| *lost > 0.0)?;
    let small = smaller.iter().find(|other| would_show(other, lost))?;
    let there = small.lost?;
    let state = if there < lost / 3.0 { "better" } else { "not" };
    let size = small.shape.payload.unwrap_or_default();
    let says = format!("{} of them were lost, {} of those with {size} bytes", percent(lost), percent(there));
    Observation::of("small-packets", state, says)
}

/// Whether a flow sent enough datagrams to lose some, if it lost this part of them.
fn would_show(flow: &Flow, lost: f64) -> bool {
    #[expect(clippy::cast_precision_loss, reason = "an expectation")]
    flow.datagrams.is_some_and(|sent| sent as f64 * lost >= ENOUGH_LOST)
}

fn other_control(flow: &Flow, flows: &[&Flow]) -> Option<Observation> {
    let control = flow.shape.control.as_ref()?;
    let others = variants(flow, flows, |other| other.shape.control.as_ref().is_some_and(|other| other != control));
    let best = others.into_iter().max_by_key(|other| other.goodput)?;
    let times = best.goodput.share_of(flow.goodput)?;
    let state = if is_better(best, times) { "better" } else { "not" };
    let name = best.shape.control.as_deref().unwrap_or_default();
    Observation::of("other-control", state, format!("{name} attained {times:.1} times the rate of {control}"))
}

fn paced(flow: &Flow, flows: &[&Flow]) -> Option<Observation> {
    if flow.shape.paced.is_some() {
        return None;
    }
    let paced = variants(flow, flows, |other| other.shape.paced.is_some() && other.kind == flow.kind);
    let best = paced.into_iter().max_by_key(|other| other.goodput)?;
    let times = best.goodput.share_of(flow.goodput)?;
    let rate = best.shape.paced.map(|rate| rate.to_string()).unwrap_or_default();
    let (state, says) = if is_better(best, times) {
        ("better", format!("paced at {rate} it attained {}", best.goodput))
    } else {
        ("not", format!("paced at {rate} it did not do better"))
    };
    Observation::of("paced", state, says)
}

/// Whether a variant that attained so many times the rate did better. One that does all it should is better even where little is
/// missing.
fn is_better(variant: &Flow, times: f64) -> bool {
    times > 1.5 || (variant.is_good() && times > 1.2)
}

/// Flows of one pair and one shape that fare differently go by different ways.
fn same_again(flow: &Flow, flows: &[&Flow]) -> Option<Observation> {
    let twins = variants(flow, flows, |other| other.shape == flow.shape && other.began != flow.began);
    if twins.is_empty() || flow.kind != FlowKind::Tcp {
        return None;
    }
    let differs = |twin: &&Flow| is_far_from(twin, flow) || twin.is_good() != flow.is_good() && is_apart(twin, flow);
    let differs = twins.iter().any(differs);
    let (state, says) = if differs {
        ("differently", "an equal flow of the pair fared otherwise")
    } else {
        ("alike", "equal flows fared alike")
    };
    Observation::of("same-again", state, says)
}

/// Whether the RTT without load was another one in another test of the pair: then packets took another path.
fn base_rtt(flow: &Flow, flows: &[&Flow]) -> Option<Observation> {
    let own = flow.rtt?;
    let same_pair = flows.iter().filter(|other| !std::ptr::eq(**other, flow) && other.began != flow.began);
    let others = same_pair.filter(|other| {
        let back = other.sender == flow.receiver && other.receiver == flow.sender;
        other.is_same_pair(flow) || back
    });
    let known: Vec<Duration> = others.filter_map(|other| other.rtt).collect();
    let other = known.iter().copied().max_by_key(|other| other.abs_diff(own))?;
    let (less, more) = (other.min(own), other.max(own));
    let is_changed = more - less >= CHANGED && more.as_micros() * 2 >= less.as_micros() * 3;
    let state = if is_changed { "changed" } else { "same" };
    let says = format!("RTT without load {}, {} in another test of the pair", show(own), show(other));
    Observation::of("base-rtt", state, says)
}

fn before(flow: &Flow, flows: &[&Flow]) -> Option<Observation> {
    // What another path carried says nothing of this one.
    let is_earlier = |other: &Flow| other.began < flow.began && other.shape == flow.shape && other.way == flow.way;
    let earlier = variants(flow, flows, is_earlier);
    did_far_better("before", flow, &earlier).or_else(|| fared("before", flow, &earlier, "the same pair earlier"))
}

fn after(flow: &Flow, flows: &[&Flow]) -> Option<Observation> {
    let is_later = |other: &Flow| other.began > flow.began && other.shape == flow.shape && other.way == flow.way;
    let later = variants(flow, flows, is_later);
    did_far_better("after", flow, &later).or_else(|| fared("after", flow, &later, "the same pair later"))
}

/// How equal flows did; those that did well by so little that chance can have made it say nothing.
fn fared(sign: &str, flow: &Flow, others: &[&Flow], who: &str) -> Option<Observation> {
    let others: Vec<&Flow> = others.iter().copied().filter(|other| !other.is_good() || is_apart(other, flow)).collect();
    judged(sign, &others, who)
}

/// Where an equal flow was several times as fast, what slows this one was not there, whatever else both suffer from.
fn did_far_better(sign: &str, flow: &Flow, others: &[&Flow]) -> Option<Observation> {
    let is_better = |other: &Flow| {
        let is_across = other.is_fast() && !flow.is_fast() && is_apart(other, flow);
        other.goodput > flow.goodput && (is_far_from(other, flow) || is_across)
    };
    let best = others.iter().filter(|other| is_better(other));
    let best = best.max_by_key(|other| other.goodput)?;
    let when = if best.began < flow.began { "earlier" } else { "later" };
    Observation::of(
        sign,
        "good",
        format!("the same pair {when} ({}) attained {}, this flow {}", best.label, best.goodput, flow.goodput),
    )
}

/// Whether the rates of two flows differ by more than chance, a short test and an unlucky loss make them differ.
fn is_far_from(one: &Flow, other: &Flow) -> bool {
    let [less, more] = rates(one, other);
    less * FAR < more
}

/// The lower and the higher rate of two flows, in bit/s, wide enough to be multiplied.
fn rates(one: &Flow, other: &Flow) -> [u128; 2] {
    [one.goodput.min(other.goodput), one.goodput.max(other.goodput)].map(|rate| rate.bps().into())
}

/// Whether two flows on either side of a threshold are there by more than chance. What suffers from another thing than its rate is
/// known by that.
fn is_apart(one: &Flow, other: &Flow) -> bool {
    let [less, more] = rates(one, other);
    let of_rate = |flow: &Flow| flow.complaint.is_none_or(|complaint| complaint == Complaint::Slow);
    !(of_rate(one) && of_rate(other)) || less * 4 < more * 3
}

/// Whether a path loses the same part of packets at any rate.
fn datagram_loss(flow: &Flow, flows: &[&Flow]) -> Option<Observation> {
    match flow.kind {
        FlowKind::Tcp => return loss_of_slow_tcp(flow, flows),
        FlowKind::Udp => {}
        FlowKind::Http | FlowKind::Echo => return None,
    }
    let lost = flow.lost.filter(|lost| *lost > 0.0)?;
    let own = offered(flow)?;
    let alike = variants(flow, flows, |other| other.shape.payload == flow.shape.payload && would_show(other, lost));
    let offers = alike.into_iter().filter_map(|other| Some((offered(other)?, other.lost?)));
    let slower = offers.filter(|(rate, _)| rate * APART < own).min_by(|(one, _), (other, _)| one.total_cmp(other));
    let (slow, there) = slower?;
    // What lets through a rate lets the same rate through, whatever is offered.
    #[expect(clippy::cast_precision_loss, reason = "a rate")]
    let by_limit = (1.0 - flow.goodput.bps() as f64 / slow.max(1.0)).max(0.0);
    let is_same = there > lost / 3.0 && there > f64::midpoint(lost, by_limit);
    let state = if is_same { "same-at-any-rate" } else { "grows" };
    let says = format!("{} were lost, {} at a lower rate", percent(lost), percent(there));
    Observation::of("datagram-loss", state, says)
}

/// What datagrams were sent at, in bits per second: as it was asked for, or as what arrived and what was lost say.
#[expect(clippy::cast_precision_loss, reason = "a rate")]
fn offered(flow: &Flow) -> Option<f64> {
    let arrived = 1.0 - flow.lost.filter(|lost| *lost < 1.0)?;
    Some(flow.shape.paced.map_or(flow.goodput.bps() as f64 / arrived, |paced| paced.bps() as f64))
}

/// Whether TCP loses as large a part as datagrams that came far faster: a limit of rate or of bursts that these came close to spares
/// who sends a twentieth of it, loss at random does not.
fn loss_of_slow_tcp(flow: &Flow, flows: &[&Flow]) -> Option<Observation> {
    let lost = flow.lost.filter(|lost| *lost >= LOST_AT_RANDOM)?;
    let datagrams = flows.iter().filter(|other| other.kind == FlowKind::Udp && other.is_same_pair(flow));
    let datagrams = datagrams.max_by_key(|other| other.goodput)?;
    let there = datagrams.lost.filter(|there| *there > 0.0)?;
    let is_far_slower = u128::from(flow.goodput.bps()) * FAR_SLOWER < u128::from(datagrams.goodput.bps());
    if !is_far_slower || lost * 3.0 < there {
        return None;
    }
    let (part, slow, fast) = (percent(lost), flow.goodput, datagrams.goodput);
    let says =
        format!("{part} of its segments were retransmitted at {slow}, {} of datagrams lost at {fast}", percent(there));
    Observation::of("datagram-loss", "same-at-any-rate", says)
}

/// RTTs that differ by less are alike.
const CHANGED: Duration = Duration::from_millis(3);
/// From this part on a flow loses more than it does to a queue that it fills.
const FAR_MORE: f64 = 8e-3;
/// Below this part of what it should have a download is slow.
const SLOW_DOWNLOAD: f64 = 0.5;
/// Rates that differ by this factor differ.
const FAR: u128 = 2;
/// Below this part TCP loses to its own queue.
const LOST_AT_RANDOM: f64 = 1e-3;
/// TCP that is this many times slower than datagrams does not come near what limits these.
const FAR_SLOWER: u128 = 20;
/// So many are lost where none was with one chance in fifty.
const ENOUGH_LOST: f64 = 4.0;
/// Rates at which datagrams are offered differ by this factor at least where they are compared.
const APART: f64 = 1.5;
