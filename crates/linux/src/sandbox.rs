//! Tests in network namespaces of their own: the test binary starts itself anew inside.

use std::env;
use std::process::Command;

use crate::netns::isolate;

/// Runs the test `name` of `module` with `body` in a process in fresh user and network namespaces, as their root.
pub(crate) fn in_sandbox(module: &str, name: &str, body: impl FnOnce()) {
    if inside() {
        return body();
    }
    let module = module.split_once("::").map_or(module, |(_, within)| within);
    let mut command = Command::new(env::current_exe().unwrap());
    command.args([&format!("{module}::{name}"), "--exact", "--nocapture"]).env(MARK, "1");
    let output = isolate(&mut command).output().unwrap_or_else(|error| {
        panic!("needs user namespaces (user.max_user_namespaces above 0, no security module against them): {error}")
    });
    let printed = String::from_utf8_lossy(&output.stdout);
    let complained = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && printed.contains("1 passed"), "in the sandbox:\n{printed}{complained}");
}

/// Whether this process runs in a sandbox already.
pub(crate) fn inside() -> bool {
    env::var_os(MARK).is_some()
}

const MARK: &str = "LINERATE_TEST_SANDBOX";
