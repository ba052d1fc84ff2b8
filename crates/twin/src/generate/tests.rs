use super::*;

/// Seeds of the tests; they judge no diagnosis.
const SEEDS: std::ops::Range<u64> = 3_000_001..3_000_301;

#[test]
fn every_seed_draws_a_scenario_that_can_be_read_and_equal_seeds_equal_ones() {
    for seed in SEEDS {
        let drawn = incident(seed).unwrap_or_else(|error| panic!("{seed}: {error}\n{}", text(seed)));
        assert_eq!(drawn.text, incident(seed).unwrap().text);
        assert!((2..=40).contains(&drawn.scenario.hosts.len()), "{seed}: {} hosts", drawn.scenario.hosts.len());
        assert!(!drawn.scenario.tests.is_empty());
    }
}

#[test]
fn the_wider_world_has_what_judging_has_not() {
    let texts = |seeds: std::ops::Range<u64>| seeds.map(text).collect::<Vec<_>>();
    let (wide, judging) = (texts(1_900_001..1_900_601), texts(3_000_001..3_000_601));
    let has = |texts: &[String], what: &str| texts.iter().any(|text| text.contains(what));
    // A host that sends in gusts is tested with a pace wherever it is drawn.
    let (_, plain): (Vec<String>, Vec<String>) =
        judging.iter().cloned().partition(|text| text.contains("sender-unpaced"));
    assert!(has(&wide, "pace = ") && !has(&plain, "pace = "));
    let is_both_ways = |text: &String| {
        let mut causes = text.split("[[truth.causes]]").skip(1);
        causes.any(|cause| cause.contains("id = \"policer\"") && !cause.contains("towards"))
    };
    assert!(wide.iter().any(is_both_ways) && !judging.iter().any(is_both_ways));
    let has_usual_samples = |text: &String| text.contains("kind = \"tcp\"") && !text.contains("sample-every");
    assert!(wide.iter().any(has_usual_samples) && !judging.iter().any(has_usual_samples));
    let is_faster = |text: &String| {
        let speeds =
            text.lines().filter_map(|line| line.strip_prefix("speed = \"")?.strip_suffix("kbit/s\"")?.parse().ok());
        speeds.max().is_some_and(|most: u64| most > 2_000_000)
    };
    assert!(wide.iter().any(is_faster) && !judging.iter().any(is_faster));
    for seed in 1_900_001..1_900_601 {
        incident(seed).unwrap_or_else(|error| panic!("{seed}: {error}\n{}", text(seed)));
    }
}

#[test]
fn faults_are_as_many_as_the_page_says() {
    let counts: Vec<usize> = SEEDS.map(|seed| incident(seed).unwrap().scenario.truth.causes.len()).collect();
    let of = |count: usize| counts.iter().filter(|other| **other == count).count();
    // 1/6, 7/12 and a quarter of 300, within three standard deviations.
    assert!((31..=70).contains(&of(0)), "healthy: {}", of(0));
    assert!((150..=201).contains(&of(1)), "one fault: {}", of(1));
    assert!((50..=98).contains(&(of(2) + of(3))), "more: {}", of(2) + of(3));
}

#[test]
fn all_causes_of_the_page_are_drawn() {
    const PAGE: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/incidents.md"));
    let texts: Vec<String> = (3_000_001..3_003_001).map(text).collect();
    let rows = PAGE.split("| Cause |").nth(1).unwrap().split("\n\n").next().unwrap();
    let listed: Vec<&str> = rows
        .lines()
        .skip(2)
        .flat_map(|row| row.split('|').nth(1).unwrap_or_default().split('`').skip(1).step_by(2))
        .collect();
    assert_eq!(listed.len(), RECIPES.len(), "a row names each cause that is drawn");
    for cause in listed {
        let id = format!("[[truth.causes]]\nid = \"{cause}\"");
        assert!(texts.iter().any(|text| text.contains(&id)), "{cause} was not drawn in 3,000 incidents");
    }
}
