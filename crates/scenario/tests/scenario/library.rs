//! The files of `scenarios/`.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use path::{Chain, ElementSpec, Seed};
use scenario::library::load;
use scenario::{Limits, Link, Scenario, TestKind, Where, library};
use units::{DataRate, MonoTime};

fn all() -> Vec<Scenario> {
    let read = |name| load(name).unwrap_or_else(|error| panic!("{error}\n{}", error.hints().join("\n")));
    library().iter().map(|entry| read(entry.name)).collect()
}

#[test]
fn the_table_lists_the_folder() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    let files = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
    let files: BTreeSet<String> = files.map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned()).collect();
    let listed: Vec<&str> = library().iter().map(|entry| entry.name).collect();
    assert_eq!(listed, files.iter().map(String::as_str).collect::<Vec<_>>(), "library.rs, in the order of names");
    assert!(listed.len() >= 38);
}

#[test]
fn each_is_read_and_worked_out_and_its_chains_can_be_made() {
    for scenario in all() {
        let blueprint = scenario.blueprint(Seed(1));
        assert_eq!(blueprint.hosts.len(), scenario.hosts.len());
        for chain in blueprint.cables.iter().flat_map(|cable| &cable.chains) {
            Chain::new(chain, Seed(1), MonoTime::from_nanos(0)).unwrap();
        }
        let names: BTreeSet<(usize, &str)> = blueprint
            .hosts
            .iter()
            .enumerate()
            .flat_map(|(host, made)| made.devices.iter().map(move |device| (host, device.name.as_str())))
            .collect();
        assert_eq!(names.len(), 2 * scenario.links.len(), "{}: devices of one host differ in name", scenario.name);
        assert!(names.iter().all(|(_, name)| name.len() <= 15 && name.starts_with("to-")), "{names:?}");
    }
}

#[test]
fn each_tells_its_story_and_what_stands_for_what() {
    for scenario in all() {
        let sentences = scenario.about.matches(['.', ':']).count();
        assert!((3..=8).contains(&sentences), "{}: {sentences} sentences", scenario.name);
        assert!(scenario.emulates.is_some(), "{}", scenario.name);
        assert!(!scenario.tests.is_empty() && scenario.title.len() < 80, "{}", scenario.name);
    }
}

#[test]
fn nothing_is_both_guilty_and_innocent() {
    for scenario in all() {
        for cause in &scenario.truth.causes {
            assert!(!scenario.truth.innocent.contains(&cause.place), "{}: {:?}", scenario.name, cause.place);
        }
        assert!(!scenario.truth.innocent.is_empty(), "{}", scenario.name);
    }
}

#[test]
fn many_causes_and_networks_without_any_are_there() {
    let planted: BTreeSet<&str> = all().iter().flat_map(|s| s.truth.causes.clone()).map(|cause| cause.id).collect();
    assert!(planted.len() >= 30, "{planted:?}");
    assert!(all().iter().filter(|scenario| scenario.truth.is_healthy()).count() >= 3);
}

/// The speed of a relay of one thread on a machine of two processors, which crates/bench holds the relay to.
#[test]
fn a_machine_of_two_processors_carries_each() {
    let limits =
        Limits { rate: DataRate::from_bps(8_000_000_000), packets_per_second: 300_000, lacking: BTreeSet::new() };
    for scenario in all() {
        scenario.check(&limits).unwrap();
    }
}

/// A socket's largest buffers hold four times what the path does: half of a buffer is overhead, and the window has to
/// grow beyond the path before it can be said to be no limit.
#[test]
fn hosts_that_are_not_to_blame_are_tuned_for_their_paths() {
    for scenario in all() {
        let blamed: Vec<usize> = scenario.truth.causes.iter().filter_map(|cause| host_of(&cause.place)).collect();
        for test in &scenario.tests {
            let TestKind::Tcp(_) = test.kind else { continue };
            let held = held_by_path(&scenario, test.from.host, test.to.host);
            for host in [test.from.host, test.to.host].into_iter().filter(|host| !blamed.contains(host)) {
                let host = &scenario.hosts[host];
                assert_eq!(
                    host.settings.congestion_control.as_deref(),
                    Some("cubic"),
                    "{}: {}",
                    scenario.name,
                    host.name
                );
                for setting in ["net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem"] {
                    let value = host.settings.sysctls.get(setting).map_or("0", String::as_str);
                    let most: u64 = value.split_whitespace().next_back().unwrap().parse().unwrap();
                    assert!(
                        most >= 4 * held,
                        "{}: {setting} of {} is {most}, the path holds {held}",
                        scenario.name,
                        host.name
                    );
                }
            }
        }
    }
}

fn host_of(place: &Where) -> Option<usize> {
    match place {
        Where::Host(host) => Some(*host),
        Where::Link { .. } => None,
    }
}

/// The bandwidth-delay product of a path without its faults, in bytes.
fn held_by_path(scenario: &Scenario, from: usize, to: usize) -> u64 {
    let way = scenario.route(from, to);
    let links = way.windows(2).map(|pair| link_between(scenario, [pair[0], pair[1]]));
    let (mut slowest, mut round_trip) = (u64::MAX, Duration::ZERO);
    for element in links.flat_map(|link| link.chains.iter().flatten()) {
        match element {
            ElementSpec::Port(port) => slowest = slowest.min(port.rate.bps()),
            ElementSpec::Classes(classes) => slowest = slowest.min(classes.rate.bps()),
            ElementSpec::Delay(delay) => round_trip += delay.time,
            _ => {}
        }
    }
    u64::try_from(u128::from(slowest.min(1_000_000_000)) * round_trip.as_micros() / 8_000_000).unwrap()
}

fn link_between(scenario: &Scenario, hosts: [usize; 2]) -> &Link {
    let joins = |link: &&Link| hosts.iter().all(|host| link.ends.contains(host));
    scenario.links.iter().find(joins).unwrap()
}

#[test]
fn the_way_of_a_test_is_that_of_its_time() {
    let scenario = load("route-change").unwrap();
    let host = |name: &str| scenario.hosts.iter().position(|host| host.name == name).unwrap();
    let way = |seconds| {
        let way = scenario.way(host("dtn-west"), host("dtn-east"), Duration::from_secs(seconds));
        way.into_iter().map(|(link, _)| scenario.links[link].name.as_str()).collect::<Vec<_>>()
    };
    assert_eq!(way(1), ["site-west", "direct", "site-east"]);
    assert_eq!(way(7), ["site-west", "detour-west", "detour-east", "site-east"]);
}

#[test]
fn networks_on_which_nothing_was_tuned_are_read_and_are_others() {
    for folder in ["unseen", "once-unseen"] {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata").join(folder);
        let files: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        assert!(files.len() >= 30, "{}", files.len());
        for file in files {
            let name = file.file_stem().unwrap().to_str().unwrap().to_owned();
            let text = std::fs::read_to_string(&file).unwrap();
            let scenario = Scenario::parse(&name, &text).unwrap_or_else(|error| panic!("{error}"));
            assert!(library().iter().all(|entry| entry.name != scenario.name), "{name} is in the library too");
        }
    }
}
