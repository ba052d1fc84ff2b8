//! When the path is full.

/// It is once the rate has not grown by a quarter for three rounds.
#[derive(Debug, Default)]
pub(super) struct FullPipe {
    rate: f64,
    rounds: u32,
    /// Whether it is since this was last asked anew.
    pub(super) is_now: bool,
    /// Whether it ever was.
    pub(super) was: bool,
}

const GROWTH: f64 = 1.25;
const ROUNDS: u32 = 3;

impl FullPipe {
    /// Takes in a rate.
    pub(super) fn look(&mut self, rate: f64, round_began: bool) {
        if rate >= self.rate * GROWTH {
            self.ask_anew(rate);
        } else if round_began {
            self.rounds += 1;
            self.is_now = self.rounds >= ROUNDS;
            self.was |= self.is_now;
        }
    }

    /// Forgets how fast it was, not that it was full.
    pub(super) fn ask_anew(&mut self, rate: f64) {
        (self.rate, self.rounds, self.is_now) = (rate, 0, false);
    }

    /// Any rate is taken for growth.
    pub(super) fn forget_rate(&mut self) {
        self.rate = 0.0;
    }
}
