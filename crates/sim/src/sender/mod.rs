//! The sending end.
//!
//! | file | what it holds |
//! |---|---|
//! | `mod` | the settings, the state, and what may be asked of it |
//! | `acknowledged` | what an acknowledgement does |
//! | `recovery` | losses: phases, proportional rate reduction, undo |
//! | `rack` | when a segment is held to be lost |
//! | `emit` | what may be sent now |
//! | `host` | the processor and the adapter that segments go through |
//! | `timers` | what happens when nothing arrives |
//! | `scoreboard` | what is in flight |
//! | `buffer` | the send buffer and the application |
//! | `rate`, `rtt` | measuring |
//! | `waits` | time without data under way, and time given to the retransmission timer |

mod acknowledged;
mod buffer;
mod emit;
mod host;
mod rack;
mod rate;
mod recovery;
mod rtt;
mod scoreboard;
mod timers;
mod waits;

use std::time::Duration;

use path::{Seed, Train};
use units::{ByteCount, DataRate, MonoTime, Mss, Mtu};

pub use buffer::Writer;
pub use rate::RateSample;
pub(crate) use rtt::RTO_INITIAL;

use crate::congestion::{Algorithm, CaState, Congestion, SlowStart, Window};
use crate::kernel::Kernel;
use crate::packet::Packets;
use crate::turns::Turns;
use buffer::{BufferSettings, SendBuffer};
use host::Host;
use rack::Rack;
use rate::Meter;
use recovery::Recovery;
use rtt::RoundTrip;
use scoreboard::{MOST_SEGMENTS, Scoreboard};
use waits::Waits;

/// How a sender spreads what it sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pacing {
    /// As the algorithm has it: BBR paces, the others send at once what the window lets go.
    Algorithm,
    /// By the `fq` qdisc: at twice the window each round trip while it doubles, and at 1.2 times after that.
    Fq,
    /// By `fq`, and never above a rate.
    Capped(DataRate),
}

/// A sending host and its settings.
#[derive(Debug, Clone)]
pub struct SenderSpec {
    /// The congestion control.
    pub algorithm: Algorithm,
    /// What ends its slow start, where that is CUBIC's.
    pub slow_start: SlowStart,
    /// The largest IP packet.
    pub mtu: Mtu,
    /// Segments in flight at first.
    pub initial_window: u32,
    /// The most the send buffer grows to (`tcp_wmem[2]`).
    pub buffer: ByteCount,
    /// How the application writes.
    pub writer: Writer,
    /// How fast the application has data; as fast as it can write without.
    pub application_rate: Option<DataRate>,
    /// How fast one processor sends; without bound without.
    pub processor_rate: Option<DataRate>,
    /// The rate of the adapter.
    pub adapter_rate: DataRate,
    /// How it spreads what it sends.
    pub pacing: Pacing,
    /// Bytes that segmentation offload takes at once; one segment where it holds no more.
    pub offload: ByteCount,
    /// The most that waits in the host's queue (`tcp_limit_output_bytes`).
    pub small_queue: ByteCount,
    /// Whether marks are asked for (`tcp_ecn` = 1).
    pub ecn: bool,
    /// Whether the ends agreed on selective acknowledgements (`tcp_sack` of both).
    pub sack: bool,
    /// Whether the window shrinks after a pause (`tcp_slow_start_after_idle`).
    pub restarts_after_idle: bool,
    /// When the application runs; always without.
    pub turns: Option<Turns>,
    /// Release of its kernel: what memory frames take, and how fast a recovery sends.
    pub kernel: Kernel,
}

/// How much is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Amount {
    /// So many bytes.
    Bytes(ByteCount),
    /// For so long.
    Time(Duration),
}

/// What kept a sender from sending more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Limit {
    /// The congestion window.
    Window,
    /// The window that the receiver offers.
    ReceiveWindow,
    /// The send buffer.
    SendBuffer,
    /// The application had nothing to send.
    Application,
    /// The processor, or the adapter.
    Host,
    /// Pacing.
    Pacing,
}

impl Limit {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::Window, Self::ReceiveWindow, Self::SendBuffer, Self::Application, Self::Host, Self::Pacing];

    /// Its name in results.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Window => "congestion-window",
            Self::ReceiveWindow => "receive-window",
            Self::SendBuffer => "send-buffer",
            Self::Application => "application",
            Self::Host => "host",
            Self::Pacing => "pacing",
        }
    }
}

