//! Congestion control: how much may be in flight, and how fast it may be sent.
//!
//! | file | algorithm |
//! |---|---|
//! | `reno` | RFC 5681 |
//! | `cubic` | RFC 9438, with `hystart` |
//! | `htcp` | H-TCP as Linux has it |
//! | `bbr` | BBR, version 1 as Linux has it, and version 3 |
//! | `filter` | the largest value of the last rounds |
//!
//! Windows are counted in segments, as Linux does.

mod bbr;
mod cubic;
mod filter;
mod htcp;
mod hystart;
mod reno;

use std::fmt::Debug;
use std::str::FromStr;
use std::time::Duration;

use path::Seed;
use units::MonoTime;

use crate::sender::RateSample;

/// Which algorithm.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Algorithm {
    /// RFC 5681.
    Reno,
    /// RFC 9438; what Linux uses where nothing is said.
    Cubic,
    /// H-TCP.
    Htcp,
    /// BBR version 1.
    Bbr,
    /// BBR version 3.
    Bbr3,
}

impl Algorithm {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Reno, Self::Cubic, Self::Htcp, Self::Bbr, Self::Bbr3];

    /// Its name; that of Linux where Linux has it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Reno => "reno",
            Self::Cubic => "cubic",
            Self::Htcp => "htcp",
            Self::Bbr => "bbr",
            Self::Bbr3 => "bbr3",
        }
    }

    pub(crate) fn build(self, slow_start: SlowStart, seed: Seed, mss: u32) -> Box<dyn Congestion> {
        match self {
            Self::Reno => Box::new(reno::Reno),
            Self::Cubic => Box::new(cubic::Cubic::new(slow_start)),
            Self::Htcp => Box::new(htcp::Htcp::default()),
            Self::Bbr => Box::new(bbr::Bbr::new(seed, mss)),
            Self::Bbr3 => Box::new(bbr::Bbr3::new(seed, mss)),
        }
    }
}

/// What ends the slow start of CUBIC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SlowStart {
    /// HyStart, before anything is lost, as Linux comes.
    HyStart,
    /// The first loss (module parameter `hystart` = 0 of `tcp_cubic`).
    UntilLoss,
}

/// No algorithm has this name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no algorithm that can be simulated; there are reno, cubic, htcp, bbr and bbr3")]
pub struct UnknownAlgorithm(String);

impl FromStr for Algorithm {
    type Err = UnknownAlgorithm;

    fn from_str(name: &str) -> Result<Self, UnknownAlgorithm> {
        Self::ALL
            .into_iter()
            .find(|algorithm| algorithm.name() == name)
            .ok_or_else(|| UnknownAlgorithm(name.to_owned()))
    }
}

/// Jiffies a second, as Debian and Ubuntu build their kernels.
const HZ: u64 = 250;

fn jiffies(time: MonoTime) -> u64 {
    time.as_nanos() / (1_000_000_000 / HZ)
}

/// What the algorithms change.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Window {
    /// Segments that may be in flight.
    pub(crate) cwnd: u32,
    /// Below this the window doubles each round trip.
    pub(crate) ssthresh: u32,
    /// Segments acknowledged towards the next growth by one.
    pub(crate) count: u32,
    /// The window before the last reduction.
    pub(crate) prior: u32,
    /// Bytes a second at which segments may be sent.
    pub(crate) pacing: f64,
}

impl Window {
    pub(crate) fn in_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh
    }

    /// Doubles each round trip, up to the threshold (RFC 5681 §3.1). Returns the acknowledged segments not used.
    pub(crate) fn slow_start(&mut self, acked: u32) -> u32 {
        let cwnd = self.cwnd.saturating_add(acked).min(self.ssthresh);
        let used = cwnd - self.cwnd;
        self.cwnd = cwnd;
        acked - used
    }

    /// Grows by one for each `every` acknowledged segments.
    pub(crate) fn grow_by_one_in(&mut self, every: u32, acked: u32) {
        if self.count >= every {
            self.count = 0;
            self.cwnd += 1;
        }
        self.count += acked;
        if self.count >= every {
            let steps = self.count / every.max(1);
            self.count -= steps * every;
            self.cwnd += steps;
        }
    }
}

