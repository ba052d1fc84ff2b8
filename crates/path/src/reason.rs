//! Why things happen to packets. A driver that logs them knows the truth that a diagnosis is judged by.

/// Why a packet was dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Drop {
    /// A queue had no room left.
    QueueFull,
    /// A queue dropped it early, at random (RED).
    Early,
    /// It had waited too long in a queue (`CoDel`).
    Sojourn,
    /// A policer had no tokens left.
    Policed,
    /// Lost at random.
    Random,
    /// Lost in a burst (Gilbert-Elliott).
    Burst,
    /// It was its turn: every n-th is lost.
    Periodic,
    /// Lost because it was large.
    Large,
    /// Lost because its flow was sent over a bad member of a link.
    BadMember,
    /// Larger than the link carries, or than the bucket of a shaper.
    TooBig,
    /// The input buffer of a firewall had no room left.
    FirewallFull,
    /// Its connection had been idle for so long that a middlebox forgot it.
    Forgotten,
    /// The connection table of a middlebox had no room left.
    TableFull,
    /// It asked for congestion notification, and a middlebox drops such packets.
    EcnCapable,
    /// The host's adapter had merged it with others into one that was too big to go on.
    Merged,
}

impl Drop {
    /// All of them.
    pub const ALL: [Self; 15] = [
        Self::QueueFull,
        Self::Early,
        Self::Sojourn,
        Self::Policed,
        Self::Random,
        Self::Burst,
        Self::Periodic,
        Self::Large,
        Self::BadMember,
        Self::TooBig,
        Self::FirewallFull,
        Self::Forgotten,
        Self::TableFull,
        Self::EcnCapable,
        Self::Merged,
    ];

    /// Its name in logs.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::QueueFull => "queue-full",
            Self::Early => "early",
            Self::Sojourn => "sojourn",
            Self::Policed => "policed",
            Self::Random => "random",
            Self::Burst => "burst",
            Self::Periodic => "periodic",
            Self::Large => "large",
            Self::BadMember => "bad-member",
            Self::TooBig => "too-big",
            Self::FirewallFull => "firewall-full",
            Self::Forgotten => "forgotten",
            Self::TableFull => "table-full",
            Self::EcnCapable => "ecn-capable",
            Self::Merged => "merged",
        }
    }
}

/// Why the ECN field of a packet was changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Mark {
    /// A queue was longer than its threshold.
    Threshold,
    /// A queue marked it early, at random (RED).
    Early,
    /// It had waited too long in a queue (`CoDel`).
    Sojourn,
    /// A middlebox marks everything.
    Always,
    /// A middlebox clears the field.
    Bleached,
}

impl Mark {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Threshold, Self::Early, Self::Sojourn, Self::Always, Self::Bleached];

    /// Its name in logs.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Threshold => "threshold",
            Self::Early => "early",
            Self::Sojourn => "sojourn",
            Self::Always => "always",
            Self::Bleached => "bleached",
        }
    }
}

/// Why a packet came out later than it came in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Delay {
    /// It waited behind others.
    Queue,
    /// Its own bits took time to send.
    Transmission,
    /// The way is long.
    Propagation,
    /// The way is uneven.
    Jitter,
    /// A shaper had no tokens left.
    Shaping,
    /// A middlebox worked on it.
    Service,
    /// It was overtaken.
    Reordering,
    /// An adapter held it, to merge it with others.
    Merging,
}

impl Delay {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::Queue,
        Self::Transmission,
        Self::Propagation,
        Self::Jitter,
        Self::Shaping,
        Self::Service,
        Self::Reordering,
        Self::Merging,
    ];

    /// Its name in logs.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Queue => "queue",
            Self::Transmission => "transmission",
            Self::Propagation => "propagation",
            Self::Jitter => "jitter",
            Self::Shaping => "shaping",
            Self::Service => "service",
            Self::Reordering => "reordering",
            Self::Merging => "merging",
        }
    }
}
