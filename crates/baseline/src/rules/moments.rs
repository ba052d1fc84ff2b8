//! What both rules ask of a set of results.

/// Mean and standard deviation, with `n - degrees` below the root; of too few, zeros.
pub(super) fn moments(values: &[f64], degrees: f64) -> (f64, f64) {
    let n = values.len() as f64;
    if n <= degrees {
        return (0.0, 0.0);
    }
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (mean, (squares / (n - degrees)).sqrt())
}

/// A day in seconds.
pub(super) const DAY_S: i64 = 86_400;
