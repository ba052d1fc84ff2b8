//! The segment size behind congestion windows: the kernel counts them in segments, tools print them in bytes, so all
//! of them are multiples of it.

use model::spec::Family;

use super::limits::MAX_WINDOWS;
use super::parsed::{ParsedTest, PrintedAmount};

/// A segment size that all printed windows are multiples of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SegmentSize {
    /// Bytes of payload.
    pub mss: u32,
    /// How many different windows were printed.
    pub windows: usize,
    /// The packets that it fits.
    pub packet: Packet,
}

/// An IP packet with a TCP header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Packet {
    /// All of it.
    pub mtu: u32,
    /// Which IP header.
    pub family: Family,
    /// Whether the header has time stamps (RFC 7323), as Linux has.
    pub stamps: Stamps,
}

/// Whether segments carry time stamps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stamps {
    /// They do.
    Yes,
    /// They do not.
    No,
}

impl Packet {
    /// What is left for payload.
    #[must_use]
    pub const fn mss(self) -> u32 {
        let ip = match self.family {
            Family::Ipv4 => 20,
            Family::Ipv6 => 40,
        };
        let tcp = match self.stamps {
            Stamps::Yes => 32,
            Stamps::No => 20,
        };
        self.mtu - ip - tcp
    }
}

/// The segment size of a test, where its windows leave no doubt.
pub(crate) fn find(parsed: &ParsedTest) -> Option<SegmentSize> {
    let mut windows: Vec<PrintedAmount> = Vec::new();
    for window in parsed.rows.iter().filter_map(|row| row.cwnd).filter(|window| window.bytes.get() > 0) {
        if windows.len() < MAX_WINDOWS && !windows.contains(&window) {
            windows.push(window);
        }
    }
    let candidates: Vec<Packet> = candidates().collect();
    #[expect(clippy::cast_precision_loss, reason = "a few dozen candidates")]
    let doubt = |packet: &Packet| chance(&windows, packet.mss()) * candidates.len() as f64;
    candidates
        .iter()
        .filter(|packet| windows.iter().all(|window| fits(*window, packet.mss())))
        .map(|packet| (doubt(packet), *packet))
        .filter(|(doubt, _)| *doubt < MAX_DOUBT)
        .min_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, packet)| SegmentSize { mss: packet.mss(), windows: windows.len(), packet })
}

/// Whether a multiple of `mss` may have been printed so.
fn fits(window: PrintedAmount, mss: u32) -> bool {
    let (bytes, mss) = (window.bytes.get(), u64::from(mss));
    let above = bytes.saturating_add(window.within) / mss * mss;
    above > 0 && above >= bytes.saturating_sub(window.within)
}

/// How likely it is that windows of another segment size fit: each does by chance with as much of the space between
/// two multiples as its rounding covers.
fn chance(windows: &[PrintedAmount], mss: u32) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "a probability")]
    windows.iter().map(|window| ((2 * window.within + 1) as f64 / f64::from(mss)).min(1.0)).product()
}

/// Packets of links and tunnels that are met: Ethernet, jumbo frames, PPPoE, VXLAN, WireGuard, GRE, loopback.
fn candidates() -> impl Iterator<Item = Packet> {
    const MTUS: [u32; 17] =
        [1280, 1400, 1420, 1440, 1450, 1460, 1476, 1480, 1492, 1500, 4000, 8900, 8950, 9000, 9100, 9216, 65_535];
    MTUS.into_iter().flat_map(|mtu| {
        [Family::Ipv4, Family::Ipv6].into_iter().flat_map(move |family| {
            [Stamps::Yes, Stamps::No].into_iter().map(move |stamps| Packet { mtu, family, stamps })
        })
    })
}

/// How likely a mistake may be, all candidates considered.
const MAX_DOUBT: f64 = 1e-3;

#[cfg(test)]
mod tests {
    use units::ByteCount;

    use super::*;
    use crate::Format;
    use crate::parsed::{Label, Row};

    fn parsed(windows: &[(u64, u64)]) -> ParsedTest {
        let mut parsed = ParsedTest::new(Format::Iperf3Text, 1);
        for (bytes, within) in windows {
            let mut row = Row::new(Label::Stream(1), Default::default(), Default::default(), ByteCount::ZERO);
            row.cwnd = Some(PrintedAmount { bytes: ByteCount::new(*bytes), within: *within });
            parsed.rows.push(row);
        }
        parsed
    }

    #[test]
    fn exact_windows_of_loopback_are_of_65483_bytes() {
        let size = find(&parsed(&[(8_971_171, 0), (2_226_422, 0), (8_512_790, 0)])).unwrap();
        assert_eq!((size.mss, size.packet.mtu), (65_483, 65_535));
    }

    #[test]
    fn windows_that_are_rounded_away_say_nothing() {
        let coarse = 5_243;
        assert_eq!(find(&parsed(&[(4_162_846, coarse), (5_620_367, coarse)])), None);
        assert_eq!(find(&parsed(&[])), None);
        assert_eq!(find(&parsed(&[(14_480, 0), (14_481, 0)])), None);
    }
}
