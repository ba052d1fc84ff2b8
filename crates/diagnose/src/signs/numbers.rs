//! Signs of one run by itself.

use std::time::Duration;

use model::measurement::{DirectionTotal, End, Heading, RttSummary, SteadyState, Whose};
use model::played::Finding;
use model::quality::disturbance::POOR;
use model::quality::{DisturbanceKind, Quality};
use model::round::Tested;
use model::run::Run;
use model::series::field::Field;
use model::series::{RunSamples, StreamSamples};
use model::target::TargetSource;
use predict::physics::{FullLink, LossVerdict, LossWitness};

use super::Observation;
use super::agreed::agreed;
use super::arrivals::arrivals;
use super::ceiling::{attained_at_best, ceiling};
use super::clustering::{StartLosses, clustering};
use super::datagrams;
use super::flow::{Complaint, Flow, FlowKind, SLOW};
use super::initial_window;
use super::limit;
use super::losses;
use super::lossy::is_lossy;
use super::packet_time;
use super::percent::percent;
use super::queue_at_loss::{LongestQueue, queue_at_loss};
use super::queue_way::queue_way;
use super::rows;
use super::shrunk::ShrunkSegments;
use super::silence::silence;
use super::small_probes::{is_by_chance, small_probes};
use super::step_down::step_down;
use super::stops::stops;
use super::trend::course;
use super::window_limited::window_limited;
use super::window_shares::{held_by_windows, window_shares};
use crate::swallowed::SwallowedSegments;
use crate::waterfall::cause::Cause;
use crate::waterfall::line::{LineRate, LineRateSource};
use crate::waterfall::{self, Waterfall};

/// What the run of `flow` shows by itself.
pub(super) fn add(flow: &mut Flow, tested: &Tested, run: &Run, total: &DirectionTotal) {
    let Some(measurement) = &run.measurement else { return };
    let samples = tested.samples.as_deref();
    match flow.kind {
        FlowKind::Tcp => {
            of_tcp(flow, run, samples, total);
            let swallowed = SwallowedSegments::of(run, total).map(|found| (found.below(), found.to_string()));
            let shrunk = || samples.and_then(|samples| ShrunkSegments::of(samples, total.heading));
            let found = swallowed.or_else(|| shrunk().map(|found| (found.below(), found.to_string())));
            if let Some((below, says)) = found {
                flow.complaint = Some(Complaint::Clipped);
                flow.path_mtu = Some(below);
                flow.observations.extend(Observation::of("echoes", "no-large-one", says));
            }
        }
        FlowKind::Udp => {
            datagrams::add(flow, run, total);
            // What a receiver reads after it stood still comes in gusts, whatever the path did.
            let by_path = samples.filter(|_| flow.state("datagrams") != Some("receiver"));
            flow.observations.extend(by_path.and_then(|samples| arrivals(samples, total.heading)));
            let receivers = samples.map(|samples| rows::streams(samples, total.heading, End::Receiver));
            flow.observations.extend(receivers.and_then(|receivers| losses::members_of_datagrams(&receivers)));
        }
        FlowKind::Http | FlowKind::Echo => {}
    }
    let latency = measurement.latency.as_ref();
    let medians = latency.and_then(|latency| Some((shortest(latency.idle?)?, latency.loaded?.median_us?)));
    if let Some((idle, loaded)) = medians {
        flow.rtt = flow.rtt.or(Some(Duration::from_micros(idle)));
        flow.loaded_rtt = Some(Duration::from_micros(loaded));
    }
    let is_unjudged = flow.kind == FlowKind::Tcp && flow.target.is_none() && flow.complaint.is_none();
    if let Some(samples) = samples.filter(|_| is_unjudged)
        && let Some(limit) = window_limited(run, samples, total.heading, flow)
    {
        flow.observations.retain(|seen| seen.seen.sign().name != "limit");
        flow.observations.push(limit);
        flow.complaint = Some(Complaint::WindowLimited);
    }
    let times = latency.and_then(|latency| latency.packet_times);
    flow.observations.extend(times.and_then(|times| packet_time::before_test(flow, times, total.heading)));
    flow.observations.extend(samples.and_then(|samples| queue_way(&samples.probes, total.heading)));
    flow.observations.extend(course(measurement, total, samples));
    flow.observations.extend(step_down(measurement, total.heading));
    flow.observations.extend(silence(flow, measurement, total));
    let probes = small_probes(flow, measurement);
    flow.observations.extend(probes);
    if flow.complaint.is_none() && is_by_chance(flow) {
        flow.complaint = Some(Complaint::Lossy);
    }
    if let Some(samples) = samples.filter(|_| flow.kind == FlowKind::Tcp) {
        flow.observations.extend(stops(run, samples, total).into_iter().flatten());
    }
    // A window that stays closed is probed with what had arrived already (RFC 9293 section 3.8.6.1): no sign of packets that overtake.
    if flow.state("receiver-runs") == Some("with-stops") {
        flow.observations.retain(|seen| seen.seen.sign().name != "spurious");
    }
    if flow.complaint.is_none() && stood_still(flow) {
        flow.complaint = Some(Complaint::Stalled);
    }
    if flow.complaint.is_none() && flow.state("silence") == Some("once") {
        flow.complaint = Some(Complaint::CutOff);
    }
    // A program that waited for a CPU cost nothing where the path was full all the same, unless it stood still.
    if flow.state("limit") != Some("path-capacity") || stood_still(flow) {
        flow.observations.extend(contention(tested, total.heading));
    }
    if flow.target.is_none() && flow.complaint.is_none() && waits_for_cpu(flow, tested) {
        flow.complaint = Some(Complaint::Stalled);
    }
    if flow.kind == FlowKind::Tcp {
        of_loss(flow, run, total);
    }
}

