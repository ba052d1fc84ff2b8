//! The program between the hosts of a network: `linerate serve` far, `linerate test` near.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use model::run::Run;
use model::series::RunSamples;
use tempfile::TempDir;

use super::truth_cgroup::Quota;
use super::truth_network::Network;

/// What a test recorded.
pub struct Recorded {
    /// The run.
    pub run: Run,
    /// Its samples.
    pub samples: RunSamples,
}

#[derive(serde::Deserialize)]
struct Exported {
    run: Run,
    samples: RunSamples,
}

/// Who is short of processor time.
#[derive(Default)]
pub struct Quotas<'a> {
    /// The far program's group.
    pub far: Option<&'a Quota>,
    /// The near program's group.
    pub near: Option<&'a Quota>,
}

/// Runs one test with these arguments.
pub fn test(network: &Network, args: &str) -> Recorded {
    test_within(network, &Quotas::default(), args)
}

/// The same with programs that get a part of a processor.
pub fn test_within(network: &Network, quotas: &Quotas<'_>, args: &str) -> Recorded {
    let kept = TempDir::new().unwrap();
    let archive = kept.path().join("archive.db");
    let _server = Server::start(network, quotas.far);
    let mut command = program(&network.near, quotas.near);
    command.arg("--archive").arg(&archive).args(["test", "--json"]).args(args.split_whitespace());
    printed(&mut command);
    let mut export = program(&network.near, None);
    export.arg("--archive").arg(&archive).args(["runs", "export", "last"]);
    let Exported { run, samples } = serde_json::from_str(&printed(&mut export)).unwrap();
    Recorded { run, samples }
}

/// The program inside a group, and inside a namespace, where the groups can no longer be seen.
fn program(namespace: &str, quota: Option<&Quota>) -> Command {
    let mut command = match quota {
        None => Command::new("env"),
        Some(quota) => {
            let mut shell = Command::new("sh");
            shell.args(["-c", "echo $$ > \"$0\" && exec \"$@\""]).arg(quota.entrance());
            shell
        }
    };
    command.args(["ip", "netns", "exec", namespace, env!("CARGO_BIN_EXE_linerate")]).env_remove("LINERATE_ARCHIVE");
    command
}

fn printed(command: &mut Command) -> String {
    let ran = command.output().unwrap();
    assert!(ran.status.success(), "{command:?}: {}", String::from_utf8_lossy(&ran.stderr));
    String::from_utf8(ran.stdout).unwrap()
}

/// `linerate serve`; it ends with its owner.
struct Server(Child);

impl Server {
    /// Starts it, and waits until it listens.
    fn start(network: &Network, quota: Option<&Quota>) -> Self {
        let mut command = program(&network.far, quota);
        command.args(["serve", "--no-archive"]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let talk = BufReader::new(child.stderr.take().unwrap());
        let server = Self(child);
        let mut said = Vec::new();
        let mut lines = talk.lines();
        for line in lines.by_ref().map_while(Result::ok) {
            if line.contains("listening on") {
                // What it says later must go somewhere, or it would wait for a reader.
                std::thread::spawn(move || lines.for_each(drop));
                return server;
            }
            said.push(line);
        }
        panic!("linerate serve ended before it listened: {said:?}");
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It fails only where the server has ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
