use std::collections::BTreeSet;

use super::*;

fn said(text: &str) -> Vec<String> {
    let lines: Vec<&str> = text.lines().collect();
    let facts = read(&lines).map(|found| found.facts).unwrap_or_default();
    facts.into_iter().map(|fact| fact.says).collect()
}

#[test]
fn each_entry_is_read_and_names_gaps_that_its_lines_have() {
    let file: File = toml::from_str(include_str!("lines.toml")).expect("a table");
    assert!(file.signature.len() > 30);
    for written in file.signature {
        let says: Vec<String> =
            written.case.iter().map(|case| case.says.clone()).chain(written.otherwise.clone()).collect();
        let gaps: BTreeSet<String> =
            written.title.iter().chain(&written.lines).flat_map(|text| gaps_of(text)).collect();
        for gap in says.iter().flat_map(|says| gaps_of(says)).filter(|gap| gap != "host") {
            assert!(gaps.contains(&gap), "{says:?}: no gap {gap}");
        }
        let signature = Signature::of(written).unwrap_or_else(|| panic!("{says:?}"));
        let is_found = |first: &Pattern| first.word.is_some() || first.start().is_some();
        assert!(signature.first().is_some_and(is_found), "{says:?}: no word to look it up by");
        for gap in signature.cases.iter().flat_map(|case| &case.when).flat_map(Condition::gaps) {
            assert!(gaps.contains(gap), "{says:?}: no gap {gap}");
        }
    }
}

/// The names in braces, of a percentage both.
fn gaps_of(text: &str) -> impl Iterator<Item = String> {
    let inside = text.split('{').skip(1).filter_map(|rest| rest.split('}').next());
    let names = inside.flat_map(|gap| gap.split(':').next().unwrap_or(gap).split(['%', '/']));
    names.filter(|name| name.parse::<u64>().is_err()).map(str::to_owned)
}

#[test]
fn what_a_title_and_the_lines_below_it_say_is_said_of_the_device() {
    let text = "Coalesce parameters for eth0:\nAdaptive RX: off  TX: off\n\nrx-usecs: 1000\nrx-frames: 0\n";
    let all = said(text);
    assert!(all.iter().any(|says| says.contains("eth0") && says.contains("1000 us")), "{all:?}");
    assert!(said("Coalesce parameters for eth0:\nrx-usecs: 3\n").iter().all(|says| !says.contains("each exchange")));
}

#[test]
fn rows_are_added_up() {
    let row = |failed: u32| {
        format!(
            "cpu=0   \tfound=1 invalid=2 insert=0 insert_failed={failed} drop={failed} early_drop=3 error=0 search_restart=4\n"
        )
    };
    let all = said(&format!("{}{}", row(41_223), row(40_122)));
    assert!(all.iter().any(|says| says.contains("81345")), "{all:?}");
}

#[test]
fn prose_is_no_signature() {
    for text in ["the handshake was 9 days ago", "latest handshake: never", "retrans 12", "UDP: true"] {
        assert_eq!(said(text), Vec::<String>::new(), "{text}");
    }
}
