//! Scenarios as texts, played by the program.

use std::fs;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::Duration;

use anyhow::ensure;
use model::measurement::{Interval, Measurement};
use model::played::{Finding, Played};
use model::run::Run;
use serde_json::Value;

use super::machine::Moment;

/// A played scenario and what happened to its packets.
pub(crate) struct Show {
    pub(crate) played: Played,
    /// The log of single packets.
    pub(crate) log: Vec<Value>,
}

/// A network that is kept for other programs, until this is dropped.
pub(crate) struct KeptNetwork {
    name: String,
    _scenario: tempfile::TempDir,
}

/// Makes the network of a scenario.
pub(crate) fn keep(name: &str, text: &str) -> KeptNetwork {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let directory = tempfile::tempdir().unwrap();
    let scenario = directory.path().join("scenario.toml");
    fs::write(&scenario, text).unwrap();
    let name = format!("{name}-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
    let up = linerate(&["lab", "up", scenario.to_str().unwrap(), "--as", &name]).output().unwrap();
    assert!(up.status.success(), "{}", String::from_utf8_lossy(&up.stderr));
    KeptNetwork { name, _scenario: directory }
}

impl KeptNetwork {
    /// A program in a host.
    pub(crate) fn exec(&self, host: &str, command: &[&str]) -> Command {
        let mut exec = linerate(&["lab", "exec", &format!("{}/{host}", self.name), "--"]);
        exec.args(command);
        exec
    }
}

impl Drop for KeptNetwork {
    fn drop(&mut self) {
        let down = linerate(&["lab", "down", &self.name]).status();
        assert!(std::thread::panicking() || down.unwrap().success());
    }
}

pub(crate) fn linerate(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_linerate"));
    command.args(arguments);
    command
}

/// Labs of one machine share its CPUs. Their paths are slow and leave those idle most of the time, so each attempt at a claim is first
/// made beside others, and where it fails there, alone.
static CPUS: RwLock<()> = RwLock::new(());

/// Who may use the CPUs during an attempt.
#[expect(dead_code, reason = "held, not read")]
enum Turn {
    Shared(RwLockReadGuard<'static, ()>),
    Alone(RwLockWriteGuard<'static, ()>),
}

impl Turn {
    fn of_attempt(number: usize) -> Self {
        if number == 0 {
            Self::Shared(CPUS.read().unwrap_or_else(PoisonError::into_inner))
        } else {
            Self::Alone(CPUS.write().unwrap_or_else(PoisonError::into_inner))
        }
    }
}

/// Two hosts with a router between them, and no faults but those of the chains; tuned, so that nothing but the path
/// limits.
pub(crate) fn two_hosts(there: &str, back: &str, tests: &str) -> String {
    format!(
        r#"
title = "two hosts"
about = "For a truth test."
[defaults]
sysctl = {{ "net.ipv4.tcp_rmem" = "4096 131072 67108864", "net.ipv4.tcp_wmem" = "4096 131072 67108864" }}
[hosts.near]
[hosts.middle]
forwards = true
[hosts.far]
[[links]]
name = "access"
between = ["near", "middle"]
speed = "1Gbit/s"
[[links]]
name = "long"
between = ["middle", "far"]
speed = "1Gbit/s"
there = [{there}]
back = [{back}]
{tests}
[truth]
healthy = true
"#
    )
}

/// A test from `near` to `far`, with more keys.
pub(crate) fn test(kind: &str, keys: &str) -> String {
    format!("[[tests]]\nkind = \"{kind}\"\nfrom = \"near\"\nto = \"far\"\n{keys}\n")
}

/// Plays a scenario, which shows what is claimed.
pub(crate) fn shows(text: &str, claim: impl Fn(&Show) -> anyhow::Result<()>) {
    holds(|| {
        let show = play(text);
        (claim(&show), show.played.limited_by_emulation)
    });
}

/// The same of a claim about how fast this machine carries a path: where the emulation was the limit in each attempt, nothing
/// was shown, which is said and is no failure.
pub(crate) fn shows_unless_spoilt(text: &str, claim: impl Fn(&Show) -> anyhow::Result<()>) {
    let attempt = || {
        let show = play(text);
        (claim(&show), show.played.limited_by_emulation)
    };
    if let Err(story) = attempted(attempt) {
        eprintln!("skipped, this machine does not carry the path in time:{story}");
    }
}

/// Makes an attempt at a claim, up to three times and from the second on alone, with what may have spoilt each: an emulation that did
/// not keep up, or what others do on this machine. A claim that fails in every attempt has failed if one of them was undisturbed.
pub(crate) fn holds(attempt: impl Fn() -> (anyhow::Result<()>, Vec<String>)) {
    if let Err(story) = attempted(attempt) {
        panic!("the claim holds in none of {ATTEMPTS} attempts:{story}");
    }
}

/// Whether the claim held, or how each attempt at it was spoilt. A single undisturbed failure is no verdict: a guest whose
/// host stops it for some 10 ms reads of no steal, and the lab of one machine of many is such a guest.
fn attempted(attempt: impl Fn() -> (anyhow::Result<()>, Vec<String>)) -> Result<(), String> {
    let mut story = String::new();
    let mut undisturbed = 0;
    for number in 0..ATTEMPTS {
        let _turn = Turn::of_attempt(number);
        let start = Moment::now();
        let (claim, mut excuses) = attempt();
        let Err(failed) = claim else { return Ok(()) };
        if number == 0 {
            excuses.push("it was made beside others".to_owned());
        }
        let others = start.others_since();
        if others > PEACE {
            excuses.push(format!("others had {others:.2} CPUs of this machine"));
        }
        undisturbed += usize::from(excuses.is_empty());
        story.push_str(&format!("\n  {failed:#} ({})", excuses.join("; ")));
    }
    assert!(
        undisturbed == 0,
        "the claim holds in none of {ATTEMPTS} attempts, {undisturbed} of them undisturbed:{story}"
    );
    Err(story)
}

const ATTEMPTS: usize = 3;

/// Of how many processors others may have the time without that it could matter. What interrupts cost the kernel counts
/// for nobody, which comes to a tenth.
const PEACE: f64 = 0.25;

/// Fails where a number is not within these bounds.
pub(crate) fn within(bounds: std::ops::RangeInclusive<f64>, found: f64, what: &str) -> anyhow::Result<()> {
    ensure!(bounds.contains(&found), "{found:.4} {what}, where {:.4} to {:.4} are right", bounds.start(), bounds.end());
    Ok(())
}

/// Plays a scenario.
pub(crate) fn play(text: &str) -> Show {
    let directory = tempfile::tempdir().unwrap();
    let (scenario, log) = (directory.path().join("scenario.toml"), directory.path().join("log.jsonl"));
    fs::write(&scenario, text).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_linerate"))
        .args(["lab", "run", "--json", "--no-archive", "--pace", "100", "--log"])
        .arg(&log)
        .arg(&scenario)
        .output()
        .unwrap();
    let complaint = String::from_utf8_lossy(&output.stderr);
    let played: Played = serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {complaint}"));
    for link in &played.links {
        assert_eq!(link.unaccounted(), 0, "{link:?}");
    }
    let log = fs::read_to_string(&log).unwrap();
    Show { played, log: log.lines().map(|line| serde_json::from_str(line).unwrap()).collect() }
}

impl Show {
    /// The result of a test, by its place.
    pub(crate) fn finding(&self, number: usize) -> &Finding {
        &self.played.tests[number].finding
    }

    /// The run of a flow.
    pub(crate) fn run(&self, number: usize) -> &Run {
        match self.finding(number) {
            Finding::Run(run) => run,
            other => panic!("no run: {other:?}"),
        }
    }

    /// What a run has measured.
    pub(crate) fn measurement(&self, number: usize) -> &Measurement {
        let run = self.run(number);
        run.measurement.as_ref().unwrap_or_else(|| panic!("{:?}", run.outcome))
    }

    /// Packets of a kind in the log of single packets.
    pub(crate) fn logged(&self, is: impl Fn(&Value) -> bool) -> u64 {
        self.log.iter().filter(|line| is(line)).map(|line| line["packets"].as_u64().unwrap()).sum()
    }

    /// By how much the emulation itself was late, one time in a hundred: what a delay may be too long by.
    pub(crate) fn lateness(&self) -> Duration {
        Duration::from_nanos(self.played.links.iter().map(|account| account.lateness_p99_ns).max().unwrap())
    }
}

/// The mean rate after a time, in Mbit/s, without what came after the last whole second.
pub(crate) fn rate_after(intervals: &[Interval], start: Duration) -> f64 {
    let rates: Vec<f64> = intervals
        .iter()
        .filter(|interval| interval.start >= start && interval.end - interval.start >= Duration::from_millis(900))
        .map(|interval| interval.rate.bps() as f64 * 1e-6)
        .collect();
    rates.iter().sum::<f64>() / rates.len() as f64
}
