//! Whether a sender paces: frames of two segments and more, as far apart as one rate has them. Linux cuts what it paces into frames of a
//! millisecond, of two segments at least (`tcp_tso_autosize`), and lets each go when the one before would have left at that rate
//! (`tcp_update_skb_after_send`). A program writes blocks: larger ones, or such as leave a part of a segment over. Model: a program that
//! writes whole segments evenly, two and more at a time, and no more than a millisecond of its rate, looks like one that is paced.

/// Frames so far, as the sender's end sees them.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct PacedFrames {
    /// When the frame under way began to leave, and its bytes; 0 of it before the first one.
    began_ns: i64,
    bytes: u32,
    has_part: bool,
    /// Time that a byte takes at the rate of most frames, in nanoseconds.
    byte_ns: f64,
    /// Frames that are paced, less what speaks against them, up to [`MOST_SCORE`].
    score: u16,
    /// Frames that are, and that are not.
    pub(crate) paced: u32,
    pub(crate) others: u32,
    /// Time in which paced frames left.
    pub(crate) paced_ns: i64,
}

/// A packet of new data.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PacedPacket {
    pub(crate) at_ns: i64,
    /// When the packet before it left.
    pub(crate) before_ns: i64,
    pub(crate) bytes: u32,
    pub(crate) mss: u32,
    /// From the sender to the receiver and back, at the least.
    pub(crate) rtt_ns: i64,
}

impl PacedFrames {
    #[inline]
    pub(crate) fn take(&mut self, packet: PacedPacket) {
        let since_ns = packet.at_ns - packet.before_ns;
        let has_part = !packet.bytes.is_multiple_of(packet.mss.max(1));
        let apart_ns = self.apart_ns();
        let together_ns = if self.byte_ns > 0.0 { (apart_ns / 8).max(CUT_NS.min(apart_ns / 4)) } else { CUT_NS };
        if self.bytes > 0 && since_ns < together_ns {
            self.bytes = self.bytes.saturating_add(packet.bytes);
            self.has_part |= has_part;
            return;
        }
        if self.bytes > 0 {
            self.finish(packet);
        }
        (self.began_ns, self.bytes, self.has_part) = (packet.at_ns, packet.bytes, has_part);
    }

    /// Whether a long run of frames was paced, and the next one is not late by a few of their distances.
    #[inline]
    pub(crate) fn is_paced(&self, pause_ns: i64) -> bool {
        self.score >= LEAST_SCORE && pause_ns <= FEW * self.apart_ns().max(LATE_NS)
    }

    /// The rate at which frames leave, in bytes a second.
    pub(crate) fn bytes_per_second(&self) -> f64 {
        if self.byte_ns > 0.0 { 1e9 / self.byte_ns } else { 0.0 }
    }

    /// A loss has changed the rate.
    pub(crate) fn restart(&mut self) {
        (self.bytes, self.byte_ns, self.score) = (0, 0.0, 0);
    }

    /// The next frame has begun.
    fn finish(&mut self, next: PacedPacket) {
        let span_ns = next.at_ns - self.began_ns;
        let bytes = f64::from(self.bytes);
        #[expect(clippy::cast_precision_loss, reason = "a distance of packets")]
        let span = span_ns.max(1) as f64;
        if self.byte_ns <= 0.0 {
            self.byte_ns = span / bytes.max(1.0);
        }
        let expected = bytes * self.byte_ns;
        let is_near = span >= expected * EARLIEST && span <= expected * LATEST;
        let is_frame = !self.has_part
            && self.bytes >= 2 * next.mss
            && bytes <= self.largest_frame(next.rtt_ns).max(2.0 * f64::from(next.mss)) + f64::from(next.mss);
        if is_near && is_frame {
            self.score = (self.score + 1).min(MOST_SCORE);
            self.paced += 1;
            self.paced_ns += span_ns;
        } else {
            let is_pause = span > expected * LATEST * 2.0 && span_ns > self.apart_ns() + PAUSE_NS;
            self.score = self.score.saturating_sub(if is_pause || !is_frame { BREAK } else { MISS });
            self.others += 1;
        }
        let span = span.clamp(self.byte_ns * bytes / 2.0, self.byte_ns * bytes * 2.0);
        self.byte_ns += (span / bytes.max(1.0) - self.byte_ns) / 16.0;
    }

