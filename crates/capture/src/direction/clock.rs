//! Whether acknowledgments release what is sent, as a full window or send buffer has it; an application and a pacer have a
//! clock of their own.

/// Counts bursts by what they follow.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SendClock {
    bursts: Followed,
    /// Bursts before which acknowledgments came and were not answered.
    woken: Followed,
    /// Those of these behind a long pause in which a part of the flight had drained.
    refilled: Followed,
    /// The burst of these that is not over yet.
    waking: Option<Waking>,
    /// RTTs that these were counted in: those of one plateau of the flight.
    rounds: u32,
    packets: Spacing,
    /// Mean distance of packets over hundreds of them, the pauses of a round included.
    overall_ns: i64,
    acks: Spacing,
    /// Distance of packets that the bottleneck has put one after the other: a low quantile of the distances.
    least_ns: i64,
    /// Distance of most packets: about their median.
    usual_ns: i64,
}

/// How many bursts followed an acknowledgment at once, and how many did not.
#[derive(Debug, Clone, Copy, Default)]
struct Followed {
    at_once: u64,
    later: u64,
}

/// How long before a burst the sender had heard an acknowledgment, and what counts as at once.
#[derive(Debug, Clone, Copy)]
struct Behind {
    ack_ns: i64,
    near_ns: i64,
}

/// Packets behind acknowledgments that were not answered.
#[derive(Debug, Clone, Copy)]
struct Waking {
    segments: u64,
    behind: Behind,
    refills: bool,
}

/// Mean time from one to the next, smoothed.
#[derive(Debug, Clone, Copy, Default)]
struct Spacing {
    mean_ns: i64,
}

impl Spacing {
    #[inline]
    fn take(&mut self, sample_ns: i64) {
        // A pause is not the distance of packets.
        self.mean_ns += (sample_ns.min(self.mean_ns.max(ANSWER_NS) * 16) - self.mean_ns) / 16;
    }
}

/// How long ago the sender did and heard something, in nanoseconds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Since {
    /// The packet before.
    pub(crate) data_ns: i64,
    /// The last acknowledgment that it heard.
    pub(crate) ack_ns: i64,
    /// How far the time of hearing it is uncertain: at the receiver's end of a path it is not captured.
    pub(crate) doubt_ns: i64,
    /// A quarter and more of the greatest flight has been acknowledged and not replaced.
    pub(crate) has_drained: bool,
    /// Acknowledgments that the sender has heard since the packet before.
    pub(crate) acks: u32,
}

/// What releases packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Release {
    Acknowledgments,
    OwnClock,
    /// Packets are as dense as acknowledgments: either may follow the other by chance.
    Unknown,
}

/// A kernel needs about so long from an acknowledgment to the packet that it releases.
const ANSWER_NS: i64 = 30_000;
/// Fewer bursts say nothing.
const LEAST_BURSTS: u64 = 12;
/// Packets that the mean distance is taken over: more than one train of a round has in most.
const OVERALL: i64 = 256;
/// For how long a frame for segmentation offload waits to become larger, at most (`tcp_tso_should_defer`), twice.
const DEFERRED_NS: i64 = 2_000_000;
/// Of so many, twice in five is no chance where once in four would be.
const MANY_BURSTS: u64 = 40;
/// A paced frame holds less, and what a timer may be late.
const FRAME_NS: i64 = 1_300_000;
/// Packets of an RTT, evenly spaced, that are fewer than make a train.
const FEW_PACKETS: i64 = 16;
/// Fewer RTTs do not show that a writer is never woken.
const LEAST_ROUNDS: u32 = 16;
/// So many segments are what a program wrote, rather than what one acknowledgment releases.
const WRITTEN: u64 = 4;
/// Acknowledgments that are not answered make a pause.
const UNANSWERED: i64 = 4;

impl Default for SendClock {
    fn default() -> Self {
        let none = Followed::default();
        let spacing = Spacing::default();
        Self {
            bursts: none,
            woken: none,
            refilled: none,
            waking: None,
            rounds: 0,
            packets: spacing,
            overall_ns: 0,
            acks: spacing,
            least_ns: ANSWER_NS,
            usual_ns: ANSWER_NS,
        }
    }
}

impl SendClock {
    /// The sender has heard an acknowledgment, so long after the one before.
    #[inline]
    pub(crate) fn heard(&mut self, since_ns: i64) {
        self.acks.take(since_ns);
    }

