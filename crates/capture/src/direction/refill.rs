//! Whether each burst fills to one level, whatever was acknowledged since the one before. An application does not see acknowledgments: what it
//! writes, and when, changes by itself, and what is outstanding behind it changes as much. A writer that finds its send buffer full and
//! tries again by a timer (`SO_SNDTIMEO`) writes as much as there is room for, at any level of what is left, behind no acknowledgment.

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct Refills {
    /// Made when a first burst is seen: most connections have none.
    seen: Option<Box<Bursts>>,
}

/// What bursts have shown so far.
#[derive(Debug, Clone, Copy, Default)]
struct Bursts {
    open: Option<OpenBurst>,
    /// Bytes outstanding behind a burst: before it, and what was sent in it.
    level: Smoothed,
    usual: UsualLevel,
    /// Bytes of a burst.
    size: Smoothed,
    /// Nanoseconds from one burst to the next but one: what comes in pairs is as regular as what comes singly.
    spacing: Smoothed,
    last_spacing_ns: i64,
    /// Bytes of a burst that left with an acknowledgment.
    answered: Smoothed,
    /// Bursts of nothing but the largest frames that a kernel makes, of `WHOLE`.
    framed: i64,
    /// Bursts behind nothing outstanding, or behind data of the peer, of `WHOLE`.
    silent: i64,
    bursts: u32,
    /// Bursts that were counted at other levels before.
    before: u32,
    /// Bursts in a row that filled to another level.
    elsewhere: u32,
    /// Since when they have filled to this one.
    since_ns: i64,
    is_full: bool,
}

/// A burst that is not over yet.
#[derive(Debug, Clone, Copy)]
struct OpenBurst {
    start: RefillStart,
    bytes: i64,
    answered: i64,
    is_framed: bool,
}

/// A packet of a burst.
#[derive(Debug, Clone, Copy)]
pub(super) struct RefillPart {
    pub(super) bytes: u64,
    /// Behind the last acknowledgment, if one came before it.
    pub(super) ack_ns: Option<i64>,
    /// It is as large as the largest frame for segmentation offload.
    pub(super) is_framed: bool,
}

/// The first packet behind a pause.
#[derive(Debug, Clone, Copy)]
pub(super) struct RefillStart {
    pub(super) at_ns: i64,
    /// Behind the packet before it.
    pub(super) data_ns: i64,
    /// Bytes outstanding before it.
    pub(super) before: u64,
    /// The peer has sent data since the packet before: it may have asked for this.
    pub(super) is_asked: bool,
    /// Bytes by which two levels may differ and are the same.
    pub(super) grain: u64,
}

/// What bursts show of who writes them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Writing {
    /// They fill to one level, and what is acknowledged before them differs: their writer knows the room that there is.
    ToOneLevel,
    /// What is outstanding behind them differs as what is written does: their writer knows nothing of acknowledgments.
    Blind,
    /// All are the same, or there are too few: either would look so.
    Unknown,
}

/// A mean, and how far values are from it.
#[derive(Debug, Clone, Copy, Default)]
struct Smoothed {
    mean: i64,
    deviation: i64,
}

impl Smoothed {
    fn take(&mut self, value: i64) {
        let off = value - self.mean;
        self.deviation += (off.abs() - self.deviation) / OVER;
        self.mean += off / OVER;
    }

    /// One value that is far off says little.
    fn near(&self, value: i64) -> i64 {
        value.clamp(0, 2 * self.mean)
    }
}

/// The level that most bursts fill to, to the segment, and how many do, of `WHOLE`.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct UsualLevel {
    bytes: i64,
    votes: u32,
    share: i64,
}

impl UsualLevel {
    pub(super) fn take(&mut self, level: i64, grain: u64) {
        let is_same = level.abs_diff(self.bytes) <= grain;
        if is_same {
            self.votes = (self.votes + 1).min(MOST_VOTES);
        } else if self.votes == 0 {
            *self = Self { bytes: level, votes: 1, share: self.share / 2 };
            return;
        } else {
            self.votes -= 1;
        }
        self.share += ((if is_same { WHOLE } else { 0 }) - self.share) / (2 * OVER);
    }

    pub(super) fn is_at(&self, level: i64) -> bool {
        self.bytes == level
    }

    /// Whether three of four of the last ones are the same.
    pub(super) fn is_mostly(&self) -> bool {
        self.share * 4 >= WHOLE * 3
    }
}

