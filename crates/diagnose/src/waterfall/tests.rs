//! Claims about small made-up runs: one stream, ten milliseconds a sample, one second, a line of 1 Gbit/s.

use std::time::Duration;

use model::measurement::{ClockRelation, DirectionTotal, End, Heading, Measurement, SteadyState, Whose};
use model::run::Run;
use model::series::field::Field;
use model::series::{Column, RunSamples, StreamSamples};
use units::{ByteCount, DataRate, PacketCount};

use super::cause::{Cause, Reason};
use super::check::CheckVerdict;
use super::facts::HostSide;
use super::line::{LineRate, LineRateSource};
use super::losses::{LossEnd, LossEpisode, LossEvents};
use super::{Waterfall, explain};

mod host_queue;

const SAMPLES: u64 = 101;
const MSS: u64 = 1448;
/// A tenth of the line, in payload bytes each 10 ms.
const TENTH: u64 = 120_000;

/// A field, and its value in each sample.
type Planned = (Field, Box<dyn Fn(u64) -> u64>);
type Columns = Vec<Planned>;

/// The columns of a sender that delivers a tenth of the line with half of its congestion window in use.
fn steady() -> Columns {
    vec![
        (Field::BytesAcked, Box::new(|n| n * TENTH)),
        (Field::AppBytes, Box::new(|n| (n + 1) * TENTH)),
        (Field::BusyTime, Box::new(|n| n * 10_000)),
        (Field::RwndLimited, Box::new(|_| 0)),
        (Field::SndbufLimited, Box::new(|_| 0)),
        (Field::Unacked, Box::new(|_| 100)),
        (Field::SndCwnd, Box::new(|_| 200)),
        (Field::SndSsthresh, Box::new(|_| 100)),
        (Field::SndWnd, Box::new(|_| 10_000_000)),
        (Field::SndMss, Box::new(|_| MSS)),
        (Field::Notsent, Box::new(|_| 1_000_000)),
        (Field::Rtt, Box::new(|_| 10_000)),
        (Field::MinRtt, Box::new(|_| 10_000)),
        (Field::CaState, Box::new(|_| 0)),
        (Field::TotalRetrans, Box::new(|_| 0)),
    ]
}

/// `steady` with one column replaced.
fn with(field: Field, value: impl Fn(u64) -> u64 + 'static) -> Columns {
    let mut columns = steady();
    columns.retain(|(of, _)| *of != field);
    columns.push((field, Box::new(value)));
    columns
}

fn end(end: End, columns: &[Planned]) -> StreamSamples {
    let column = |(field, value): &Planned| Column { field: *field, values: (0..SAMPLES).map(value).collect() };
    StreamSamples {
        stream: 1,
        heading: Heading::Outbound,
        end,
        whose: Whose::Local,
        at_us: (0..101).map(|n| n * 10_000).collect(),
        columns: columns.iter().map(column).collect(),
    }
}

fn waterfall(streams: Vec<StreamSamples>) -> Waterfall {
    against(1_000_000_000, streams)
}

/// Of a line of so many bit/s, as somebody declared it.
fn against(declared_bps: u64, streams: Vec<StreamSamples>) -> Waterfall {
    let bytes = ByteCount::new(100 * TENTH);
    of_total(DirectionTotal { sent: Some(bytes), received: Some(bytes), ..total() }, declared_bps, streams)
}

fn total() -> DirectionTotal {
    DirectionTotal {
        heading: Heading::Outbound,
        sent: None,
        received: None,
        elapsed: Duration::from_secs(1),
        goodput: DataRate::from_bps(96_000_000),
        retransmits: None,
        datagrams: None,
        steady: SteadyState::NotReached,
    }
}

