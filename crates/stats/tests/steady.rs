#![allow(clippy::panic, clippy::cast_possible_truncation, clippy::cast_sign_loss)] // Shapes are drawn in floats.
//! Shapes of runs as paths make them, with the index at which a person would say that the ramp-up ends.

use proptest::prelude::*;
use stats::steady::{Reason, Steady, detect};
use units::ByteCount;

/// Bytes of a full step: 100 ms at 10 Gbit/s.
const FULL: f64 = 125e6;

/// A run of steps as parts of the full rate.
fn run(parts: impl IntoIterator<Item = f64>) -> Vec<ByteCount> {
    parts.into_iter().map(|part| ByteCount::new((part.max(0.0) * FULL).round() as u64)).collect()
}

/// Numbers between -1 and 1, the same on every machine (SplitMix64).
fn noise(seed: u64) -> impl Iterator<Item = f64> {
    (1_u64..).map(move |i| {
        let mut z = seed.wrapping_add(i.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (z ^ (z >> 31)) as f64 / u64::MAX as f64 * 2.0 - 1.0
    })
}

/// Doubling every two steps until full at step `until`, then flat with the given noise.
fn slow_start(until: usize, steps: usize, amplitude: f64, seed: u64) -> Vec<ByteCount> {
    run((0..steps).zip(noise(seed)).map(|(i, noise)| {
        let ramp = if i < until { 0.5_f64.powf((until - i) as f64 / 2.0) } else { 1.0 };
        ramp * (1.0 + amplitude * noise)
    }))
}

fn settled(steps: &[ByteCount]) -> usize {
    match detect(steps) {
        Steady::From(index) => index,
        Steady::NotReached(reason) => panic!("{reason:?}: {steps:?}"),
    }
}

#[test]
fn slow_start_is_cut_to_within_three_steps() {
    for (until, amplitude) in [(7, 0.0), (12, 0.02), (20, 0.02), (33, 0.05), (40, 0.1)] {
        for seed in 0..50 {
            let index = settled(&slow_start(until, 100, amplitude, seed));
            assert!(index.abs_diff(until) <= 3, "ramp of {until}, noise {amplitude}, seed {seed}: {index}");
        }
    }
}

#[test]
fn a_run_that_ramps_up_for_most_of_its_time_has_no_steady_part() {
    assert_eq!(detect(&slow_start(75, 100, 0.02, 1)), Steady::NotReached(Reason::Moving));
}

#[test]
fn a_linear_ramp_has_no_steady_part() {
    for seed in 0..50 {
        let rising = run((0..100).zip(noise(seed)).map(|(i, noise)| f64::from(i) / 100.0 + 0.05 * noise));
        assert_eq!(detect(&rising), Steady::NotReached(Reason::Moving), "seed {seed}");
        let falling = run((0..100).zip(noise(seed)).map(|(i, noise)| 1.0 - f64::from(i) / 200.0 + 0.02 * noise));
        assert_eq!(detect(&falling), Steady::NotReached(Reason::Moving), "seed {seed}");
    }
}

#[test]
fn a_slow_climb_after_a_fast_start_has_no_steady_part() {
    // Congestion avoidance on a long path: half the rate at once, the rest over the whole run.
    let climbing = run((0..100).zip(noise(3)).map(|(i, noise)| 0.5 + f64::from(i) / 200.0 + 0.02 * noise));
    assert_eq!(detect(&climbing), Steady::NotReached(Reason::Moving));
}

#[test]
fn losses_of_slow_start_belong_to_the_ramp_on_a_recorded_run() {
    // BBR and CUBIC of Linux 6.18 over 200 Mbit/s, 50 ms and a queue of 600 kB; Mbit/s received in steps of 50 ms. The
    // overshoot of slow start overflows the queue, and the stream stops and catches up until the losses are fixed.
    let bbr = [2, 4, 7, 14, 29, 58, 117, 187, 145, 0, 290, 251, 0, 6, 247, 373, 349];
    let cubic = [2, 4, 9, 18, 37, 72, 144, 189, 2, 191, 380, 191, 191, 191, 191, 161, 0, 187, 416];
    for (ramp, settled_at) in [(&bbr[..], 15..=17), (&cubic[..], 17..=19)] {
        let flat = [191, 191, 191, 190].into_iter().cycle().take(200);
        let steps: Vec<_> = ramp.iter().copied().chain(flat).map(|rate| ByteCount::new(rate * 6_250)).collect();
        let index = settled(&steps);
        assert!(settled_at.contains(&index), "{index}");
    }
}

#[test]
fn periodic_dips_are_part_of_the_steady_run() {
    // BBR's PROBE_RTT: 200 ms of next to nothing every ten seconds, here in a minute with steps of 100 ms.
    for phase in 30..100 {
        let steps = run((0..600).zip(noise(phase)).map(|(i, noise)| {
            let dip = i > 20 && (i as u64 + 100 - phase) % 100 < 2;
            if i < 6 {
                0.5_f64.powi(6 - i)
            } else if dip {
                0.05
            } else {
                0.98 + 0.02 * noise
            }
        }));
        let index = settled(&steps);
        assert!(index.abs_diff(6) <= 3, "dips from step {phase}: {index}");
    }
}

#[test]
fn a_sawtooth_is_steady() {
    // CUBIC losing three tenths every 4 s over 30 s.
    let steps =
        run((0..300).zip(noise(9)).map(|(i, noise)| 0.85 + 0.15 * (f64::from(i % 40) / 20.0 - 1.0) + 0.01 * noise));
    assert_eq!(settled(&steps), 0);
}

#[test]
fn an_outage_in_mid_run_does_not_move_the_end_of_the_ramp() {
    for at in 35..85 {
        let mut steps = slow_start(10, 100, 0.02, at as u64);
        steps[at..at + 8].fill(ByteCount::ZERO);
        let index = settled(&steps);
        assert!(index.abs_diff(10) <= 3, "outage at {at}: {index}");
    }
}

#[test]
fn a_path_that_dies_and_stays_dead_is_not_steady() {
    let mut steps = slow_start(10, 100, 0.02, 4);
    steps[80..].fill(ByteCount::ZERO);
    assert_eq!(detect(&steps), Steady::NotReached(Reason::Moving));
    steps[40..].fill(ByteCount::ZERO);
    assert_eq!(detect(&steps), Steady::NotReached(Reason::Idle));
}

#[test]
fn a_constant_run_has_no_ramp() {
    assert_eq!(detect(&[ByteCount::new(125_000); 50]), Steady::From(0));
}

#[test]
fn a_short_run_tells_nothing() {
    assert_eq!(detect(&[ByteCount::new(125_000); 49]), Steady::NotReached(Reason::TooShort));
    assert_eq!(detect(&[]), Steady::NotReached(Reason::TooShort));
}

#[test]
fn a_run_without_data_is_idle() {
    assert_eq!(detect(&[ByteCount::ZERO; 50]), Steady::NotReached(Reason::Idle));
}

#[test]
fn long_runs_are_cut_to_within_a_batch() {
    // An hour of 100 ms steps.
    let index = settled(&slow_start(25, 36_000, 0.02, 5));
    assert!(index.abs_diff(25) <= 5, "{index}");
}

proptest! {
    #[test]
    fn the_unit_of_the_steps_does_not_matter(
        steps in prop::collection::vec(0_u64..1 << 32, 0..300),
        factor in 1_u64..1 << 20,
    ) {
        let plain: Vec<_> = steps.iter().copied().map(ByteCount::new).collect();
        let scaled: Vec<_> = steps.iter().map(|step| ByteCount::new(step * factor)).collect();
        prop_assert_eq!(detect(&plain), detect(&scaled));
    }

    #[test]
    fn a_cut_is_never_in_the_second_half(steps in prop::collection::vec(0_u64..1 << 40, 50..300)) {
        let steps: Vec<_> = steps.into_iter().map(ByteCount::new).collect();
        if let Steady::From(index) = detect(&steps) {
            prop_assert!(index * 2 <= steps.len());
        }
    }
}
