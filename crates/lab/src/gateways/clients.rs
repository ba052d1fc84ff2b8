//! Files that are wanted, each fetched by an `xrdcp` of its own, in the closed loop of the model.

use std::io::Read;
use std::process::{Child, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use ::gateways::cluster::gateway::{File, Step};
use ::gateways::cluster::load::Links;
use ::gateways::cluster::run::STEP;
use ::gateways::cluster::sampled::{Moment, Sampled};
use ::gateways::status::reading::Reading;
use ::gateways::trial::beside::Deletions;
use measure::stop::Stop;

use super::cluster::Cluster;
use super::deletions::Deleter;
use super::error::GatewaysError;
use super::observed::Observer;
use super::plan::{Failures, Plan};
use super::site::{self, CLIENTS, MANAGER, PORT, Site};
use crate::network::{Host, Network};

/// What came of all clients.
#[derive(Default)]
pub(super) struct Outcome {
    pub(super) sampled: Sampled,
    pub(super) failures: Failures,
    pub(super) fetched: u64,
    /// How late the thread was at most that starts clients.
    pub(super) latest: Duration,
    /// What each gateway had in flight and in use, each second.
    pub(super) readings: Vec<Reading>,
    pub(super) deletions: Deletions,
}

/// What clients are started with.
struct Clients<'a> {
    plan: &'a Plan<'a>,
    site: &'a Site,
    host: &'a Host,
    manager: String,
    cluster: &'a Cluster,
    ended: Sender<Ended>,
}

/// A client that has ended: its file, and what it said where it failed.
struct Ended {
    file: File,
    said: Option<String>,
}

/// Runs all clients for the time of the settings.
pub(super) fn run(
    plan: &Plan<'_>,
    site: &Site,
    network: &Network,
    cluster: &Cluster,
    stop: &Stop,
) -> Result<Outcome, GatewaysError> {
    let missing = || GatewaysError::Start {
        program: "xrdcp",
        host: CLIENTS.to_owned(),
        source: std::io::ErrorKind::NotFound.into(),
    };
    let host = network.host(CLIENTS).ok_or_else(missing)?;
    let manager = network.host(MANAGER).and_then(|host| host.addresses().first()).ok_or_else(missing)?;
    let (ended, ends) = channel();
    let clients = Clients { plan, site, host, manager: manager.to_string(), cluster, ended };
    let mut outcome = Outcome::default();
    let mut deleter = Deleter::new(host, manager.to_string());
    deleter.before_load(&mut outcome.deletions)?;
    let observer = Observer::new(plan, network)?;
    site.write("began", linux::clock::since_boot().as_secs_f64().to_string())?;
    // Clients that still run end with the network.
    clients.drive(&ends, &observer, &mut deleter, &mut outcome, stop)?;
    Ok(outcome)
}

impl Clients<'_> {
    fn drive(
        &self,
        ends: &Receiver<Ended>,
        observer: &Observer<'_>,
        deleter: &mut Deleter<'_>,
        outcome: &mut Outcome,
        stop: &Stop,
    ) -> Result<(), GatewaysError> {
        let began = Instant::now();
        let settings = self.plan.settings;
        // The model's own part of the seed: so both want the same files at the same moments.
        let mut links = Links::new(settings, self.plan.seed.part(0));
        let (mut at_s, mut next_sample_s, mut next_deletion_s) = (0.0, 1.0, DELETE_EVERY_S);
        while at_s < settings.hours * 3600.0 {
            if stop.is_stopped() {
                return Err(GatewaysError::Stopped);
            }
            links.arrive(Step { at_s, for_s: STEP });
            while let Some(file) = links.start(0) {
                self.fetch(file)?;
            }
            at_s += STEP;
            outcome.latest = outcome.latest.max(began.elapsed().saturating_sub(Duration::from_secs_f64(at_s)));
            // What has ended counts also where this thread is late.
            while let Ok(one) = ends.recv_timeout(Duration::from_secs_f64(at_s).saturating_sub(began.elapsed())) {
                outcome.take(one, &mut links, at_s);
            }
            if at_s >= next_sample_s {
                next_sample_s += 1.0;
                outcome.observe(observer.moment(began.elapsed().as_secs_f64())?, &self.cluster.memory());
            }
            if at_s >= next_deletion_s {
                next_deletion_s += DELETE_EVERY_S;
                deleter.start()?;
            }
            deleter.collect(&mut outcome.deletions);
        }
        Ok(())
    }

    fn fetch(&self, file: File) -> Result<(), GatewaysError> {
        let number = self.site.file_of(file.bytes / self.plan.scale);
        let mut command = self.host.command("xrdcp");
        command.args(["-f", "-s", "--xrate", &format!("{:.0}", (file.cap / self.plan.scale).max(1.0))]);
        command.arg(format!("root://{}:{PORT}/{}", self.manager, site::name(number))).arg("/dev/null");
        // Small pieces, one at a time: so that the limit of the remote site holds over the whole time of a transfer.
        command.envs([("XRD_CPCHUNKSIZE", "65536"), ("XRD_CPPARALLELCHUNKS", "1"), ("XRD_NETWORKSTACK", "IPv4")]);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let failed = |source| GatewaysError::Start { program: "xrdcp", host: CLIENTS.to_owned(), source };
        let child = command.spawn().map_err(failed)?;
        let ended = self.ended.clone();
        let waits = move || {
            let said = wait(child);
            // The run may be over.
            let _ = ended.send(Ended { file, said });
        };
        thread::Builder::new().stack_size(SMALL_STACK).spawn(waits).map_err(failed)?;
        Ok(())
    }
}

impl Outcome {
    fn take(&mut self, one: Ended, links: &mut Links, at_s: f64) {
        match one.said {
            None => {
                self.fetched += 1;
                links.finished(one.file);
            }
            Some(said) => {
                self.failures.count += 1;
                if self.failures.words.len() < MOST_WORDS {
                    self.failures.words.push(said);
                }
                links.failed(one.file, at_s);
            }
        }
    }

    fn observe(&mut self, moment: Moment, memory: &[Option<f64>]) {
        for (at, (gateway, memory_bytes)) in moment.gateways.iter().zip(memory).enumerate() {
            #[expect(clippy::cast_precision_loss, reason = "transfers of a lab")]
            let in_flight = Some(gateway.in_flight as f64);
            let gateway = site::gateway(at);
            let memory_bytes = *memory_bytes;
            self.readings.push(Reading { gateway, at_s: moment.at_s, in_flight, memory_bytes, ..Reading::default() });
        }
        self.sampled.moments.push(moment);
    }
}

/// What a client that failed said.
fn wait(mut child: Child) -> Option<String> {
    let mut said = String::new();
    if let Some(errors) = child.stderr.take() {
        // What is no text is not needed.
        let _ = errors.take(4096).read_to_string(&mut said);
    }
    match child.wait() {
        Ok(status) if status.success() => None,
        Ok(status) => Some(format!("{status}: {}", said.trim())),
        Err(error) => Some(error.to_string()),
    }
}

/// How often a file is deleted under load, seconds.
const DELETE_EVERY_S: f64 = 1.5;
/// The words of so many clients say what is wrong with all.
const MOST_WORDS: usize = 10;
/// A thread that waits for one process needs little.
const SMALL_STACK: usize = 128 * 1024;
