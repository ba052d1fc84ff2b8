//! Packets as a path sees them.

use std::num::NonZeroU32;
use std::time::Duration;

use units::{ByteCount, MonoTime};

/// Packets of one flow that follow each other without a gap, as a sender's segmentation offload cuts them: all of one
/// size, except that the last may be shorter.
///
/// A train is a part of what the driver calls a frame: `count` packets from the one numbered `first`. An element lets a
/// train through whole, or takes packets off its front with [`Train::split_front`] and does with each what it likes. So
/// what happens to every single packet is exact, and what happens to all of them alike costs no more than to one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Train {
    /// The driver's name for what carries these packets.
    pub frame: FrameId,
    /// Which packet of the frame is the first of this train.
    pub first: u32,
    /// How many packets there are.
    pub count: NonZeroU32,
    /// Size of each packet on the link, with the link's header, in bytes.
    pub size: u32,
    /// Size of the last packet.
    pub last_size: u32,
    /// Which flow it belongs to.
    pub flow: FlowHash,
    /// What it carries.
    pub kind: PacketKind,
    /// Class of service in the IP header (RFC 2474), 0 to 63.
    pub dscp: u8,
    /// Congestion notification in the IP header.
    pub ecn: Ecn,
    /// Whether routers may not cut it (IPv4 with DF, and IPv6 always).
    pub whole: bool,
    /// What elements have changed in it.
    pub edits: Edits,
    /// How its packets follow the first to the next element that holds them.
    pub spacing: Spacing,
    /// When its first packet came to the queue that holds it: noted there, and of no meaning elsewhere.
    pub came: MonoTime,
}

impl Train {
    /// Bytes of all packets on the link.
    #[must_use]
    #[inline]
    pub fn bytes(&self) -> ByteCount {
        ByteCount::new(u64::from(self.size) * u64::from(self.count.get() - 1) + u64::from(self.last_size))
    }

    /// Bytes of the first `count` packets on the link.
    #[must_use]
    #[inline]
    pub fn bytes_of_front(&self, count: u32) -> ByteCount {
        if count >= self.count.get() { self.bytes() } else { ByteCount::new(u64::from(self.size) * u64::from(count)) }
    }

    /// Size of the largest packet.
    #[must_use]
    pub fn largest(&self) -> u32 {
        if self.count.get() == 1 { self.last_size } else { self.size }
    }

    /// How many packets from the front `bytes` hold.
    #[must_use]
    #[inline]
    pub fn packets_within(&self, bytes: u64) -> u32 {
        if self.bytes().get() <= bytes {
            return self.count.get();
        }
        let fit = bytes / u64::from(self.size.max(1));
        u32::try_from(fit).unwrap_or(u32::MAX).min(self.count.get() - 1)
    }

    /// Takes `count` packets off the front. Returns them, and what remains; `None` for no packets.
    #[must_use]
    #[inline]
    pub fn split_front(self, count: u32) -> (Option<Self>, Option<Self>) {
        if count >= self.count.get() {
            return (Some(self), None);
        }
        let front = NonZeroU32::new(count).map(|count| Self { count, last_size: self.size, ..self });
        let rest = NonZeroU32::new(self.count.get() - count).map(|rest| Self {
            first: self.first + count,
            count: rest,
            ..self
        });
        (front, rest)
    }

    /// This train and the one behind it as one, where they were one before.
    #[must_use]
    #[inline]
    pub fn joined(&self, next: &Self) -> Option<Self> {
        let goes_on = (self.flow, self.frame) == (next.flow, next.frame)
            && self.frame != FrameId::PHANTOM
            && self.first + self.count.get() == next.first
            && self.last_size == self.size
            && next.largest() <= self.size
            && (next.size == self.size || next.count.get() == 1)
            && (self.came, self.ecn, self.edits, self.dscp) == (next.came, next.ecn, next.edits, next.dscp);
        let count = self.count.checked_add(next.count.get()).filter(|_| goes_on)?;
        Some(Self { count, last_size: next.last_size, ..*self })
    }

    /// The packets one by one.
    pub fn packets(self) -> impl Iterator<Item = Self> {
        let mut left = Some(self);
        std::iter::from_fn(move || {
            let (front, rest) = left?.split_front(1);
            left = rest;
            front
        })
    }
}

/// Bytes of the link's header (Ethernet) before the IP packet.
pub(crate) const LINK_HEADER: u32 = 14;

/// From one packet of a train to the next, in whole nanoseconds up to four seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Spacing(u32);

impl Spacing {
    /// All packets come at one instant.
    pub const NONE: Self = Self(0);