fn of_total(total: DirectionTotal, declared_bps: u64, streams: Vec<StreamSamples>) -> Waterfall {
    let clock = ClockRelation { offset_ns: 0, uncertainty_ns: 0, drift_ppb: None, exchanges: 1 };
    let measurement = Measurement { totals: vec![total], clock: Some(clock), ..Measurement::default() };
    let run = serde_json::json!({
        "format": Run::FORMAT, "id": "00000000000000000000000000", "started_unix_ns": 0, "role": "client",
        "command": [], "spec": model::spec::TestSpec::default(), "local": {}, "peer": { "target": "far" },
        "outcome": { "state": "complete" },
    });
    let run = Run { measurement: Some(measurement), ..serde_json::from_value(run).unwrap() };
    let line_rate = LineRate { rate: DataRate::from_bps(declared_bps), source: LineRateSource::Declared };
    explain(&run, &RunSamples { streams, ..RunSamples::default() }, line_rate).remove(0)
}

fn leading(waterfall: &Waterfall) -> Reason {
    waterfall.dominant().unwrap().because[0].reason
}

#[test]
fn what_the_kernel_counted_as_window_limited_is_the_receive_window() {
    let limited = |window: u64| {
        let mut columns = with(Field::RwndLimited, |n| n * 10_000);
        columns.retain(|(field, _)| *field != Field::SndWnd);
        columns.push((Field::SndWnd, Box::new(move |_| window)));
        waterfall(vec![end(End::Sender, &columns)])
    };
    let waterfall = limited(500_000);
    assert_eq!(waterfall.gap, ByteCount::new(125_000_000 - 100 * TENTH));
    assert_eq!(leading(&waterfall), Reason::SmallWindow);
    assert_eq!(waterfall.check.verdict, CheckVerdict::Agrees, "{:?}", waterfall.check);
    let fact = &waterfall.facts[0];
    assert_eq!(
        fact.text,
        "the receiver's window took 90 % of the line rate: it offered at most 500 kB where 1.25 MB were needed \
         (1.00 Gbit/s x 10.0 ms)"
    );
    assert_eq!(fact.next.as_ref().unwrap().place, HostSide::Peer);
    // A window as large as the path needs is not made larger, whatever the kernel waited for.
    let large = limited(10_000_000);
    assert!(large.facts[0].next.is_none() && !large.facts[0].text.contains("needed"), "{:?}", large.facts[0]);
}

#[test]
fn what_lies_in_a_send_buffer_is_not_delivered() {
    let silent = DirectionTotal { sent: Some(ByteCount::new(150 * TENTH)), ..total() };
    let waterfall = of_total(silent, 1_000_000_000, vec![end(End::Sender, &steady())]);
    assert_eq!(waterfall.delivered, ByteCount::new(100 * TENTH), "its goodput is what was acknowledged");
}

#[test]
fn nothing_is_a_part_of_a_line_rate_that_the_run_went_beyond() {
    let waterfall = against(10_000_000, vec![end(End::Sender, &steady())]);
    assert_eq!(waterfall.line_rate.source, LineRateSource::Unknown);
    assert!(waterfall.delivered <= waterfall.line && waterfall.beyond_line.get() == 0, "{waterfall:?}");
}

#[test]
fn a_receiver_that_leaves_data_unread_is_the_receiving_program() {
    let receiver: Columns = vec![
        (Field::BytesReceived, Box::new(|n| n * TENTH + 4_000_000)),
        (Field::AppBytes, Box::new(|n| (n * TENTH).saturating_sub(1_000_000))),
    ];
    let sender = end(End::Sender, &with(Field::RwndLimited, |n| n * 10_000));
    assert_eq!(leading(&waterfall(vec![sender, end(End::Receiver, &receiver)])), Reason::Unread);
}

#[test]
fn a_sender_alone_knows_a_closed_window() {
    let mut columns = with(Field::RwndLimited, |n| n * 10_000);
    columns.retain(|(field, _)| *field != Field::SndWnd);
    columns.push((Field::SndWnd, Box::new(|n| if n == 0 { 10_000_000 } else { 1_000 })));
    assert_eq!(leading(&waterfall(vec![end(End::Sender, &columns)])), Reason::WindowClosed);
}

