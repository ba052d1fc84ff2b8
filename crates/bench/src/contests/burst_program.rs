//! What the program costs that `watch bursts` puts at a device: its own run time as the kernel has it, which the load of others does
//! not lengthen as it does that of a whole packet. The kernel reads a clock before and behind each run, and counts that as run
//! time: an empty program at the same device says how much, and it is taken off.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::process::Command;
use std::time::{Duration, Instant};
use std::{fs, thread};

use anyhow::{Context, ensure};
use linux::bpf::empty::EmptyProgram;
use linux::counters::HostCounters;

use crate::actors::Actors;
use crate::contests::effort::Effort;
use crate::contests::watcher::Watch;
use crate::outcome::{Row, Target};

/// Single datagrams, and segments of TCP as the kernel holds them together.
pub(super) fn rows(actors: &Actors, effort: Effort) -> anyhow::Result<Vec<Row>> {
    let _on = Statistics::on()?;
    Ok(vec![single(actors, effort)?, together(actors, effort)?])
}

/// Datagrams over loopback: each passes the program twice.
fn single(actors: &Actors, effort: Effort) -> anyhow::Result<Row> {
    let (sink, source) = (UdpSocket::bind("127.0.0.1:0")?, UdpSocket::bind("127.0.0.1:0")?);
    let to = sink.local_addr()?;
    let count: u32 = effort.choose(100_000, 400_000);
    let programs = Programs::at_loopback(actors)?;
    let mut costs = Vec::new();
    for _ in 0..effort.choose(3, 7) {
        let before = programs.runs()?;
        for _ in 0..count {
            source.send_to(&[0; 64], to)?;
        }
        let cost = programs.runs()?.since(before);
        ensure!(cost.program.count >= u64::from(count), "the program has not seen the datagrams");
        costs.push(cost);
    }
    let net = |cost: Cost| cost.net_of_each(cost.program.count);
    let measuring = median(costs.iter().map(|cost| cost.empty.nanos_of_each(cost.empty.count)))?;
    Ok(Row::new("program at a device, a packet (its run time)", median(costs.into_iter().map(net))?, "ns")
        .target(Target::AtMost(120.0))
        .note(format!("without the {measuring:.0} ns that the kernel's measuring takes of an empty program")))
}

/// A connection over loopback with an MTU of 1,500 in a namespace of its own: some 40 segments lie in one packet of the kernel.
fn together(actors: &Actors, effort: Effort) -> anyhow::Result<Row> {
    let shares = linux::netns::in_fresh_netns(|| -> anyhow::Result<Vec<[f64; 2]>> {
        let set = Command::new("ip").args(["link", "set", "lo", "mtu", "1500"]).status()?;
        ensure!(set.success(), "the MTU of loopback cannot be set");
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let mut client = TcpStream::connect(listener.local_addr()?)?;
        let (mut server, _) = listener.accept()?;
        let reading = thread::spawn(move || {
            let mut room = vec![0; 1 << 18];
            while server.read(&mut room).is_ok_and(|length| length > 0) {}
        });
        let programs = Programs::at_loopback(actors)?;
        let (data, length) = (vec![0; 1 << 18], Duration::from_secs(effort.choose(1, 2)));
        let mut shares = Vec::new();
        for _ in 0..effort.choose(3, 7) {
            let (before, sent) = (programs.runs()?, segments()?);
            let begin = Instant::now();
            while begin.elapsed() < length {
                client.write_all(&data)?;
            }
            let (cost, sent) = (programs.runs()?.since(before), segments()? - sent);
            // Each segment passes twice; of a second with a million of them in per cent.
            let share = |nanos: f64| nanos * 1e6 / 1e9 * 100.0;
            shares.push([cost.net_of_each(2 * sent), cost.empty.nanos_of_each(2 * sent)].map(share));
        }
        drop(client);
        ensure!(reading.join().is_ok(), "the receiver has failed");
        Ok(shares)
    })??;
    let what = "program at a device, a million packets a second held together (GRO)";
    let measuring = median(shares.iter().map(|[_, empty]| *empty))?;
    Ok(Row::new(what, median(shares.into_iter().map(|[net, _]| net))?, "% of a core")
        .target(Target::AtMost(1.0))
        .note(format!("without the {measuring:.2} % that the kernel's measuring takes of an empty program")))
}

