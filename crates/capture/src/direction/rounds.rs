//! Rounds of one RTT each: whether the flight grows, and whether it has stopped to.

/// See the module.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rounds {
    /// The round ends when this is acknowledged.
    end: u64,
    peak: u64,
    last_peak: u64,
    slow_start: bool,
    slow_rounds: u32,
    plateau_peak: u64,
    plateau_rounds: u32,
    highest_peak: u64,
    /// Flight of the last plateau.
    pub(crate) last_plateau: Option<u64>,
    pub(crate) count: u64,
    pub(crate) had_loss: bool,
}

impl Default for Rounds {
    fn default() -> Self {
        Self {
            end: 0,
            peak: 0,
            last_peak: 0,
            slow_start: true,
            slow_rounds: 0,
            plateau_peak: 0,
            plateau_rounds: 0,
            highest_peak: 0,
            last_plateau: None,
            count: 0,
            had_loss: false,
        }
    }
}

/// Rounds of the same flight that make a plateau.
const PLATEAU_ROUNDS: u32 = 8;
/// Growth of the flight in a round below which slow start is over: it doubles there, or grows by half.
const GROWTH: f64 = 1.2;
/// Rounds without growth after which it is.
const ROUNDS_WITHOUT_GROWTH: u32 = 2;

impl Rounds {
    #[inline]
    pub(crate) fn flight(&mut self, bytes: u64) {
        self.peak = self.peak.max(bytes);
    }

    /// Everything before `acked` is acknowledged. Returns whether a round has ended; the next ends with `next`.
    #[inline]
    pub(crate) fn acknowledged(&mut self, acked: u64, next: u64, packet: u64) -> bool {
        if acked < self.end {
            return false;
        }
        self.end = next;
        self.finish(packet);
        true
    }

    #[expect(clippy::cast_precision_loss, reason = "a ratio")]
    fn finish(&mut self, packet: u64) {
        self.count += 1;
        if (self.peak as f64) < self.last_peak as f64 * GROWTH {
            self.slow_rounds += 1;
            if self.slow_rounds >= ROUNDS_WITHOUT_GROWTH {
                self.leave_slow_start();
            }
        } else {
            self.slow_rounds = 0;
        }
        self.highest_peak = self.highest_peak.max(self.peak);
        // Growth is seen as exactly as the packets are. A writer that waits until a third of the buffer is free finds more of
        // it free, or less.
        let at_most = self.plateau_peak + packet.min(self.peak / 8);
        // A round that begins amid a burst sees the smaller part of it.
        let peak = self.peak.max(self.last_peak);
        if self.peak > 0 && self.peak <= at_most && peak * 3 >= self.plateau_peak * 2 {
            self.plateau_rounds += 1;
            if self.has_plateau() {
                self.last_plateau = Some(self.plateau_peak);
            }
        } else {
            self.start_plateau(self.peak);
        }
        (self.last_peak, self.peak) = (self.peak, 0);
    }

    fn leave_slow_start(&mut self) {
        self.slow_start = false;
    }

    /// A loss or a mark: the window is reduced.
    pub(crate) fn reduced(&mut self) {
        self.leave_slow_start();
        self.had_loss = true;
        self.start_plateau(0);
    }

    fn start_plateau(&mut self, peak: u64) {
        (self.plateau_peak, self.plateau_rounds) = (peak, 0);
    }

    /// A recovery is over: the flight before it is no measure any more.
    pub(crate) fn restart(&mut self) {
        (self.peak, self.last_peak) = (0, 0);
    }

    /// The retransmission timer has fired: slow start begins anew.
    pub(crate) fn timed_out(&mut self) {
        self.reduced();
        (self.slow_start, self.slow_rounds) = (true, 0);
    }

    pub(crate) fn is_slow_start(&self) -> bool {
        self.slow_start
    }

    /// The last round had more in flight than the one before, and no loss has ended slow start.
    pub(crate) fn is_growing(&self) -> bool {
        self.slow_start && self.slow_rounds == 0
    }

    /// The most in flight in this round and the one before it.
    pub(crate) fn recent_peak(&self) -> u64 {
        self.peak.max(self.last_peak)
    }

    /// The same for as long as no window stands still that a loss has reduced.
    pub(crate) fn has_long_plateau(&self) -> bool {
        self.plateau_rounds >= 3 * PLATEAU_ROUNDS
    }

    /// Whether no round before the plateau had more in flight.
    pub(crate) fn is_highest_plateau(&self) -> bool {
        self.highest_peak <= self.plateau_peak + self.plateau_peak / 8
    }

    /// For how many rounds the flight has been the same.
    pub(crate) fn plateau_rounds(&self) -> u32 {
        self.plateau_rounds
    }

    /// The flight of the plateau.
    pub(crate) fn plateau_peak(&self) -> u64 {
        self.plateau_peak
    }

    /// The flight has stayed the same.
    pub(crate) fn has_plateau(&self) -> bool {
        self.plateau_rounds >= PLATEAU_ROUNDS
    }
}

saved!(Rounds {
    end,
    peak,
    last_peak,
    slow_start,
    slow_rounds,
    plateau_peak,
    plateau_rounds,
    highest_peak,
    last_plateau,
    count,
    had_loss
});