#[test]
fn round_trips_that_grow_at_a_flat_rate_are_the_path() {
    let waterfall = waterfall(vec![end(End::Sender, &with(Field::Rtt, |_| 50_000))]);
    assert_eq!(leading(&waterfall), Reason::StandingQueue);
    // A tenth of the line with 90 bytes of headers around 1448.
    assert_eq!(waterfall.observed.path_rate, Some(DataRate::from_bps(101_966_848)));
}

/// A path of that rate and 10 ms holds 83 segments.
#[test]
fn bursts_with_an_empty_queue_between_them_are_no_capacity_of_the_path() {
    let of = |least: u64| {
        let mut columns = with(Field::Rtt, |_| 50_000);
        columns.retain(|(field, _)| *field != Field::Unacked);
        columns.push((Field::Unacked, Box::new(move |n| if n % 2 == 0 { 200 } else { least })));
        waterfall(vec![end(End::Sender, &columns)]).observed.path_rate
    };
    assert_eq!(of(40), None);
    assert!(of(90).is_some());
}

/// The least RTT is 10 ms; ten segments and then twice as many come through in each 60 ms, seven times.
#[test]
fn a_rate_that_doubles_with_each_round_of_a_path_that_is_held_up_is_start_up() {
    let rounds = |n: u64| (n / 6).min(6);
    let mut columns = steady();
    let replaced = [Field::BytesAcked, Field::Unacked, Field::SndCwnd, Field::SndSsthresh];
    columns.retain(|(field, _)| !replaced.contains(field));
    columns.push((
        Field::BytesAcked,
        Box::new(move |n| MSS * (10 * ((1 << rounds(n)) - 1) + (n / 6 - rounds(n)) * (10 << 6))),
    ));
    columns.push((Field::Unacked, Box::new(move |n| 10 << rounds(n))));
    columns.push((Field::SndCwnd, Box::new(move |n| 10 << rounds(n))));
    columns.push((Field::SndSsthresh, Box::new(|_| 1 << 30)));
    let waterfall = waterfall(vec![end(End::Sender, &columns)]);
    let started = waterfall.bytes_of(Cause::StartUp).get();
    assert!((3..6).contains(&(started * 10 / waterfall.gap.get())), "{:?}", waterfall.shares);
}

#[test]
fn windows_that_are_full_because_of_a_queue_are_the_path_and_the_check_says_so() {
    let mut columns = with(Field::Rtt, |_| 50_000);
    columns.retain(|(field, _)| *field != Field::RwndLimited);
    columns.push((Field::RwndLimited, Box::new(|n| n * 10_000)));
    let waterfall = waterfall(vec![end(End::Sender, &columns)]);
    assert_eq!(leading(&waterfall), Reason::StandingQueue);
    assert_eq!(waterfall.check.verdict, CheckVerdict::Differs);
    assert!(waterfall.check.because.unwrap().contains("a queue stood on the path"));
}

#[test]
fn what_is_acknowledged_at_once_behind_a_hole_is_no_faster_path() {
    // Nothing is acknowledged in order for a fifth of a second, and then all of it; segments come all the time.
    let held = |n: u64| if (40..60).contains(&n) { 40 } else { n };
    let mut columns = with(Field::Rtt, |_| 50_000);
    columns.retain(|(field, _)| *field != Field::BytesAcked);
    columns.push((Field::BytesAcked, Box::new(move |n| held(n) * TENTH)));
    let leaps = waterfall(vec![end(End::Sender, &columns)]);
    assert_eq!(leaps.observed.path_rate, None, "in order alone it looks faster at times");
    columns.push((Field::Delivered, Box::new(|n| n * TENTH / MSS)));
    let waterfall = waterfall(vec![end(End::Sender, &columns)]);
    assert_eq!(leading(&waterfall), Reason::StandingQueue);
}

