//! Nothing of a network outlives it.

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::MetadataExt;
use std::process::{Child, Stdio};

use lab::network::{Network, RaiseError};
use linux::namespaces::process::{Process, start_of};

use crate::everywhere::{again, everywhere};
use crate::sketch::line;
use crate::traffic::Driven;

/// After this a test that waits fails instead of waiting for ever. No claim rests on it.
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(60);

/// The network namespaces that some process is in or has open.
fn namespaces() -> BTreeSet<u64> {
    let processes = fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path());
    let files = processes.flat_map(|process| {
        let open = fs::read_dir(process.join("fd")).into_iter().flatten().flatten().map(|entry| entry.path());
        open.chain([process.join("ns/net")]).collect::<Vec<_>>()
    });
    // Many a process has ended since it was listed.
    let inodes = files.filter(|file| fs::read_link(file).is_ok_and(|link| link.to_string_lossy().starts_with("net:[")));
    inodes.filter_map(|file| Some(fs::metadata(file).ok()?.ino())).collect()
}

/// Numbers of all processes in the namespaces.
fn processes_in(wanted: &BTreeSet<u64>) -> Vec<u32> {
    let numbers = fs::read_dir("/proc").unwrap().flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let inside = |number: &u32| {
        fs::metadata(format!("/proc/{number}/ns/net")).is_ok_and(|namespace| wanted.contains(&namespace.ino()))
    };
    numbers.filter(inside).collect()
}

fn inodes(network: &Network) -> BTreeSet<u64> {
    network.hosts().iter().map(|host| host.run(|| linux::netns::current_inode().unwrap()).unwrap()).collect()
}

#[test]
fn dropped_network_is_gone_with_its_processes() {
    everywhere(module_path!(), "dropped_network_is_gone_with_its_processes", || {
        let driven = Driven::new(&line());
        let made = inodes(&driven.network);
        assert_eq!(made.len(), 5);
        let mut child =
            driven.network.hosts()[0].command("sh").args(["-c", BUSY]).stdout(Stdio::piped()).spawn().unwrap();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut String::new()).unwrap();
        let inside = processes_in(&made);
        assert!(inside.len() >= 5 + 3, "{inside:?}");
        drop(driven);
        assert!(!child.wait().unwrap().success());
        assert_eq!(processes_in(&made), [0; 0]);
        assert!(namespaces().is_disjoint(&made));
    });
}

#[test]
fn network_that_fails_at_its_last_host_leaves_nothing() {
    everywhere(module_path!(), "network_that_fails_at_its_last_host_leaves_nothing", || {
        let whole = Network::raise(&line().0).unwrap();
        assert_eq!(children().len(), 5, "the first process of each host");
        drop(whole);
        let sketch = line().sysctl(4, "net.ipv4.tcp_warp", "1");
        let error = Network::raise(&sketch.0).unwrap_err();
        assert!(matches!(&error, RaiseError::Sysctl { host, .. } if host == "north"), "{error}");
        assert_eq!(children(), [0; 0]);
    });
}

/// The processes that this one has started and that are there.
fn children() -> Vec<u32> {
    let own = format!("PPid:\t{}\n", std::process::id());
    let numbers = fs::read_dir("/proc").unwrap().flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let is_ours = |number: &u32| fs::read_to_string(format!("/proc/{number}/status")).is_ok_and(|s| s.contains(&own));
    numbers.filter(is_ours).collect()
}

#[test]
fn network_whose_keeper_is_killed_is_gone_with_its_processes() {
    everywhere(module_path!(), "network_whose_keeper_is_killed_is_gone_with_its_processes", || {
        let mut keeper = again("ending::keeper_for_another_test");
        let mut keeper = Keeper(keeper.env(KEEP, "1").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap());
        let mut lines = BufReader::new(keeper.0.stdout.take().unwrap()).lines().map_while(Result::ok);
        let told = lines.find_map(|line| line.split_once("namespaces ").map(|(_, told)| told.to_owned())).unwrap();
        let made: BTreeSet<u64> = told.split(' ').map(|inode| inode.parse().unwrap()).collect();
        assert_eq!(made.len(), 5);
        let inside: Vec<(u32, Process)> = processes_in(&made)
            .into_iter()
            .filter_map(|number| Some((number, Process::find(number, start_of(number)?)?)))
            .collect();
        assert!(inside.len() >= 5 + 3, "five first processes, a shell, its child and a daemon: {}", inside.len());
        keeper.0.kill().unwrap();
        keeper.0.wait().unwrap();
        for (number, process) in &inside {
            assert!(process.wait(PATIENCE).unwrap(), "process {number} is still there");
        }
        assert!(namespaces().is_disjoint(&made));
        assert_eq!(processes_in(&made), [0; 0]);
    });
}

/// Keeps a network with busy programs until it is killed. By itself it does nothing.
#[test]
fn keeper_for_another_test() {
    if std::env::var_os(KEEP).is_none() {
        return;
    }
    let driven = Driven::new(&line());
    let busy = || driven.network.hosts()[3].command("sh").args(["-c", BUSY]).stdout(Stdio::piped()).spawn().unwrap();
    let mut child = busy();
    BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut String::new()).unwrap();
    let made = inodes(&driven.network).iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
    println!("namespaces {made}");
    std::io::stdout().flush().unwrap();
    // Nothing comes: this ends by being killed.
    std::io::stdin().read_to_end(&mut Vec::new()).unwrap();
    let _ = child.kill();
    let _ = child.wait();
}

/// A shell with a busy child and a daemon of its own session, which says when both are there.
const BUSY: &str = "setsid sh -c 'while :; do :; done' </dev/null >/dev/null 2>&1 & \
                    sh -c 'while :; do :; done' </dev/null >/dev/null 2>&1 & echo ready; wait";

const KEEP: &str = "LINERATE_TEST_KEEP";

struct Keeper(Child);

impl Drop for Keeper {
    fn drop(&mut self) {
        // It fails only where it has ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
