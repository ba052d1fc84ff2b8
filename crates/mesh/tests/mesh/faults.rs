//! Hubs, agents and their network with faults: what must never be.

use std::num::NonZero;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use mesh::simulation::{Settings, Summary, run};
use path::Seed;

/// 1,000 meshes, on as many threads as the machine runs at once. `cargo run --release -p mesh --example faults -- 1 100000` has
/// more.
#[test]
fn whatever_fails_no_run_is_lost_none_is_carried_out_twice_and_none_meets_another() {
    let next = AtomicU64::new(1);
    let all = Mutex::new(Summary::default());
    let threads = thread::available_parallelism().map_or(1, NonZero::get);
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some(seed) = Some(next.fetch_add(1, Ordering::Relaxed)).filter(|seed| *seed <= 1_000) {
                    let summary = run(Settings::of_size(Seed(seed)), Seed(seed)).unwrap();
                    assert_eq!(summary.violations, [], "seed {seed}: {summary:?}");
                    assert_eq!(summary.stored + summary.closed, summary.planned, "seed {seed}");
                    all.lock().unwrap().add(summary);
                }
            });
        }
    });
    let Summary { carried_out, faults, expired, .. } = all.into_inner().unwrap();
    // Without these, nothing was put to the test.
    assert!(carried_out > 10_000 && faults > 5_000 && expired > 500, "{carried_out} {faults} {expired}");
}

#[test]
fn the_same_seed_is_the_same_run() {
    let settings = Settings { minutes: 20, ..Settings::default() };
    assert_eq!(run(settings, Seed(7)).unwrap(), run(settings, Seed(7)).unwrap());
}
