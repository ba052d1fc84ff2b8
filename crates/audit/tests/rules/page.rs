//! docs/rules.md says what the rules say.

use audit::{Rules, page};

#[test]
fn the_page_is_current() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/rules.md");
    let page = page::markdown(&Rules::built_in());
    if std::env::var_os("UPDATE_RULES").is_some() {
        std::fs::write(path, &page).unwrap();
    }
    let written = std::fs::read_to_string(path).unwrap();
    assert!(written == page, "docs/rules.md is old: UPDATE_RULES=1 cargo test -p audit");
}

#[test]
fn every_source_is_written_out_and_every_rule_is_on_the_page() {
    let rules = Rules::built_in();
    let page = page::markdown(&rules);
    for rule in rules.all() {
        assert!(page.contains(&format!("### {}\n", rule.id)), "{} is of category {}", rule.id, rule.category);
        assert!(page::explained(rule).contains(&rule.why));
        for source in &rule.sources {
            assert!(page::is_known_source(source), "{}: {source}", rule.id);
        }
    }
}
