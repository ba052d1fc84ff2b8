//! How much counters grew between two readings.

use std::time::Duration;

use model::host::drops::{Increase, UnknownPart};

use super::totals::{Total, Totals, Width};

/// How much each counter grew, and which are not known: those that were set back, came or went.
#[must_use]
pub fn between(before: &Totals, after: &Totals) -> (Vec<Increase>, Vec<UnknownPart>) {
    let length = after.taken.since(before.taken);
    let (mut grown, mut unknown) = (Vec::new(), after.unknown.clone());
    for (counter, now) in &after.counters {
        let increase = match before.counters.get(counter) {
            Some(then) if then.device == now.device => grew(then, now, length),
            Some(_) => Err("its device was made anew"),
            None => Err("it was not there before"),
        };
        match increase {
            Ok(increase) => grown.push(Increase { counter: counter.clone(), kind: now.kind, increase }),
            Err(why) => unknown.push(UnknownPart { what: counter.to_string(), why: why.to_owned() }),
        }
    }
    let gone = before.counters.keys().filter(|counter| !after.counters.contains_key(*counter));
    unknown.extend(gone.map(|counter| UnknownPart { what: counter.to_string(), why: "it has gone".to_owned() }));
    (grown, unknown)
}

/// A counter of 32 bits that is smaller than before has wrapped, where so many packets can be; else somebody set it
/// back, as a driver does when its device is reset.
fn grew(then: &Total, now: &Total, length: Duration) -> Result<u64, &'static str> {
    if let Some(increase) = now.value.checked_sub(then.value) {
        return Ok(increase);
    }
    let over_the_end = now.value + (1 << 32) - then.value.min(1 << 32);
    let seconds = length.as_secs().saturating_add(1);
    match now.width {
        Width::Bits32 if over_the_end <= seconds.saturating_mul(MOST_A_SECOND) => Ok(over_the_end),
        Width::Bits32 | Width::Bits64 => Err("it was set back"),
    }
}

/// More packets a second than any processor or queue drops: 400 Gbit/s of the smallest frames are 595 million.
const MOST_A_SECOND: u64 = 600_000_000;

#[cfg(test)]
mod tests {
    use model::host::drops::{Counter, DropKind, Layer};
    use units::MonoTime;

    use super::*;

    fn totals(seconds: u64, value: u64, width: Width, device: u32) -> Totals {
        let counter = Counter { layer: Layer::Softnet, of: "cpu 0".to_owned(), name: "dropped".to_owned() };
        let total = Total { value, width, kind: DropKind::Backlog, device };
        let taken = MonoTime::from_nanos(seconds * 1_000_000_000);
        Totals { taken, counters: [(counter, total)].into(), unknown: Vec::new() }
    }

    fn grown(then: u64, now: u64, width: Width) -> Option<u64> {
        let (grown, unknown) = between(&totals(10, then, width, 0), &totals(11, now, width, 0));
        assert_eq!(grown.len() + unknown.len(), 1);
        grown.first().map(|each| each.increase)
    }

    #[test]
    fn counter_of_32_bits_goes_on_over_its_end() {
        assert_eq!(grown(u32::MAX.into(), 4, Width::Bits32), Some(5));
        assert_eq!(grown(4_294_000_000, 1_000_000, Width::Bits32), Some(1_967_296));
        assert_eq!(grown(7, 7, Width::Bits32), Some(0));
    }

    #[test]
    fn counter_that_was_set_back_is_unknown_and_not_huge() {
        assert_eq!(grown(1_000, 5, Width::Bits32), None);
        assert_eq!(grown(u64::MAX, 5, Width::Bits64), None);
    }

    #[test]
    fn device_made_anew_under_the_same_name_is_unknown() {
        let (grown, unknown) = between(&totals(1, 3, Width::Bits64, 4), &totals(2, 9, Width::Bits64, 5));
        assert!(grown.is_empty());
        assert_eq!(
            unknown[0].to_owned(),
            UnknownPart { what: "cpu 0 softnet dropped".to_owned(), why: "its device was made anew".to_owned() }
        );
    }

    #[test]
    fn counters_that_come_and_go_are_named() {
        let empty = Totals::default();
        let full = totals(2, 9, Width::Bits64, 0);
        assert_eq!(between(&empty, &full).1[0].why, "it was not there before");
        assert_eq!(between(&full, &empty).1[0].why, "it has gone");
    }
}