/// Whether others had the CPU of a program that was the limit: that is slow, however fast the path is. Over the shortest paths nobody saw what
/// the limit was.
fn waits_for_cpu(flow: &Flow, tested: &Tested) -> bool {
    let limit = match flow.state("contention") {
        Some("sender") => "sending-program",
        Some("receiver") => "receiving-program",
        _ => return false,
    };
    let quality = Quality::of(tested);
    let is_poor = quality.disturbances.iter().any(|found| is_of_cpu(&found.kind) && found.severity >= POOR);
    is_poor && flow.state("limit").is_none_or(|seen| seen == limit)
}

/// Whether the program of an end did not run for a part of the time.
fn stood_still(flow: &Flow) -> bool {
    ["sender-runs", "receiver-runs"].iter().any(|sign| flow.state(sign) == Some("with-stops"))
}

/// What the losses allow, by closed forms: told of every flow, and a sign where nobody saw what the flow waited for. A flow that
/// nothing else judges is limited by losses of a hundredth and more that explain its rate.
fn of_loss(flow: &mut Flow, run: &Run, total: &DirectionTotal) {
    // Whoever fills a link lost what does not matter, and what was sent while a link was down is no loss that a rate follows from.
    if FullLink::of(run, total).is_some_and(|link| link.is_steady) || flow.state("silence") == Some("once") {
        return;
    }
    let Some(witness) = LossWitness::of(run, total) else { return };
    let state = match witness.verdict {
        LossVerdict::Explains => "the-rate",
        LossVerdict::AllowsMore => "more",
        LossVerdict::Exceeded => "less",
    };
    if flow.state("limit").is_none() {
        flow.observations.extend(Observation::of("loss-allows", state, witness.to_string()));
    }
    // A flow that is faster than so many single losses allow lost them many at a time: they limit it all the same, unless it was
    // seen that it waited for something else.
    let is_seen_otherwise = flow.state("limit").is_some_and(|limit| limit != "loss");
    let is_limited =
        !is_seen_otherwise && witness.verdict != LossVerdict::AllowsMore && witness.facts.loss() >= LIMITING;
    if flow.target.is_none() && flow.complaint.is_none() && is_limited {
        flow.complaint = Some(Complaint::Lossy);
    }
    flow.loss_allows = Some(witness.to_string());
}

