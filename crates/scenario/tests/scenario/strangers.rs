//! Files that nobody would write.

use std::collections::BTreeSet;

use path::Seed;
use proptest::prelude::*;
use scenario::{Limits, Scenario, ScenarioError, library};
use units::DataRate;

/// Reads a text; what is accepted can be worked out, and what is refused says why and where.
fn read(text: &str) -> Result<(), TestCaseError> {
    match Scenario::parse("any.toml", text) {
        Ok(scenario) => {
            let blueprint = scenario.blueprint(Seed(7));
            prop_assert_eq!(blueprint.cables.len(), scenario.links.len());
            let limits = Limits { rate: DataRate::from_bps(1), packets_per_second: 1, lacking: BTreeSet::new() };
            let _ = scenario.check(&limits);
        }
        Err(error @ ScenarioError::Refused(_)) => {
            prop_assert!(error.to_string().starts_with("any.toml:"), "{}", error);
            let _ = error.hints();
        }
        Err(error) => prop_assert!(false, "{}", error),
    }
    Ok(())
}

/// A file of the library with some of its lines taken out, doubled or moved, or with a word in the place of another.
fn damaged() -> impl Strategy<Value = String> {
    let words = prop_oneof!["[a-z0-9.-]{0,9}", Just("0".to_owned()), Just("-1".to_owned()), Just("\"\"".to_owned())];
    let change = (any::<prop::sample::Index>(), any::<prop::sample::Index>(), 0..4_u8, words);
    (0..library().len(), prop::collection::vec(change, 1..6)).prop_map(|(entry, changes)| {
        let mut lines: Vec<String> = library()[entry].text.lines().map(str::to_owned).collect();
        for (one, other, what, word) in changes {
            let (one, other) = (one.index(lines.len()), other.index(lines.len()));
            match what {
                0 if lines.len() > 1 => drop(lines.remove(one)),
                1 => lines.insert(one, lines[other].clone()),
                2 => lines.swap(one, other),
                _ => {
                    let parts: Vec<&str> = lines[one].split('"').collect();
                    let old = parts[other % parts.len()].to_owned();
                    lines[one] = lines[one].replacen(&old, &word, 1);
                }
            }
        }
        lines.join("\n")
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn a_damaged_file_is_refused_or_worked_out(text in damaged()) {
        read(&text)?;
    }

    #[test]
    fn any_text_is_refused_or_worked_out(text in "(\\[{0,2}[a-z.]{0,9}\\]{0,2}|[a-z.]{0,9} = [0-9\\[{\"'a-z}\\],= -]{0,12}|\\PC{0,9}|\n){0,12}") {
        read(&text)?;
    }
}
