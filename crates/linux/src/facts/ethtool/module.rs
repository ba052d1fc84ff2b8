//! The memory of a pluggable module: what it is and what it measures of itself.
//!
//! SFF-8472 (SFP), SFF-8636 (QSFP) and CMIS 5.0 (QSFP-DD, OSFP). The kernel reads it half a page at a time over a slow bus.

use model::host::interface::optics::{AlarmLimits, OpticalLane, OpticalLimits, Optics};

use super::Settings;
use super::header::{Asked, header};
use crate::Unavailable;

/// Half a page, which is what one question is for: 128 bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Half {
    address: u8,
    page: u8,
    offset: u8,
}

impl Half {
    const LOWER: Self = Self { address: 0x50, page: 0, offset: 0 };
    const UPPER: Self = Self { address: 0x50, page: 0, offset: 128 };
    /// Where an SFP keeps what it measures.
    const DIAGNOSTICS: Self = Self { address: 0x51, page: 0, offset: 0 };

    fn upper_of(page: u8) -> Self {
        Self { page, ..Self::UPPER }
    }
}

impl Settings {
    /// The module of the device with the number `index`. Takes `CAP_NET_ADMIN`.
    ///
    /// # Errors
    /// Why it cannot be read; [`crate::Reason::Unsupported`] where the driver has no module, or before Linux 5.13.
    pub fn optics(&mut self, index: u32) -> Result<Optics, Unavailable> {
        decode(|half| self.half(index, half))
    }

    fn half(&mut self, index: u32, half: Half) -> Result<Vec<u8>, Unavailable> {
        let what = "MODULE_EEPROM_GET";
        let answer = self.family.get(
            MODULE_EEPROM_GET,
            |request| {
                header(request, Asked::of(index));
                request.put_u32(2, half.offset.into());
                request.put_u32(3, 128);
                request.put(4, &[half.page]);
                request.put(6, &[half.address]);
            },
            |attributes| {
                let mut data = Vec::new();
                for attribute in attributes {
                    let attribute = attribute?;
                    if attribute.kind == 7 {
                        data = attribute.value.to_vec();
                    }
                }
                Ok(data)
            },
        );
        let gone = || Unavailable { what: what.to_owned(), reason: crate::Reason::Absent };
        answer.map_err(|error| error.unavailable(what))?.ok_or_else(gone)
    }
}

/// What a module says, by the kind that its first byte names (SFF-8024, table 4-1).
fn decode(mut read: impl FnMut(Half) -> Result<Vec<u8>, Unavailable>) -> Result<Optics, Unavailable> {
    let lower = Memory(read(Half::LOWER)?);
    match lower.byte(0) {
        Some(0x03 | 0x0b) => Ok(sfp(&lower, read)),
        Some(0x0c | 0x0d | 0x11) => Ok(qsfp(&lower, read)),
        Some(0x18 | 0x19 | 0x1e) => Ok(cmis(&lower, read)),
        other => Err(Unavailable::failed("module", format!("its kind {other:?} is not known"))),
    }
}

/// SFF-8472 rev 12.4: what it is at address A0h, what it measures at A2h.
fn sfp(lower: &Memory, mut read: impl FnMut(Half) -> Result<Vec<u8>, Unavailable>) -> Optics {
    let mut optics = Optics { vendor: lower.text(20), part: lower.text(40), ..Optics::default() };
    // Byte 92: bit 6, it measures; bit 5, in units. Others give slopes and offsets, which are not read.
    let measures = lower.byte(92).is_some_and(|kind| kind & 0x60 == 0x60);
    if let Some(own) = measures.then(|| read(Half::DIAGNOSTICS).ok()).flatten().map(Memory) {
        optics.temperature = own.temperature(96);
        optics.lanes = vec![OpticalLane { bias: own.current(100), sent: own.power(102), received: own.power(104) }];
        optics.limits = OpticalLimits {
            temperature: own.limits(0, Memory::temperature),
            bias: own.limits(16, Memory::current),
            sent: own.limits(24, Memory::power),
            received: own.limits(32, Memory::power),
        };
    }
    optics
}