#[test]
fn a_rate_that_the_path_went_beyond_is_not_its_capacity() {
    // Slow with long round trips for a time, then eight times as fast.
    let mut columns = with(Field::Rtt, |n| if n < 50 { 50_000 } else { 10_000 });
    columns.retain(|(field, _)| *field != Field::BytesAcked);
    columns.push((Field::BytesAcked, Box::new(|n| n * TENTH + n.saturating_sub(50) * 7 * TENTH)));
    let waterfall = waterfall(vec![end(End::Sender, &columns)]);
    assert_eq!(waterfall.observed.path_rate, None);
    assert_eq!(waterfall.bytes_of(Cause::PathCapacity), ByteCount::ZERO);
}

#[test]
fn a_full_congestion_window_without_loss_is_its_own_share() {
    let waterfall = waterfall(vec![end(End::Sender, &with(Field::Unacked, |_| 200))]);
    assert_eq!(leading(&waterfall), Reason::FullCongestionWindow);
}

#[test]
fn a_send_buffer_that_the_kernel_counts_now_and_then_is_the_limit_all_the_time() {
    // One millisecond in three samples, within a round trip of 30 ms, and nothing waits to be sent.
    let counted = |every: u64| {
        let mut columns = with(Field::SndbufLimited, move |n| n / every * 1_000);
        columns.retain(|(field, _)| ![Field::Notsent, Field::MinRtt].contains(field));
        columns.push((Field::Notsent, Box::new(|_| 0)));
        columns.push((Field::MinRtt, Box::new(|_| 30_000)));
        waterfall(vec![end(End::Sender, &columns)])
    };
    assert_eq!(leading(&counted(3)), Reason::FullSendBuffer);
    assert_eq!(leading(&counted(1_000)), Reason::SenderWaited, "it never was");
}

/// All that was written is in flight, the kernel counts no time of a full buffer, and this much lies in one of 150 kB. An RTT is 20 ms.
fn queued(memory: impl Fn(u64) -> u64 + 'static) -> Columns {
    let mut columns = with(Field::WmemQueued, memory);
    columns.retain(|(field, _)| ![Field::Notsent, Field::MinRtt].contains(field));
    columns.push((Field::Notsent, Box::new(|_| 700)));
    columns.push((Field::MinRtt, Box::new(|_| 20_000)));
    columns.push((Field::Sndbuf, Box::new(|_| 150_000)));
    columns
}

#[test]
fn a_test_that_finds_no_room_until_its_time_is_up_has_something_left_to_send() {
    // Its last block is written after 400 ms; a test of 10 s would write more.
    let mut columns = queued(|n| 152_000 - n % 4 * 17_000);
    columns.retain(|(field, _)| *field != Field::AppBytes);
    columns.push((Field::AppBytes, Box::new(|n| (n.min(40) + 1) * TENTH)));
    let waterfall = waterfall(vec![end(End::Sender, &columns)]);
    assert_eq!((leading(&waterfall), waterfall.bytes_of(Cause::Idle)), (Reason::FullSendBuffer, ByteCount::ZERO));
}

#[test]
fn a_buffer_that_is_never_emptied_below_where_its_writer_is_woken_is_the_limit_though_no_clock_runs() {
    let of = |columns: &Columns| leading(&waterfall(vec![end(End::Sender, columns)]));
    let waits = queued(|n| 152_000 - n % 4 * 17_000);
    assert_eq!(of(&waits), Reason::FullSendBuffer);
    // A program that asks before it writes a block tops it up to two thirds.
    assert_eq!(of(&queued(|n| 97_000 + n % 3 * 3_000)), Reason::FullSendBuffer);
    // A congestion window of what is in flight holds nothing back.
    let mut both = waits;
    both.retain(|(field, _)| *field != Field::SndCwnd);
    both.push((Field::SndCwnd, Box::new(|_| 100)));
    assert_eq!(of(&both), Reason::FullSendBuffer);
    // Data that is not sent waits for something else.
    both.retain(|(field, _)| *field != Field::Notsent);
    both.push((Field::Notsent, Box::new(|_| 50_000)));
    assert_eq!(of(&both), Reason::FullCongestionWindow);
}