fn of_tcp(flow: &mut Flow, run: &Run, samples: Option<&RunSamples>, total: &DirectionTotal) {
    let no_samples = RunSamples::default();
    let falls = waterfall::explain(run, samples.unwrap_or(&no_samples), line_rate(flow, run));
    let fall = falls.into_iter().find(|fall| fall.heading == total.heading);
    if let Some(fall) = &fall {
        flow.rtt = fall.observed.base_rtt;
        flow.shape.payload = Some(fall.framing.payload_bytes);
    } else {
        // Where nothing came through, the kernel's segment size is all there is of it.
        flow.shape.payload = streams(run, total).find_map(|of| of.mss);
    }
    flow.attained = flow.target.as_ref().and_then(|target| target.part(flow.goodput, flow.shape.payload));
    credit_start_up(flow, total, fall.as_ref());
    flow.observations.extend(flow.attained.and_then(attained));
    let is_sampled = samples.is_some_and(|samples| is_sampled(samples, total.heading, flow.rtt));
    let mut is_held = false;
    if let Some(fall) = fall.filter(|_| is_sampled) {
        is_held = held_by_windows(&fall) >= HELD && run.spec.window.is_none();
        flow.observations.extend(limit::largest(&fall, run));
        flow.limits = limit::all(&fall, run);
        // What a window that the test asked for took is no share of a host's setting.
        if run.spec.window.is_none() {
            flow.observations.extend(window_shares(&fall).into_iter().flatten());
        }
        flow.observations.extend(losses::episodes(&fall));
        flow.observations.extend(losses::bunches(&fall));
        flow.observations.extend(unread(&fall));
        flow.observations.extend(processor(&fall));
    }
    flow.shape.control = control(run, total);
    flow.observations.extend(grows(flow));
    lost_of_tcp(flow, run, total);
    // A start over a long path is forgiven; what a window takes from then on is not, and every longer transfer pays for it.
    if flow.attained.is_some_and(|attained| attained < least_for(flow) || (is_held && attained < NEARLY_ALL)) {
        flow.complaint = Some(Complaint::Slow);
    }
    let senders = rows::streams(samples.unwrap_or(&no_samples), total.heading, End::Sender);
    let rtt_us = flow.rtt.and_then(|rtt| u64::try_from(rtt.as_micros()).ok());
    flow.observations.extend(rtt_us.and_then(|rtt_us| losses::lost_at(&senders, rtt_us)));
    flow.observations.extend(rtt_us.and_then(|rtt_us| losses::members(&senders, rtt_us)));
    let start = if flow.way.is_empty() { StartLosses::LeftOut } else { StartLosses::Counted };
    flow.observations.extend(flow.rtt.and_then(|rtt| clustering(&senders, rtt, start)));
    let mut queue = None;
    if let (Some(samples), Some(rtt)) = (samples.filter(|_| is_sampled), flow.rtt) {
        flow.observations.extend(rtt_us.and_then(|rtt_us| queue_at_loss(&senders, rtt_us)));
        flow.observations.extend(ceiling(samples, total.heading, rtt));
        let best = attained_at_best(samples, total.heading, flow);
        flow.observations.extend(best);
        let probes = &samples.probes;
        let under_load = probes.sent_us.iter().zip(&probes.rtt_us).filter(|(sent, _)| **sent > 0);
        let rtts: Vec<u32> = under_load.filter_map(|(_, rtt)| *rtt).collect();
        queue = rtt_us.and_then(|rtt_us| LongestQueue::of(&rtts, rtt_us, flow));
        let size = queue.and_then(|queue| queue.size(flow));
        flow.observations.extend(size);
    }
    if flow.complaint.is_none() && flow.state("members") == Some("some-only") {
        flow.complaint = Some(Complaint::Uneven);
    }
    of_senders(flow, run, &senders, total);
    initial_window::add(flow, &senders, total.elapsed);
    let is_beyond = flow.attained.is_some_and(|attained| attained > FAR_BEYOND);
    if flow.complaint.is_none() && !is_beyond && is_lossy(flow, queue) {
        flow.complaint = Some(Complaint::Lossy);
    }
}

