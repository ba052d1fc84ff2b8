//! Running a test with each kind of right that labs work with.

use std::env;
use std::process::{Command, Stdio};

/// Runs `body` in a process of its own as this process is, if that may make networks, and in one that is root by a user
/// namespace only.
pub fn everywhere(module: &str, name: &str, body: impl Fn()) {
    if env::var_os(MARK).is_some() {
        return body();
    }
    let module = module.split_once("::").map_or(module, |(_, within)| within);
    let test = format!("{module}::{name}");
    if linux::namespaces::rights::missing().unwrap().is_empty() {
        passes(&mut again(&test), "as root");
    }
    passes(linux::netns::isolate(&mut again(&test)), "in a user namespace");
}

fn passes(command: &mut Command, place: &str) {
    let output = command.output().unwrap_or_else(|error| {
        panic!("needs user namespaces (user.max_user_namespaces above 0, no security module against them): {error}")
    });
    let printed = String::from_utf8_lossy(&output.stdout);
    let complained = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && printed.contains("1 passed"), "{place}:\n{printed}{complained}");
}

/// This test program again, with one test, which finds itself inside.
pub fn again(test: &str) -> Command {
    let mut command = Command::new(env::current_exe().unwrap());
    command.args([test, "--exact", "--nocapture"]).env(MARK, "1").stdin(Stdio::null());
    command
}

const MARK: &str = "LINERATE_TEST_SANDBOX";
