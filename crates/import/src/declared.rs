//! What the user declares.

use model::run::{Declared, Run};
use units::DataRate;

/// What the user declares for all runs of the files.
#[derive(Debug, Clone, Default)]
pub struct UserFacts {
    /// Facts of the path and of the sender.
    pub declared: Declared,
    /// The line rate of the path.
    pub line_rate: Option<DataRate>,
}

impl UserFacts {
    /// The run with what the user declares, where it says nothing itself.
    pub(crate) fn complete(&self, mut run: Run) -> Run {
        let (own, ours) = (&mut run.declared, &self.declared);
        own.rtt = own.rtt.or(ours.rtt);
        own.expected = own.expected.or(ours.expected);
        own.mss = own.mss.or(ours.mss);
        own.congestion_control = own.congestion_control.take().or_else(|| ours.congestion_control.clone());
        run.declared_line_rate = run.declared_line_rate.or(self.line_rate);
        run
    }
}
