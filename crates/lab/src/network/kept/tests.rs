//! Claims about names and records of labs.

use units::WallTime;

use super::*;

fn record(name: &str) -> Record {
    let host = HostRecord {
        name: "west".to_owned(),
        addresses: vec!["192.0.2.1".parse().unwrap(), "2001:db8::1".parse().unwrap()],
        first_process: u32::MAX,
        started_ticks: 7,
        recorded_facts: None,
    };
    Record {
        format: Record::FORMAT,
        name: name.to_owned(),
        scenario: "labs/one.toml".to_owned(),
        seed: 42,
        owner: Some(Owner { user: 1_000, state: "/var/lib/ada/state/linerate".into() }),
        up_unix_ns: WallTime::from_unix_nanos(1_760_000_000_000_000_000),
        keeper: std::process::id(),
        keeper_started_ticks: start_of(std::process::id()).unwrap(),
        hosts: vec![host],
    }
}

fn own(what: &str) -> String {
    format!("test-{what}-{}", std::process::id())
}

#[test]
fn name_has_one_keeper_and_is_free_after_it() {
    let name = own("claim");
    let claim = Claim::take(&name).unwrap();
    assert!(matches!(Claim::take(&name), Err(KeptError::Taken { .. })));
    let found = || running().unwrap().into_iter().find(|kept| kept.record.name == name);
    assert!(found().is_none(), "it is not up yet");
    claim.publish(&record(&name)).unwrap();
    assert_eq!(found().unwrap().record, record(&name));
    drop(claim);
    assert!(found().is_none());
    Claim::take(&name).unwrap();
}

#[test]
fn what_a_dead_keeper_left_is_taken_away() {
    let name = own("left");
    let place = place::directory().unwrap();
    let directory = {
        // Whoever else looks for labs meanwhile finds all of it, or nothing.
        let _alone = alone(&place).unwrap();
        let directory = place::private(&place.join(&name)).unwrap();
        fs::write(directory.join(RECORD), record(&name).to_text()).unwrap();
        fs::write(directory.join("lock"), "").unwrap();
        directory
    };
    assert!(running().unwrap().iter().all(|kept| kept.record.name != name));
    assert!(!directory.exists());
}

#[test]
fn names_are_such_as_make_a_directory() {
    for wrong in ["", ".", "..", "a/b", "a b", "ä", &"x".repeat(65)] {
        assert!(matches!(check_name(wrong), Err(KeptError::Name { .. })), "{wrong}");
    }
    check_name("dc24-ecn_2").unwrap();
}

#[test]
fn record_of_another_version_is_told() {
    let text = record("one").to_text().replace("format = 1", "format = 2");
    assert!(matches!(Record::parse(&text), Err(RecordError::Version { found: 2 })));
    assert!(matches!(Record::parse("format = 1\nname = 3"), Err(RecordError::Form(_))));
}

#[test]
fn lab_is_of_who_started_it_from_the_same_state_directory() {
    let kept = Kept { record: record("one"), directory: PathBuf::new() };
    let owner = |user, state: &str| Owner { user, state: state.into() };
    let state = "/var/lib/ada/state/linerate";
    assert!(kept.is_of(&owner(1_000, state)));
    assert!(!kept.is_of(&owner(1_001, state)) && !kept.is_of(&owner(1_000, "/tmp/trial")));
    let before_owners = Kept { record: Record { owner: None, ..record("one") }, directory: PathBuf::new() };
    assert!(before_owners.is_of(&owner(1_001, state)));
    let text = record("one").to_text();
    assert_eq!(Record::parse(&text).unwrap(), record("one"));
}

#[test]
fn host_whose_first_process_is_gone_cannot_be_entered() {
    let kept = Kept { record: record("one"), directory: PathBuf::new() };
    assert!(kept.command(&kept.record.hosts[0], "true").is_none());
}