    /// A packet of new data was sent: so many segments.
    #[inline]
    pub(crate) fn sent(&mut self, since: Since, segments: u64) {
        if since.doubt_ns == 0 {
            self.note_waking(since, segments);
        }
        let data_ns = since.data_ns;
        if data_ns < self.least_ns {
            self.least_ns -= (self.least_ns - data_ns) / 8;
        } else {
            self.least_ns += (data_ns.min(2 * self.least_ns) - self.least_ns) / 256;
        }
        let step_ns = self.usual_ns / 32 + 1;
        self.usual_ns += if data_ns > self.usual_ns { step_ns } else { -step_ns };
        // By chance an acknowledgment of every second packet is so near to one of eight.
        let near_ns = (self.packets.mean_ns / 4).max(ANSWER_NS);
        self.packets.take(data_ns);
        self.overall_ns += (data_ns.min(self.overall_ns.max(ANSWER_NS) * OVERALL) - self.overall_ns) / OVERALL;
        // Packets that are sent together follow the same acknowledgment.
        // Where all are as far apart as the least, no bottleneck has lined them up. A window that is a part of the path's goes out in
        // one train for each RTT: within it all are as far apart, so the pauses between trains are what tells.
        let spacing_ns = self.packets.mean_ns.max(self.overall_ns);
        let lined_up_ns = if self.least_ns * 10 < spacing_ns * 7 { self.least_ns + self.least_ns / 4 } else { 0 };
        let together_ns = near_ns.max(lined_up_ns);
        if data_ns < together_ns || data_ns < 4 * since.doubt_ns {
            return;
        }
        self.bursts.count(Behind { ack_ns: since.ack_ns, near_ns: near_ns.max(since.doubt_ns) });
    }

    /// A writer that waits for room in the send buffer is woken when a third of it is free (`sk_stream_write_space`), and writes as fast
    /// as it can: the first of its packets follows the acknowledgment that has woken it by the 40 to 130 µs that waking takes (measured,
    /// Linux 6.18 in a VM), the others follow nothing.
    #[inline]
    fn note_waking(&mut self, since: Since, segments: u64) {
        // Of a train of each RTT the first packet follows the first acknowledgment: none was left unanswered, however much it covers.
        if since.data_ns < UNANSWERED * self.acks.mean_ns.max(ANSWER_NS) || since.acks < 2 {
            if let Some(waking) = &mut self.waking {
                waking.segments += segments;
            }
            return;
        }
        // By chance one of four is so near.
        let near_ns = (self.acks.mean_ns / 4).max(ANSWER_NS);
        let refills = since.has_drained && since.data_ns > DEFERRED_NS;
        let waking = Waking { segments, behind: Behind { ack_ns: since.ack_ns, near_ns }, refills };
        if let Some(waking) = self.waking.replace(waking).filter(|waking| waking.segments >= WRITTEN) {
            self.woken.count(waking.behind);
            if waking.refills {
                self.refilled.count(waking.behind);
            }
        }
    }

    /// Packets further apart are two bursts. The kernel paces frames that hold a millisecond of its rate (`sk_pacing_shift` of 10), or two
    /// segments where that is less: then as far apart as most are. The first two behind a pause are nearer; and where there are only a few
    /// packets in an RTT, each is a burst.
    pub(crate) fn burst_gap_ns(&self, rtt_ns: i64) -> i64 {
        let usual_ns = (self.usual_ns * 5 / 4).min(rtt_ns / FEW_PACKETS);
        FRAME_NS.max(self.least_ns * 3 / 2).max(usual_ns)
    }

    /// A loss has changed what limits: count anew.
    pub(crate) fn restart(&mut self) {
        let none = Followed::default();
        (self.bursts, self.woken, self.refilled, self.waking, self.rounds) = (none, none, none, None, 0);
    }

    /// An RTT is over, and for so many of them the flight has been the same.
    pub(crate) fn round(&mut self, plateau_rounds: u32) {
        self.rounds = plateau_rounds;
        if plateau_rounds == 0 {
            (self.woken, self.refilled) = (Followed::default(), Followed::default());
        }
    }

