//! Watching on a kernel that lacks something: BTF, the hook of programs (tcx), bpf(2), events, the files that describe them. What is
//! missing is named, and everything else works.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Output};
use std::thread;

use serde_json::Value;
use tempfile::TempDir;

/// A kernel without some of what it may have.
#[derive(Debug, Clone, Copy, Default)]
struct Kernel {
    /// System calls that fail, as `actors/without.py` takes them.
    calls: &'static [&'static str],
    /// Directories that are empty.
    empty: &'static [&'static str],
}

impl Kernel {
    /// Runs linerate on it, as root of the machine.
    #[track_caller]
    fn linerate(self, args: &[&str]) -> Output {
        let folder = TempDir::new().unwrap();
        let filter = folder.path().join("without.py");
        std::fs::write(&filter, include_str!("../actors/without.py")).unwrap();
        let hide: String = self
            .empty
            .iter()
            .map(|place| format!("if [ -d {place} ]; then mount -t tmpfs none {place} || exit 99; fi; "))
            .collect();
        let script = format!("{hide}exec python3 \"$@\"");
        let mut command = Command::new("unshare");
        command.args(["--mount", "--propagation", "private", "sh", "-c", &script, "sh"]).arg(&filter);
        command.args(self.calls).arg("--").arg(env!("CARGO_BIN_EXE_linerate")).args(args);
        let ended = command.output().unwrap();
        assert!(ended.status.success(), "{self:?}: {ended:?}");
        ended
    }

    /// What it reports of the bursts of loopback.
    fn bursts(self) -> Value {
        let ended = self.linerate(&["watch", "bursts", "lo", "--for", "100ms", "--json"]);
        serde_json::from_slice(&ended.stdout).unwrap()
    }
}

const EVENT_FILES: &[&str] = &["/sys/kernel/tracing", "/sys/kernel/debug"];

fn notes(report: &Value) -> String {
    report["notes"].to_string()
}

#[test]
fn bursts_take_the_programs_of_a_kernel_without_btf() {
    let all = Kernel::default().bursts();
    let without = Kernel { empty: &["/sys/kernel/btf"], ..Kernel::default() }.bursts();
    assert_eq!(without["counted_by"], all["counted_by"], "{without}");
    assert_eq!(notes(&without), notes(&all));
}

#[test]
fn bursts_without_the_hook_or_bpf_are_those_of_counters_and_say_what_is_missing() {
    // BPF_LINK_CREATE is 28: kernels before 6.6 know no such attachment; then one without bpf(2), and one that forbids it.
    for (calls, named) in [
        (&["bpf:28=EINVAL"][..], "attach the program to the device"),
        (&["bpf=ENOSYS"], "not supported here"),
        (&["bpf=EPERM"], "permission denied"),
    ] {
        let report = Kernel { calls, ..Kernel::default() }.bursts();
        assert_eq!(report["counted_by"], "counters", "{calls:?}: {report}");
        let notes = notes(&report);
        assert!(notes.contains(named) && notes.contains("CAP_BPF") && notes.contains("6.6"), "{calls:?}: {notes}");
        assert_eq!(report["directions"].as_array().map(Vec::len), Some(2), "{report}");
    }
}

/// A transfer over loopback that goes on until it is dropped.
struct Transfer {
    port: u16,
    stop: std::sync::Arc<std::sync::atomic::AtomicBool>,
    threads: Vec<thread::JoinHandle<()>>,
}

impl Transfer {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let stop = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
        let mut sender = TcpStream::connect(("127.0.0.1", port)).unwrap();
        let (mut receiver, _) = listener.accept().unwrap();
        let ends = std::sync::Arc::clone(&stop);
        let sends = thread::spawn(move || {
            while !ends.load(std::sync::atomic::Ordering::Relaxed) && sender.write_all(&[0; 1 << 14]).is_ok() {}
        });
        let reads = thread::spawn(move || {
            let mut bytes = vec![0; 1 << 16];
            while receiver.read(&mut bytes).is_ok_and(|count| count > 0) {}
        });
        Self { port, stop, threads: vec![sends, reads] }
    }
}

impl Drop for Transfer {
    fn drop(&mut self) {
        self.stop.store(true, std::sync::atomic::Ordering::Relaxed);
        self.threads.drain(..).for_each(|thread| thread.join().unwrap());
    }
}

#[test]
fn connections_are_watched_without_events_and_what_is_missing_is_named() {
    let transfer = Transfer::start();
    for kernel in [
        Kernel { calls: &["fsopen=ENODEV"], empty: EVENT_FILES },
        Kernel { calls: &["perf_event_open=ENOSYS"], ..Kernel::default() },
        Kernel { calls: &["perf_event_open=EPERM", "bpf=EPERM"], empty: &["/sys/kernel/btf"] },
    ] {
        let archive = TempDir::new().unwrap();
        let archive = archive.path().join("archive.db");
        let ended = kernel.linerate(&[
            "--archive",
            archive.to_str().unwrap(),
            "watch",
            "flows",
            "--for",
            "1s",
            "--interval",
            "200ms",
            "--json",
        ]);
        let lines: Vec<Value> =
            ended.stdout.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok()).collect();
        let peer = format!("127.0.0.1:{}", transfer.port);
        let flows = lines.iter().flat_map(|line| line["flows"].as_array().unwrap());
        let goodput = flows.filter(|flow| flow["peer"] == peer.as_str()).map(|flow| flow["goodput_bps"].as_u64());
        assert!(goodput.max().flatten() > Some(0), "{kernel:?}: {lines:?}");
        let missing = lines[0]["not_seen"].to_string();
        // Retransmissions are counted by the same means: that is said once.
        assert!(missing.contains("tcp/tcp_cong_state_set"), "{kernel:?}: {missing}");
    }
}

#[test]
fn drops_are_counted_without_events_and_what_is_missing_is_named() {
    let kernel = Kernel { calls: &["fsopen=ENODEV"], empty: EVENT_FILES };
    let ended = kernel.linerate(&["watch", "drops", "--for", "1s", "--interval", "1s", "--json"]);
    let interval: Value = serde_json::from_slice(ended.stdout.split(|byte| *byte == b'\n').next().unwrap()).unwrap();
    assert!(interval["counters"].as_array().unwrap().len() > 20, "{interval}");
    let reasons = &interval["reasons"];
    assert_eq!((&reasons["source"], &reasons["state"]), (&"tracepoint skb:kfree_skb".into(), &"absent".into()));
    assert!(interval["retransmits"].to_string().contains("sockets"), "{interval}");
}
