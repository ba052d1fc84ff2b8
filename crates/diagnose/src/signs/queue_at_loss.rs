//! How long the queue was when packets were lost. What overflows a queue is lost while RTTs are at their longest; what is lost at
//! random, or by somebody who counts packets, is lost at any RTT.

use model::series::StreamSamples;
use model::series::field::Field;

use super::Observation;
use super::flow::Flow;
use super::losses::{begins, losses};
use super::rows::whole_column;

/// Of the streams of a flow whose least RTT is this, in microseconds.
pub(super) fn queue_at_loss(senders: &[&StreamSamples], base_us: u64) -> Option<Observation> {
    let longest = senders.iter().filter_map(|stream| stream.column(Field::Rtt)?.iter().copied().max()).max()?;
    let mut at_loss: Vec<u64> = senders.iter().filter_map(|stream| rtts(stream, base_us)).flatten().collect();
    at_loss.sort_unstable();
    let typical = *at_loss.get(at_loss.len() / 2)?;
    let grown = longest.saturating_sub(base_us);
    let part = typical.saturating_sub(base_us) * 100 / grown.max(1);
    let state = match part {
        _ if grown < LEAST_US || grown * 10 < base_us => "no-queue",
        part if part < EMPTY => "empty",
        part if part < FULL => "between",
        _ => "full",
    };
    #[expect(clippy::cast_precision_loss, reason = "for people")]
    let ms = |us: u64| us as f64 * 1e-3;
    let says = format!(
        "RTTs were {:.1} ms when packets were lost, {:.1} ms without load and {:.1} ms at the most",
        ms(typical),
        ms(base_us),
        ms(longest)
    );
    Observation::of("queue-at-loss", state, says)
}

/// The longest queue that a flow saw.
#[derive(Debug, Clone, Copy)]
pub(super) struct LongestQueue {
    /// What came in the time by which it made RTTs longer.
    bytes: u128,
    /// By how much it made RTTs longer, in microseconds.
    delay_us: u64,
}

impl LongestQueue {
    /// Of probes beside a flow. Nine of ten RTTs are shorter, so that a single late probe is no queue.
    pub(super) fn of(rtts_us: &[u32], base_us: u64, flow: &Flow) -> Option<Self> {
        let mut rtts: Vec<u32> = rtts_us.to_vec();
        rtts.sort_unstable();
        let longest = u64::from(*rtts.get(rtts.len() * 9 / 10)?);
        let delay_us = longest.saturating_sub(base_us);
        Some(Self { bytes: u128::from(flow.goodput.bps()) * u128::from(delay_us) / 8_000_000, delay_us })
    }

    /// How many packets of a flow it held.
    pub(super) fn size(self, flow: &Flow) -> Option<Observation> {
        let packet = flow.shape.payload.filter(|bytes| *bytes > 0)?;
        let packets = u64::try_from(self.bytes / u128::from(packet)).unwrap_or(u64::MAX);
        let state = match packets {
            _ if self.delay_us < LEAST_US / 4 => "none",
            0..NONE => "none",
            NONE..TENS => "few",
            TENS..HUNDREDS => "tens",
            _ => "hundreds",
        };
        Observation::of("queue-size", state, format!("the queue held about {packets} packets at the most"))
    }

    /// Whether a port of a few dozen packets holds as much, at a rate at which that is a few milliseconds.
    pub(super) const fn is_shallow(self) -> bool {
        self.bytes < SHALLOW_BYTES && self.delay_us < SHALLOW_US
    }
}

/// The RTT before each episode of losses.
fn rtts(stream: &StreamSamples, base_us: u64) -> Option<Vec<u64>> {
    let rtt = whole_column(stream, Field::Rtt)?;
    let lost = losses(stream)?;
    let rows = begins(stream, &lost, base_us)?;
    Some(rows.into_iter().map(|row| rtt[row.saturating_sub(1)]).collect())
}

/// RTTs that grow by less have no queue behind them.
const LEAST_US: u64 = 1_000;
/// In percent of what RTTs grew by at the most.
const EMPTY: u64 = 30;
const FULL: u64 = 60;
/// In packets.
const NONE: u64 = 3;
const TENS: u64 = 24;
const HUNDREDS: u64 = 135;
/// 64 packets of 1,500 bytes: ports of switches without deep buffers have more.
const SHALLOW_BYTES: u128 = 96_000;
/// A queue that takes longer to empty is as long as bursts need, however few packets a slow link holds.
const SHALLOW_US: u64 = 10_000;
