//! The pages of `--help`.

use crate::actors::linerate::linerate;

/// A page, which names every option with its unit or its default.
fn page(command: &str) -> String {
    let ended = linerate(&[command, "--help"]);
    assert_eq!((ended.code, &*ended.stderr), (Some(0), ""));
    ended.stdout
}

#[test]
fn the_page_of_test_does_not_change_unseen() {
    insta::assert_snapshot!("test", page("test"));
}

#[test]
fn the_page_of_serve_does_not_change_unseen() {
    insta::assert_snapshot!("serve", page("serve"));
}

#[test]
fn the_page_of_runs_does_not_change_unseen() {
    insta::assert_snapshot!("runs", page("runs"));
}

#[test]
fn every_page_that_runs_a_test_has_a_worked_example() {
    for command in ["test", "serve"] {
        assert!(page(command).contains(&format!("Examples:\n  linerate {command} ")), "{command}");
    }
}
