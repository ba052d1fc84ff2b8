//! Signs of the datagrams of one run.

use std::time::Duration;

use model::measurement::DirectionTotal;
use model::run::Run;
use model::target::TargetSource;
use units::DataRate;

use super::Observation;
use super::first_datagrams::first_datagrams;
use super::flow::{Complaint, Flow};
use super::losses;
use super::percent::percent;
use crate::balance::{self, Balance};
use crate::swallowed::AnsweredProbes;

/// What the datagrams of `flow` show.
pub(super) fn add(flow: &mut Flow, run: &Run, total: &DirectionTotal) {
    let Some(balance) = balance::balance(run).into_iter().find(|balance| balance.heading == total.heading) else {
        return;
    };
    let handed = balance.handed.get().max(1);
    flow.datagrams = Some(handed);
    let missing = handed.saturating_sub(balance.received.get());
    #[expect(clippy::cast_precision_loss, reason = "a ratio")]
    let part = missing as f64 / handed as f64;
    flow.lost = Some(part);
    flow.shape.payload = run.spec.length.and_then(|length| u32::try_from(length.get()).ok());
    // A program that is kept from its CPU now and then loses datagrams in its own socket, where TCP would lose nothing.
    let at_socket = balance.dropped_in_receiver.at_least().min(handed);
    #[expect(clippy::cast_precision_loss, reason = "a ratio")]
    let read_late = at_socket as f64 / handed as f64;
    // A single datagram is no share of what was sent: it may as well have come after the last word of its sender.
    flow.overloads = total.sent.and_then(|sent| overloads(flow, DataRate::of(sent, total.elapsed)?));
    let is_lossy =
        missing > 1 && flow.overloads.is_none() && (part - read_late >= LOSSY || read_late >= MUCH_READ_LATE);
    if is_lossy && !is_tail(&balance, total) && !(part < FULL_LOSS && fills_ethernet(run, total)) {
        flow.complaint = Some(Complaint::Lossy);
    }
    if let Some(says) = all_swallowed(&balance, run) {
        flow.complaint = Some(Complaint::Clipped);
        flow.path_mtu = flow.shape.payload.map(|payload| payload.saturating_add(UDP_HEADERS - 1));
        flow.observations.extend(Observation::of("echoes", "no-large-one", says));
    }
    offered(flow, total);
    flow.observations.extend(losses::loss(part, "datagrams did not arrive"));
    flow.observations.extend(lost_where(&balance));
    let measurement = run.measurement.as_ref();
    flow.observations.extend(measurement.and_then(|found| first_datagrams(found, total.heading)));
    #[expect(clippy::cast_precision_loss, reason = "a ratio")]
    let overtaken = balance.reordered.get() as f64 / handed as f64;
    let state = if overtaken > 1e-3 { "broken" } else { "kept" };
    let says = format!("{} of its datagrams were overtaken", percent(overtaken));
    flow.observations.extend(Observation::of("order", state, says));
    // TCP of the pair may be fast all the same, over a path as short as this one.
    if flow.complaint.is_none() && state == "broken" {
        flow.complaint = Some(Complaint::Lossy);
    }
}

/// Not one datagram arrived, while small probes between the same ends came back. The sockets have met: each says hello on its own before.
fn all_swallowed(balance: &Balance, run: &Run) -> Option<String> {
    let probes = AnsweredProbes::beside(run.measurement.as_ref()?)?;
    let is_all = balance.received.get() == 0 && balance.handed.get() >= FEWEST_DATAGRAMS;
    let left = balance.dropped_in_sender.known() == 0 && balance.dropped_in_receiver.known() == 0;
    (is_all && left).then(|| format!("none of {} datagrams arrived, while {probes}", balance.handed))
}

/// Why nothing follows from what was lost, where the path delivered about what it was declared to carry, and more was sent: what is
/// beyond that is lost on any path.
fn overloads(flow: &Flow, sent: DataRate) -> Option<String> {
    let target = flow.target.as_ref().filter(|target| target.source == TargetSource::Declared)?;
    let part = |rate: DataRate| target.part(rate, flow.shape.payload);
    let is_over = part(sent)? > BEYOND && part(flow.goodput)? >= DELIVERED;
    let declared = target.rate;
    is_over.then(|| {
        format!(
            "it sent {sent} where {declared} is declared, and what is beyond that is lost on any path; a lower `--rate` tells whether it \
             loses any within it"
        )
    })
}

/// Whether the sender handed over what was asked of it: where it did not, datagrams of which none is lost say nothing of the
/// path at the rate that was asked for.
fn offered(flow: &mut Flow, total: &DirectionTotal) {
    let sent = total.sent.and_then(|sent| DataRate::of(sent, total.elapsed));
    let Some((sent, asked)) = sent.zip(flow.shape.paced) else { return };
    let Some(part) = sent.share_of(asked) else { return };
    let state = if part < SHORT_OF_ASKED { "less" } else { "as-asked" };
    let says = format!("its sender handed over {sent} of the {asked} asked for");
    flow.observations.extend(Observation::of("offered", state, says));
    if part < SHORT_OF_ASKED && flow.complaint.is_none() {
        flow.complaint = Some(Complaint::Short);
        flow.attained = Some(part);
    }
}

/// IPv4 20, UDP 8.
const UDP_HEADERS: u32 = 28;
const FEWEST_DATAGRAMS: u64 = 50;

