//! `linerate gateways status`: what gateways report, the spread, who is excluded and why.

use std::fmt::Display;
use std::net::UdpSocket;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Context;
use gateways::calibrate::summary;
use gateways::status::prometheus::Metrics;
use gateways::status::reading::Reading;
use gateways::status::report::{Expected, Question, StatusReport};
use measure::stop::Stop;

use super::super::{attempt, print};
use super::senders::Senders;
use super::{find, recording};
use crate::cli::Common;
use crate::cli::gateways::status::StatusArgs;
use crate::exit::{Complaint, Exit};
use crate::show;

pub fn run(common: &Common, args: &StatusArgs) -> anyhow::Result<Exit> {
    named_once(&args.hosts)?;
    let stop = attempt::stop_on_signals()?;
    let socket = args.listen.map(|address| {
        UdpSocket::bind(address).with_context(|| Complaint::new(Exit::Local, format!("cannot listen at UDP {address}")))
    });
    let socket = socket.transpose()?.map(|socket| (socket, Senders::of(&args.hosts)));
    let mut collected = Collected::default();
    loop {
        match &socket {
            Some((socket, senders)) => collected.hear(socket, senders, args.time, &stop)?,
            None if args.read.is_empty() => collected.ask(args, &stop)?,
            None => args.read.iter().try_for_each(|file| collected.read(file, args))?,
        }
        let report = collected.report(args)?;
        if common.json {
            print(&show::json::document(&report)?)?;
        } else {
            print(show::gateways_status::text(&report).as_bytes())?;
        }
        if !args.watch || stop.is_stopped() {
            return Ok(Exit::Success);
        }
        collected.forget();
    }
}

/// Two rates of one gateway are two weights of it, of which one is wrong.
fn named_once(hosts: &[Expected]) -> anyhow::Result<()> {
    let twice = hosts.iter().enumerate().find(|(at, host)| hosts[..*at].iter().any(|other| other.name == host.name));
    let Some((_, host)) = twice else { return Ok(()) };
    let rates: Vec<String> = hosts
        .iter()
        .filter(|other| other.name == host.name)
        .map(|other| other.nic_gbit_s.map_or("no rate".to_owned(), |rate| format!("{rate} Gbit/s")))
        .collect();
    Err(Complaint::new(Exit::Usage, format!("{} is named {} times: {}", host.name, rates.len(), rates.join(", ")))
        .hint("name each gateway once, as HOST=RATE with the rate of its NIC")
        .into())
}

/// Readings of all gateways, with what could not be read.
#[derive(Default)]
struct Collected {
    readings: Vec<Reading>,
    anomalies: Vec<String>,
}

impl Collected {
    fn report(&self, args: &StatusArgs) -> anyhow::Result<StatusReport> {
        #[expect(clippy::cast_precision_loss, reason = "bytes of memory, shown with three digits")]
        let memory_limit_gb = args.memory_limit.map(|limit| limit.get() as f64 / 1e9);
        // A recording is judged as of its end.
        let now_s = if args.read.is_empty() {
            now_s()
        } else {
            self.readings.iter().map(|reading| reading.at_s).fold(0.0, f64::max)
        };
        let question = Question {
            expected: &args.hosts,
            memory_limit_gb,
            policy: find(&args.policy)?,
            max_load: f64::from(args.maxload),
            now_s,
        };
        Ok(StatusReport::new(&question, self.readings.clone(), self.anomalies.clone()))
    }

    /// Old readings go, so that a watch of weeks needs no more memory than one of an hour.
    fn forget(&mut self) {
        let oldest = now_s() - KEPT.as_secs_f64();
        self.readings.retain(|reading| reading.at_s >= oldest);
        self.anomalies.clear();
    }

    fn wrong(&mut self, what: String) {
        if self.anomalies.len() < MOST_ANOMALIES {
            self.anomalies.push(what);
        }
    }