#[test]
fn a_program_that_leaves_its_buffer_room_has_nothing_ready() {
    let of = |columns: Columns| leading(&waterfall(vec![end(End::Sender, &columns)]));
    assert_eq!(of(queued(|_| 20_000)), Reason::SenderWaited, "hardly anything");
    assert_eq!(of(queued(|_| 110_000)), Reason::SenderWaited, "all the time too much to be woken, and never full");
    let mut new = queued(|_| 60_000);
    new.retain(|(field, _)| *field != Field::Sndbuf);
    new.push((Field::Sndbuf, Box::new(|_| 87_040)));
    assert_eq!(of(new), Reason::SenderWaited, "the buffer of a new connection grows when somebody waits");
    let in_turns = |n: u64| if n % 10 < 5 { 150_000 } else { 1_000 };
    assert_eq!(of(queued(in_turns)), Reason::SenderWaited, "as much as it holds, and then nothing for as long");
    // The queue was not seen empty, but nothing was outstanding for three tenths of the time.
    let mut idle = queued(|_| 150_000);
    idle.retain(|(field, _)| *field != Field::BusyTime);
    idle.push((Field::BusyTime, Box::new(|n| n * 7_000)));
    assert_eq!(of(idle), Reason::SenderWaited);
}

/// Data waits to be sent, and the kernel paces at this cap, in bytes a second.
fn paced(rate: u64, cap: u64, unsent: u64) -> Columns {
    let mut columns = with(Field::PacingRate, move |_| rate);
    columns.retain(|(field, _)| *field != Field::Notsent);
    columns.push((Field::MaxPacingRate, Box::new(move |_| cap)));
    columns.push((Field::Notsent, Box::new(move |_| unsent)));
    columns
}

#[test]
fn a_rate_that_another_program_has_its_kernel_pace_at_is_named() {
    let of = |columns: Columns| waterfall(vec![end(End::Sender, &columns)]);
    let slow = of(paced(12_000_000, 12_000_000, 500_000));
    assert_eq!((leading(&slow), slow.label(Cause::ConfiguredCap)), (Reason::SocketPace, "pacing rate"));
    assert_eq!(
        slow.facts[0].text,
        "the pacing rate of the sender's socket took 90 % of the line rate: its program has the kernel pace at 96.0 Mbit/s at most \
         (SO_MAX_PACING_RATE)"
    );
    assert_eq!(leading(&of(paced(12_000_000, 12_000_000, 0))), Reason::SenderWaited, "it wrote less than that");
    assert_eq!(leading(&of(paced(12_000_000, 90_000_000, 500_000))), Reason::Spread, "it is slower than that");
    assert_eq!(leading(&of(paced(u64::MAX, u64::MAX, 500_000))), Reason::NotSending, "it has set none");
}

#[test]
fn a_paced_buffer_has_the_time_that_the_kernel_gives_it_and_no_more() {
    // Six of each ten milliseconds, and all that was written has left when a sample is taken.
    let mut columns = queued(|n| 152_000 - n % 4 * 17_000);
    columns.retain(|(field, _)| *field != Field::SndbufLimited);
    columns.push((Field::SndbufLimited, Box::new(|n| n * 6_000)));
    let parts = |columns: &Columns| {
        let waterfall = waterfall(vec![end(End::Sender, columns)]);
        [Cause::SendBuffer, Cause::CongestionWindow]
            .map(|cause| waterfall.bytes_of(cause).get() * 100 / waterfall.gap.get())
    };
    let [buffer, spread] = parts(&columns);
    assert!(buffer > 90 && spread == 0, "nobody paces: the clock has a part of it: {buffer} {spread}");
    columns.push((Field::MaxPacingRate, Box::new(|_| 125_000_000)));
    columns.push((Field::PacingRate, Box::new(|_| 12_000_000)));
    let [buffer, spread] = parts(&columns);
    assert!((55..=60).contains(&buffer) && (35..=40).contains(&spread), "{buffer} {spread}");
}

