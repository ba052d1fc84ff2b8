//! Tests in network namespaces of their own: the test binary starts itself anew inside.

use std::env;
use std::process::{Child, ChildStdin, Command, Stdio};

use linux::netns::isolate;

/// Whether the test may mount what it likes, too.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Mounts {
    /// As outside.
    Shared,
    /// In a mount namespace of its own.
    Own,
}

/// Runs the test `name` of `module` with `body` in a process in fresh user and network namespaces, as their root.
pub fn in_sandbox(module: &str, name: &str, mounts: Mounts, body: impl FnOnce()) {
    if env::var_os(MARK).is_some() {
        return body();
    }
    // The harness names a test by its modules within the binary.
    let test = module.split_once("::").map_or_else(|| name.to_owned(), |(_, within)| format!("{within}::{name}"));
    let own = env::current_exe().unwrap();
    let mut command = match mounts {
        Mounts::Shared => Command::new(own),
        Mounts::Own => {
            let mut command = Command::new("unshare");
            command.arg("-m").arg(own);
            command
        }
    };
    command.args([test.as_str(), "--exact", "--nocapture"]).env(MARK, "1");
    let output = isolate(&mut command).output().unwrap_or_else(|error| {
        panic!("needs user namespaces (user.max_user_namespaces above 0, no security module against them): {error}")
    });
    let printed = String::from_utf8_lossy(&output.stdout);
    let complained = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && printed.contains("1 passed"), "in the sandbox:\n{printed}{complained}");
}

/// Runs a line in a shell; it must succeed.
pub fn shell(line: &str) -> String {
    let output = Command::new("sh").args(["-c", line]).output().unwrap();
    assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// A process in a network namespace of its own, which exists as long as this.
pub struct Neighbour {
    child: Child,
    /// Ends the process when it is dropped.
    line: Option<ChildStdin>,
}

impl Neighbour {
    /// Runs `line` there first.
    pub fn with(line: &str) -> Self {
        let mut command = Command::new("unshare");
        command.args(["-n", "sh", "-c", &format!("{line} && echo && read end")]);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        // It says an empty line once it is there.
        std::io::Read::read_exact(child.stdout.as_mut().unwrap(), &mut [0]).unwrap();
        let line = child.stdin.take();
        Self { child, line }
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for Neighbour {
    fn drop(&mut self) {
        drop(self.line.take());
        self.child.wait().unwrap();
    }
}

const MARK: &str = "LINERATE_TEST_SANDBOX";