    fn documents(&mut self, text: &str, from: &dyn Display) {
        let read = summary::read(text);
        read.anomalies.into_iter().for_each(|anomaly| self.wrong(format!("{from}: {anomaly}")));
        self.readings.extend(read.records.iter().map(Reading::of_summary));
    }

    fn hear(&mut self, socket: &UdpSocket, senders: &Senders, time: Duration, stop: &Stop) -> anyhow::Result<()> {
        let began = Instant::now();
        let mut buffer = vec![0; LARGEST_DATAGRAM];
        while let Some(left) = time.checked_sub(began.elapsed()).filter(|left| !left.is_zero()) {
            if stop.is_stopped() {
                break;
            }
            socket.set_read_timeout(Some(left.min(LOOK_EVERY)))?;
            // Nothing came within the time.
            let Ok((length, from)) = socket.recv_from(&mut buffer) else { continue };
            let text = String::from_utf8_lossy(&buffer[..length]).into_owned();
            if !text.contains("<statistics") {
                self.wrong(format!("{from}: {length} bytes that are no summary monitoring"));
            }
            let before = self.readings.len();
            self.documents(&text, &from);
            for reading in &mut self.readings[before..] {
                if let Some(name) = senders.name(&reading.gateway, from.ip()) {
                    name.clone_into(&mut reading.gateway);
                }
            }
        }
        Ok(())
    }

    /// Asks each gateway by `xrdfs`, twice at least.
    fn ask(&mut self, args: &StatusArgs, stop: &Stop) -> anyhow::Result<()> {
        let began = Instant::now();
        let mut rounds = 0;
        while (rounds < 2 || began.elapsed() < args.time) && !stop.is_stopped() {
            for host in &args.hosts {
                let mut command = Command::new("xrdfs");
                command.args([&host.name, "query", "stats", "a"]).stdin(Stdio::null());
                command.envs([
                    ("XRD_CONNECTIONWINDOW", "5"),
                    ("XRD_CONNECTIONRETRY", "1"),
                    ("XRD_REQUESTTIMEOUT", "10"),
                ]);
                let output = command.output().with_context(|| {
                    Complaint::new(Exit::Local, "`xrdfs` asks gateways, and does not start")
                        .hint("install xrootd-client, or --listen ADDRESS:PORT for what xrd.report sends")
                })?;
                if !output.status.success() {
                    let said = String::from_utf8_lossy(&output.stderr);
                    self.wrong(format!("{}: {}", host.name, said.lines().next().unwrap_or("no answer")));
                }
                let text = String::from_utf8_lossy(&output.stdout).into_owned();
                let before = self.readings.len();
                self.documents(&text, &host.name);
                // It calls itself what its own host is called.
                self.readings[before..].iter_mut().for_each(|reading| reading.gateway.clone_from(&host.name));
            }
            rounds += 1;
            let next = args.time / 3 * rounds;
            if let Some(left) = next.checked_sub(began.elapsed()) {
                thread::sleep(left);
            }
        }
        Ok(())
    }

    fn read(&mut self, file: &Path, args: &StatusArgs) -> anyhow::Result<()> {
        let read = recording::read(file, &metrics(args)?, now_s())?;
        read.anomalies.into_iter().for_each(|anomaly| self.wrong(anomaly));
        self.readings.extend(read.records);
        Ok(())
    }
}

fn metrics(args: &StatusArgs) -> anyhow::Result<Metrics> {
    let mut metrics = Metrics::default();
    metrics.label.clone_from(&args.label);
    for pair in &args.metric {
        metrics.add(pair).with_context(|| Complaint::new(Exit::Usage, "--metric"))?;
    }
    Ok(metrics)
}

fn now_s() -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "seconds with microseconds")]
    let nanos = linux::clock::wall_now().unix_nanos() as f64;
    nanos / 1e9
}

const LARGEST_DATAGRAM: usize = 65_536;
const LOOK_EVERY: Duration = Duration::from_millis(200);
/// How long a watch remembers.
const KEPT: Duration = Duration::from_secs(3600);
const MOST_ANOMALIES: usize = 20;