/// Slow start has no threshold yet, the rate grows all the time, and this much of a window of 200 segments is outstanding.
fn growing(outstanding: impl Fn(u64) -> u64 + 'static) -> Columns {
    let mut columns = with(Field::Unacked, outstanding);
    let replaced = [Field::SndSsthresh, Field::BytesAcked, Field::Notsent, Field::AppBytes];
    columns.retain(|(field, _)| !replaced.contains(field));
    columns.push((Field::SndSsthresh, Box::new(|_| 2_147_483_647)));
    let grown = |n: u64| (0..n).fold(1_500, |bytes, _| bytes + bytes / 11);
    columns.push((Field::BytesAcked, Box::new(grown)));
    columns.push((Field::AppBytes, Box::new(move |n| grown(n + 1))));
    columns.push((Field::Notsent, Box::new(|_| 0)));
    columns
}

#[test]
fn a_window_that_its_program_leaves_half_empty_has_started_up() {
    let of = |columns: Columns| waterfall(vec![end(End::Sender, &columns)]);
    assert_eq!(leading(&of(growing(|_| 190))), Reason::SlowStart);
    let pauses = of(growing(|n| if n % 10 == 9 { 20 } else { 190 }));
    let start_up = pauses.bytes_of(Cause::StartUp).get() * 10 / pauses.gap.get();
    assert!(start_up <= 1, "{start_up} tenths");
    let mut small = growing(|_| 1);
    small.retain(|(field, _)| *field != Field::SndCwnd);
    small.push((Field::SndCwnd, Box::new(|n| if n < 50 { 10 } else { 60 })));
    let small = of(small);
    let start_up = small.bytes_of(Cause::StartUp).get() * 10 / small.gap.get();
    assert!((4..=6).contains(&start_up), "a window that has not opened is no measure: {start_up} tenths");
}

#[test]
fn a_window_that_is_full_behind_a_hole_is_the_losss_doing() {
    let mut columns = with(Field::RwndLimited, |n| n * 10_000);
    columns.retain(|(field, _)| *field != Field::CaState);
    columns.push((Field::CaState, Box::new(|n| if n > 3 { 4 } else { 0 })));
    assert_eq!(leading(&waterfall(vec![end(End::Sender, &columns)])), Reason::Recovery);
}

#[test]
fn data_and_room_without_a_reason_is_unknown() {
    assert_eq!(leading(&waterfall(vec![end(End::Sender, &steady())])), Reason::NotSending);
}

#[test]
fn a_kernel_without_clocks_leaves_the_rest_unknown() {
    let mut columns = steady();
    columns.retain(|(field, _)| *field != Field::BusyTime);
    let waterfall = waterfall(vec![end(End::Sender, &columns)]);
    assert_eq!(leading(&waterfall), Reason::NoKernelTimes);
    assert_eq!(waterfall.check.verdict, CheckVerdict::NotKnown);
}

#[test]
fn of_a_receiver_alone_the_sender_is_unknown() {
    let receiver: Columns =
        vec![(Field::BytesReceived, Box::new(|n| n * TENTH)), (Field::AppBytes, Box::new(|n| n * TENTH))];
    let waterfall = waterfall(vec![end(End::Receiver, &receiver)]);
    assert_eq!(leading(&waterfall), Reason::NoSenderSamples);
    assert_eq!(waterfall.facts[0].next.as_ref().unwrap().command, "linerate serve");
}

#[test]
fn without_samples_everything_but_headers_is_unknown() {
    let waterfall = waterfall(Vec::new());
    assert_eq!(leading(&waterfall), Reason::NoSamples);
    assert_eq!(waterfall.shares.len(), 2);
    assert!(waterfall.bytes_of(Cause::ProtocolOverhead) > ByteCount::ZERO);
}

