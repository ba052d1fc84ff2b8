//! SLAC's plateau detector (IEPM-BW, 2004 to 2008): low results go to a trigger buffer, and alarm once it is full and its mean is
//! a third lower; then the low level becomes the history.

use std::collections::VecDeque;

use super::moments::{DAY_S, moments};
use crate::series::{Sample, median};

/// The results at which the trigger buffer was full and low enough.
pub(super) fn alarms(samples: &[Sample]) -> Vec<usize> {
    let between: Vec<f64> = samples.windows(2).map(|pair| (pair[1].at_s - pair[0].at_s) as f64).collect();
    // Five days of results; the trigger is a twentieth of that, 6 h of hourly ones.
    let history_size = ((5 * DAY_S) as f64 / median(&between).max(1.0)).round().clamp(20.0, 100_000.0) as usize;
    let trigger_size = (history_size / 20).max(4);
    let mut history: VecDeque<f64> = VecDeque::new();
    let mut trigger: VecDeque<f64> = VecDeque::new();
    let mut alarms = Vec::new();
    let mut limits = (0.0, 0.0);
    for (at, sample) in samples.iter().enumerate().filter(|(_, sample)| sample.value.is_finite()) {
        let is_filling = history.len() < history_size && alarms.is_empty();
        if !is_filling && sample.value < limits.0 - 2.0 * limits.1 {
            trigger.push_back(sample.value);
        } else {
            history.push_back(sample.value);
            history.extend(trigger.pop_front());
            let excess = history.len().saturating_sub(history_size);
            history.drain(..excess);
            limits = moments(history.make_contiguous(), 0.0);
        }
        if trigger.len() >= trigger_size {
            let low = moments(trigger.make_contiguous(), 0.0);
            if low.0 < LEAST_REST * limits.0 {
                alarms.push(at);
            }
            limits = low;
            history = std::mem::take(&mut trigger);
        }
    }
    alarms
}

/// An alarm is for at most this share of the history's mean.
const LEAST_REST: f64 = 0.67;
