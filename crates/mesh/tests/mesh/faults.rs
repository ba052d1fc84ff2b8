//! Hubs, agents and their network with faults: what must never be.

use mesh::simulation::{Settings, run};
use path::Seed;

/// `cargo run --release -p mesh --example faults -- 1 10000` has thousands.
#[test]
fn whatever_fails_no_run_is_lost_none_is_carried_out_twice_and_none_meets_another() {
    let (mut carried_out, mut faults, mut expired) = (0, 0, 0);
    for seed in 1..=100 {
        let summary = run(Settings::default(), Seed(seed)).unwrap();
        assert_eq!(summary.violations, [], "seed {seed}: {summary:?}");
        assert_eq!(summary.stored + summary.closed, summary.planned);
        carried_out += summary.carried_out;
        faults += summary.faults;
        expired += summary.expired;
    }
    // Without these, nothing was put to the test.
    assert!(carried_out > 2_500 && faults > 500 && expired > 50, "{carried_out} {faults} {expired}");
}

#[test]
fn the_same_seed_is_the_same_run() {
    let settings = Settings { minutes: 20, ..Settings::default() };
    assert_eq!(run(settings, Seed(7)).unwrap(), run(settings, Seed(7)).unwrap());
}