/// What is smoothed is so over some number of bursts.
const OVER: i64 = 16;
/// A share of one.
const WHOLE: i64 = 1_024;
/// Votes for a level that others have to outnumber, at most.
const MOST_VOTES: u32 = 16;
/// Fewer bursts show nothing.
const LEAST_BURSTS: u32 = 32;
/// Fewer of nothing but the largest frames show nothing.
const LEAST_FRAMED: u32 = 12;
/// Bursts in a row at another level that make it the level.
const ANOTHER: u32 = 4;
/// Bursts farther apart are so far: a file may give any times.
const LONGEST_NS: i64 = 3_600_000_000_000;
/// An acknowledgment is answered within this, where nobody has to be woken.
const AT_ONCE_NS: i64 = 30_000;

impl Refills {
    /// A burst begins; the one before is over.
    pub(super) fn start(&mut self, start: RefillStart) {
        self.seen.get_or_insert_default().start(start);
    }

    /// A packet of the burst.
    #[inline]
    pub(super) fn sent(&mut self, part: RefillPart) {
        if let Some(seen) = &mut self.seen {
            seen.sent(part);
        }
    }

    #[cfg(test)]
    pub(super) fn is_unused(&self) -> bool {
        self.seen.is_none()
    }

    /// See [`Writing`].
    pub(crate) fn writing(&self) -> Writing {
        self.seen.as_ref().map_or(Writing::Unknown, |seen| seen.writing())
    }

    /// Bursts come while data is outstanding, and who writes them is not known: an application, or whoever finds the send buffer full.
    pub(crate) fn is_undecided(&self) -> bool {
        self.seen.as_ref().is_some_and(|seen| seen.is_undecided())
    }

    /// Bytes outstanding behind a burst, and since when it has been so many; none where they are not the same each time.
    #[inline]
    pub(super) fn level(&self) -> Option<(u64, i64)> {
        self.seen.as_ref()?.level()
    }

    /// Who writes with more outstanding has not waited until a third was free, at which a kernel reports room (`sk_stream_write_space`).
    pub(super) fn is_early(&self, outstanding: u64) -> bool {
        self.early_above().is_some_and(|early_above| outstanding > early_above)
    }

    /// With more outstanding a third of the buffer is not free.
    pub(super) fn early_above(&self) -> Option<u64> {
        self.level().map(|(level, _)| level / 3 * 2)
    }

    /// Losses, or marks, limit: count anew.
    pub(super) fn restart(&mut self) {
        if let Some(seen) = &mut self.seen {
            **seen = Bursts::default();
        }
    }
}

impl Bursts {
    fn start(&mut self, start: RefillStart) {
        if let Some(last) = self.open.replace(OpenBurst { start, bytes: 0, answered: 0, is_framed: true }) {
            self.take(&last, start.at_ns.saturating_sub(last.start.at_ns).clamp(0, LONGEST_NS));
            self.is_full = self.is_found();
        }
    }

    fn sent(&mut self, part: RefillPart) {
        if let Some(open) = &mut self.open {
            let bytes = part.bytes.cast_signed();
            open.bytes += bytes;
            open.is_framed &= part.is_framed;
            if part.ack_ns.is_some_and(|ack_ns| ack_ns < AT_ONCE_NS) {
                open.answered += bytes;
            }
        }
    }

    fn take(&mut self, burst: &OpenBurst, spacing_ns: i64) {
        let is_silent = burst.start.before == 0 || burst.start.is_asked;
        self.silent += ((if is_silent { WHOLE } else { 0 }) - self.silent) / OVER;
        if is_silent {
            return;
        }
        let level = burst.start.before.cast_signed() + burst.bytes;
        let is_elsewhere = (level - self.level.mean).abs() * 2 > self.size.mean;
        self.elsewhere = if is_elsewhere { self.elsewhere + 1 } else { 0 };
        if self.bursts == 0 || self.elsewhere >= ANOTHER {
            *self = Self {
                open: self.open,
                silent: self.silent,
                before: self.before.saturating_add(self.bursts),
                level: Smoothed { mean: level, deviation: burst.bytes / 2 },
                size: Smoothed { mean: burst.bytes, deviation: 0 },
                last_spacing_ns: spacing_ns,
                bursts: 1,
                since_ns: burst.start.at_ns - burst.start.data_ns,
                ..Self::default()
            };
            return;
        }
        let pair_ns = self.last_spacing_ns + spacing_ns;
        self.last_spacing_ns = spacing_ns;
        if self.bursts == 1 {
            self.spacing.mean = pair_ns;
        }
        self.bursts = self.bursts.saturating_add(1);
        self.spacing.take(self.spacing.near(pair_ns));
        let half = self.size.mean / 2;
        self.level.take(level.clamp(self.level.mean - half, self.level.mean + half));
        self.usual.take(level, burst.start.grain);
        self.size.take(self.size.near(burst.bytes));
        self.answered.take(burst.answered);
        self.framed += ((if burst.is_framed { WHOLE } else { 0 }) - self.framed) / OVER;
    }

