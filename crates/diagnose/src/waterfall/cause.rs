//! The names of shares: what holds a flow back, and what showed it.

use serde::{Deserialize, Serialize};

/// What took a part of the line rate. Each byte of the gap has exactly one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// Headers and framing around the delivered payload.
    ProtocolOverhead,
    /// The first round trips, until the rate no longer grew.
    StartUp,
    /// The window that the receiver offered was too small for the path.
    ReceiveWindow,
    /// The sender's socket held too little data for the path.
    SendBuffer,
    /// The sending program, or the processor under it, had nothing ready.
    SenderApplication,
    /// The receiving program, or the processor under it, did not read.
    ReceiverApplication,
    /// Losses, what was sent again, and the time until the rate was back.
    LossRecovery,
    /// A rate that the test itself, or another program of its kernel, asked for.
    ConfiguredCap,
    /// Congestion control kept the window small without a loss.
    CongestionWindow,
    /// A queue stood on the path, or before it in the sending host, while the rate stayed flat: a part of it is slower than the line rate.
    PathCapacity,
    /// Nothing was left to send.
    Idle,
    /// The evidence does not say.
    Unknown,
}

impl Cause {
    /// All causes, in the order in which they own bytes (`docs/waterfall.md`).
    pub const ALL: [Self; 12] = [
        Self::ProtocolOverhead,
        Self::StartUp,
        Self::Idle,
        Self::PathCapacity,
        Self::ReceiverApplication,
        Self::ReceiveWindow,
        Self::LossRecovery,
        Self::SendBuffer,
        Self::ConfiguredCap,
        Self::SenderApplication,
        Self::CongestionWindow,
        Self::Unknown,
    ];

    /// A few words for a table.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::ProtocolOverhead => "protocol overhead",
            Self::StartUp => "start-up",
            Self::ReceiveWindow => "receive window",
            Self::SendBuffer => "send buffer",
            Self::SenderApplication => "sending program or its CPU",
            Self::ReceiverApplication => "receiving program or its CPU",
            Self::LossRecovery => "loss and recovery",
            Self::ConfiguredCap => "configured rate",
            Self::CongestionWindow => "congestion window",
            Self::PathCapacity => "path capacity",
            Self::Idle => "nothing left to send",
            Self::Unknown => "unknown",
        }
    }
}

macro_rules! reasons {
    ($($(#[$doc:meta])* $variant:ident of $cause:ident = $text:literal,)*) => {
        /// What showed the cause of some bytes; of unknown ones, what is missing.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        #[serde(rename_all = "snake_case")]
        pub enum Reason {
            $($(#[$doc])* $variant,)*
        }

        impl Reason {
            /// Every reason.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The cause it belongs to.
            #[must_use]
            pub const fn cause(self) -> Cause {
                match self { $(Self::$variant => Cause::$cause,)* }
            }

            /// What was seen, in words.
            #[must_use]
            pub const fn text(self) -> &'static str {
                match self { $(Self::$variant => $text,)* }
            }
        }
    };
}

reasons! {
    /// Framing and headers of each segment.
    Headers of ProtocolOverhead = "headers and framing of each segment",
    /// Nothing was acknowledged yet.
    FirstBytes of StartUp = "nothing was acknowledged yet",
    /// The congestion window was opening.
    SlowStart of StartUp = "the rate was still growing",
    /// The receive window was opening.
    WindowOpening of StartUp = "the receiver's window was still opening",
    /// The kernel counted the time as limited by the receiver's window, and the receiver read what came.
    SmallWindow of ReceiveWindow = "the receiver read what came, its window was full nevertheless",
    /// The window was full but for a tenth at the samples, though the kernel did not count the time.
    NearlyFullWindow of ReceiveWindow = "the receiver's window was full but for a few segments",
    /// The kernel counted the time as limited by the send buffer.
    FullSendBuffer of SendBuffer = "the send buffer was full, and all of it in flight",
    /// All data was acknowledged, and none came.
    SenderWaited of SenderApplication = "the sending program had nothing ready",
    /// The sender's own sampling stood still.
    SenderStill of SenderApplication = "the sending process did not get to run",
    /// The sending process used all it could of its processors.
    SenderCpu of SenderApplication = "the sending process used up its CPU",
    /// Data lay unread in the receiver's socket.
    Unread of ReceiverApplication = "data lay unread in the receiver's socket",
    /// The receiver's own sampling stood still.
    ReceiverStill of ReceiverApplication = "the receiving process did not get to run",
    /// The window offered was nearly closed.
    WindowClosed of ReceiverApplication = "the receiver closed its window",
    /// The receiving process used all it could of its processors.
    ReceiverCpu of ReceiverApplication = "the receiving process used up its CPU",
    /// Retransmissions took place on the wire.
    SentAgain of LossRecovery = "segments were retransmitted",
    /// The sender was in recovery.
    Recovery of LossRecovery = "the sender was repairing a loss",
    /// The window had not come back yet.
    Aftermath of LossRecovery = "the rate was not yet back to what it was before a loss",
    /// The rate that the sending program keeps to.
    AskedRate of ConfiguredCap = "the test asked the sending program for this rate",
    /// The rate that the kernel paces at.
    AskedPace of ConfiguredCap = "the test asked the kernel to pace at this rate",
    /// The rate that another program has its kernel pace at.
    SocketPace of ConfiguredCap = "the sending program has the kernel pace at this rate (SO_MAX_PACING_RATE)",
    /// The congestion window was full.
    FullCongestionWindow of CongestionWindow = "the congestion window was full and there was no loss",
    /// Data and room in the windows were there, and the kernel paces.
    Spread of CongestionWindow = "the kernel spread what was ready at the pacing rate of congestion control",
    /// Round trips were long and the rate flat.
    StandingQueue of PathCapacity = "RTTs grew and the rate did not",
    /// TCP small queues held back what was ready, since the qdisc or NIC of the sender's own host had not sent what it got.
    HostQueue of PathCapacity = "data and room in the windows were there, and the qdisc or NIC of the sending host took no more",
    /// Everything was acknowledged.
    AfterLastByte of Idle = "everything was sent and acknowledged",
    /// The last bytes were on their way.
    Draining of Idle = "only the last bytes were still on their way",
    /// There are no samples at all.
    NoSamples of Unknown = "no samples of this direction were taken",
    /// Only the receiver told.
    NoSenderSamples of Unknown = "the sender did not tell its kernel's state",
    /// The kernel does not count times.
    NoKernelTimes of Unknown = "the sender's kernel does not tell what limited it (Linux 4.10 does)",
    /// Between two samples.
    SampleGap of Unknown = "no sample was taken then",
    /// The clocks are not related.
    ClockNotAligned of Unknown = "the clocks of the two hosts could not be related",
    /// Shorter than a round trip.
    ShorterThanRoundTrip of Unknown = "the run was shorter than an RTT",
    /// Data and windows were there.
    NotSending of Unknown = "data and room in the windows were there, and the sender's kernel did not send",
    /// More was delivered at times than the line rate allows, so that no time is left to explain the rest.
    NotInSamples of Unknown = "the samples do not show it",
}

impl Reason {
    pub(super) fn index(self) -> usize {
        Self::ALL.iter().position(|reason| *reason == self).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_cause_is_in_the_order_and_has_a_reason() {
        for cause in Cause::ALL {
            assert!(Reason::ALL.iter().any(|reason| reason.cause() == cause), "{cause:?}");
        }
        assert!(Reason::ALL.iter().all(|reason| Cause::ALL.contains(&reason.cause())));
    }
}
