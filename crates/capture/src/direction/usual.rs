//! The payload of full segments, where no handshake was captured that says it: most packets hold one of them, or with segmentation
//! offload several.

/// What most payloads are multiples of.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct UsualSegment {
    bytes: u32,
    /// Packets that agree, less those that do not.
    support: u32,
}

/// Fewer bytes are a message rather than a full segment: 536 is what each host takes (RFC 9293 section 3.7.1).
const LEAST: u32 = 536;
/// Payloads of two frames for segmentation offload have more in common than this, or nothing.
const LEAST_COMMON: u32 = 1_000;
/// No jumbo frame holds more.
const MOST: u32 = 8_960;
const MOST_SUPPORT: u32 = 64;

impl UsualSegment {
    #[inline]
    pub(crate) fn take(&mut self, payload: u32) {
        if payload < LEAST {
            return;
        }
        if self.bytes > 0 && payload.is_multiple_of(self.bytes) {
            self.support = (self.support + 1).min(MOST_SUPPORT);
            return;
        }
        let common = common([self.bytes, payload]);
        if self.bytes > 0 && common >= LEAST_COMMON {
            self.bytes = common;
        } else if self.support == 0 {
            (self.bytes, self.support) = (payload, 1);
        } else {
            self.support -= 1;
        }
    }

    /// Unknown before the first full segment, and while all were frames for segmentation offload.
    #[inline]
    pub(crate) fn bytes(&self) -> Option<u32> {
        (LEAST..=MOST).contains(&self.bytes).then_some(self.bytes)
    }
}

/// The greatest common divisor.
fn common(of: [u32; 2]) -> u32 {
    let [mut one, mut other] = of;
    while other > 0 {
        (one, other) = (other, one % other);
    }
    one
}

saved!(UsualSegment { bytes, support });

#[cfg(test)]
mod tests {
    use super::*;

    fn usual(payloads: &[u32]) -> Option<u32> {
        let mut usual = UsualSegment::default();
        payloads.iter().cycle().take(200).for_each(|payload| usual.take(*payload));
        usual.bytes()
    }

    #[test]
    fn frames_for_segmentation_offload_show_the_segment_that_they_are_cut_into() {
        assert_eq!(usual(&[8_568, 4_284, 2_856]), Some(1_428));
        assert_eq!(usual(&[64_260, 62_832, 64_260]), Some(1_428));
    }

    #[test]
    fn the_end_of_what_was_written_is_no_full_segment() {
        assert_eq!(usual(&[1_448, 1_448, 1_448, 700, 1_448, 36]), Some(1_448));
        assert_eq!(usual(&[900, 8_948, 8_948, 8_948]), Some(8_948));
        assert_eq!(usual(&[100, 20, 400]), None);
    }
}
