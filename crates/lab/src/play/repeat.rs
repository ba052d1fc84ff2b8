//! Tests that the machine has disturbed, once more.

use linux::clock;
use model::quality::{Grade, Quality};

use super::evidence::Measured;
use super::rounds::Rounds;
use super::{PlayError, Setting, evidence};
use crate::scenario::{Fault, Scenario, Test};

impl Rounds<'_> {
    /// Repeats those tests that the machine has disturbed, the worst first, as long as there is time for it, and keeps the
    /// better result of each.
    pub(super) fn repeat_disturbed(&mut self, done: &mut [Measured<'_>]) -> Result<(), PlayError> {
        let scenario = self.setting.scenario;
        if done.iter().any(|measured| !can_be_repeated(scenario, measured.test)) {
            return Ok(());
        }
        let until = clock::now() + self.setting.fit.repeats;
        let mut in_vain = 0;
        // What disturbs every attempt alike will disturb the next one.
        for attempt in 2..=MOST_ATTEMPTS {
            let mut poor: Vec<(f64, usize)> = (0..done.len())
                .map(|number| (number, quality(self.setting, &done[number])))
                .filter(|(_, quality)| quality.grade() == Grade::Poor)
                .map(|(number, quality)| (quality.weight(), number))
                .collect();
            poor.sort_by(|one, other| one.0.total_cmp(&other.0));
            for (weight, number) in poor {
                let length = done[number].test.kind.length().unwrap_or_default();
                if clock::now() + length > until || in_vain == MOST_IN_VAIN || self.setting.stop.is_stopped() {
                    return Ok(());
                }
                self.audience.repeats(done[number].test, &quality(self.setting, &done[number]));
                for mut again in self.in_turn(std::slice::from_ref(done[number].test))? {
                    again.attempt = Some(attempt);
                    if quality(self.setting, &again).weight() > weight {
                        done[number] = again;
                        in_vain = 0;
                    } else {
                        in_vain += 1;
                    }
                }
            }
        }
        Ok(())
    }
}

fn quality(setting: &Setting<'_>, measured: &Measured<'_>) -> Quality {
    Quality::of(&evidence::tested(setting, measured.clone()))
}

/// A test at a time of its own meets what happens then, and no other time will do.
fn can_be_repeated(scenario: &Scenario, test: &Test) -> bool {
    let comes_or_goes = |fault: &Fault| !fault.from.is_zero() || fault.until.is_some();
    test.start.is_none() && !scenario.faults.iter().any(comes_or_goes)
}

const MOST_ATTEMPTS: u32 = 3;
const MOST_IN_VAIN: usize = 3;
