//! Sums and flows from the rows of a summary, or where a test broke off, from its intervals.

use std::time::Duration;

use model::measurement::{DatagramCounts, DirectionTotal, End, Flow, Heading, SteadyState};
use model::spec::{Protocol, SendMethod};
use stats::steady::{Steady, detect};
use units::{ByteCount, DataRate, PacketCount};

use super::parsed::{Datagrams, EndRow, Label, ParsedTest, Row};

/// The two ends of one stream, or of the sum.
#[derive(Debug, Clone, Default)]
pub(crate) struct Ends {
    pub(crate) sender: Option<Row>,
    pub(crate) receiver: Option<Row>,
}

impl Ends {
    /// The rows of the summary for `label` and `heading`.
    pub(crate) fn of(parsed: &ParsedTest, label: Label, heading: Heading) -> Self {
        let find = |end: End| {
            let matches =
                |count: &&EndRow| count.end == end && count.row.label == label && parsed.heading(&count.row) == heading;
            parsed.ends.iter().find(matches).map(|count| count.row.clone())
        };
        Self { sender: find(End::Sender), receiver: find(End::Receiver) }
    }

    /// The sum, as printed or as the streams add up to.
    pub(crate) fn of_all(parsed: &ParsedTest, heading: Heading) -> Self {
        let printed = Self::of(parsed, Label::Sum, heading);
        let add_up = |end: End| {
            let streams = parsed.ends.iter().filter(|count| {
                count.end == end && count.row.label != Label::Sum && parsed.heading(&count.row) == heading
            });
            streams.map(|count| count.row.clone()).reduce(|sum, row| added(&sum, &row))
        };
        Self {
            sender: printed.sender.or_else(|| add_up(End::Sender)),
            receiver: printed.receiver.or_else(|| add_up(End::Receiver)),
        }
    }

    /// The test broke off: what the intervals of the printing host add up to.
    fn from_rows(parsed: &ParsedTest, heading: Heading) -> Self {
        let rows = parsed.rows.iter().filter(|row| !row.omitted && parsed.heading(row) == heading);
        let has_sum = rows.clone().any(|row| row.label == Label::Sum);
        let sum = rows
            .filter(|row| !has_sum || row.label == Label::Sum)
            .fold(None, |sum: Option<Row>, row| Some(sum.map_or_else(|| row.clone(), |sum| continued(&sum, row))))
            .map(|sum| without_gaps(parsed, heading, sum));
        match heading {
            Heading::Outbound => Self { sender: sum, receiver: None },
            Heading::Inbound => Self { sender: None, receiver: sum },
        }
    }

    fn is_empty(&self) -> bool {
        self.sender.is_none() && self.receiver.is_none()
    }

    /// How long datagrams were sent: a receiver waits for the last of them, and its time is no time of sending.
    fn sending(&self) -> Option<Duration> {
        let (sender, receiver) = (self.sender.as_ref()?, self.receiver.as_ref()?);
        receiver.datagrams?;
        let (rate, longer) = (sender.rate.filter(|rate| !rate.is_zero())?, receiver.end.saturating_sub(receiver.start));
        // The rate has more digits than the time.
        #[expect(clippy::cast_precision_loss, reason = "a time for display")]
        let sending = Duration::try_from_secs_f64(sender.bytes.get() as f64 * 8.0 / rate.bps() as f64).ok()?;
        (sending.as_secs_f64() * LATER < longer.as_secs_f64()).then_some(sending)
    }

    /// From the start to the receiver's last byte, or where it is silent to the sender's.
    fn elapsed(&self) -> Duration {
        self.receiver.as_ref().or(self.sender.as_ref()).map_or(Duration::ZERO, |row| row.end.saturating_sub(row.start))
    }

    fn goodput(&self) -> DataRate {
        let row = self.receiver.as_ref().or(self.sender.as_ref());
        let printed = row.and_then(|row| row.rate);
        printed.or_else(|| DataRate::of(row?.bytes, self.elapsed())).unwrap_or_default()
    }

