//! What the kernel says before each frame of a TAP device (include/uapi/linux/virtio_net.h `struct virtio_net_hdr`).

/// What is still to be done to a frame: sums to be made, and how it is cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FrameHeader {
    /// Where a sum is to be put that is not made yet; its place holds the sum of the pseudo header.
    pub checksum: Option<ChecksumPlace>,
    /// How the frame is to be cut.
    pub segmentation: Option<Segmentation>,
}

/// A checksum to be made over all bytes from `start` on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChecksumPlace {
    /// The first byte that counts, from the start of the frame.
    pub start: u16,
    /// Where the sum goes, from `start`.
    pub offset: u16,
}

/// A frame that is several packets, with the headers of the first only.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Segmentation {
    /// By which rules.
    pub kind: SegmentationKind,
    /// Payload of each packet but the last.
    pub size: u16,
    /// Length of all headers together, as the kernel gave it; it may be a guess.
    pub header_len: u16,
    /// Whether the first packet alone carries CWR (RFC 3168 section 6.1.2).
    pub ecn: bool,
}

/// By which rules a frame is cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SegmentationKind {
    /// TCP over IPv4.
    Tcp4,
    /// TCP over IPv6.
    Tcp6,
    /// UDP datagrams of one size.
    Udp,
    /// Another, which nobody has asked the kernel for.
    Foreign(u8),
}

impl FrameHeader {
    /// How many bytes it takes.
    pub const LEN: usize = 10;

    /// Reads it off the front; `None` where the bytes are fewer.
    #[must_use]
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        let raw: &[u8; Self::LEN] = bytes.first_chunk()?;
        let field = |at: usize| u16::from_ne_bytes([raw[at], raw[at + 1]]);
        let kind = match raw[1] & !GSO_ECN {
            GSO_NONE => None,
            GSO_TCPV4 => Some(SegmentationKind::Tcp4),
            GSO_TCPV6 => Some(SegmentationKind::Tcp6),
            GSO_UDP_L4 => Some(SegmentationKind::Udp),
            other => Some(SegmentationKind::Foreign(other)),
        };
        let segmentation =
            kind.map(|kind| Segmentation { kind, header_len: field(2), size: field(4), ecn: raw[1] & GSO_ECN != 0 });
        let checksum = (raw[0] & NEEDS_CSUM != 0).then(|| ChecksumPlace { start: field(6), offset: field(8) });
        Some(Self { checksum, segmentation })
    }

    /// `struct virtio_net_hdr` in the byte order of this machine, as the kernel expects it before each frame.
    #[must_use]
    pub fn emit(&self) -> [u8; Self::LEN] {
        let mut raw = [0; Self::LEN];
        let mut put = |at: usize, value: u16| raw[at..at + 2].copy_from_slice(&value.to_ne_bytes());
        if let Some(segmentation) = self.segmentation {
            put(2, segmentation.header_len);
            put(4, segmentation.size);
        }
        if let Some(checksum) = self.checksum {
            put(6, checksum.start);
            put(8, checksum.offset);
            raw[0] = NEEDS_CSUM;
        }
        if let Some(segmentation) = self.segmentation {
            let ecn = if segmentation.ecn { GSO_ECN } else { 0 };
            raw[1] = ecn
                | match segmentation.kind {
                    SegmentationKind::Tcp4 => GSO_TCPV4,
                    SegmentationKind::Tcp6 => GSO_TCPV6,
                    SegmentationKind::Udp => GSO_UDP_L4,
                    SegmentationKind::Foreign(other) => other,
                };
        }
        raw
    }
}

// include/uapi/linux/virtio_net.h of 6.18
const NEEDS_CSUM: u8 = 1;
const GSO_NONE: u8 = 0;
const GSO_TCPV4: u8 = 1;
const GSO_TCPV6: u8 = 4;
const GSO_UDP_L4: u8 = 5;
const GSO_ECN: u8 = 0x80;
