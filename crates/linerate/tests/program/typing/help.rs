//! The pages of `--help`.

use crate::actors::linerate::linerate;

/// A page, which names every option with its unit or its default.
fn page(command: &str) -> String {
    let ended = linerate(&[command, "--help"]);
    assert_eq!((ended.code, &*ended.stderr), (Some(0), ""));
    ended.stdout
}

/// Lines of a terminal that is half as high as a screen is today.
const SCREEN: usize = 75;

#[test]
fn every_page_fits_a_screen() {
    for command in [
        "test", "serve", "runs", "probe", "host", "round", "why", "watch", "detect", "simulate", "trace", "lab",
        "demo", "import",
    ] {
        let page = page(command);
        assert!(page.lines().count() <= SCREEN, "{command}: {} lines\n{page}", page.lines().count());
    }
}

#[test]
fn help_with_a_command_explains_every_option_of_it() {
    let ended = linerate(&["help", "test"]);
    assert_eq!((ended.code, &*ended.stderr), (Some(0), ""));
    let short = page("test");
    assert!(ended.stdout.contains("--no-gso") && !short.contains("--no-gso"), "{short}");
    assert!(ended.stdout.lines().count() > short.lines().count());
}

#[test]
fn what_users_of_iperf3_and_ping_type_runs_the_command_that_they_mean() {
    for (typed, runs) in [
        (&["-c", "127.0.0.1", "-p", "1", "-t", "1"][..], "linerate test 127.0.0.1 -p 1 -t 1s"),
        (&["ping", "127.0.0.1", "-c", "1"], "linerate probe ping 127.0.0.1 -c 1"),
    ] {
        let said = linerate(typed).stderr;
        assert!(said.contains(&format!("running `{runs}`")), "{said}");
    }
}

#[test]
fn every_page_that_runs_a_test_has_a_worked_example() {
    for command in ["test", "serve"] {
        assert!(page(command).contains(&format!("Examples:\n  linerate {command} ")), "{command}");
    }
}
