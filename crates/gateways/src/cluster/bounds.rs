//! What a setting may be, and its units.

/// A setting that cannot be.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("`{name}` is {value}: {expected}")]
pub struct SettingsError {
    /// Which one.
    pub name: &'static str,
    /// What was written, in the unit that ends its name.
    pub value: f64,
    /// What it may be.
    pub expected: &'static str,
}

/// The least, the most, and what that is called.
#[derive(Clone, Copy)]
pub(super) struct Bounds(pub(super) f64, pub(super) f64, pub(super) &'static str);

/// Whether a setting lies there.
pub(super) fn within(name: &'static str, value: f64, bounds: Bounds) -> Result<(), SettingsError> {
    let Bounds(least, most, expected) = bounds;
    // A NaN is in no range.
    if (least..=most).contains(&value) { Ok(()) } else { Err(SettingsError { name, value, expected }) }
}

/// Gbit/s as bytes per second.
#[must_use]
pub fn bytes_per_second(gbps: f64) -> f64 {
    gbps * 1e9 / 8.0
}

/// A count as a number to reckon with.
#[must_use]
pub fn small(count: usize) -> f64 {
    u32::try_from(count).map_or(f64::from(u32::MAX), f64::from)
}