    /// A full buffer is known by bursts that vary; later they may come in step with the RTT, and be all the same.
    fn is_found(&self) -> bool {
        match self.writing() {
            Writing::ToOneLevel => true,
            Writing::Unknown => self.is_full && self.bursts >= LEAST_FRAMED,
            Writing::Blind => self.is_full && self.level.deviation * 3 <= self.size.mean,
        }
    }

    fn writing(&self) -> Writing {
        let differ = self.size.deviation * 4 >= self.size.mean;
        let varies = differ || self.spacing.deviation * 6 >= self.spacing.mean;
        // A congestion window fills to one level as well, and answers each acknowledgment.
        let is_answer = self.answered.mean * 2 > self.size.mean;
        if self.bursts < LEAST_FRAMED || is_answer || self.silent * 2 > WHOLE {
            return Writing::Unknown;
        }
        // A block of a program is no whole number of the largest frames, which it does not know: it ends with a shorter one.
        if self.framed * 4 >= WHOLE * 3 && self.level.deviation * 2 <= self.size.mean {
            return Writing::ToOneLevel;
        }
        if self.bursts < LEAST_BURSTS || !varies {
            return Writing::Unknown;
        }
        // Blocks of one size make few levels, of which one is usual anyhow.
        let least_share = if differ { WHOLE / 2 } else { WHOLE * 3 / 4 };
        // What comes at one rate and leaves in parts of it is a fifth of a part and more from one level.
        if self.level.deviation * 6 <= self.size.mean || self.usual.share >= least_share {
            Writing::ToOneLevel
        } else {
            Writing::Blind
        }
    }

    fn is_undecided(&self) -> bool {
        let is_seen = self.before.saturating_add(self.bursts) >= LEAST_BURSTS / 4;
        is_seen && self.silent * 2 <= WHOLE && self.writing() == Writing::Unknown
    }

    fn level(&self) -> Option<(u64, i64)> {
        let level = u64::try_from(self.level.mean).unwrap_or_default();
        self.is_full.then_some((level, self.since_ns))
    }
}