    pub(crate) fn release(&self) -> Release {
        // All that a full buffer holds is acknowledged within an RTT, so its writer is woken in each.
        let is_woken = self.woken.total() * 2 >= u64::from(self.rounds);
        match self.woken.release() {
            _ if is_woken && self.woken.is_often_at_once() => Release::Acknowledgments,
            Release::Unknown => self.bursts.release(),
            Release::Acknowledgments if !is_woken => self.bursts.release(),
            woken => woken,
        }
    }

    /// In most RTTs the flight drains though acknowledgments come, and one of them is followed by the burst that fills it again: a writer
    /// has found room. A congestion window answers each acknowledgment, but for what segmentation offload waits for.
    pub(crate) fn is_refilled(&self) -> bool {
        self.refilled.release() == Release::Acknowledgments && self.refilled.total() * 2 >= u64::from(self.rounds)
    }

    /// Hardly any acknowledgment has woken a writer in so many RTTs of the same flight. Only the sender's end can tell.
    pub(crate) fn is_never_woken(&self) -> bool {
        self.rounds >= LEAST_ROUNDS && self.woken.total() * 4 < u64::from(self.rounds)
    }
}

impl Followed {
    #[inline]
    fn count(&mut self, behind: Behind) {
        if behind.ack_ns < behind.near_ns { self.at_once += 1 } else { self.later += 1 }
    }

    fn total(self) -> u64 {
        self.at_once + self.later
    }

    /// Far more often than by chance. A writer that is woken, and whose kernel paces what it wrote, makes pauses of its own as well:
    /// of those of a full buffer 56 to 64 % followed an acknowledgment at once, of an application's 1 to 9 %, of BBR's 15 %
    /// (measured, Linux 6.18, 100 Mbit/s over 40 ms).
    fn is_often_at_once(self) -> bool {
        self.total() >= MANY_BURSTS && self.at_once * 5 >= self.total() * 2
    }

    fn release(self) -> Release {
        if self.total() < LEAST_BURSTS {
            Release::Unknown
        } else if self.at_once * 2 >= self.later * 3 {
            Release::Acknowledgments
        } else {
            Release::OwnClock
        }
    }
}

saved!(SendClock { bursts, woken, refilled, waking, rounds, packets, overall_ns, acks, least_ns, usual_ns });
saved!(Followed { at_once, later });
saved!(Behind { ack_ns, near_ns });
saved!(Waking { segments, behind, refills });
saved!(Spacing { mean_ns });

#[cfg(test)]
mod tests {
    use super::*;

    fn release(bursts: impl Iterator<Item = (i64, i64)>) -> Release {
        let mut clock = SendClock::default();
        bursts.for_each(|(data_ns, ack_ns)| {
            clock.sent(Since { data_ns, ack_ns, doubt_ns: 0, has_drained: false, acks: 4 }, 1);
        });
        clock.release()
    }

    #[test]
    fn pairs_behind_acknowledgments_are_released_by_them() {
        let pairs = (0..200).map(|index| if index % 2 == 0 { (1_990_000, 5_000) } else { (10_000, 15_000) });
        assert_eq!(release(pairs), Release::Acknowledgments);
    }

    #[test]
    fn even_packets_have_a_clock_of_their_own() {
        let even = (0..200).map(|index| (1_000_000, if index % 2 == 0 { 400_000 } else { 1_400_000 }));
        assert_eq!(release(even), Release::OwnClock);
    }

    /// A window of 140 segments on a path that holds more: the bottleneck lines them up, and the first follows the acknowledgment of the
    /// first of the train before. How far apart it puts them is known once a loss has ended the start.
    #[test]
    fn a_train_in_each_rtt_is_released_by_acknowledgments_of_the_train_before() {
        let train = |packet: i64| if packet % 140 == 0 { (60_000_000, 5_000) } else { (124_000, 90_000) };
        let mut clock = SendClock::default();
        for packet in 0..140 * 25 {
            if packet == 140 * 5 {
                clock.restart();
            }
            let (data_ns, ack_ns) = train(packet);
            clock.sent(Since { data_ns, ack_ns, doubt_ns: 0, has_drained: false, acks: 4 }, 1);
        }
        assert_eq!(clock.release(), Release::Acknowledgments);
    }