/// What a sender has counted.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Counters {
    pub(crate) sent: u64,
    pub(crate) retransmits: u64,
    pub(crate) recoveries: u32,
    pub(crate) timeouts: u32,
    pub(crate) probes: u32,
    pub(crate) undone: u32,
    pub(crate) mark_reductions: u32,
    pub(crate) max_outstanding: u32,
    /// Segments that came twice, by the receiver's word (RFC 2883).
    pub(crate) twice: u64,
    /// Segments that were marked.
    pub(crate) marked: u64,
    /// How often segments were overtaken.
    pub(crate) overtaken: u64,
}

/// See the module.
#[derive(Debug)]
pub(crate) struct Sender {
    pub(crate) mss: u32,
    most_frame: u32,
    /// Segments in a frame at the present pace.
    frame: u32,
    pacing: Pacing,
    paces: bool,
    /// Whether the algorithm sets window and pacing by itself.
    is_rate_based: bool,
    small_queue: u64,
    sack: bool,
    restarts_after_idle: bool,
    initial_window: u32,
    board: Scoreboard,
    meter: Meter,
    pub(crate) rtt: RoundTrip,
    window: Window,
    control: Box<dyn Congestion>,
    ca_state: CaState,
    recovery: Recovery,
    kernel: Kernel,
    rack: Rack,
    buffer: SendBuffer,
    host: Host,
    packets: Packets,
    /// First byte that the receiver does not yet allow.
    right_window_edge: u64,
    /// The largest window that the receiver offered (`max_window`).
    max_window: u64,
    /// The blocks of the last acknowledgement, of which nothing new is to be learned.
    known: [(u32, u32); 4],
    /// Whether the window was the limit, by the rule of Linux.
    max_outstanding: u32,
    most_out_until: u32,
    cwnd_was_full: bool,
    last_sent: MonoTime,
    pace_next: MonoTime,
    paced_out: u32,
    timeout: Option<MonoTime>,
    probe: Option<MonoTime>,
    probing: Option<u32>,
    reorder: Option<MonoTime>,
    wake: Option<MonoTime>,
    pub(crate) limit: Limit,
    limit_since: MonoTime,
    waits: Waits,
    spent: [Duration; Limit::ALL.len()],
    pub(crate) counters: Counters,
}

/// What a kernel tells of a sender besides what the simulation itself needs. Counts are in segments.
#[derive(Debug, Clone, Copy)]
pub(crate) struct State {
    pub(crate) ca_state: CaState,
    pub(crate) out: u32,
    pub(crate) sacked: u32,
    pub(crate) resent: u32,
    pub(crate) unsent: u32,
    pub(crate) written: u32,
    pub(crate) delivered: u64,
    pub(crate) pacing: DataRate,
    pub(crate) idle: Duration,
    pub(crate) after_timeouts: Duration,
}

/// Bytes of headers in a segment: IPv4 (RFC 791), TCP (RFC 9293) and timestamps (RFC 7323).
pub const HEADERS: u32 = 52;

impl SenderSpec {
    /// Payload of a full segment.
    #[must_use]
    pub fn mss(&self) -> Option<Mss> {
        Mss::new(self.mtu.get().saturating_sub(HEADERS)).ok()
    }
}

impl Sender {
    /// The sender of a flow, by its number.
    pub(crate) fn new(spec: &SenderSpec, flow: usize, mss: Mss, amount: Amount, seed: Seed) -> Self {
        let now = MonoTime::default();
        let mss = mss.get();
        let most_frame = u32::try_from(spec.offload.get() / u64::from(mss)).unwrap_or(u32::MAX).clamp(1, MOST_SEGMENTS);
        let control = spec.algorithm.build(spec.slow_start, seed, mss);
        let total = match amount {
            Amount::Bytes(bytes) => u32::try_from(bytes.get().div_ceil(u64::from(mss))).ok(),
            Amount::Time(_) => None,
        };
        let buffer = BufferSettings {
            most: spec.buffer,
            mss,
            factor: control.sndbuf_expand(),
            writer: spec.writer,
            total: total.map(|total| total.min(buffer::MOST)),
            app_rate: spec.application_rate,
            turns: spec.turns,
            frame_overhead: spec.kernel.frame_overhead(),
        };
        Self {
            mss,
            most_frame,
            frame: most_frame,
            pacing: spec.pacing,
            paces: spec.pacing != Pacing::Algorithm || control.is_rate_based(),
            is_rate_based: control.is_rate_based(),
            small_queue: spec.small_queue.get(),
            sack: spec.sack,
            restarts_after_idle: spec.restarts_after_idle,
            initial_window: spec.initial_window,
            board: Scoreboard::new(),
            meter: Meter::new(now),
            rtt: RoundTrip::new(),
            window: Window { cwnd: spec.initial_window, ssthresh: u32::MAX, count: 0, prior: 0, pacing: 0.0 },
            control,
            ca_state: CaState::Open,
            recovery: Recovery::default(),
            kernel: spec.kernel,
            rack: Rack::default(),
            buffer: SendBuffer::new(buffer),
            host: Host::new(spec.adapter_rate, spec.processor_rate),
            packets: Packets::new(flow, mss + HEADERS, spec.ecn),
            right_window_edge: 0,
            max_window: 0,
            known: [(0, 0); 4],
            max_outstanding: 0,
            most_out_until: 0,
            cwnd_was_full: false,
            last_sent: now,
            pace_next: now,
            paced_out: 0,
            timeout: None,
            probe: None,
            probing: None,
            reorder: None,
            wake: None,
            limit: Limit::Window,
            limit_since: now,
            waits: Waits::default(),
            spent: [Duration::ZERO; Limit::ALL.len()],
            counters: Counters::default(),
        }
    }