/// SFF-8636 rev 2.10a.
fn qsfp(lower: &Memory, mut read: impl FnMut(Half) -> Result<Vec<u8>, Unavailable>) -> Optics {
    let upper = Memory(read(Half::UPPER).unwrap_or_default());
    let lane = |number: usize| OpticalLane {
        received: lower.power(34 + 2 * number),
        bias: lower.current(42 + 2 * number),
        sent: lower.power(50 + 2 * number),
    };
    let mut optics =
        Optics { vendor: upper.text(148 - 128), part: upper.text(168 - 128), ..lower.measured(22, (0..4).map(lane)) };
    // Byte 2, bit 2: it has no other pages.
    let has_pages = lower.byte(2).is_some_and(|status| status & 0x04 == 0);
    if let Some(thresholds) = has_pages.then(|| read(Half::upper_of(3)).ok()).flatten().map(Memory) {
        optics.limits = OpticalLimits {
            temperature: thresholds.limits(0, Memory::temperature),
            received: thresholds.limits(176 - 128, Memory::power),
            bias: thresholds.limits(184 - 128, Memory::current),
            sent: thresholds.limits(192 - 128, Memory::power),
        };
    }
    optics
}

/// CMIS 5.0: thresholds on page 02h, lanes on page 11h, in what unit currents are on page 01h.
fn cmis(lower: &Memory, mut read: impl FnMut(Half) -> Result<Vec<u8>, Unavailable>) -> Optics {
    let upper = Memory(read(Half::UPPER).unwrap_or_default());
    let mut optics =
        Optics { vendor: upper.text(129 - 128), part: upper.text(148 - 128), ..lower.measured(14, std::iter::empty()) };
    // Byte 2, bit 7: it has no other pages.
    if lower.byte(2).is_none_or(|status| status & 0x80 != 0) {
        return optics;
    }
    let mut page = |number| Memory(read(Half::upper_of(number)).unwrap_or_default());
    let (about, thresholds, lanes) = (page(0x01), page(0x02), page(0x11));
    let unit = 1 << about.byte(160 - 128).map_or(0, |byte| (byte >> 3) & 3);
    let current = |memory: &Memory, offset| memory.current(offset).map(|current| current * unit);
    let lane = |number: usize| OpticalLane {
        sent: lanes.power(154 - 128 + 2 * number),
        bias: current(&lanes, 170 - 128 + 2 * number),
        received: lanes.power(186 - 128 + 2 * number),
    };
    optics.lanes = (0..8).map(lane).filter(|lane| *lane != OpticalLane::default()).collect();
    optics.limits = OpticalLimits {
        temperature: thresholds.limits(0, Memory::temperature),
        sent: thresholds.limits(176 - 128, Memory::power),
        bias: thresholds.limits(184 - 128, current),
        received: thresholds.limits(192 - 128, Memory::power),
    };
    optics
}

/// 128 bytes, or fewer where the driver gave fewer. Numbers are big-endian.
struct Memory(Vec<u8>);

impl Memory {
    fn byte(&self, offset: usize) -> Option<u8> {
        self.0.get(offset).copied()
    }

    fn word(&self, offset: usize) -> Option<u16> {
        Some(u16::from_be_bytes([self.byte(offset)?, self.byte(offset + 1)?]))
    }

    /// 16 characters, padded with blanks.
    fn text(&self, offset: usize) -> String {
        let bytes = self.0.get(offset..offset + 16).unwrap_or_default();
        let shown =
            bytes.iter().map(|&byte| if byte.is_ascii_graphic() || byte == b' ' { char::from(byte) } else { ' ' });
        shown.collect::<String>().trim().to_owned()
    }

    /// From 256ths to thousandths of a degree.
    fn temperature(&self, offset: usize) -> Option<i64> {
        self.word(offset).map(|word| i64::from(word.cast_signed()) * 1_000 / 256)
    }

    /// From units of 0.1 uW to nW.
    fn power(&self, offset: usize) -> Option<i64> {
        self.word(offset).map(|word| i64::from(word) * 100)
    }

    /// From units of 2 uA.
    fn current(&self, offset: usize) -> Option<i64> {
        self.word(offset).map(|word| i64::from(word) * 2)
    }

    /// The high alarm threshold stands before the low one.
    fn limits(&self, offset: usize, unit: impl Fn(&Self, usize) -> Option<i64>) -> Option<AlarmLimits> {
        Some(AlarmLimits { high: unit(self, offset)?, low: unit(self, offset + 2)? })
    }

    fn measured(&self, temperature: usize, lanes: impl Iterator<Item = OpticalLane>) -> Optics {
        Optics { temperature: self.temperature(temperature), lanes: lanes.collect(), ..Optics::default() }
    }
}

// include/uapi/linux/ethtool_netlink.h of 6.18
const MODULE_EEPROM_GET: u8 = 31;

#[cfg(test)]
mod tests {
    use super::*;

    /// A module as its memory: what stands where, by half and offset.
    fn module(written: &[(Half, usize, &[u8])]) -> Result<Optics, Unavailable> {
        decode(|half| {
            let mut memory = vec![0; 128];
            for (_, offset, bytes) in written.iter().filter(|(at, ..)| *at == half) {
                memory[*offset..offset + bytes.len()].copy_from_slice(bytes);
            }
            Ok(memory)
        })
    }

