//! Claims about hosts of namespaces and the programs in them.

use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{Pid, PidfdFlags, pidfd_open};

use super::*;
use crate::sandbox::in_sandbox;

fn host(duty: Option<DutyCycle>) -> Init {
    let make = || {
        separate().unwrap();
        crate::mounts::keep_to_ourselves().unwrap();
        crate::mounts::mount_sysfs().unwrap();
        set_host_name("west").unwrap();
        Init::start(duty).unwrap()
    };
    std::thread::scope(|scope| scope.spawn(make).join().unwrap())
}

fn shell(host: &Init, script: &str) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", script]);
    Entrance::of(host).unwrap().enter(&mut command);
    command
}

/// Starts a script and reads the first line that it says.
fn started(host: &Init, script: &str) -> (Child, String) {
    let mut child = shell(host, script).stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    (child, line.trim().to_owned())
}

/// Waits until a process, by its number out here, has ended.
fn wait_for_end(pid: &str) {
    let pid = Pid::from_raw(pid.parse().unwrap()).unwrap();
    let Ok(pidfd) = pidfd_open(pid, PidfdFlags::empty()) else { return };
    poll(&mut [PollFd::new(&pidfd, PollFlags::IN)], None).unwrap();
}

/// The number out here of a process of the host, by what it was called with.
fn outer_number(mark: &str) -> String {
    let found = std::fs::read_dir("/proc").unwrap().find_map(|entry| {
        let name = entry.ok()?.file_name().into_string().ok()?;
        let called = std::fs::read_to_string(format!("/proc/{name}/cmdline")).ok()?;
        called.starts_with(&format!("sleep\0{mark}")).then_some(name)
    });
    found.unwrap_or_else(|| panic!("nobody sleeps {mark}"))
}

#[test]
fn program_sees_the_host_and_nothing_else() {
    in_sandbox(module_path!(), "program_sees_the_host_and_nothing_else", || {
        let host = host(None);
        let output = shell(&host, "hostname; ls /sys/class/net; ls /proc | grep -c '^[0-9]*$'; pwd").output().unwrap();
        let here = std::env::current_dir().unwrap();
        // Its processes are the first one, the shell, ls and grep.
        let expected = format!("west\nlo\n4\n{}\n", here.display());
        assert_eq!(String::from_utf8_lossy(&output.stdout), expected);
        assert_ne!(rustix::system::uname().nodename().to_bytes(), b"west");
    });
}

#[test]
fn program_ends_for_the_caller_as_it_ends_inside() {
    in_sandbox(module_path!(), "program_ends_for_the_caller_as_it_ends_inside", || {
        let host = host(None);
        assert_eq!(shell(&host, "exit 7").status().unwrap().code(), Some(7));
        assert_eq!(shell(&host, "kill -KILL $$").status().unwrap().signal(), Some(libc::SIGKILL));
        let mut absent = Command::new("/nonesuch");
        let error = Entrance::of(&host).unwrap().enter(&mut absent).spawn().unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
    });
}

#[test]
fn signal_reaches_the_program() {
    in_sandbox(module_path!(), "signal_reaches_the_program", || {
        let host = host(None);
        // Not SIGINT: a shell in the background has its children ignore that, for good (POSIX, "Signals and Error Handling").
        let (mut child, _) = started(&host, "trap 'echo heard; exit 3' TERM; echo ready; while :; do read x; done");
        let pid = Pid::from_child(&child);
        rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
        let mut said = String::new();
        child.stdout.take().unwrap().read_to_string(&mut said).unwrap();
        assert_eq!((said.as_str(), child.wait().unwrap().code()), ("heard\n", Some(3)));
    });
}

#[test]
fn program_ends_with_the_process_that_stands_for_it() {
    in_sandbox(module_path!(), "program_ends_with_the_process_that_stands_for_it", || {
        let host = host(None);
        let mut child = Command::new("sleep");
        let mut child = Entrance::of(&host).unwrap().enter(child.arg("7001")).spawn().unwrap();
        let program = outer_number("7001");
        child.kill().unwrap();
        child.wait().unwrap();
        wait_for_end(&program);
    });
}

#[test]
fn daemons_end_with_their_host() {
    in_sandbox(module_path!(), "daemons_end_with_their_host", || {
        let host = host(None);
        let (mut child, _) = started(&host, "setsid sleep 7002 </dev/null >/dev/null 2>&1 & echo ready");
        assert!(child.wait().unwrap().success(), "the shell is gone, its child is an orphan");
        let number = host.id().to_string();
        drop(host);
        assert!(!std::path::Path::new(&format!("/proc/{number}")).exists());
        let left = std::fs::read_dir("/proc").unwrap().flatten().filter(|entry| {
            std::fs::read(entry.path().join("cmdline")).is_ok_and(|called| called.starts_with(b"sleep\x007002"))
        });
        assert_eq!(left.count(), 0);
    });
}

#[test]
fn host_is_entered_by_its_number_as_long_as_it_is_the_right_one() {
    in_sandbox(module_path!(), "host_is_entered_by_its_number_as_long_as_it_is_the_right_one", || {
        let host = host(None);
        let mut command = Command::new("hostname");
        Entrance::open(host.id(), || true).unwrap().enter(&mut command);
        assert_eq!(command.output().unwrap().stdout, b"west\n");
        assert_eq!(Entrance::open(host.id(), || false).unwrap_err().kind(), io::ErrorKind::NotFound);
        assert_eq!(Entrance::open(u32::MAX, || true).unwrap_err().kind(), io::ErrorKind::NotFound);
    });
}

#[test]
fn program_of_a_slow_host_gets_its_part_of_the_time() {
    in_sandbox(module_path!(), "program_of_a_slow_host_gets_its_part_of_the_time", || {
        let duty = DutyCycle { on: Duration::from_millis(2), off: Duration::from_millis(8) };
        let host = host(None);
        host.set_duty(Some(duty)).unwrap();
        // It counts how often it was made to go on; the count can rise only if it was stopped in between.
        let script = "trap 'n=$((n+1)); if [ $n -ge 5 ]; then exit 5; fi' CONT; n=0; while :; do :; done";
        assert_eq!(shell(&host, script).status().unwrap().code(), Some(5));
    });
}

#[test]
fn host_at_full_speed_again_stands_still_no_more() {
    in_sandbox(module_path!(), "host_at_full_speed_again_stands_still_no_more", || {
        // So long a stop would outlast the patience of any test. It is told while all run, and while all stand still.
        for on_ms in [300, 1] {
            let host = host(Some(DutyCycle { on: Duration::from_millis(on_ms), off: Duration::from_secs(86_400) }));
            std::thread::scope(|scope| {
                // `spawn` returns with the exec of its child, and a stop that comes before that would be a stop of ours.
                let running = scope.spawn(|| shell(&host, "sleep 0.1; exit 6").spawn().unwrap());
                host.set_duty(None).unwrap();
                assert_eq!(running.join().unwrap().wait().unwrap().code(), Some(6));
            });
        }
    });
}
