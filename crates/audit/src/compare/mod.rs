//! Hosts compared: with themselves at another time, with each other, with the rest of their kind.
//!
//! * [`changes`]: what is set otherwise on one of two
//! * [`outliers`]: what is set otherwise on some hosts of several, the most telling first
//! * `report`: the answer
//! * `roles`: which device of one host is which of another
//! * `align`: what each host has, setting by setting
//! * `readers`: the rules that look at a setting, and what they say on each host

mod align;
mod changes;
mod outliers;
mod readers;
mod report;
mod roles;

pub(crate) use align::Aligned;
pub use changes::{Change, Uncertain, changes, uncertain};
pub use outliers::{Side, outliers};
pub use report::{Comparison, Difference, MatchedDevice, NotKnown, ReadBy, SharedValue, Source};
pub use roles::Match;

/// The schema of a comparison, for `docs/formats/`.
#[must_use]
#[cfg(feature = "schema")]
pub fn schema() -> schemars::Schema {
    schemars::schema_for!(Comparison)
}
