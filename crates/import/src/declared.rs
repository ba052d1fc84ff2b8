//! What the user declares.

use model::measurement::Heading;
use model::run::{Declared, Run};
use units::DataRate;

use super::stated_rate::{StatedRate, StatedTargets};

/// What the user declares for all runs of the files.
#[derive(Debug, Clone, Default)]
pub struct UserFacts {
    /// Facts of the path and of the sender.
    pub declared: Declared,
    /// The line rate of the path.
    pub line_rate: Option<DataRate>,
}

impl UserFacts {
    /// With what the text of a file states, where the user declares no rate.
    pub(crate) fn with_stated(&self, stated: StatedTargets, heading: Heading) -> Self {
        if self.declared.expected.is_some() || self.line_rate.is_some() {
            return self.clone();
        }
        let towards = |rate: Option<StatedRate>| rate.map(|rate| rate.towards(heading));
        Self {
            declared: Declared { expected: towards(stated.expected), ..self.declared.clone() },
            line_rate: towards(stated.link),
        }
    }

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
