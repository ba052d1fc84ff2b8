//! What lies on the horizontal axis, which all panels of a picture share.

use crate::axis::Quantity;

/// What all panels lie over: time, in microseconds from the start of the test, or what the axis says.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Span {
    pub(crate) from_us: f64,
    pub(crate) to_us: f64,
    pub(crate) axis: Axis,
    /// The end of ramp-up, where one direction has one.
    pub(crate) steady_us: Option<f64>,
}

/// What lies on the horizontal axis.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Axis {
    /// The time since the start of the test.
    Time,
    /// A quantity, in its base unit.
    Of { name: &'static str, quantity: Quantity },
}