/// Where the sender stands with losses, in the words of Linux.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CaState {
    /// Nothing is missing.
    Open,
    /// Something may be missing.
    Disorder,
    /// The window shrinks because of a congestion mark.
    Cwr,
    /// Something is missing, and is sent again.
    Recovery,
    /// The retransmission timer fired.
    Loss,
}

/// What an acknowledgement tells an algorithm.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ack {
    pub(crate) now: MonoTime,
    /// Segments newly acknowledged, in order or not.
    pub(crate) acked: u32,
    /// Segments by which the oldest unacknowledged one moved on, those among them that had arrived before.
    pub(crate) advanced: u32,
    /// Segments newly held to be lost.
    pub(crate) lost: u32,
    /// The round trip of the newest of them.
    pub(crate) rtt: Option<Duration>,
    /// Segments in flight before this came, and now.
    pub(crate) in_flight_before: u32,
    pub(crate) in_flight: u32,
    /// Segments that have arrived in all.
    pub(crate) delivered: u64,
    pub(crate) una: u32,
    pub(crate) next: u32,
    pub(crate) ca_state: CaState,
    /// Before this came (`pkts_acked` is called in that state, net/ipv4/tcp_input.c).
    pub(crate) ca_state_before: CaState,
    /// Whether the window was what limited the sender, by the rule of growth (`tcp_is_cwnd_limited`).
    pub(crate) cwnd_limited: bool,
    /// Whether it was full.
    pub(crate) cwnd_full: bool,
    pub(crate) sample: RateSample,
    /// Segments sent at a time.
    pub(crate) frame: u32,
    pub(crate) paced: bool,
}

/// Segments of one frame that are newly held to be lost, with the state of the connection when they were sent.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LostFrame {
    pub(crate) now: MonoTime,
    /// Segments that have arrived in all.
    pub(crate) delivered: u64,
    pub(crate) count: u32,
    /// Segments lost since they were sent, themselves among them.
    pub(crate) lost: u32,
    /// Segments in flight when they were sent, themselves among them.
    pub(crate) in_flight: u32,
    pub(crate) app_limited: bool,
}

/// One algorithm.
pub(crate) trait Congestion: Debug + Send {
    /// The connection stands, and the handshake took `rtt`.
    fn init(&mut self, window: &mut Window, rtt: Duration) {
        let _ = (window, rtt);
    }

    /// Segments are held to be lost, before the acknowledgement that told of it is told.
    fn on_loss(&mut self, window: &Window, lost: &LostFrame) {
        let _ = (window, lost);
    }

    /// Every acknowledgement is told here first.
    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        let _ = (window, ack);
    }

    /// The window may grow.
    fn cong_avoid(&mut self, window: &mut Window, ack: &Ack);

    /// The threshold after a loss.
    fn ssthresh(&mut self, window: &Window, now: MonoTime) -> u32;

    /// The phase changes.
    fn set_state(&mut self, ca_state: CaState, window: &mut Window, now: MonoTime) {
        let _ = (ca_state, window, now);
    }

    /// The window to go back to, where a reduction was not needed.
    fn undo_cwnd(&mut self, window: &Window) -> u32 {
        window.cwnd.max(window.prior)
    }

    /// Whether it sets window and pacing by itself, with no reduction by the sender.
    fn is_rate_based(&self) -> bool {
        false
    }

    /// Whether it sends less than it knows the path to carry, so that what arrives now says nothing of the path.
    fn app_or_probe_limited(&self) -> bool {
        false
    }

    /// How many windows the send buffer is to hold.
    fn sndbuf_expand(&self) -> u32 {
        2
    }
}
