//! One load from five numbers.

use serde::{Deserialize, Serialize};

/// What a server reports, each in percent: the five numbers that a program of `cms.perf` prints, in its order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Reported {
    /// Run queue (`runq`): at RAL the load average per CPU.
    pub runq: u8,
    /// CPU utilisation.
    pub cpu: u8,
    /// Memory in use.
    pub mem: u8,
    /// Paging.
    pub pag: u8,
    /// Network utilisation (`io` in `cms.sched`).
    pub net: u8,
}

/// The weights of `cms.sched`, in percent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Weights {
    /// Of the run queue.
    pub runq: u8,
    /// Of CPU utilisation.
    pub cpu: u8,
    /// Of memory in use.
    pub mem: u8,
    /// Of paging.
    pub pag: u8,
    /// Of network utilisation.
    pub net: u8,
}

/// Why weights balance nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum WeightsError {
    /// A weight beyond 100, which cmsd refuses.
    #[error("the weight of {name} is {value}, and cms.sched takes 0 to 100")]
    TooLarge {
        /// Which one.
        name: &'static str,
        /// What `cms.sched` was given, in percent.
        value: u8,
    },
    /// cmsd takes weights that add up to more than 100, and then a load passes `maxload` although nothing is full.
    #[error("the weights add up to {0}: a load in percent needs a sum of at most 100")]
    Sum(u16),
    /// Nothing is weighed: every load is 0, and the reference counts alone decide.
    #[error("all weights are 0: every load would be 0, which is round robin; choose the policy `round-robin` for that")]
    Nothing,
}

impl Weights {
    /// The load of `cms.sched`: each product in percent is cut to a whole number before they are added
    /// (`XrdCmsMeter::calcLoad`), so that five small terms can vanish.
    #[must_use]
    pub fn load(self, reported: Reported) -> i32 {
        let term = |weight: u8, value: u8| i32::from(weight) * i32::from(value.min(100)) / 100;
        term(self.cpu, reported.cpu)
            + term(self.net, reported.net)
            + term(self.runq, reported.runq)
            + term(self.mem, reported.mem)
            + term(self.pag, reported.pag)
    }

    /// Whether a load of these weights says anything.
    ///
    /// # Errors
    /// What contradicts what.
    pub fn check(self) -> Result<(), WeightsError> {
        let named = [("runq", self.runq), ("cpu", self.cpu), ("mem", self.mem), ("pag", self.pag), ("net", self.net)];
        if let Some((name, value)) = named.into_iter().find(|(_, value)| *value > 100) {
            return Err(WeightsError::TooLarge { name, value });
        }
        match named.iter().map(|(_, value)| u16::from(*value)).sum() {
            0 => Err(WeightsError::Nothing),
            sum if sum > 100 => Err(WeightsError::Sum(sum)),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_term_is_cut_before_the_sum() {
        let weights = Weights { runq: 80, cpu: 20, ..Weights::default() };
        let reported = Reported { runq: 99, cpu: 99, ..Reported::default() };
        // 79.2 and 19.8: together 99.0, and 98 where each is cut.
        assert_eq!(weights.load(reported), 98);
        assert_eq!(weights.load(Reported { runq: 255, cpu: 4, ..reported }), 80);
    }

    #[test]
    fn contradictory_weights_are_named() {
        assert_eq!(Weights::default().check(), Err(WeightsError::Nothing));
        let sum = Weights { runq: 80, net: 60, ..Weights::default() };
        assert_eq!(sum.check(), Err(WeightsError::Sum(140)));
        let large = Weights { mem: 101, ..Weights::default() };
        assert_eq!(large.check(), Err(WeightsError::TooLarge { name: "mem", value: 101 }));
        assert_eq!(Weights { runq: 80, cpu: 20, ..Weights::default() }.check(), Ok(()));
    }
}