    fn datagrams(&self, parsed: &ParsedTest) -> Option<DatagramCounts> {
        let counts = |row: &Option<Row>| row.as_ref().and_then(|row| row.datagrams);
        let seen = counts(&self.receiver).filter(|seen| seen.lost.is_some());
        let sent = counts(&self.sender).map(|datagrams| datagrams.total);
        // A sender alone knows nothing of losses, which the model cannot leave open.
        let Datagrams { lost: Some(lost), total } = seen? else { return None };
        let missing = u64::try_from(lost).unwrap_or(0).min(total);
        let sent = sent.unwrap_or(total).max(total);
        let tail = sent - total;
        Some(DatagramCounts {
            sent: PacketCount::new(sent),
            received: PacketCount::new(total - missing),
            lost: PacketCount::new(missing + tail),
            lost_at_tail: PacketCount::new(tail),
            // Of a whole test, where only some of its intervals are known.
            reordered: PacketCount::new(parsed.reordered.filter(|count| *count <= sent).unwrap_or(0)),
            duplicated: PacketCount::ZERO,
            dropped_at_socket: None,
            jitter: self.receiver.as_ref().and_then(|row| row.jitter).unwrap_or_default(),
        })
    }
}

/// Of a text whose lines were cut out the rate is that of the intervals that are left, and the last of them may have lost its columns.
fn without_gaps(parsed: &ParsedTest, heading: Heading, mut sum: Row) -> Row {
    let rows = || parsed.rows.iter().filter(|row| !row.omitted && parsed.heading(row) == heading);
    let Some(last) = rows().next_back() else { return sum };
    let of_label = || rows().filter(|row| row.label == last.label);
    let covered: Duration = of_label().map(|row| row.end.saturating_sub(row.start)).sum();
    let begun = of_label().map(|row| row.start).min().unwrap_or_default();
    if covered * 20 < last.end.saturating_sub(begun) * 19 {
        sum.rate = DataRate::of(sum.bytes, covered);
    }
    let counts: Vec<Option<u64>> = of_label().map(|row| row.retransmits).collect();
    if let (true, Some((None, others))) =
        (sum.label == last.label || rows().count() == counts.len(), counts.split_last())
    {
        sum.retransmits = others.iter().copied().sum::<Option<u64>>().filter(|_| !others.is_empty());
    }
    sum
}

/// A receiver that ends so much later waited for datagrams that were lost or late.
const LATER: f64 = 1.05;

/// Two streams at the same time.
pub(crate) fn added(a: &Row, b: &Row) -> Row {
    let mut sum = Row::new(Label::Sum, a.start.min(b.start), a.end.max(b.end), plus(a.bytes, b.bytes));
    sum.heading = a.heading;
    sum.rate = a.rate.zip(b.rate).map(|(a, b)| a + b);
    sum.retransmits = a.retransmits.zip(b.retransmits).map(|(a, b)| a.saturating_add(b));
    sum.jitter = a.jitter.zip(b.jitter).map(|(a, b)| (a + b) / 2);
    sum.datagrams = a.datagrams.zip(b.datagrams).map(|(a, b)| Datagrams {
        lost: a.lost.zip(b.lost).map(|(a, b)| a.saturating_add(b)),
        total: a.total.saturating_add(b.total),
    });
    sum.omitted = a.omitted;
    sum
}

/// One interval after another.
fn continued(a: &Row, b: &Row) -> Row {
    Row { rate: None, jitter: b.jitter, ..added(a, b) }
}

fn plus(a: ByteCount, b: ByteCount) -> ByteCount {
    ByteCount::new(a.get().saturating_add(b.get()))
}