/// Whether an end was watched closely enough to say what the flow waited for: the kernel's numbers several times a second, and not
/// what another program printed each second.
fn is_sampled(samples: &RunSamples, heading: Heading, rtt: Option<Duration>) -> bool {
    const TOLD_BY_KERNEL: [Field; 4] = [Field::Unacked, Field::BusyTime, Field::RcvWnd, Field::BytesReceived];
    let longest = rtt.map_or(COARSE, |rtt| COARSE.max(rtt * 2));
    let is_close = |stream: &&StreamSamples| {
        let (Some(first), Some(last)) = (stream.at_us.first(), stream.at_us.last()) else { return false };
        let steps = u32::try_from(stream.at_us.len() - 1).unwrap_or(u32::MAX).max(1);
        let all = Duration::from_micros(last.saturating_sub(*first).unsigned_abs());
        stream.at_us.len() > 2 && all / steps <= longest
    };
    let of_heading = samples.streams.iter().filter(|stream| stream.heading == heading).filter(is_close);
    of_heading.into_iter().any(|stream| TOLD_BY_KERNEL.iter().any(|field| stream.column(*field).is_some()))
}

/// What a flow has to attain to be well. A start that fills a queue loses packets on a healthy path as well, and little time; one
/// that lost this much lost the time as well, unless it was seen that nothing took much of it.
fn least_for(flow: &Flow) -> f64 {
    let least = flow.target.as_ref().map_or(SLOW, |target| target.source.slow_below());
    let lost_time = flow.lost.is_some_and(|lost| lost >= MUCH_LOST) && flow.state("limit") != Some("nothing");
    if lost_time { least + MORE_WITH_LOSS } else { least }
}

/// Whether the congestion control suits the window that the path needs. Reno adds one segment in a round trip, whatever the
/// window is (RFC 5681 section 3.1): from half of a window of 1,000 segments it takes 500 round trips.
fn grows(flow: &Flow) -> Option<Observation> {
    let (control, wanted, rtt) = (flow.shape.control.as_deref()?, flow.wanted()?, flow.rtt?);
    let segment = f64::from(flow.shape.payload?.max(1)) * 8.0;
    #[expect(clippy::cast_precision_loss, reason = "an estimate")]
    let window = wanted.bps() as f64 * rtt.as_secs_f64() / segment;
    let seconds = window / 2.0 * rtt.as_secs_f64();
    let is_linear = LINEAR.contains(&control);
    let state = if is_linear && seconds > MINUTES { "in-minutes" } else { "in-time" };
    let says = if is_linear {
        format!("{control} needs {seconds:.0} s to win back half of a window of {window:.0} segments")
    } else {
        format!("{control} grows faster where windows are large")
    };
    Observation::of("control", state, says)
}

/// A run that ends while its rate still grows is short, not slow: what its start-up cost is not held against it, unless it is
/// slow even so.
fn credit_start_up(flow: &mut Flow, total: &DirectionTotal, fall: Option<&Waterfall>) {
    let (Some(attained), Some(fall), SteadyState::NotReached) = (flow.attained, fall, &total.steady) else { return };
    let start_up = fall.shares.iter().find(|share| share.cause == Cause::StartUp);
    let start_up = start_up.map_or(0.0, |share| share.part_of_line_rate);
    let of_settled = total.goodput.share_of(flow.goodput).unwrap_or(1.0);
    let credited = (attained * of_settled + start_up).min(1.0);
    if credited >= SLOW {
        flow.attained = Some(attained.max(credited));
    }
}

/// The line rate that the plan names goes before what cards say.
fn line_rate(flow: &Flow, run: &Run) -> LineRate {
    let target = flow.target.as_ref().filter(|_| run.declared_line_rate.is_none());
    let source = |source| match source {
        TargetSource::Declared => LineRateSource::Declared,
        TargetSource::LinkSpeed => LineRateSource::Nic,
        _ => LineRateSource::Expected,
    };
    // What a test asked for is no rate of a line.
    let target = target.filter(|target| target.source != TargetSource::Requested);
    target.map_or_else(|| LineRate::of(run), |target| LineRate { rate: target.rate, source: source(target.source) })
}

fn control(run: &Run, total: &DirectionTotal) -> Option<String> {
    streams(run, total).find_map(|of| of.congestion_control.clone())
}

/// The streams of a direction.
fn streams<'r>(run: &'r Run, total: &DirectionTotal) -> impl Iterator<Item = &'r model::measurement::Flow> {
    let flows = run.measurement.iter().flat_map(|measurement| &measurement.flows);
    flows.filter(|of| of.heading == total.heading)
}

