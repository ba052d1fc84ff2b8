//! The experiments of this repository.
#![allow(clippy::panic, clippy::unwrap_used)] // Helpers of tests fail like tests.

use sweep::Sweep;

fn read(name: &str) -> Sweep {
    let path = format!("{}/../../sweeps/{name}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap();
    Sweep::read(&text).unwrap_or_else(|error| panic!("{path}: {error}"))
}

#[test]
fn every_file_is_an_experiment() {
    let folder = format!("{}/../../sweeps", env!("CARGO_MANIFEST_DIR"));
    let names = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let names: Vec<String> = names.filter(|name| name.ends_with(".toml")).collect();
    assert!(names.len() >= 2);
    for name in names {
        let sweep = read(&name);
        assert_eq!(format!("{}.toml", sweep.experiment.name), name);
    }
}

/// Two algorithms, two round trips, six lengths, 13 marks, 20 repetitions; the same undisturbed; and with random loss.
#[test]
fn the_matrix_has_6240_transfers_with_bursts() {
    let sweep = read("amlight.toml");
    let of = |name: &str| sweep.experiment.cells.iter().filter(|cell| cell.variant.as_deref() == Some(name)).count();
    assert_eq!([of("burst"), of("quiet"), of("loss")].map(|cells| cells * 20), [6_240, 80, 40]);
    assert_eq!((sweep.experiment.repetitions, sweep.experiment.len()), (20, 6_360));
}