/// The program of `watch bursts` at loopback, and behind it an empty one.
struct Programs {
    watch: Watch,
    _empty: EmptyProgram,
}

impl Programs {
    fn at_loopback(actors: &Actors) -> anyhow::Result<Self> {
        let watch = watching(actors)?;
        let links = linux::links::dump()?;
        let loopback = links.iter().find(|link| link.name == "lo").context("there is no loopback")?;
        let empty = EmptyProgram::attach(loopback.index).context("no empty program can be at loopback")?;
        Ok(Self { watch, _empty: empty })
    }

    fn runs(&self) -> anyhow::Result<Cost> {
        Ok(Cost { program: Runs::of(self.watch.id())?, empty: Runs::of(std::process::id())? })
    }
}

/// What the program has run, and what an empty one behind it has.
#[derive(Clone, Copy)]
struct Cost {
    program: Runs,
    empty: Runs,
}

impl Cost {
    fn since(self, before: Self) -> Self {
        Self { program: self.program.since(before.program), empty: self.empty.since(before.empty) }
    }

    /// The time that so many packets have taken, each, without that of measuring it.
    fn net_of_each(self, packets: u64) -> f64 {
        // Both have seen each packet, but for those that passed while the counters were read.
        self.program.nanos_of_each(packets) - self.empty.nanos_of_each(packets)
    }
}

fn watching(actors: &Actors) -> anyhow::Result<Watch> {
    let watch = Watch::start(actors, &["bursts", "lo"])?;
    let until = Instant::now() + Duration::from_secs(10);
    while Runs::programs(watch.id())?.is_empty() {
        ensure!(Instant::now() < until, "no program is at the device");
        thread::sleep(Duration::from_millis(20));
    }
    // Both are loaded before either is at its hook.
    thread::sleep(Duration::from_millis(300));
    Ok(watch)
}

/// Segments that TCP of this namespace has sent.
fn segments() -> anyhow::Result<u64> {
    HostCounters::read().snmp.context("no counters")?.get("Tcp", "OutSegs").context("no counter of segments")
}

/// What the programs of a process have run.
#[derive(Debug, Clone, Copy)]
struct Runs {
    nanos: u64,
    count: u64,
}

impl Runs {
    fn of(process: u32) -> anyhow::Result<Self> {
        let programs = Self::programs(process)?;
        let number =
            |text: &String, name| text.lines().find_map(|line| line.strip_prefix(name))?.trim().parse::<u64>().ok();
        let sum = |name| programs.iter().filter_map(|text| number(text, name)).sum();
        Ok(Self { nanos: sum("run_time_ns:"), count: sum("run_cnt:") })
    }

    fn since(self, before: Self) -> Self {
        Self { nanos: self.nanos - before.nanos, count: self.count - before.count }
    }

    /// The time that so many packets have taken, each.
    #[expect(clippy::cast_precision_loss, reason = "counts are shown, never computed with")]
    fn nanos_of_each(self, packets: u64) -> f64 {
        self.nanos as f64 / packets.max(1) as f64
    }

    /// What the kernel shows of each program (kernel/bpf/syscall.c, `bpf_prog_show_fdinfo`).
    fn programs(process: u32) -> anyhow::Result<Vec<String>> {
        let mut programs = Vec::new();
        for file in fs::read_dir(format!("/proc/{process}/fdinfo"))? {
            // A file may be closed meanwhile.
            let text = fs::read_to_string(file?.path()).unwrap_or_default();
            if text.contains("run_cnt:") {
                programs.push(text);
            }
        }
        Ok(programs)
    }
}

/// The kernel measures each run of a program, as long as this lives.
struct Statistics(String);

impl Statistics {
    fn on() -> anyhow::Result<Self> {
        let before = fs::read_to_string(SWITCH).context("the kernel has no statistics of programs")?;
        fs::write(SWITCH, "1").context("statistics of programs cannot be switched on")?;
        Ok(Self(before))
    }
}

impl Drop for Statistics {
    fn drop(&mut self) {
        // Nothing is left to do where the kernel refuses.
        let _ = fs::write(SWITCH, self.0.trim());
    }
}

fn median(values: impl IntoIterator<Item = f64>) -> anyhow::Result<f64> {
    let mut values: Vec<f64> = values.into_iter().collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().context("nothing was measured")
}

const SWITCH: &str = "/proc/sys/kernel/bpf_stats_enabled";
