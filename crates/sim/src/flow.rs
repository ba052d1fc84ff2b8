//! One transfer: what is asked, and what comes of it.

use std::time::Duration;

use path::reason::Drop;
use path::{PathElement, Seed, SpecError};
use units::{ByteCount, DataRate, PacketCount};

use crate::receiver::ReceiverSpec;
pub use crate::run::Run;
use crate::sender::{Amount, Limit, SenderSpec};
use crate::shared::{Shared, Transfer};

/// A transfer between two hosts over a path.
#[derive(Debug, Clone)]
pub struct Flow {
    /// The path from the sender to the receiver.
    pub forward: Vec<PathElement>,
    /// The way of the acknowledgements.
    pub reverse: Vec<PathElement>,
    /// The sending host.
    pub sender: SenderSpec,
    /// The receiving host.
    pub receiver: ReceiverSpec,
    /// How much is sent.
    pub amount: Amount,
    /// Where all chance comes from.
    pub seed: Seed,
    /// After which time it is given up.
    pub time_limit: Duration,
    /// How often its state is written down.
    pub sample_every: Duration,
}

/// Why a transfer cannot be simulated.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum FlowError {
    /// An element of the path cannot be.
    #[error(transparent)]
    Path(#[from] SpecError),
    /// Packets too small to carry anything.
    #[error("an MTU of {0} leaves no room for data; 100 bytes are the least")]
    Mtu(units::Mtu),
    /// A quantity that is zero.
    #[error("{0} is zero; it has to be more")]
    Zero(&'static str),
    /// More segments than can be told apart.
    #[error("{bytes} in segments of {mss} are more than {} segments; send less, or in larger packets", 1_u32 << 30)]
    TooLong {
        /// What was asked for.
        bytes: ByteCount,
        /// The payload of a segment.
        mss: units::Mss,
    },
    /// No transfer, or more than can be told apart.
    #[error("{0} transfers; there have to be 1 to {most}", most = crate::shared::MOST_TRANSFERS)]
    Transfers(usize),
    /// More samples than can be held.
    #[error("a sample each {every:?} of {time_limit:?} are more than {MOST_SAMPLES}; take fewer")]
    TooManySamples {
        /// How often.
        every: Duration,
        /// For how long at most.
        time_limit: Duration,
    },
}

/// What came of a transfer. Times count from the instant at which the connection stands.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// How long it took until everything was acknowledged, or until its time was over.
    pub duration: Duration,
    /// Whether it came to its end.
    pub finished: bool,
    /// How long the handshake took; [`None`] where there was none.
    pub handshake: Option<Duration>,
    /// Payload that arrived in order.
    pub delivered: ByteCount,
    /// The payload of a segment.
    pub segment: ByteCount,
    /// Segments sent for the first time.
    pub sent: PacketCount,
    /// Segments sent again.
    pub retransmits: PacketCount,
    /// How often a loss began a recovery.
    pub recoveries: u32,
    /// How often a mark made the window shrink.
    pub mark_reductions: u32,
    /// How often the retransmission timer fired.
    pub timeouts: u32,
    /// How often a tail was probed.
    pub probes: u32,
    /// How many reductions were needless and taken back.
    pub undone: u32,
    /// The most that was out at once.
    pub max_outstanding: ByteCount,
    /// The most that the window asked the send buffer to hold: with `wmem` of as much or more the transfer is the same.
    pub send_buffer_asked: ByteCount,
    /// The most that the receive buffer was to grow to: with `rmem` of as much or more the transfer is the same.
    pub receive_buffer_asked: ByteCount,
    /// The shortest round trip.
    pub min_rtt: Duration,
    /// What the path dropped of it on the way there, for each element and reason.
    pub drops: Vec<(usize, Drop, PacketCount)>,
    /// What it dropped on the way back.
    pub drops_back: Vec<(usize, Drop, PacketCount)>,
    /// Packets that were larger than a link carries.
    pub refused: PacketCount,
    /// Packets for which the ring of the receiving host had no room.
    pub ring_drops: PacketCount,
    /// For how long each limit held.
    pub limits: Vec<(Limit, Duration)>,
    /// Its state over time.
    pub samples: Vec<Sample>,
    /// Steps of the clock that it took to reckon this, with what was beside it.
    pub steps: u64,
}

/// The state of a transfer at an instant.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sample {
    /// When.
    pub at: Duration,
    /// Payload acknowledged by then.
    pub acked: ByteCount,
    /// The congestion window.
    pub cwnd: ByteCount,
    /// Where slow start ends.
    pub ssthresh: Option<ByteCount>,
    /// Payload held to be on its way.
    pub in_flight: ByteCount,
    /// What the receiver offers.
    pub offered: ByteCount,
    /// What the send buffer may hold.
    pub send_buffer: ByteCount,
    /// The smoothed round trip.
    pub rtt: Duration,
    /// The pacing rate, where it paces.
    pub pacing: Option<DataRate>,
    /// Segments sent again so far.
    pub retransmits: PacketCount,
    /// What held the sender.
    pub limit: Limit,
}

/// Samples of the longest series.
pub(crate) const MOST_SAMPLES: u128 = 1 << 20;

impl Outcome {
    /// Payload a second over the whole transfer.
    #[must_use]
    pub fn goodput(&self) -> Option<DataRate> {
        DataRate::of(self.delivered, self.duration)
    }
}

impl Flow {
    /// Reckons what comes of it.
    ///
    /// # Errors
    /// Settings that cannot be.
    pub fn run(&self) -> Result<Outcome, FlowError> {
        let mut run = Run::new(self)?;
        run.go_on();
        Ok(run.outcome())
    }

    /// The same as the only one of several.
    pub(crate) fn alone(&self) -> Shared {
        Shared {
            forward: self.forward.clone(),
            reverse: self.reverse.clone(),
            transfers: vec![Transfer {
                sender: self.sender.clone(),
                receiver: self.receiver.clone(),
                amount: self.amount,
                start: Duration::ZERO,
            }],
            seed: self.seed,
            time_limit: self.time_limit,
            sample_every: self.sample_every,
        }
    }
}