pub(super) fn attained(share: f64) -> Option<Observation> {
    let state = match share {
        share if share >= 0.9 => "all",
        share if share >= 0.6 => "most",
        share if share >= 0.2 => "part",
        share if share >= 0.03 => "little",
        _ => "next-to-nothing",
    };
    Observation::of("attained", state, format!("it attained {} of what it should", percent(share)))
}

/// Whether the receiving program leaves data lying where a small window is said to be the limit.
fn unread(fall: &Waterfall) -> Option<Observation> {
    let (unread, offered) = (fall.observed.unread?, fall.observed.window_offered?);
    let state = if unread.get() * 2 >= offered.get() { "much" } else { "little" };
    Observation::of("unread", state, format!("up to {unread} lay unread at the receiver, which offers {offered}"))
}

/// Whether the CPUs of an end were taken by others while the flow ran.
pub(super) fn contention(tested: &Tested, heading: Heading) -> Option<Observation> {
    let Finding::Run(run) = &tested.finding else { return None };
    let measurement = run.measurement.as_ref()?;
    measurement.local_contention.as_ref().or(measurement.peer_contention.as_ref())?;
    let quality = Quality::of(tested);
    let of_cpu = quality.disturbances.iter().filter(|found| is_of_cpu(&found.kind) && found.severity >= CONTENDED);
    let Some(worst) = of_cpu.max_by(|a, b| a.severity.total_cmp(&b.severity)) else {
        return Observation::of("contention", "none", "no other program or guest used the CPUs of its hosts for long");
    };
    let is_local = worst.whose != Some(Whose::Peer);
    let is_sender = is_local == (heading == Heading::Outbound);
    Observation::of("contention", if is_sender { "sender" } else { "receiver" }, worst.to_string())
}

fn is_of_cpu(kind: &DisturbanceKind) -> bool {
    matches!(kind, DisturbanceKind::Steal { .. } | DisturbanceKind::RunDelay { .. } | DisturbanceKind::Throttled { .. })
}

fn processor(fall: &Waterfall) -> Option<Observation> {
    let (state, says) = match (fall.observed.sender_cpu_exhausted, fall.observed.receiver_cpu_exhausted) {
        (true, _) => ("sender", "the sending process used up its CPU"),
        (false, true) => ("receiver", "the receiving process used up its CPU"),
        (false, false) => ("neither", "both ends had CPU time left"),
    };
    Observation::of("cpu", state, says)
}

fn lost_of_tcp(flow: &mut Flow, run: &Run, total: &DirectionTotal) {
    let (Some(again), Some(sent)) = (total.retransmits, total.sent.or(total.received)) else { return };
    let payload = f64::from(flow.shape.payload.or(run.spec.mss.map(Into::into)).unwrap_or(1448).max(1));
    #[expect(clippy::cast_precision_loss, reason = "a ratio that is sorted into five classes")]
    let part = again.get() as f64 * payload / (sent.get() as f64).max(payload);
    flow.lost = Some(part);
    flow.observations.extend(losses::loss(part, "segments were retransmitted"));
}

/// What the sender's kernel counted of all its connections, where what it retransmitted is what the flow did.
fn counted_twice(run: &Run, total: &DirectionTotal) -> Option<(u64, u64)> {
    let found = run.measurement.as_ref()?;
    let sender = if total.heading == Heading::Outbound { &found.local_counters } else { &found.peer_counters };
    let readings = sender.as_ref()?;
    let (all, twice) = (readings.change("Tcp.RetransSegs")?, readings.change("TcpExt.TCPDSACKRecv")?);
    let again = total.retransmits.map(|count| count.get()).filter(|again| *again >= A_FEW)?;
    (all >= again && all - again <= again / OTHERS).then_some((twice, all))
}

/// One part in so many may be retransmits of others.
const OTHERS: u64 = 5;

