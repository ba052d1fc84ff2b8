//! Claims about one made-up stream: ten milliseconds a sample, a second, an RTT of 10 ms and 120 kB that arrive in each.

use model::measurement::{End, Heading, Whose};
use model::series::field::Field;
use model::series::{Column, RunSamples, StreamSamples};
use model::spec::TestSpec;

use super::super::stream::{Clocks, Pacing, Processor, Setting, Stream};
use super::super::view::View;
use super::super::writer::Writer;
use super::{flat, payload_per_second};

const SAMPLE_US: i64 = 10_000;
const SAMPLES: u64 = 101;
const ARRIVES: u64 = 120_000;
/// The same in a second.
const RATE: u64 = 12_000_000;
const MSS: u64 = 1_448;

type Planned = (Field, Box<dyn Fn(u64) -> u64>);

/// A path whose queue stands, and whose rate does not change.
fn queue() -> Vec<Planned> {
    vec![
        (Field::BytesAcked, Box::new(|n| n * ARRIVES)),
        (Field::Rtt, Box::new(|_| 14_000)),
        (Field::Unacked, Box::new(|_| 130)),
        (Field::SndMss, Box::new(|_| MSS)),
    ]
}

fn with(field: Field, value: impl Fn(u64) -> u64 + 'static) -> Vec<Planned> {
    replaced(queue(), field, value)
}

fn replaced(mut columns: Vec<Planned>, field: Field, value: impl Fn(u64) -> u64 + 'static) -> Vec<Planned> {
    columns.retain(|(of, _)| *of != field);
    columns.push((field, Box::new(value)));
    columns
}

/// With a send buffer that is 70 % full, of which so many bytes are not sent.
fn held(columns: Vec<Planned>, unsent: u64) -> Vec<Planned> {
    let columns = replaced(columns, Field::Sndbuf, |_| 1_000_000);
    let columns = replaced(columns, Field::WmemQueued, |_| 700_000);
    replaced(columns, Field::Notsent, move |_| unsent)
}

fn capacity(columns: &[Planned]) -> Option<u64> {
    of(&[columns], [Processor::NotExhausted; 2])
}

fn of(streams: &[&[Planned]], [sender_cpu, receiver_cpu]: [Processor; 2]) -> Option<u64> {
    let streams = (1..).zip(streams).map(|(stream, columns)| StreamSamples {
        stream,
        heading: Heading::Outbound,
        end: End::Sender,
        whose: Whose::Local,
        at_us: (0..101).map(|n| n * SAMPLE_US).collect(),
        columns: columns
            .iter()
            .map(|(field, value)| Column { field: *field, values: (0..SAMPLES).map(value).collect() })
            .collect(),
    });
    let samples = RunSamples { streams: streams.collect(), ..RunSamples::default() };
    let spec = TestSpec::default();
    let setting = Setting {
        spec: &spec,
        end: 1_000_000,
        base_rtt: Some(10_000),
        spacing: 10_000,
        sender_cpu,
        receiver_cpu,
        clocks: Clocks::Unrelated,
        pacing: Pacing::NotKnown,
    };
    let streams = Stream::all(&samples, Heading::Outbound);
    let view = |stream| View { stream, start_end: 0, writer: Writer::new(stream, &setting) };
    let views: Vec<View<'_>> = streams.iter().map(view).collect();
    payload_per_second(&views, &setting)
}

/// What has arrived until each sample, where each tenth of a second brings the same amounts.
fn arriving(amounts: [u64; 10]) -> impl Fn(u64) -> u64 {
    let all: u64 = amounts.iter().sum();
    move |n| n / 10 * all + amounts.iter().take(usize::try_from(n % 10).unwrap()).sum::<u64>()
}

#[test]
fn rates_that_vary_are_no_ceiling() {
    assert_eq!(flat(vec![100, 101, 99, 100, 100], 5), Some(100));
    assert_eq!(flat(vec![100, 20, 180, 60, 100], 5), None);
    assert_eq!(flat(vec![100, 100], 40), None);
    assert_eq!(flat(vec![], 0), None);
}

#[test]
fn a_flat_rate_behind_a_standing_queue_is_the_capacity() {
    assert_eq!(capacity(&queue()), Some(RATE));
}