    /// 24 frames of two segments, paced 1.8 ms apart, the first two nearer, and a wait of 80 ms for room in the buffer.
    #[test]
    fn paced_frames_are_one_burst_however_slow_the_rate() {
        let mut clock = SendClock::default();
        let gaps = [80_000_000, 900_000].into_iter().chain(std::iter::repeat_n(1_800_000, 22));
        for data_ns in gaps.cycle().take(24 * 20) {
            clock.sent(Since { data_ns, ack_ns: 400_000, doubt_ns: 0, has_drained: false, acks: 1 }, 2);
        }
        let gap_ns = clock.burst_gap_ns(100_000_000);
        assert!((1_900_000..10_000_000).contains(&gap_ns), "{gap_ns}");
        // Two packets in each RTT are two bursts.
        assert!(clock.burst_gap_ns(3_600_000) < 1_800_000);
    }

    #[test]
    fn few_bursts_say_nothing() {
        assert_eq!(release((0..5).map(|_| (1_000_000, 1_000))), Release::Unknown);
    }

    /// So many acknowledgments, half a millisecond apart, that are not answered, and so long after the last of them a burst.
    #[derive(Clone, Copy)]
    struct Pause {
        unanswered: u32,
        ack_ns: i64,
        written: u32,
    }

    fn pause(clock: &mut SendClock, pause: Pause) {
        (0..pause.unanswered).for_each(|_| clock.heard(500_000));
        let data_ns = i64::from(pause.unanswered) * 500_000;
        clock.sent(Since { data_ns, ack_ns: pause.ack_ns, doubt_ns: 0, has_drained: true, acks: 4 }, 1);
        // Written one after the other, and behind nothing.
        let next = Since { data_ns: 400_000, ack_ns: 300_000, doubt_ns: 0, has_drained: false, acks: 4 };
        (0..pause.written).for_each(|_| clock.sent(next, 1));
    }

    /// Bursts of ten behind a pause of ten acknowledgments, so long after the last of them.
    fn woken(plateau_rounds: u32, behind_ns: impl Fn(i64) -> i64) -> Release {
        let mut clock = SendClock::default();
        for burst in 0..40 {
            pause(&mut clock, Pause { unanswered: 10, ack_ns: behind_ns(burst), written: 9 });
        }
        clock.round(plateau_rounds);
        clock.release()
    }

    #[test]
    fn the_first_packet_behind_a_pause_says_what_woke_the_writer() {
        assert_eq!(woken(40, |_| 90_000), Release::Acknowledgments);
        assert_eq!(woken(40, |burst| burst % 10 * 50_000), Release::OwnClock);
    }

    #[test]
    fn a_writer_that_is_woken_now_and_then_has_no_full_buffer() {
        assert_eq!(woken(400, |_| 90_000), Release::OwnClock);
    }

    /// A writer that is woken by three of seven acknowledgments behind a pause, while the kernel paces what it wrote before.
    #[test]
    fn a_woken_writer_whose_kernel_paces_is_known_by_more_than_chance() {
        assert_eq!(woken(40, |burst| if burst % 7 < 3 { 90_000 } else { 400_000 }), Release::OwnClock);
        let mut clock = SendClock::default();
        for burst in 0..100 {
            pause(
                &mut clock,
                Pause { unanswered: 10, ack_ns: if burst % 7 < 3 { 90_000 } else { 400_000 }, written: 9 },
            );
        }
        clock.round(50);
        assert_eq!(clock.release(), Release::Acknowledgments);
        assert!(!clock.is_never_woken());
    }

    #[test]
    fn a_steady_stream_of_packets_has_no_writer_that_is_woken() {
        let mut clock = SendClock::default();
        for _ in 0..2_000 {
            clock.heard(760_000);
            clock.sent(Since { data_ns: 760_000, ack_ns: 90_000, doubt_ns: 0, has_drained: false, acks: 4 }, 2);
        }
        clock.round(20);
        assert_eq!((clock.release(), clock.is_never_woken()), (Release::Acknowledgments, true));
    }

    /// Segmentation offload makes pauses of a millisecond; a writer that waits for a third of its buffer lets the flight drain.
    #[test]
    fn only_long_pauses_in_which_the_flight_drains_refill_it() {
        let refilled = |unanswered: u32| {
            let mut clock = SendClock::default();
            for _ in 0..40 {
                pause(&mut clock, Pause { unanswered, ack_ns: 50_000, written: 9 });
            }
            clock.round(40);
            clock.is_refilled()
        };
        assert!(refilled(10) && !refilled(4));
    }
}