/// What the kernel of the sender tells of its connections.
fn of_senders(flow: &mut Flow, run: &Run, senders: &[&StreamSamples], total: &DirectionTotal) {
    let elapsed = total.elapsed;
    let last = |field: Field| {
        let values = senders.iter().filter_map(|stream| stream.column(field)?.last().copied());
        values.fold(None, |sum: Option<u64>, value| Some(sum.unwrap_or(0).saturating_add(value)))
    };
    if let (Some(marked), Some(delivered)) = (last(Field::DeliveredCe), last(Field::Delivered)) {
        #[expect(clippy::cast_precision_loss, reason = "a ratio")]
        let part = marked as f64 / delivered.max(1) as f64;
        // Each mark costs a sender what a loss does, however many packets lie between two of them.
        let state = if marked >= FEWEST_MARKS { "yes" } else { "no" };
        flow.observations.extend(Observation::of(
            "marks",
            state,
            format!("{marked} of its packets were marked ({})", percent(part)),
        ));
    }
    let retransmitted = last(Field::TotalRetrans).filter(|again| *again >= A_FEW);
    let twice = last(Field::DsackDups).zip(retransmitted).or_else(|| counted_twice(run, total));
    let is_spurious = twice.is_some_and(|(twice, again)| twice * 2 >= again);
    if let Some(seen) = last(Field::ReordSeen) {
        let segments = last(Field::Delivered).unwrap_or(0);
        let is_broken = seen >= 3 && seen.saturating_mul(SELDOM) >= segments;
        let says = format!("packets were overtaken {seen} times");
        // The kernel counts only what was late and not yet retransmitted: where segments arrive that it took for lost, it does not
        // see that they were overtaken (`tcp_sacktag_one`).
        if is_broken || !is_spurious {
            let state = if is_broken { "broken" } else { "kept" };
            flow.observations.extend(Observation::of("order", state, says));
        }
    }
    if let Some((twice, again)) = twice {
        let state = if is_spurious { "most" } else { "few" };
        let says = format!("{twice} of {again} retransmitted segments had arrived already (DSACK)");
        flow.observations.extend(Observation::of("spurious", state, says));
    }
    flow.observations.extend(agreed(senders));
    if let Some(waited) = last(Field::TotalRtoTime) {
        let all = elapsed.as_secs_f64() * 1e3 * senders.len() as f64;
        #[expect(clippy::cast_precision_loss, reason = "a ratio")]
        let part = waited as f64 / all.max(1.0);
        let state = match part {
            part if part > 0.4 => "mostly",
            part if part > 0.01 => "some",
            _ => "no",
        };
        let says = format!("{} of its time went by waiting for the retransmission timer", percent(part));
        flow.observations.extend(Observation::of("timeouts", state, says));
    }
    let (sent, offered) = (last(Field::SndMss), last(Field::Advmss));
    if let (Some(sent), Some(offered), None) = (sent, offered, run.spec.mss) {
        let state = if sent * 10 < offered * 9 { "small" } else { "full" };
        let says = format!("segments of {sent} bytes, where the device takes {offered}");
        flow.observations.extend(Observation::of("segments", state, says));
    }
}

fn shortest(summary: RttSummary) -> Option<u64> {
    summary.min_us.or(summary.median_us)
}

/// Who has so many times what was expected lost nothing that mattered: the expectation was of something else.
const FAR_BEYOND: f64 = 1.2;
/// Samples further apart than this say nothing of what a flow waited for, unless its RTT is longer still.
const COARSE: Duration = Duration::from_millis(500);
/// From this severity on contention for CPUs is a sign.
const CONTENDED: f64 = 0.1;
/// Fewer retransmits tell nothing of their kind.
const A_FEW: u64 = 8;
/// Fewer marks are what a queue gives at the end of a start.
const FEWEST_MARKS: u64 = 3;
/// Packets that overtake each other once in so many, or less often, cost nothing.
const SELDOM: u64 = 2_000;
/// Algorithms that add about a segment in a round trip, whatever the window is.
const LINEAR: [&str; 4] = ["reno", "vegas", "westwood", "veno"];
/// From here on, in seconds, nobody waits for a window to come back.
const MINUTES: f64 = 20.0;
/// A part of the line rate that a window takes, and below which part of its target a flow is then slow.
const HELD: f64 = 0.12;
const NEARLY_ALL: f64 = 0.9;
/// From this part on losses that explain a rate limit a flow, whatever the path carries.
const LIMITING: f64 = 0.01;
/// A TCP that sent this part again lost time by it.
const MUCH_LOST: f64 = 0.03;
/// By how much more it has to reach to be well.
const MORE_WITH_LOSS: f64 = 0.1;