fn lost_where(balance: &Balance) -> Option<Observation> {
    // Where packets held several datagrams nobody knows how many the sender dropped, but that it did.
    let sender_counted: u64 = balance.dropped_in_sender.counted.iter().map(|counted| counted.change).max().unwrap_or(0);
    let missing = balance.handed.get().saturating_sub(balance.received.get());
    if balance.dropped_in_sender.packets.is_none()
        && sender_counted.saturating_mul(LARGEST_MERGED) >= missing
        && missing > 0
    {
        let says = format!("the sender itself dropped {sender_counted} packets of several datagrams each");
        return Observation::of("datagrams", "sender", says);
    }
    // However many datagrams a packet held, each that the receiver dropped is one of those that are missing; where it may have held many, a
    // quarter in packets is most of them.
    let at_receiver = balance.dropped_in_receiver.at_least();
    let divisor = if balance.dropped_in_receiver.packets.is_none() { 4 } else { 2 };
    if missing > 0 && at_receiver * divisor >= missing {
        let says = format!("at least {at_receiver} datagrams were lost inside the receiving host");
        return Observation::of("datagrams", "receiver", says);
    }
    let parts = [
        ("sender", &balance.dropped_in_sender),
        ("path", &balance.lost_on_path),
        ("receiver", &balance.dropped_in_receiver),
    ];
    let (place, most) = parts.into_iter().max_by_key(|(_, part)| part.known())?;
    if most.known() == 0 {
        // A receiver that reported nothing has not reported that all arrived.
        balance.lost_on_path.packets?;
        return Observation::of("datagrams", "nowhere", "no datagram was lost");
    }
    let place_name = match place {
        "sender" => "before they left the sending host",
        "path" => "on the path",
        _ => "inside the receiving host",
    };
    Observation::of("datagrams", place, format!("{} datagrams were lost {place_name}", most.known()))
}

/// Whether all that is missing are the last datagrams, as many as are under way when a receiver reads its last word.
fn is_tail(balance: &Balance, total: &DirectionTotal) -> bool {
    let missing = balance.handed.get().saturating_sub(balance.received.get());
    #[expect(clippy::cast_precision_loss, reason = "counts of datagrams")]
    let lasts = total.elapsed.as_secs_f64() * missing as f64 / balance.handed.get().max(1) as f64;
    balance.lost_at_tail.get() >= missing && lasts < UNDER_WAY.as_secs_f64()
}

/// Whether a sender gave all that an Ethernet link takes: the least that others send besides is lost there, by no fault.
fn fills_ethernet(run: &Run, total: &DirectionTotal) -> bool {
    let Some(length) = run.spec.length.map(units::ByteCount::get).filter(|length| *length <= JUMBO) else {
        return false;
    };
    let Some(sent) = total.sent.and_then(|sent| DataRate::of(sent, total.elapsed)) else { return false };
    let carries = |mbits: u64| DataRate::from_bps(mbits * 1_000_000 * length / (length + AROUND));
    ETHERNET_MBITS
        .into_iter()
        .any(|mbits| sent.share_of(carries(mbits)).is_some_and(|part| (FULL..=1.0 + ROUNDING).contains(&part)))
}

/// From this part on lost datagrams are a complaint: ten times what research networks promise.
const LOSSY: f64 = 3e-4;
/// From this part on a receiver that drops datagrams in its socket is too slow, and not late now and then.
const MUCH_READ_LATE: f64 = 1.0 / 3.0;
/// Below this part of what was asked for a sender hands over too little: clocks and the last block cost less.
const SHORT_OF_ASKED: f64 = 0.9;
/// In parts of the declared rate: more than rounding, and all but what a short queue lost in between.
const BEYOND: f64 = 1.03;
const DELIVERED: f64 = 0.85;
/// As many datagrams as the kernel puts into one packet (`UDP_MAX_SEGMENTS`, include/linux/udp.h).
const LARGEST_MERGED: u64 = 128;
/// What may be under way at the end of a test: the time of a long path and of a queue.
const UNDER_WAY: Duration = Duration::from_millis(300);
/// The rates of Ethernet, in Mbit/s (IEEE 802.3).
const ETHERNET_MBITS: [u64; 9] = [10, 100, 1_000, 2_500, 5_000, 10_000, 25_000, 40_000, 100_000];
/// Bytes of UDP, IPv4, Ethernet with its check sequence, preamble and gap around each datagram.
const AROUND: u64 = 8 + 20 + 18 + 20;
/// The longest payload that one frame takes.
const JUMBO: u64 = 8_972;
/// From this part of what a link takes on it is full.
const FULL: f64 = 0.99;
/// Numbers that programs print have three digits.
const ROUNDING: f64 = 5e-3;
/// What a full link loses of datagrams that nobody paces.
const FULL_LOSS: f64 = 0.02;

#[cfg(test)]
mod tests {
    use model::round::Endpoint;
    use model::target::TargetRate;

    use super::*;
    use crate::signs::flow::{FlowEnds, FlowKind};

    #[test]
    fn what_is_sent_beyond_a_declared_rate_is_lost_on_any_path() {
        let mbits = |rate: u64| DataRate::from_bps(rate * 1_000_000);
        let told = |source: TargetSource, [sent, arrived]: [u64; 2]| {
            let host = |name: &str| Endpoint { host: name.to_owned(), network: None };
            let ends = FlowEnds { sender: host("a"), receiver: host("b"), way: Vec::new(), way_back: Vec::new() };
            let target = TargetRate { rate: mbits(500), source, from: String::new() };
            let flow = Flow { goodput: mbits(arrived), target: Some(target), ..Flow::between(ends, FlowKind::Udp) };
            overloads(&flow, mbits(sent)).is_some()
        };
        assert!(told(TargetSource::Declared, [800, 480]));
        assert!(!told(TargetSource::Declared, [800, 300]), "far less than declared arrived");
        assert!(!told(TargetSource::Declared, [450, 300]), "no more was sent than declared");
        assert!(!told(TargetSource::SameHosts, [800, 480]), "nobody declared what the path carries");
    }
}
