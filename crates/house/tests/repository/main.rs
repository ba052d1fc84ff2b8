//! The repository keeps its own rules.

mod extending;
mod ratchet;
mod run_tests;
mod set_up;
mod workspace;

use anyhow::Result;
use house::commits;
use house::formats;
use house::levels::Levels;
use house::purity::Purity;
use house::sizes::Sizes;
use house::tree::{self, Tree};
use house::violation::{Violation, assert_none};
use house::words::Words;
use house::{dependencies::Dependencies, documents, manifests};
use workspace::Workspace;

#[test]
fn arrows_between_crates_point_down() -> Result<()> {
    let crates = Workspace::read()?.crates();
    assert_none(&Levels::table()?.check(&crates));
    assert_none(&Levels::table()?.check_existence(&crates));
    Ok(())
}

#[test]
fn pure_crates_mention_no_io_no_clock_and_no_global_state() -> Result<()> {
    assert_none(&Purity::table()?.check(&Tree::of_repository()?, &Levels::table()?));
    Ok(())
}

#[test]
fn pure_crates_depend_on_nothing_that_does_io() -> Result<()> {
    let (levels, purity) = (Levels::table()?, Purity::table()?);
    let mut found = Vec::new();
    for (from, to) in Workspace::read()?.direct_dependencies() {
        if levels.is_pure(&from) && purity.forbids_dependency(&to) {
            let message = format!("{from} is pure and must not depend on {to}: take what it gives as an argument");
            found.push(Violation::of_file(&format!("crates/{from}/Cargo.toml"), message));
        }
    }
    assert_none(&found);
    Ok(())
}

#[test]
fn every_word_belongs_here() -> Result<()> {
    assert_none(&Words::table()?.check(&Tree::of_repository()?));
    Ok(())
}

#[test]
fn no_file_is_too_long() -> Result<()> {
    assert_none(&Sizes::table()?.check(&Tree::of_repository()?));
    Ok(())
}

#[test]
fn every_manifest_follows_the_workspace() -> Result<()> {
    assert_none(&manifests::check(&Tree::of_repository()?));
    Ok(())
}

#[test]
fn every_licence_lets_us_use_what_we_use() -> Result<()> {
    let all = Workspace::read()?.dependencies_from_outside()?;
    assert!(all.len() > 20, "cargo metadata lists only {} dependencies", all.len());
    assert_none(&Dependencies::table()?.check_licences(&all));
    Ok(())
}

#[test]
fn no_dependency_is_compiled_twice_without_a_reason() -> Result<()> {
    assert_none(&Dependencies::table()?.check_versions(&Workspace::read()?.dependencies_from_outside()?));
    Ok(())
}

#[test]
fn links_lead_somewhere() -> Result<()> {
    assert_none(&documents::check_links(&Tree::of_repository()?));
    Ok(())
}

#[test]
fn every_decision_is_in_the_index() -> Result<()> {
    assert_none(&documents::check_decisions(&Tree::of_repository()?));
    Ok(())
}

#[test]
fn the_change_log_has_a_place_for_what_comes_next() -> Result<()> {
    assert_none(&documents::check_change_log(&Tree::of_repository()?));
    Ok(())
}

#[test]
fn every_crate_says_first_what_it_is() -> Result<()> {
    assert_none(&documents::check_crates(&Tree::of_repository()?));
    Ok(())
}

#[test]
fn the_schemas_are_those_of_the_types() -> Result<()> {
    let (folder, formats) = (tree::root().join(formats::FOLDER), formats::texts()?);
    if std::env::var_os("UPDATE_FORMATS").is_some() {
        house::formats::write(&folder, &formats)?;
    }
    assert_none(&house::formats::check(&folder, &formats)?);
    Ok(())
}

#[test]
fn every_crate_is_on_the_map() -> Result<()> {
    assert_none(&documents::check_map(&Tree::of_repository()?));
    Ok(())
}

#[test]
fn every_subject_of_a_commit_fits_a_line_of_the_log() -> Result<()> {
    let log = std::process::Command::new("git")
        .args(["log", "--no-merges", "--format=%h %s", "-n", &commits::LOOKED_AT.to_string()])
        .current_dir(tree::root())
        .output()?;
    assert!(log.status.success(), "git log: {}", String::from_utf8_lossy(&log.stderr));
    let wrong = commits::check(&String::from_utf8_lossy(&log.stdout));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    Ok(())
}
