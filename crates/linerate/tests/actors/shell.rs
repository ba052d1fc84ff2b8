//! A shell in namespaces of its own, from which nothing is left when its test has ended, however it has.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// A shell. With it ends all that runs in its user namespace, or in its PID namespace where it is the first process.
pub struct Shell {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    user_namespace: PathBuf,
}

impl Shell {
    /// The shell that `command` starts.
    pub fn start(command: &mut Command) -> Self {
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap_or_else(|error| panic!("needs user namespaces: {error}"));
        let (input, output) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        let user_namespace = user_namespace(&child.id().to_string()).unwrap();
        Self { child, input, output, user_namespace }
    }

    /// Runs a line and returns what it prints, and its code.
    #[track_caller]
    pub fn ends(&mut self, line: &str) -> (String, i32) {
        writeln!(self.input, "{line}\n_code=$?; echo; echo end $_code").unwrap();
        let mut printed = String::new();
        loop {
            let mut more = String::new();
            assert!(self.output.read_line(&mut more).unwrap() > 0, "the shell has ended at `{line}`: {printed}");
            match more.strip_prefix("end ") {
                Some(code) => return (printed.trim().to_owned(), code.trim().parse().unwrap()),
                None => printed += &more,
            }
        }
    }

    /// What runs in its user namespace, itself among it.
    fn inside(&self) -> Vec<String> {
        let processes =
            fs::read_dir("/proc").unwrap().filter_map(|entry| entry.unwrap().file_name().into_string().ok());
        let is_inside = |process: &String| user_namespace(process).is_some_and(|of| of == self.user_namespace);
        processes.filter(|process| is_inside(process) && is_alive(process)).collect()
    }
}

impl Drop for Shell {
    fn drop(&mut self) {
        // A test that fails ends none of its jobs, and a shell that ends leaves them where they are.
        let is_own = user_namespace("self").is_some_and(|ours| ours != self.user_namespace);
        while let Some(left) = is_own.then(|| self.inside()).filter(|left| !left.is_empty()) {
            // It fails only where they have ended since.
            let _ = Command::new("kill").arg("-9").args(left).stderr(Stdio::null()).status();
        }
        let _ = writeln!(self.input, "exit");
        let _ = self.child.wait();
    }
}

fn user_namespace(process: &str) -> Option<PathBuf> {
    fs::read_link(Path::new("/proc").join(process).join("ns/user")).ok()
}

/// What has ended stays until its parent has looked.
fn is_alive(process: &str) -> bool {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with(['Z', 'X']))
}

#[test]
fn nothing_is_left_of_a_shell_in_which_jobs_run() {
    let mut shell = Shell::start(linux::netns::isolate(&mut Command::new("sh")));
    shell.ends("tail -f /dev/null & (tail -f /dev/null &) ; unshare -n sh -c 'tail -f /dev/null; true' &");
    let others = |namespace: &PathBuf| {
        let processes =
            fs::read_dir("/proc").unwrap().filter_map(|entry| entry.unwrap().file_name().into_string().ok());
        processes.filter(|process| user_namespace(process).as_ref() == Some(namespace) && is_alive(process)).count()
    };
    let namespace = shell.user_namespace.clone();
    assert!(others(&namespace) >= 4);
    drop(shell);
    assert_eq!(others(&namespace), 0);
}