saved!(Refills { seen });
saved!(Bursts {
    open,
    level,
    usual,
    size,
    spacing,
    last_spacing_ns,
    answered,
    framed,
    silent,
    bursts,
    before,
    elsewhere,
    since_ns,
    is_full
});
saved!(OpenBurst { start, bytes, answered, is_framed });
saved!(RefillStart { at_ns, data_ns, before, is_asked, grain });
saved!(Smoothed { mean, deviation });
saved!(UsualLevel { bytes, votes, share });

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use super::*;

    const MS: i64 = 1_000_000;

    /// A path of 32 Mbit/s and 100 ms: what is sent is outstanding until it has passed both.
    #[derive(Default)]
    struct Path {
        refills: Refills,
        /// When each packet is acknowledged.
        acked_ns: VecDeque<i64>,
        free_ns: i64,
        now_ns: i64,
    }

    impl Path {
        /// Time passes, and what is left outstanding.
        fn pass(&mut self, span_ns: i64) -> u64 {
            self.now_ns += span_ns;
            while self.acked_ns.front().is_some_and(|acked_ns| *acked_ns <= self.now_ns) {
                self.acked_ns.pop_front();
            }
            self.acked_ns.len() as u64 * PACKET
        }

        /// A burst of so many packets, so long behind an acknowledgment.
        fn write(&mut self, start: RefillStart, packets: u64, ack_ns: i64) {
            self.refills.start(start);
            self.refills.sent(RefillPart { bytes: packets * PACKET, ack_ns: Some(ack_ns), is_framed: false });
            for _ in 0..packets {
                self.free_ns = self.free_ns.max(self.now_ns) + MS;
                self.acked_ns.push_back(self.free_ns + 100 * MS);
            }
        }

        /// A burst behind a pause that no acknowledgment ends.
        fn start(&self, data_ns: i64, before: u64) -> RefillStart {
            RefillStart { at_ns: self.now_ns, data_ns, before, is_asked: false, grain: 2_856 }
        }
    }

    const PACKET: u64 = 4_000;

    /// 400 times from 10 to 50 ms, the same in each run.
    fn spans() -> impl Iterator<Item = i64> {
        let mut state = 1_u32;
        std::iter::repeat_with(move || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (10 + i64::from(state >> 16) % 40) * MS
        })
        .take(400)
    }

    /// What a writer does that finds a buffer of so many packets full, and tries again by a timer.
    fn fill(path: &mut Path, buffer: u64) {
        for span_ns in spans() {
            let before = path.pass(span_ns);
            let room = buffer.saturating_sub(before / PACKET);
            if room > 0 {
                path.write(path.start(span_ns, before), room, 5 * MS);
            }
        }
    }

    #[test]
    fn a_writer_that_tries_again_by_a_timer_fills_to_one_level() {
        let mut path = Path::default();
        fill(&mut path, 64);
        assert_eq!(path.refills.writing(), Writing::ToOneLevel);
        let (level, since_ns) = path.refills.level().unwrap();
        assert!((240_000..270_000).contains(&level) && since_ns < 500 * MS, "{level} {since_ns}");
        assert!(path.refills.is_early(200_000) && !path.refills.is_early(150_000));
    }

    #[test]
    fn another_level_is_known_again() {
        let mut path = Path::default();
        fill(&mut path, 64);
        let change_ns = path.now_ns;
        fill(&mut path, 90);
        let (level, since_ns) = path.refills.level().unwrap();
        assert!((340_000..380_000).contains(&level) && since_ns >= change_ns, "{level} {since_ns}");
    }

    #[test]
    fn what_an_application_writes_by_itself_leaves_another_level_each_time() {
        let sizes: [fn(i64) -> u64; 3] = [
            // Blocks of one size, blocks of many, and what came at one rate meanwhile.
            |_| 16,
            |span_ns| 2 + span_ns.unsigned_abs() / 1_000_000 * 48_271 % 29,
            |span_ns| span_ns.unsigned_abs() / 2_000_000,
        ];
        for size in sizes {
            let mut path = Path::default();
            for span_ns in spans() {
                let before = path.pass(span_ns);
                path.write(path.start(span_ns, before), size(span_ns), 5 * MS);
                assert_ne!(path.refills.writing(), Writing::ToOneLevel, "{:?}", path.refills);
            }
            assert_eq!(path.refills.level(), None);
        }
    }

    #[test]
    fn bursts_that_are_all_the_same_say_nothing() {
        // Singly, and in pairs.
        for spans in [[24 * MS, 24 * MS], [24 * MS, 96 * MS]] {
            let mut path = Path::default();
            for span_ns in spans.into_iter().cycle().take(200) {
                let before = path.pass(span_ns);
                path.write(path.start(span_ns, before), 16, 5 * MS);
            }
            assert_eq!((path.refills.writing(), path.refills.level()), (Writing::Unknown, None));
            assert!(path.refills.is_undecided());
        }
    }

    /// As many of the largest frames each time: no program's block ends with a whole one, so its writer had more, and no room.
    #[test]
    fn the_largest_frames_alone_are_what_a_full_buffer_takes() {
        for (is_framed, writing) in [(true, Writing::ToOneLevel), (false, Writing::Unknown)] {
            let mut refills = Refills::default();
            for burst in 0..40 {
                let (at_ns, data_ns) = (burst * 48 * MS, 48 * MS);
                refills.start(RefillStart { at_ns, data_ns, before: 64_260, is_asked: false, grain: 2_856 });
                refills.sent(RefillPart { bytes: 64_260, ack_ns: Some(5 * MS), is_framed });
            }
            assert_eq!(refills.writing(), writing);
        }
    }

    /// It fills to one level as well: by its peer, or by a congestion window.
    #[test]
    fn who_answers_has_no_full_buffer() {
        for (is_asked, ack_ns) in [(true, 5 * MS), (false, 10_000)] {
            let mut path = Path::default();
            for span_ns in spans() {
                let before = path.pass(span_ns);
                let start = RefillStart { is_asked, ..path.start(span_ns, before) };
                let room = 64_u64.saturating_sub(before / PACKET);
                if room > 0 {
                    path.write(start, room, ack_ns);
                }
            }
            assert_eq!((path.refills.writing(), path.refills.level()), (Writing::Unknown, None));
        }
    }

    #[test]
    fn who_has_nothing_outstanding_has_no_more_to_send() {
        let mut path = Path::default();
        for _ in 0..100 {
            let before = path.pass(300 * MS);
            path.write(path.start(300 * MS, before), 16, 5 * MS);
        }
        assert!(!path.refills.is_undecided() && path.refills.level().is_none());
    }
}
