//! Whether the sending program waits for room in its send buffer.
//!
//! A program that finds `sk_sndbuf` bytes in its send buffer, or asks whether it may write while more than two thirds of that lie there,
//! waits until a third is free (include/net/sock.h, `sk_stream_is_writeable`; net/ipv4/tcp_input.c, `tcp_check_space`). So as long as it
//! waits the buffer is two thirds full, and as soon as it is woken it writes again: up to the brim, or a block beyond two thirds each time.
//! The kernel's own clock of this (`tcpi_sndbuf_limited`) only starts where a packet leaves after the program has begun to wait
//! (net/ipv4/tcp_output.c, `tcp_cwnd_validate`): without pacing all have left before, and it stands still.
//!
//! A buffer that the kernel still lets grow has room for two congestion windows, with some overhead (net/ipv4/tcp_input.c,
//! `tcp_sndbuf_expand`), one of which is not sent: of a full one, all of which is in flight, it has become as large as it may.

use model::series::field::Field;

use super::fill::Fill;
use super::stream::{Setting, Stream};

/// At which samples of one stream its program waited.
#[derive(Debug, Default)]
pub(super) struct Writer {
    at: Vec<i64>,
    waits: Vec<bool>,
    /// Whether the buffer held so much that nobody is woken.
    held: Vec<bool>,
}

/// What one sample says.
#[derive(Debug, Clone, Copy)]
struct Sight {
    at: i64,
    /// How full the buffer is, in thousandths.
    fullness: u64,
    /// Less than a segment waits to be sent.
    all_sent: bool,
    /// Time with data outstanding so far.
    busy: Option<u64>,
}

impl Writer {
    /// Knows nothing where the samples do not say how full the send buffer was.
    pub(super) fn new(stream: &Stream<'_>, setting: &Setting<'_>) -> Self {
        let sights = sights(stream).unwrap_or_default();
        let reach = setting.base_rtt.and_then(|rtt| i64::try_from(rtt).ok()).unwrap_or(0).saturating_mul(ROUNDS);
        let mut around = Around::default();
        let (mut first, mut behind) = (0, 0);
        let mut waits = Vec::with_capacity(sights.len());
        for (number, sight) in sights.iter().enumerate() {
            let is_near = |other: &Sight| (other.at - sight.at).abs() <= reach;
            while behind < sights.len() && (behind <= number + SAMPLES || is_near(&sights[behind])) {
                around.enters(&sights[behind]);
                behind += 1;
            }
            while first + SAMPLES < number && !is_near(&sights[first]) {
                around.leaves(&sights[first]);
                first += 1;
            }
            let span = sights.get(first..behind).unwrap_or_default();
            waits.push(sight.all_sent && is_full_enough(sight) && around.shows_who_waits() && !has_idled(span));
        }
        let held = sights.iter().map(is_full_enough).collect();
        Self { at: sights.iter().map(|sight| sight.at).collect(), waits, held }
    }

    /// Whether it waited at the last sample until `at`.
    pub(super) fn waits(&self, at: i64) -> bool {
        self.last(&self.waits, at)
    }

    /// Whether its buffer had no room for it at the last sample until `at`, all of that sent or not.
    pub(super) fn has_no_room(&self, at: i64) -> bool {
        self.last(&self.held, at)
    }

    fn last(&self, of: &[bool], at: i64) -> bool {
        let after = self.at.partition_point(|time| *time <= at);
        after.checked_sub(1).and_then(|last| of.get(last)).copied().unwrap_or(false)
    }
}

/// How full the buffer was at the samples around one.
#[derive(Debug, Default)]
struct Around {
    all: usize,
    /// So full that a program which waits is not woken yet.
    held: usize,
    /// About as full as when it is woken.
    waking: usize,
    brim: usize,
}

impl Around {
    fn enters(&mut self, sight: &Sight) {
        self.all += 1;
        self.held += usize::from(is_full_enough(sight));
        self.waking += usize::from(is_waking(sight));
        self.brim += usize::from(is_brim(sight));
    }

    fn leaves(&mut self, sight: &Sight) {
        self.all -= 1;
        self.held -= usize::from(is_full_enough(sight));
        self.waking -= usize::from(is_waking(sight));
        self.brim -= usize::from(is_brim(sight));
    }

    /// A program that writes as much as the buffer holds, and then has nothing ready, lets it drain between two writes; one that writes
    /// evenly at a rate of its own neither fills it nor keeps it at two thirds but by chance.
    fn shows_who_waits(&self) -> bool {
        self.held * 4 >= self.all * 3 && (self.brim > 0 || self.waking * 5 >= self.all)
    }
}

/// Whether so many bytes in a send buffer of a size do not wake a program that waits for room in it.
pub(super) fn is_held(buffer: Fill) -> bool {
    fullness(buffer) >= HELD
}

/// In thousandths; nothing where nobody has waited yet.
fn fullness(buffer: Fill) -> u64 {
    if has_never_grown(buffer.limit) { 0 } else { buffer.thousandths() }
}

fn is_full_enough(sight: &Sight) -> bool {
    sight.fullness >= HELD
}

fn is_waking(sight: &Sight) -> bool {
    (HELD..=WAKING).contains(&sight.fullness)
}

fn is_brim(sight: &Sight) -> bool {
    sight.fullness >= BRIM
}

/// Whether nothing was outstanding for a tenth of the time: who waits for room is woken while two thirds are.
fn has_idled(span: &[Sight]) -> bool {
    let (Some(first), Some(last)) = (span.first(), span.last()) else { return false };
    let Some((before, after)) = first.busy.zip(last.busy) else { return false };
    let length = u64::try_from(last.at - first.at).unwrap_or(0);
    after.saturating_sub(before).saturating_add(TICK_US).saturating_mul(10) < length.saturating_mul(9)
}

fn sights(stream: &Stream<'_>) -> Option<Vec<Sight>> {
    let sender = stream.sender.as_ref()?;
    let (queued, limit) = (sender.column(Field::WmemQueued)?, sender.column(Field::Sndbuf)?);
    let (unsent, segment) = (sender.column(Field::Notsent)?, sender.column(Field::SndMss)?);
    let busy = sender.column(Field::BusyTime);
    let sight = |at: &i64| Sight {
        at: *at,
        fullness: fullness(Fill { used: queued.state(*at), limit: limit.state(*at) }),
        all_sent: unsent.state(*at) < segment.state(*at).max(1),
        busy: busy.map(|busy| busy.state(*at)),
    };
    Some(sender.times().iter().map(sight).collect())
}

/// Whether a buffer is as large as that of each new connection: twice ten segments, each of a power of two and a `struct sk_buff`
/// (`tcp_sndbuf_expand`). It grows as soon as a program waits, so none has.
fn has_never_grown(limit: u64) -> bool {
    const SEGMENTS: u64 = 20;
    const SK_BUFF: u64 = 256;
    limit.is_multiple_of(SEGMENTS) && (limit / SEGMENTS).checked_sub(SK_BUFF).is_some_and(u64::is_power_of_two)
}

/// Two thirds, less what is acknowledged until a program that is woken runs.
const HELD: u64 = 620;
/// Two thirds, and a block that a program writes each time that it may.
const WAKING: u64 = 720;
/// Of a buffer that empties evenly to two thirds and is filled again, half of the samples find it this full.
const BRIM: u64 = 850;
/// So many RTTs before and after a sample say whether the buffer was as full for long.
const ROUNDS: i64 = 2;
/// And so many samples, where these are farther apart.
const SAMPLES: usize = 5;
/// The kernel counts time in ticks (`CONFIG_HZ_100`).
const TICK_US: u64 = 10_000;
