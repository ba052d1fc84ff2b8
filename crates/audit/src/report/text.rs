//! Values as people read them.

use units::{ByteCount, DataRate};

use crate::fact::Fact;
use crate::rule::Unit;

/// A value with its unit.
#[must_use]
pub fn shown(fact: &Fact, unit: Unit) -> String {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked to be no less than zero")]
    let whole = match fact {
        Fact::Int(number) => u64::try_from(*number).ok(),
        Fact::Float(number) if *number >= 0.0 => Some(number.round() as u64),
        _ => None,
    };
    match (unit, whole) {
        (Unit::Bytes, Some(bytes)) => ByteCount::new(bytes).to_string(),
        (Unit::BitsPerSecond, Some(bps)) => DataRate::from_bps(bps).to_string(),
        (Unit::Microseconds, Some(micros)) => units::duration::show(std::time::Duration::from_micros(micros)),
        _ => fact.to_string(),
    }
}
