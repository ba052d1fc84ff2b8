//! What docs/formats/scenario.md says.

use document::DocumentError;
use path::ElementSpec;
use scenario::{Problem, Scenario, ScenarioError};
use serde::Deserialize;

const PAGE: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/formats/scenario.md"));

#[test]
fn its_examples_are_read() {
    let examples: Vec<&str> = PAGE.split("```toml\n").skip(1).map(|rest| rest.split("```").next().unwrap()).collect();
    assert!(examples.len() >= 10);
    for example in examples {
        let title = if example.contains("title =") { "" } else { "title = \"t\"\nabout = \"a\"\n" };
        let hosts = if example.contains("[hosts.") { "" } else { "[hosts]\n" };
        let truth = if example.contains("[truth]") { "" } else { "[truth]\nhealthy = true\n" };
        // What is at the top comes before every table.
        let text = format!("{title}{example}{hosts}{truth}");
        // An example is a part of a file: what it names may stand elsewhere, but its keys and values are right.
        let Err(ScenarioError::Refused(complaints)) = Scenario::parse("page.toml", &text) else { continue };
        for complaint in complaints {
            let elsewhere = matches!(
                complaint.problem,
                Problem::Slip(DocumentError::Undefined { .. } | DocumentError::Keys(_)) | Problem::Unlinked { .. }
            );
            assert!(elsewhere, "{complaint}\n{text}");
        }
    }
}

#[derive(Debug, Deserialize)]
struct Example {
    element: ElementSpec,
}

#[test]
fn its_elements_are_ours() {
    let table = PAGE.split("| Element |").nth(1).unwrap().split("\n\n").next().unwrap();
    let mut kinds = Vec::new();
    for row in table.lines().skip(2) {
        let kind = row.split('`').nth(1).unwrap();
        for text in row.split('`').filter(|text| text.starts_with('{')) {
            let example: Example =
                toml::from_str(&format!("element = {text}")).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(example.element.kind(), kind);
            example.element.check().unwrap();
        }
        kinds.push(kind);
    }
    // A kind that is not known lists those that are.
    let error = toml::from_str::<Example>("element = { unknown = 1 }").unwrap_err().to_string();
    let known: Vec<&str> = error.split("expected").nth(1).unwrap().split('`').skip(1).step_by(2).collect();
    assert_eq!(kinds, known);
}