#[test]
fn a_loss_costs_until_the_rate_is_back() {
    // Half a second at the full rate, a loss, then half of it to the end.
    let acked = |n: u64| n.min(50) * TENTH + n.saturating_sub(50) * TENTH / 2;
    let mut columns = with(Field::BytesAcked, acked);
    columns.retain(|(field, _)| ![Field::TotalRetrans, Field::SndCwnd].contains(field));
    columns.push((Field::TotalRetrans, Box::new(|n| if n > 50 { 15 } else { 0 })));
    columns.push((Field::SndCwnd, Box::new(|n| if n > 50 { 100 } else { 200 })));
    let waterfall = waterfall(vec![end(End::Sender, &columns)]);
    let worst = waterfall.losses.worst[0];
    assert_eq!((worst.start, worst.end), (Duration::from_millis(500), LossEnd::EndOfRun));
    assert_eq!((worst.retransmits, waterfall.losses.episodes), (PacketCount::new(15), 1));
    assert_eq!(worst.lost, ByteCount::new(50 * TENTH / 2));
    assert_eq!(worst.lost_time, Duration::from_millis(250));
    assert_eq!(worst.cwnd_before.zip(worst.cwnd_after), Some((ByteCount::new(200 * MSS), ByteCount::new(100 * MSS))));
}

#[test]
fn segments_that_had_arrived_are_reordering_and_no_loss() {
    // Half of the line rate, and each retransmission answered with the word that it was not needed.
    let waterfall = |dsacks: u64, seen: u64| {
        let mut columns = with(Field::BytesAcked, |n| n * TENTH / 2);
        columns.retain(|(field, _)| *field != Field::TotalRetrans);
        columns.push((Field::TotalRetrans, Box::new(|n| n * 10)));
        columns.push((Field::DsackDups, Box::new(move |n| n * dsacks)));
        columns.push((Field::ReordSeen, Box::new(move |n| n * seen)));
        waterfall(vec![end(End::Sender, &columns)])
    };
    let reordered = waterfall(9, 1);
    let fact = reordered.facts.iter().find(|fact| fact.cause == Cause::LossRecovery).unwrap();
    assert!(fact.text.starts_with("reordering, which the sender took for loss, took "), "{}", fact.text);
    assert!(fact.text.contains("of 1000 segments retransmitted, 900 had arrived already"), "{}", fact.text);
    assert_eq!(reordered.label(Cause::LossRecovery), "reordering");
    for lost in [waterfall(2, 1), waterfall(9, 0)] {
        let fact = lost.facts.iter().find(|fact| fact.cause == Cause::LossRecovery).unwrap();
        assert!(fact.text.starts_with("loss and recovery took "), "{}", fact.text);
        assert_eq!(lost.label(Cause::LossRecovery), "loss and recovery");
    }
}

#[test]
fn a_loss_before_any_rate_has_no_cost_in_time_that_could_be_named() {
    let mut columns = with(Field::BytesAcked, |n| n * TENTH / 2);
    columns.retain(|(field, _)| *field != Field::TotalRetrans);
    columns.push((Field::TotalRetrans, Box::new(|n| n)));
    let waterfall = waterfall(vec![end(End::Sender, &columns)]);
    assert_eq!(waterfall.losses.worst[0].lost_time, Duration::ZERO);
    let said = waterfall.facts.iter().find(|fact| fact.cause == Cause::LossRecovery).unwrap();
    assert!(said.text.contains("what each cost is not known") && !said.text.contains("0 ns"), "{}", said.text);
}

#[test]
fn fifteen_early_retransmissions_rank_above_thirty_thousand_that_cost_less() {
    let episode = |retransmits, lost| LossEpisode {
        stream: 1,
        start: Duration::ZERO,
        recovery: Duration::ZERO,
        until: Duration::ZERO,
        end: LossEnd::Back,
        retransmits: PacketCount::new(retransmits),
        cwnd_before: None,
        cwnd_after: None,
        lost: ByteCount::new(lost),
        lost_time: Duration::ZERO,
    };
    let events = LossEvents::rank(vec![episode(32_939, 5_000_000), episode(15, 9_000_000_000)]);
    assert_eq!(events.worst[0].retransmits, PacketCount::new(15));
    assert_eq!(events.retransmits, PacketCount::new(32_954));
}
