//! The worked pages of docs/extending: their steps, taken.

use std::io::Write;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use audit::fact::{Fact, FactMap};
use audit::scope::{HostFacts, NamespaceFacts};
use audit::{Case, Inputs, Keep, Profile, Rules};
use diagnose::causes::Catalogue;
use house::pages;
use house::tree::{self, File, Tree};

const FOLDER: &str = "docs/extending/";

fn page(tree: &Tree, name: &str) -> Result<String> {
    tree.get(&format!("{FOLDER}{name}")).map(|file| file.text.clone()).context(name.to_owned())
}

#[test]
fn every_diff_applies_to_the_repository_as_it_is() -> Result<()> {
    let tree = Tree::of_repository()?;
    let with_diff: Vec<&File> = tree
        .files
        .iter()
        .filter(|file| file.path.starts_with(FOLDER) && !pages::patch(&file.text).is_empty())
        .collect();
    assert!(!with_diff.is_empty());
    for file in with_diff {
        let mut git = Command::new("git")
            .args(["apply", "--check", "-"])
            .current_dir(tree::root())
            .stdin(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        git.stdin.take().context("git reads")?.write_all(pages::patch(&file.text).as_bytes())?;
        let ended = git.wait_with_output()?;
        ensure!(ended.status.success(), "{}: {}", file.path, String::from_utf8_lossy(&ended.stderr));
    }
    Ok(())
}

#[test]
fn the_rule_of_its_page_fires_passes_and_is_unknown_as_it_says() -> Result<()> {
    let page = page(&Tree::of_repository()?, "rule.md")?;
    let mut rules = Rules::none();
    rules.add("rule.md", &pages::block(&page, "toml rule").context("a rule")?);
    assert!(rules.faults().is_empty(), "{:?}", rules.faults());
    let fires = pages::block(&page, "json fires").context("facts")?;
    let Fact::Map(fires) = Fact::from_json(serde_json::from_str(&fires)?) else { anyhow::bail!("facts have names") };
    let passes: FactMap = fires.keys().map(|name| (name.clone(), Fact::Int(0))).collect();
    assert_eq!(answers(&rules, fires)?, [1, 0, 0]);
    assert_eq!(answers(&rules, passes)?, [0, 1, 0]);
    assert_eq!(answers(&rules, FactMap::new())?, [0, 0, 1]);
    Ok(())
}

/// How many rules fire, pass and are unknown on a sender whose kernel settings are these.
fn answers(rules: &Rules, sysctl: FactMap) -> Result<[usize; 3]> {
    let facts = FactMap::from([("sysctl".to_owned(), Fact::Map(sysctl))]);
    let namespace = NamespaceFacts { facts, ..NamespaceFacts::default() };
    let host = HostFacts { name: "host".to_owned(), namespaces: vec![namespace], ..HostFacts::default() };
    let profile: Profile = serde_json::from_value(serde_json::json!({ "roles": ["sender"] }))?;
    let report =
        audit::audit(rules, &Case { host: &host, profile: &profile, inputs: &Inputs::default(), keep: Keep::Findings });
    Ok([report.summary.fail, report.summary.pass, report.summary.unknown])
}

#[test]
fn the_cause_of_its_page_can_be_weighed() -> Result<()> {
    let page = page(&Tree::of_repository()?, "cause.md")?;
    let text = pages::block(&page, "toml cause").context("a cause")?;
    let catalogue = Catalogue::read(&[("cause.md", &text)])?;
    assert_eq!(catalogue.all().len(), 1);
    assert!(Catalogue::built_in().get(&catalogue.all()[0].id).is_none(), "an example is a cause that there is not yet");
    Ok(())
}
