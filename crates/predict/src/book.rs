//! Expectations of many runs, of which like ones are reckoned once.

use std::collections::BTreeMap;

use model::expectation::{Expectation, Expected, Inputs, KnownValue, Prediction};
use units::DataRate;
use units::duration::micros;

use crate::case::{Case, Unpredictable};
use crate::reckon::{Reckoned, reckon};
use crate::words;

/// See the module.
#[derive(Debug, Clone, Default)]
pub struct Book {
    reckoned: BTreeMap<String, Reckoned>,
}

impl Book {
    /// What a direction should have reached.
    pub fn expectation(&mut self, case: &Case<'_>) -> Expectation {
        let expected = match self.prediction(case) {
            Ok(prediction) => Expected::Predicted(Box::new(prediction)),
            Err(why) => Expected::Unknown { reason: why.to_string() },
        };
        Expectation { heading: case.total.heading, expected }
    }

    /// The same, or why it cannot be predicted.
    ///
    /// # Errors
    /// See [`Unpredictable`].
    pub fn prediction(&mut self, case: &Case<'_>) -> Result<Prediction, Unpredictable> {
        let inputs = case.inputs()?;
        let mut prediction = self.of_inputs(inputs)?;
        prediction.attained = case.total.goodput.share_of(prediction.goodput).map(|part| rounded(part, 1e6));
        Ok(prediction)
    }

    /// What should be reached from inputs. Without the losses that they name: those are a fault.
    ///
    /// # Errors
    /// See [`Unpredictable`].
    pub fn of_inputs(&mut self, inputs: Inputs) -> Result<Prediction, Unpredictable> {
        let without = Inputs { loss: None, ..inputs.clone() };
        let Reckoned { goodput, steady, bound, simulated } = self.reckoned(&without)?;
        let is_lossy = inputs.loss.as_ref().is_some_and(|loss| loss.value > 0.0);
        let with_loss: Option<DataRate> =
            if is_lossy { Some(self.reckoned(&inputs)?.goodput.min(goodput)) } else { None };
        let because = words::because(bound, &inputs);
        Ok(Prediction { goodput, steady, limit: bound, because, attained: None, with_loss, simulated, inputs })
    }

    fn reckoned(&mut self, inputs: &Inputs) -> Result<Reckoned, Unpredictable> {
        let key = key(inputs);
        if let Some(known) = self.reckoned.get(&key) {
            return Ok(*known);
        }
        let reckoned = reckon(inputs)?;
        self.reckoned.insert(key, reckoned);
        Ok(reckoned)
    }
}

/// What tells inputs apart. Round trips and times that differ by a hundredth or two are alike.
fn key(inputs: &Inputs) -> String {
    let value = |known: &Option<KnownValue<DataRate>>| known.as_ref().map(|known| known.value);
    let numbers = (
        (inputs.path_rate.value, inputs.adapter_rate.value, inputs.queue.value),
        (coarse(inputs.rtt_us.value), coarse(micros(inputs.time)), inputs.bytes),
        (inputs.segment_bytes.value, inputs.streams.value, inputs.initial_window_segments.value),
        (inputs.send_buffer.value, inputs.first_receive_buffer.value, inputs.receive_buffer.value),
        (inputs.window_percent.value, value(&inputs.pace), value(&inputs.application_rate)),
        (inputs.writer.value, inputs.pacing.value, inputs.loss.as_ref().map(|loss| loss.value.to_bits())),
    );
    format!("{numbers:?} {}", inputs.congestion_control.value)
}

/// A number cut to so many parts of one, so that its text form reads back as the same number.
pub(crate) fn rounded(number: f64, parts: f64) -> f64 {
    (number * parts).round() / parts
}

/// A number to the nearest of those that differ by no more than a thirty-second.
fn coarse(number: u64) -> u64 {
    let shift = (u64::BITS - number.leading_zeros()).saturating_sub(6);
    ((number >> shift) + u64::from(shift > 0 && (number >> (shift - 1)) & 1 == 1)) << shift
}

#[cfg(test)]
mod tests {
    use super::coarse;

    #[test]
    fn like_numbers_are_one() {
        assert_eq!(coarse(190_121), coarse(190_300));
        assert_ne!(coarse(190_121), coarse(210_000));
        assert_eq!(coarse(20), 20);
        assert_eq!(coarse(0), 0);
        for number in [1_000, 54_321, u64::MAX / 3] {
            assert!(coarse(number).abs_diff(number) * 32 <= number, "{number}");
        }
    }
}
