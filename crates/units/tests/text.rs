//! What is written by a person is what is counted, for every value.

use proptest::prelude::*;
use std::time::Duration;
use units::{ByteCount, DataRate, Percent, duration};

proptest! {
    #[test]
    fn a_rate_in_bits_survives_its_text(bps in any::<u64>()) {
        prop_assert_eq!(format!("{bps}bit/s").parse(), Ok(DataRate::from_bps(bps)));
    }

    #[test]
    fn bytes_over_a_rate_take_the_time_they_take(bytes in 1_u64..1 << 50, bps in 1_u64..1 << 45) {
        let rate = DataRate::from_bps(bps);
        let time = rate.time_for(ByteCount::new(bytes)).expect("the rate is not zero");
        let back = rate * time;
        // The time is rounded up to a nanosecond, within which the rate moves at most this much more.
        let slack = 1 + bps / 8 / 1_000_000_000;
        if time < Duration::from_secs(1 << 33) {
            prop_assert!(back.get() >= bytes && back.get() - bytes <= slack, "{} became {}", bytes, back.get());
        }
    }

    #[test]
    fn a_part_is_the_same_part_of_what_it_says_is_its_whole(hundredths in 1_u32..=100, part in any::<u32>()) {
        let share = Percent::new(hundredths).expect("1 to 100");
        let whole = share.whole_of(part.into());
        // Rounded down twice: one less at most.
        prop_assert!((u64::from(part).saturating_sub(1)..=part.into()).contains(&share.part_of(whole)));
        prop_assert_eq!(u128::from(share.part_of(whole)), u128::from(whole) * u128::from(hundredths) / 100);
    }

    #[test]
    fn no_text_makes_a_reader_panic(text in "\\PC{0,24}") {
        let _ = text.parse::<DataRate>();
        let _ = text.parse::<ByteCount>();
        let _ = duration::parse(&text);
    }
}