/// The sums of one direction; `None` where nothing went that way.
pub(crate) fn total(parsed: &ParsedTest, heading: Heading, intervals: &[ByteCount]) -> Option<DirectionTotal> {
    let mut ends = Ends::of_all(parsed, heading);
    if ends.is_empty() {
        ends = Ends::from_rows(parsed, heading);
    }
    if ends.is_empty() {
        return None;
    }
    // A total that overflowed leaves what the intervals counted.
    let datagrams = ends.datagrams(parsed).or_else(|| Ends::from_rows(parsed, heading).datagrams(parsed));
    // Intervals of the host that sends count what it sent, whatever arrived of it.
    let is_lossy = datagrams.is_some_and(|counts| counts.lost > PacketCount::ZERO);
    let is_of_arrivals = heading == Heading::Inbound || !is_lossy;
    let steady = if is_of_arrivals { steady(intervals, ends.elapsed()) } else { SteadyState::NotReached };
    Some(DirectionTotal {
        heading,
        sent: ends.sender.as_ref().map(|row| row.bytes),
        received: ends.receiver.as_ref().map(|row| row.bytes),
        elapsed: ends.sending().unwrap_or_else(|| ends.elapsed()),
        goodput: ends.goodput(),
        retransmits: ends.sender.as_ref().and_then(|row| row.retransmits).map(PacketCount::new),
        datagrams,
        steady,
    })
}

/// Each stream of one direction.
pub(crate) fn flows(parsed: &ParsedTest, heading: Heading, mss: Option<u32>) -> Vec<Flow> {
    let mut labels: Vec<Label> = Vec::new();
    for row in parsed.ends.iter().map(|count| &count.row).chain(&parsed.rows) {
        if row.label != Label::Sum && parsed.heading(row) == heading && !labels.contains(&row.label) {
            labels.push(row.label);
        }
    }
    let alone = labels.len() == 1;
    let flows = labels.into_iter().enumerate().map(|(index, label)| {
        let mut ends = Ends::of(parsed, label, heading);
        if alone {
            // Only the sums have what both ends counted.
            let sums = Ends::of_all(parsed, heading);
            ends = Ends { sender: sums.sender.or(ends.sender), receiver: sums.receiver.or(ends.receiver) };
        }
        let Label::Stream(number) = label else { return None };
        let connection = parsed.connections.iter().find(|connection| connection.stream == number);
        Some(Flow {
            stream: u32::try_from(index + 1).unwrap_or(u32::MAX),
            heading,
            local_address: connection.map(|connection| connection.local.clone()).unwrap_or_default(),
            peer_address: connection.map(|connection| connection.peer.clone()).unwrap_or_default(),
            mss: mss.filter(|_| parsed.protocol() != Some(Protocol::Udp)),
            congestion_control: parsed.congestion_control.clone(),
            sent_by: parsed
                .options
                .send
                .or_else(|| (parsed.protocol() == Some(Protocol::Tcp)).then_some(SendMethod::Write)),
            copy_fallback: None,
            received_by: None,
            sent: ends.sender.as_ref().map(|row| row.bytes),
            received: ends.receiver.as_ref().map(|row| row.bytes),
            retransmits: ends.sender.as_ref().and_then(|row| row.retransmits).map(PacketCount::new),
            datagrams: ends.datagrams(parsed),
        })
    });
    flows.flatten().collect()
}

/// Detected on intervals as if they were equally long; the last one, which may be shorter, is left out. The search is
/// quadratic, so that of a long test as many neighbours as needed count as one step.
fn steady(intervals: &[ByteCount], elapsed: Duration) -> SteadyState {
    const MOST_STEPS: usize = 1_000;
    let Some((_, whole)) = intervals.split_last() else { return SteadyState::NotReached };
    let together = whole.len().div_ceil(MOST_STEPS).max(1);
    let sum = |group: &[ByteCount]| group.iter().copied().fold(ByteCount::ZERO, plus);
    let steps: Vec<ByteCount> = whole.chunks_exact(together).map(sum).collect();
    let (Steady::From(first), Ok(count)) = (detect(&steps), u32::try_from(intervals.len())) else {
        return SteadyState::NotReached;
    };
    let step = elapsed / count.max(1);
    let of = |steps: usize| step * u32::try_from(steps * together).unwrap_or(u32::MAX);
    SteadyState::Reached {
        ramp_up: of(first),
        goodput: DataRate::of(sum(&steps[first..]), of(steps.len() - first)).unwrap_or_default(),
    }
}