    /// The largest frame that the kernel paces at this rate: a millisecond of it, and more on a path that is shorter than 16 ms
    /// (`tcp_tso_rtt_log`, Linux 5.18).
    fn largest_frame(&self, rtt_ns: i64) -> f64 {
        let halvings = rtt_ns / 512_000;
        let near = if halvings < 32 { LARGEST_FRAME / 2.0_f64.powi(i32::try_from(halvings).unwrap_or(0)) } else { 0.0 };
        (self.bytes_per_second() / 1_024.0 + near).min(LARGEST_FRAME)
    }

    /// How far apart two frames of the size of this one are.
    #[expect(clippy::cast_possible_truncation, reason = "a distance of packets: casts saturate")]
    fn apart_ns(&self) -> i64 {
        (self.byte_ns * f64::from(self.bytes)) as i64
    }
}

saved!(PacedFrames { began_ns, bytes, has_part, byte_ns, score, paced, others, paced_ns });

/// Segments of a frame that is cut before the capture are nearer: single ones of a rate below a gigabit are not.
const CUT_NS: i64 = 10_000;
/// Distances of frames, as parts of what one rate has. Of one that was late the kernel makes the next up to a half nearer.
const EARLIEST: f64 = 0.45;
const LATEST: f64 = 1.6;
/// A run of so many frames is long.
const LEAST_SCORE: u16 = 64;
const MOST_SCORE: u16 = 256;
/// What a frame that is too early or late takes from it, and a pause or what is no paced frame.
const MISS: u16 = 2;
const BREAK: u16 = 16;
/// A timer of a busy machine is as late as this.
const PAUSE_NS: i64 = 5_000_000;
const LATE_NS: i64 = 1_000_000;
/// Distances of frames that are no pause yet.
const FEW: i64 = 4;
/// Bytes of the largest frame for segmentation offload.
const LARGEST_FRAME: f64 = 65_536.0;

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: u32 = 1_428;

    fn frames(count: i64, frame: impl Fn(i64) -> (i64, u32)) -> PacedFrames {
        let mut frames = PacedFrames::default();
        let mut before_ns = 0;
        for n in 0..count {
            let (at_ns, bytes) = frame(n);
            frames.take(PacedPacket { at_ns, before_ns, bytes, mss: MSS, rtt_ns: 20_000_000 });
            before_ns = at_ns;
        }
        frames
    }

    #[test]
    fn pairs_of_segments_at_one_rate_are_paced() {
        // 30 Mbit/s, and a timer that is late by up to a third.
        let paced = frames(200, |n| (n * 762_000 + n % 7 * 40_000, 2 * MSS));
        assert!(paced.is_paced(762_000) && !paced.is_paced(10_000_000));
        assert!((paced.bytes_per_second() * 8.0 / 30e6 - 1.0).abs() < 0.03, "{paced:?}");
        // Cut before they are captured.
        let cut = frames(400, |n| (n / 2 * 762_000 + n % 2 * 3_000, MSS));
        assert!(cut.is_paced(762_000) && cut.paced > 150, "{cut:?}");
        // A millisecond of 500 Mbit/s.
        assert!(frames(200, |n| (n * 982_464, 43 * MSS)).is_paced(980_000));
    }

    #[test]
    fn what_a_program_writes_by_a_clock_is_not() {
        // Blocks of 5 ms at 20 Mbit/s, whole segments or not, and single segments.
        assert!(!frames(400, |n| (n * 5_000_000, 12_500)).is_paced(1));
        assert!(!frames(400, |n| (n * 5_000_000, 9 * MSS)).is_paced(1));
        assert!(!frames(400, |n| (n * 381_000, MSS)).is_paced(1));
        assert!(!frames(4_000, |n| (n * 45_000 + n % 3 * 10_000, MSS)).is_paced(1));
        // Messages of a kilobyte, and blocks whose last segment is a part.
        assert!(!frames(400, |n| (n * 400_000, 1_000)).is_paced(1));
        assert!(
            !frames(400, |n| (n / 4 * 4_000_000 + n % 4 * 800_000, if n % 4 == 3 { 500 } else { 2 * MSS })).is_paced(1)
        );
    }

    #[test]
    fn what_is_paced_between_pauses_of_its_writer_is_no_long_run() {
        // 24 frames, and 80 ms in which the writer waits.
        let waits = frames(600, |n| (n / 24 * 98_000_000 + n % 24 * 762_000, 2 * MSS));
        assert!(!waits.is_paced(80_000_000));
        // Pauses of 5 ms and more in most runs of a dozen.
        assert!(!frames(600, |n| (n / 12 * 18_000_000 + n % 12 * 762_000, 2 * MSS)).is_paced(762_000));
    }
}
