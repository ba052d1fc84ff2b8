//! Tests over whole files.

use super::*;

#[test]
fn every_file_of_the_library_is_read_and_worked_out() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    let mut files: Vec<String> = std::fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "toml"))
        .map(|path| stem(&path))
        .collect();
    files.sort();
    let listed: Vec<&str> = library().iter().map(|entry| entry.name).collect();
    assert_eq!(listed, files, "library.rs lists the files of scenarios/ by name");
    for entry in library() {
        let scenario = load(entry.name).unwrap_or_else(|error| panic!("{error}\n{}", error.hints().join("\n")));
        let blueprint = scenario.blueprint(Seed(1));
        assert_eq!(blueprint.hosts.len(), scenario.hosts.len());
        for cable in &blueprint.cables {
            for chain in &cable.chains {
                path::Chain::new(chain, Seed(1), units::MonoTime::from_nanos(0)).unwrap();
            }
        }
    }
}