    fn words(words: &[u16]) -> Vec<u8> {
        words.iter().flat_map(|word| word.to_be_bytes()).collect()
    }

    /// As a 10GBASE-LR module without light said in ethtool's words: bias 32.066 mA, sends -2.56 dBm, receives -40 dBm.
    #[test]
    fn an_sfp_says_how_much_light_arrives() {
        let limits = words(&[75 << 8, 0xfb00, 0, 0, 0, 0, 0, 0, 50_000, 3_000, 0, 0, 12_589, 1_349, 0, 0, 12_589, 490]);
        let optics = module(&[
            (Half::LOWER, 0, &[3]),
            (Half::LOWER, 20, b"Transition      "),
            (Half::LOWER, 40, b"TN-SFP-10G-LR   "),
            (Half::LOWER, 92, &[0x68]),
            (Half::DIAGNOSTICS, 0, &limits),
            (Half::DIAGNOSTICS, 96, &words(&[0x290d, 32_768, 16_033, 5_547, 1])),
        ])
        .unwrap();
        assert_eq!((optics.vendor.as_str(), optics.part.as_str()), ("Transition", "TN-SFP-10G-LR"));
        assert_eq!(optics.temperature, Some(41_050));
        let lane = OpticalLane { bias: Some(32_066), sent: Some(554_700), received: Some(100) };
        assert_eq!(optics.lanes, [lane]);
        assert_eq!(optics.limits.received, Some(AlarmLimits { low: 49_000, high: 1_258_900 }));
        assert_eq!(optics.limits.temperature, Some(AlarmLimits { low: -5_000, high: 75_000 }));
        assert_eq!(optics.limits.bias, Some(AlarmLimits { low: 6_000, high: 100_000 }));
    }

    #[test]
    fn a_qsfp_has_four_lanes_and_thresholds_on_page_3() {
        let optics = module(&[
            (Half::LOWER, 0, &[0x11]),
            (Half::LOWER, 22, &words(&[0x2a2b])),
            (Half::LOWER, 34, &words(&[7_682, 0, 0, 0, 3_331, 0, 0, 0, 7_119])),
            (Half::UPPER, 20, b"AVAGO           "),
            (Half::upper_of(3), 48, &words(&[21_878, 446, 0, 0, 5_000, 250])),
        ])
        .unwrap();
        assert_eq!(optics.lanes.len(), 4);
        assert_eq!(optics.lanes[0], OpticalLane { received: Some(768_200), bias: Some(6_662), sent: Some(711_900) });
        assert_eq!(optics.lanes.iter().filter(|lane| lane.is_used()).count(), 1, "the cable is split");
        assert_eq!(optics.limits.received, Some(AlarmLimits { low: 44_600, high: 2_187_800 }));
        assert_eq!(optics.limits.bias, Some(AlarmLimits { low: 500, high: 10_000 }));
    }

    #[test]
    fn a_qsfp_dd_has_eight_lanes_whose_currents_have_a_unit() {
        let optics = module(&[
            (Half::LOWER, 0, &[0x18]),
            (Half::LOWER, 14, &words(&[45 << 8])),
            (Half::upper_of(1), 32, &[0x08]),
            (Half::upper_of(2), 64, &words(&[20_000, 500])),
            (Half::upper_of(0x11), 26, &words(&[10_000; 8])),
            (Half::upper_of(0x11), 42, &words(&[20_000; 8])),
            (Half::upper_of(0x11), 58, &words(&[9_000; 8])),
        ])
        .unwrap();
        assert_eq!((optics.temperature, optics.lanes.len()), (Some(45_000), 8));
        assert_eq!(optics.lanes[7], OpticalLane { sent: Some(1_000_000), bias: Some(80_000), received: Some(900_000) });
        assert_eq!(optics.limits.received, Some(AlarmLimits { low: 50_000, high: 2_000_000 }));
    }

    #[test]
    fn a_cable_without_lasers_and_a_driver_that_gives_little_bring_nothing_down() {
        let cable = module(&[(Half::LOWER, 0, &[3]), (Half::LOWER, 20, b"Amphenol        ")]).unwrap();
        assert_eq!((cable.vendor.as_str(), cable.lanes.len()), ("Amphenol", 0));
        for kind in 0..=255_u8 {
            for length in [0, 1, 3, 60, 93] {
                let _ = decode(|_| Ok(vec![kind; length]));
            }
        }
        assert!(module(&[(Half::LOWER, 0, &[0x42])]).is_err());
    }
}
