//! Tests that a host's own load has disturbed, once more.

use model::quality::{Grade, Quality};
use units::MonoTime;

use super::{Leader, Report, test};

impl Leader<'_, '_> {
    /// Repeats those tests that something beside the path has disturbed, the worst first, one at a time, as long as there is
    /// time for it, and keeps the better result of each.
    pub(super) fn repeat_disturbed(&mut self, last: MonoTime) {
        let until = (self.now() + self.lead.repeats).min(last);
        for attempt in 2..=MOST_ATTEMPTS {
            for (weight, place) in self.disturbed() {
                let number = self.tests[place].0;
                let slot = &self.lead.schedule.slots[number];
                if self.now() + slot.lasts > until || self.lead.stop.is_stopped() || self.halt.is_stopped() {
                    return;
                }
                let began = self.now().since(self.begun);
                self.audience.begins(slot, began);
                // Whatever becomes of a host now, the first result stands.
                let Report { mut tested, .. } = test(self.lead, number, began, &self.halt);
                tested.attempt = Some(attempt);
                let is_better = has_run(&tested) && Quality::of(&tested).weight() > weight;
                if is_better {
                    self.keep(number, &tested);
                    self.audience.ended(slot, &tested);
                    self.tests[place].1 = tested;
                }
            }
        }
    }

    /// The tests of poor quality with their weights, the worst first.
    fn disturbed(&self) -> Vec<(f64, usize)> {
        let graded = self.tests.iter().enumerate().map(|(place, (_, tested))| (Quality::of(tested), place));
        let poor = graded.filter(|(quality, _)| quality.grade() == Grade::Poor);
        let mut poor: Vec<_> = poor.map(|(quality, place)| (quality.weight(), place)).collect();
        poor.sort_by(|one, other| one.0.total_cmp(&other.0));
        poor
    }
}

fn has_run(tested: &model::round::Tested) -> bool {
    matches!(&tested.finding, model::played::Finding::Run(run) if run.outcome == model::run::Outcome::Complete)
}

/// How often a test is run at most.
pub(super) const MOST_ATTEMPTS: u32 = 3;