    /// The connection stands: the handshake took `rtt`, and the receiver allows `edge` bytes.
    pub(crate) fn established(&mut self, now: MonoTime, rtt: Duration, edge: u64) {
        self.rtt.measured(rtt);
        (self.right_window_edge, self.max_window) = (edge, edge);
        self.limit_since = now;
        self.waits = Waits::begin(now);
        self.meter = Meter::new(now);
        self.last_sent = now;
        self.buffer.begins(now);
        self.buffer.expand(self.window.cwnd);
        self.set_pacing();
        self.control.init(&mut self.window, rtt);
        self.send(now);
    }

    /// Whether everything that was to be sent has been acknowledged.
    pub(crate) fn is_done(&self) -> bool {
        self.buffer.is_done() && self.board.una() == self.buffer.written()
    }

    /// The application writes no more.
    pub(crate) fn close(&mut self) {
        self.buffer.close();
    }

    pub(crate) fn acked(&self) -> ByteCount {
        ByteCount::new(u64::from(self.board.una()) * u64::from(self.mss))
    }

    pub(crate) fn cwnd(&self) -> u32 {
        self.window.cwnd
    }

    pub(crate) fn ssthresh(&self) -> Option<u32> {
        (self.window.ssthresh != u32::MAX).then_some(self.window.ssthresh)
    }

    pub(crate) fn in_flight(&self) -> u32 {
        self.board.in_flight()
    }

    pub(crate) fn offered(&self) -> ByteCount {
        ByteCount::new(self.right_window_edge.saturating_sub(u64::from(self.board.una()) * u64::from(self.mss)))
    }

    pub(crate) fn buffer_limit(&self) -> ByteCount {
        self.buffer.limit()
    }

    /// The most that the window asked the send buffer to hold.
    pub(crate) fn most_buffer_asked(&self) -> ByteCount {
        self.buffer.most_asked()
    }

    pub(crate) fn pacing_rate(&self) -> Option<DataRate> {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "not negative, and casts saturate")]
        let rate = self.window.pacing as u64;
        self.paces.then(|| DataRate::from_bytes_per_second(rate))
    }

    pub(crate) fn smoothed_rtt(&self) -> Duration {
        self.rtt.smoothed()
    }

    pub(crate) fn min_rtt(&self) -> Duration {
        self.rtt.least()
    }

    /// For how long each limit held.
    pub(crate) fn spent(&self, now: MonoTime) -> [(Limit, Duration); Limit::ALL.len()] {
        let mut spent = self.spent;
        spent[self.limit as usize] += now.since(self.limit_since);
        let mut each = [(Limit::Window, Duration::ZERO); Limit::ALL.len()];
        for (slot, (limit, time)) in each.iter_mut().zip(Limit::ALL.into_iter().zip(spent)) {
            *slot = (limit, time);
        }
        each
    }

    /// What a kernel tells of it besides.
    pub(crate) fn state(&self, now: MonoTime) -> State {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "not negative, and casts saturate")]
        let pacing = self.window.pacing as u64;
        State {
            ca_state: self.ca_state,
            out: self.board.out(),
            sacked: self.board.sacked(),
            resent: self.board.resent(),
            unsent: self.buffer.written().saturating_sub(self.board.next()),
            written: self.buffer.written(),
            delivered: self.meter.delivered,
            pacing: DataRate::from_bytes_per_second(pacing),
            idle: self.waits.idle(now),
            after_timeouts: self.waits.after_timeouts(now),
        }
    }

    /// What has left the host, and has to go to the path.
    pub(crate) fn outgoing(&mut self, now: MonoTime) -> Option<Train> {
        self.host.released(now)
    }

    fn note_limit(&mut self, limit: Limit, now: MonoTime) {
        if limit != self.limit {
            self.spent[self.limit as usize] += now.since(self.limit_since);
            (self.limit, self.limit_since) = (limit, now);
        }
    }
}