#[test]
fn a_queue_stands_from_a_quarter_and_a_millisecond_above_the_least_rtt_on() {
    assert_eq!(capacity(&with(Field::Rtt, |_| 13_500)), Some(RATE));
    assert_eq!(capacity(&with(Field::Rtt, |_| 13_499)), None);
}

#[test]
fn a_path_that_is_not_filled_has_no_queue_however_long_rtts_are() {
    // Nine tenths of 120 kB are 74.6 segments.
    assert_eq!(capacity(&with(Field::Unacked, |_| 75)), Some(RATE));
    assert_eq!(capacity(&with(Field::Unacked, |_| 74)), None);
}

#[test]
fn a_path_that_was_faster_by_more_than_a_tenth_has_no_ceiling_there() {
    let faster = |more: u64| with(Field::BytesAcked, move |n| n * ARRIVES + n.saturating_sub(50).min(10) * more);
    assert_eq!(capacity(&faster(ARRIVES / 10)), Some(RATE));
    assert_eq!(capacity(&faster(ARRIVES / 10 + 10)), None);
}

#[test]
fn a_cpu_that_is_used_up_at_either_end_makes_rtts_long_as_well() {
    use Processor::{Exhausted, NotExhausted};
    for processors in [[Exhausted, NotExhausted], [NotExhausted, Exhausted]] {
        assert_eq!(of(&[&queue()], processors), None);
    }
}

#[test]
fn streams_share_one_capacity() {
    let half = || replaced(with(Field::BytesAcked, |n| n * ARRIVES / 2), Field::Unacked, |_| 65);
    assert_eq!(of(&[&half(), &half()], [Processor::NotExhausted; 2]), Some(RATE));
}

#[test]
fn what_is_acknowledged_behind_a_hole_came_when_the_kernel_counted_its_segments() {
    // Nothing is acknowledged for 200 ms, then all at once.
    let leaps = || with(Field::BytesAcked, |n| n / 20 * 20 * ARRIVES);
    assert_eq!(capacity(&leaps()), None);
    assert_eq!(capacity(&replaced(leaps(), Field::Delivered, |n| n * 80)), Some(80 * MSS * 100));
}

/// A program that waits for room: the path passes nothing for three tenths of each step, and is not far from its average else.
#[test]
fn a_path_that_runs_empty_while_its_program_waits_for_room_is_no_capacity() {
    const A: u64 = 150_000;
    const B: u64 = 200_000;
    let bursts = || with(Field::BytesAcked, arriving([0, 0, 0, A, A, A, A, B, B, B]));
    assert_eq!(capacity(&bursts()), Some(RATE));
    assert_eq!(capacity(&held(bursts(), 0)), None);
    // The program has written: what does not arrive waits somewhere else.
    assert_eq!(capacity(&held(bursts(), 2 * MSS)), Some(RATE));
}

#[test]
fn a_path_that_pauses_though_a_program_would_write_passes_more_than_its_average() {
    let eighth = ARRIVES * 10 / 8;
    let pausing = |busy: u64| with(Field::BytesAcked, arriving([0, 0, 0, busy, busy, busy, busy, busy, busy, busy]));
    let pauses = || pausing(ARRIVES * 10 / 7);
    assert_eq!(capacity(&held(pauses(), 2 * MSS)), None);
    // With room in its buffer the program has nothing to write.
    assert!(capacity(&pauses()).is_some());
    // A quarter more for four fifths of the time is no pause.
    let fifths =
        with(Field::BytesAcked, arriving([0, 0, eighth, eighth, eighth, eighth, eighth, eighth, eighth, eighth]));
    assert_eq!(capacity(&held(fifths, 2 * MSS)), Some(RATE));
}

#[test]
fn behind_a_full_send_buffer_a_queue_has_to_stand_for_three_fifths_of_the_steps() {
    let standing = |until: u64| with(Field::Rtt, move |n| if n < until { 14_000 } else { 10_000 });
    assert_eq!(capacity(&held(standing(61), 2 * MSS)), Some(RATE));
    assert_eq!(capacity(&held(standing(51), 2 * MSS)), None);
    // Where the buffer has room, its program limits nothing.
    assert_eq!(capacity(&standing(51)), Some(RATE));
}
