//! The machines of NRAO's archive servers, one of which received the overlay of the others at a ten-thousandth of its rate.

use std::collections::BTreeMap;

use audit::Rules;
use audit::compare::{Match, Side, outliers};
use audit::scope::HostFacts;
use diagnose::contrast::attribute::{Attribute, Standing, attributes};
use diagnose::contrast::class::{Classes, Effort};
use diagnose::contrast::rank::{Flip, contrast};

const MACHINES: [(&str, &str); 4] = [
    ("naasc-vs-2", include_str!("../../../audit/tests/groups/nrao/naasc-vs-2.json")),
    ("naasc-vs-3", include_str!("../../../audit/tests/groups/nrao/naasc-vs-3.json")),
    ("naasc-vs-4", include_str!("../../../audit/tests/groups/nrao/naasc-vs-4.json")),
    ("naasc-vs-5", include_str!("../../../audit/tests/groups/nrao/naasc-vs-5.json")),
];

fn machines() -> Vec<Attribute> {
    let facts: Vec<HostFacts> =
        MACHINES.iter().map(|(_, text)| HostFacts::of(&serde_json::from_str(text).unwrap())).collect();
    let sides: Vec<Side<'_>> = MACHINES.iter().zip(&facts).map(|((name, _), facts)| Side { name, facts }).collect();
    attributes(&outliers(&Rules::built_in(), &sides, Match::Role))
}

pub(crate) fn standing(bad: &[&str], good: &[&str]) -> BTreeMap<String, Standing> {
    let each = |hosts: &[&str], standing| hosts.iter().map(|host| ((*host).to_owned(), standing)).collect::<Vec<_>>();
    each(bad, Standing::Bad).into_iter().chain(each(good, Standing::Good)).collect()
}

#[test]
fn the_feature_comes_first_and_the_card_second_as_its_sign() {
    let hosts = standing(&["naasc-vs-4"], &["naasc-vs-2", "naasc-vs-3", "naasc-vs-5"]);
    let found = contrast(&machines(), &hosts, &Classes::built_in());
    println!("{found}");
    let [first, second, third, ..] = found.separators.as_slice() else { panic!("{found}") };
    assert_eq!(first.name, "fastest NIC: feature.rx-gro-hw");
    assert_eq!((first.separation, first.rarity), (1.0, 1.0));
    for sign in [second, third] {
        assert_eq!(sign.proxy_of.as_deref(), Some("fastest NIC: feature.rx-gro-hw"), "{found}");
        assert!(sign.name.contains("driver.name") || sign.name.contains("bus.model"), "{found}");
    }
    let flip = Flip {
        host: "naasc-vs-4".to_owned(),
        attribute: "fastest NIC: feature.rx-gro-hw".to_owned(),
        from: Some("on".to_owned()),
        to: Some("off".to_owned()),
        effort: Effort::Running,
    };
    assert_eq!(found.next, Some(flip));
    let shown: String = found.to_string().lines().map(|line| format!("    {line}\n")).collect();
    let page = include_str!("../../../../docs/localisation.md");
    assert!(page.contains(&shown), "docs/localisation.md shows something else than\n{found}");
}

#[test]
fn one_bad_host_of_four_is_never_significant() {
    let hosts = standing(&["naasc-vs-4"], &["naasc-vs-2", "naasc-vs-3", "naasc-vs-5"]);
    let found = contrast(&machines(), &hosts, &Classes::built_in());
    assert!((found.least_p - 0.25).abs() < 1e-12);
    assert!(found.separators.len() > 3);
    assert!(
        found.separators.iter().all(|separator| !separator.is_significant && separator.p >= 0.25 - 1e-12),
        "{found}"
    );
    assert!(found.to_string().contains("only a change tells"), "{found}");
}

#[test]
fn without_a_bad_or_a_good_host_nothing_separates() {
    for hosts in [standing(&["naasc-vs-4"], &[]), standing(&[], &["naasc-vs-4", "naasc-vs-2"])] {
        let found = contrast(&machines(), &hosts, &Classes::built_in());
        assert_eq!((found.separators.len(), found.next.clone()), (0, None), "{found}");
    }
}