    /// That of `count` packets that take `time` together.
    #[must_use]
    #[inline]
    pub fn of(time: Duration, count: NonZeroU32) -> Self {
        let nanos = units::duration::nanos(time) / u64::from(count.get());
        Self(u32::try_from(nanos).unwrap_or(u32::MAX))
    }

    /// How long `count` packets take.
    #[must_use]
    pub fn time_of(self, count: NonZeroU32) -> Duration {
        Duration::from_nanos(u64::from(self.0) * u64::from(count.get()))
    }
}

/// The driver's name for what carries packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FrameId(pub u32);

impl FrameId {
    /// Packets that exist for the path only: cross traffic that fills queues, and that no driver sends or receives.
    pub const PHANTOM: Self = Self(u32::MAX);
}

/// A hash of addresses, protocol and ports, by which a flow is told from others; the same for all its packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FlowHash(pub u32);

/// What a packet carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PacketKind {
    /// The first segment of a TCP connection in this direction.
    TcpSyn,
    /// Another TCP segment with payload.
    TcpData,
    /// A TCP segment without payload.
    TcpControl,
    /// A UDP datagram.
    Udp,
    /// TCP inside a UDP tunnel (VXLAN), with payload.
    TunnelledTcpData,
    /// Other things inside a tunnel.
    Tunnelled,
    /// Neighbour discovery, ARP and what else a link needs to work: elements of the path let it alone, except for
    /// delay.
    Link,
    /// Anything else: ICMP and other protocols.
    Other,
}

/// Congestion notification in the IP header (RFC 3168 section 5).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Ecn {
    /// The sender does not understand marks.
    NotCapable,
    /// ECT(0).
    Capable0,
    /// ECT(1).
    Capable1,
    /// A queue has marked it.
    Marked,
}

impl Ecn {
    /// Whether a queue may mark the packet instead of dropping it.
    #[must_use]
    pub const fn may_be_marked(self) -> bool {
        !matches!(self, Self::NotCapable)
    }
}

/// What elements have changed in the packets of a train, for the driver to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Edits {
    /// One bit of each packet is wrong; its checksums were not made anew.
    pub corrupted: bool,
    /// The window scale option is taken out of the TCP header.
    pub window_scale_stripped: bool,
    /// The ECN field was rewritten to what [`Train::ecn`] says.
    pub ecn_rewritten: bool,
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// `count` TCP segments of 1,514 bytes and one last of 600.
    pub(crate) fn train(count: u32) -> Train {
        Train {
            frame: FrameId(0),
            first: 0,
            count: NonZeroU32::new(count).unwrap(),
            size: 1_514,
            last_size: 600,
            flow: FlowHash(7),
            kind: PacketKind::TcpData,
            dscp: 0,
            ecn: Ecn::NotCapable,
            whole: true,
            edits: Edits::default(),
            spacing: Spacing::NONE,
            came: MonoTime::from_nanos(0),
        }
    }

    #[test]
    fn only_the_last_packet_of_a_train_is_shorter() {
        let whole = train(3);
        assert_eq!(whole.bytes().get(), 2 * 1_514 + 600);
        let (front, rest) = whole.split_front(1);
        assert_eq!((front.unwrap().bytes().get(), rest.unwrap().bytes().get()), (1_514, 1_514 + 600));
        assert_eq!(rest.unwrap().first, 1);
        assert_eq!(whole.split_front(3), (Some(whole), None));
        assert_eq!(whole.split_front(0), (None, Some(whole)));
        let sizes: Vec<u64> = whole.packets().map(|packet| packet.bytes().get()).collect();
        assert_eq!(sizes, [1_514, 1_514, 600]);
    }

    #[test]
    fn parts_of_a_train_become_one_again() {
        let whole = train(5);
        let (front, rest) = whole.split_front(2);
        assert_eq!(front.unwrap().joined(&rest.unwrap()), Some(whole));
        let singly: Vec<Train> = whole.packets().collect();
        let joined = singly.iter().copied().reduce(|sum, next| sum.joined(&next).unwrap());
        assert_eq!(joined, Some(whole));
        assert_eq!(singly[0].joined(&singly[2]), None, "one is missing");
        assert_eq!(singly[4].joined(&singly[4]), None, "the last is shorter, and nothing follows it");
        let marked = Train { ecn: Ecn::Marked, ..singly[1] };
        assert_eq!(singly[0].joined(&marked), None);
    }

    #[test]
    fn packets_that_fit_are_counted_whole() {
        let whole = train(3);
        assert_eq!(whole.packets_within(1_513), 0);
        assert_eq!(whole.packets_within(1_514), 1);
        assert_eq!(whole.packets_within(3_627), 2);
        assert_eq!(whole.packets_within(3_628), 3);
    }
}
