//! The network of a cluster, and the files that its processes read.

use std::fmt::Write;
use std::fs::{self, File, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use ::gateways::cluster::settings::GatewayClass;
use ::gateways::cmsd::configuration::{self, Configuration};
use scenario::Scenario;

use super::error::GatewaysError;
use super::plan::{PerfModel, Plan};

/// A cluster as files.
#[derive(Debug)]
pub(super) struct Site {
    pub(super) scenario: Scenario,
    directory: Directory,
    configuration: Configuration,
    /// Sizes of the files that the store has, bytes, rising.
    pub(super) sizes: Vec<u64>,
}

/// The name of the host of the manager, and of the one where clients run.
pub(super) const MANAGER: &str = "manager";
pub(super) const CLIENTS: &str = "clients";
/// The port of each xrootd, and that of the manager's cmsd.
pub(super) const PORT: u16 = 1094;
pub(super) const MANAGER_PORT: u16 = 1213;

/// The name of a gateway's host, from 0.
pub(super) fn gateway(number: usize) -> String {
    format!("gateway{}", number + 1)
}

impl Site {
    pub(super) fn new(plan: &Plan<'_>) -> Result<Self, GatewaysError> {
        let configuration = configuration::of(plan.policy, &plan.settings.reports)
            .map_err(|source| GatewaysError::Policy { policy: plan.policy.name, source })?;
        let scenario = Scenario::parse("gateways", &network(plan))?;
        let path = std::env::temp_dir().join(format!("linerate-gateways-{}", std::process::id()));
        let made = fs::create_dir_all(&path).and_then(|()| fs::set_permissions(&path, Permissions::from_mode(0o755)));
        made.map_err(|source| GatewaysError::File { path: path.clone(), source })?;
        let mut site = Self { scenario, directory: Directory(path), configuration, sizes: sizes(plan) };
        site.make_store()?;
        for number in 0..classes(plan).count() {
            site.make_home(&gateway(number))?;
        }
        site.make_home(MANAGER)?;
        Ok(site)
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// The log of the manager's cmsd: xrootd puts it into a directory of the instance's name.
    pub(super) fn manager_log(&self) -> PathBuf {
        self.path(MANAGER).join(MANAGER).join("cmsd.log")
    }

    /// The file of the smallest size that a file of these bytes fits best, by the ratio.
    pub(super) fn file_of(&self, bytes: f64) -> usize {
        #[expect(clippy::cast_precision_loss, reason = "sizes of a lab are far below 2^53")]
        let ratio = |size: u64| (size as f64 / bytes).ln().abs();
        let nearest = self.sizes.iter().enumerate().min_by(|one, other| ratio(*one.1).total_cmp(&ratio(*other.1)));
        nearest.map_or(0, |(at, _)| at)
    }

    /// Files of all sizes, with holes instead of content: every gateway has the same store.
    fn make_store(&mut self) -> Result<(), GatewaysError> {
        let data = self.path("store").join("data");
        fs::create_dir_all(&data).map_err(|source| GatewaysError::File { path: data.clone(), source })?;
        // Gateways run as another user, who is to delete what is in there.
        fs::set_permissions(&data, Permissions::from_mode(0o777))
            .map_err(|source| GatewaysError::File { path: data.clone(), source })?;
        let fetched = self.sizes.iter().enumerate().map(|(number, size)| (format!("file{number}"), size));
        let deleted = (0..DELETED).map(|number| (format!("deleted{number}"), &DELETED_BYTES));
        for (name, size) in fetched.chain(deleted) {
            let path = data.join(name);
            let made = File::create(&path).and_then(|file| file.set_len(*size));
            made.map_err(|source| GatewaysError::File { path, source })?;
        }
        Ok(())
    }

    fn make_home(&self, host: &str) -> Result<(), GatewaysError> {
        let home = self.path(host);
        let made = fs::create_dir_all(&home).and_then(|()| fs::set_permissions(&home, Permissions::from_mode(0o777)));
        made.map_err(|source| GatewaysError::File { path: home, source })
    }

    /// Writes the configuration of the manager.
    pub(super) fn write_manager(&self, gateways: usize) -> Result<PathBuf, GatewaysError> {
        let lines = self.configuration.manager.join("\n");
        let text = format!(
            "all.role manager\nall.manager {MANAGER}:{MANAGER_PORT}\nxrd.port {PORT} if exec xrootd\n\
             xrd.port {MANAGER_PORT} if exec cmsd\nall.export /data\n{paths}{lines}\n\
             cms.delay startup 3 servers {gateways} lookup 1\ncms.trace defer redirect\nxrd.network nodnr\n\
             cms.allow host *\n",
            paths = self.paths(MANAGER),
        );
        self.write(&format!("{MANAGER}.cfg"), text)
    }

    /// Writes the configuration of a gateway, and what its program for `cms.perf` needs.
    pub(super) fn write_gateway(&self, plan: &Plan<'_>, number: usize) -> Result<PathBuf, GatewaysError> {
        let host = gateway(number);
        let class = classes(plan).nth(number).cloned().unwrap_or_default();
        let model = PerfModel {
            class,
            scale: plan.scale,
            gateway: number + 1,
            faults: plan.settings.faults.clone(),
            began_file: self.path("began"),
        };
        let path = self.path(&format!("{host}.json"));
        let json = serde_json::to_string(&model)
            .map_err(|source| GatewaysError::File { path: path.clone(), source: source.into() })?;
        let model = self.write(&format!("{host}.json"), json)?;
        // cmsd splits the line at blanks and knows no quotes, so it gets a script of one word.
        let script = format!(
            "#!/bin/sh\nexec '{program}' gateways perf --policy {policy} --port {PORT} --modelled '{model}' 2>> '{log}'\n",
            program = plan.program.display(),
            policy = plan.policy.name,
            model = model.display(),
            log = self.path(&host).join("perf.log").display(),
        );
        let script = self.write(&format!("{host}.perf"), script)?;
        fs::set_permissions(&script, Permissions::from_mode(0o755))
            .map_err(|source| GatewaysError::File { path: script.clone(), source })?;
        let lines = self.configuration.gateway.join("\n").replace("PROGRAM", &script.display().to_string());
        let text = format!(
            "all.role server\nall.manager {MANAGER}:{MANAGER_PORT}\nxrd.port {PORT} if exec xrootd\nall.export /data\n\
             oss.localroot {store}\n{paths}{lines}\ncms.space 1k 2k\nxrd.network nodnr\n",
            store = self.path("store").display(),
            paths = self.paths(&host),
        );
        self.write(&format!("{host}.cfg"), text)
    }

    fn paths(&self, host: &str) -> String {
        let home = self.path(host);
        format!("all.adminpath {home}/admin\nall.pidpath {home}/run\n", home = home.display())
    }

    pub(super) fn write(&self, name: &str, text: String) -> Result<PathBuf, GatewaysError> {
        let path = self.path(name);
        fs::write(&path, text).map_err(|source| GatewaysError::File { path: path.clone(), source })?;
        Ok(path)
    }
}

/// Gateways one by one.
pub(super) fn classes<'a>(plan: &Plan<'a>) -> impl Iterator<Item = &'a GatewayClass> + use<'a> {
    plan.settings.gateways.iter().flat_map(|class| std::iter::repeat_n(class, class.count))
}

/// A star: each gateway behind a link of its own rate, manager and clients behind fast ones.
fn network(plan: &Plan<'_>) -> String {
    let mut text = format!(
        "title = \"Gateways behind a manager\"\nabout = \"\"\"\nA real cluster of XRootD.\"\"\"\nfamilies = [\"ipv4\"]\n\n\
         [hosts.switch]\nforwards = true\n\n[hosts.{MANAGER}]\n\n[hosts.{CLIENTS}]\n"
    );
    let mut links = String::new();
    for host in [MANAGER, CLIENTS] {
        link(&mut links, host, None);
    }
    for (number, class) in classes(plan).enumerate() {
        let host = gateway(number);
        // Writing to a string cannot fail.
        let _ = write!(text, "\n[hosts.{host}]\n");
        link(&mut links, &host, Some(class.nic_gbit_s * 1e9 / plan.scale * FRAMING));
    }
    format!("{text}{links}\n[truth]\nhealthy = true\n")
}

/// Bytes on the link for each byte of payload: 1448 of 1514 (Ethernet, IPv4, TCP with time stamps). A gateway's NIC is what
/// it moves of payload.
pub(super) const FRAMING: f64 = 1514.0 / 1448.0;

fn link(links: &mut String, host: &str, bits: Option<f64>) {
    let _ = write!(links, "\n[[links]]\nname = \"{host}\"\nbetween = [\"{host}\", \"switch\"]\n");
    let _ = match bits {
        None => writeln!(links, "speed = \"1Gbit/s\""),
        Some(bits) => {
            // 30 ms of it, as a switch has it for its hosts.
            let (rate, queue) = (bits.round(), (bits * 0.03 / 8.0).max(30_000.0).round());
            writeln!(
                links,
                "speed = \"1Gbit/s\"\nboth = [{{ port = {{ rate = \"{rate}bit/s\", queue = {{ bytes = \"{queue}B\" }} }} }}]"
            )
        }
    };
}

/// Sizes that the store has: so many between the smallest and the largest that each is within a few percent of the size that
/// the model draws, and cmsd knows each file before it is wanted.
fn sizes(plan: &Plan<'_>) -> Vec<u64> {
    let transfers = &plan.settings.transfers;
    let median = transfers.mean_size_gb * 1e9 * (-transfers.size_sigma.powi(2) / 2.0).exp() / plan.scale;
    let low = (median * (-3.0 * transfers.size_sigma).exp()).max(1000.0);
    let high =
        (median * (3.0 * transfers.size_sigma).exp()).min(transfers.largest_gb * 1e9 / plan.scale).max(low * 1.01);
    let step = (high / low).ln() / f64::from(SIZES - 1);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "bytes of a lab's files, positive")]
    (0..SIZES).map(|at| (low * (step * f64::from(at)).exp()).round() as u64).collect()
}

/// How many sizes.
const SIZES: u32 = 64;

/// Files that are there to be deleted.
pub(super) const DELETED: usize = 64;
/// Their size, bytes.
const DELETED_BYTES: u64 = 4096;

/// The name of a file that is there to be deleted.
pub(super) fn deleted_name(number: usize) -> String {
    format!("/data/deleted{number}")
}

/// The name of a file in the store.
pub(super) fn name(number: usize) -> String {
    format!("/data/file{number}")
}

/// The last lines of a log.
pub(super) fn last_lines(path: &Path) -> String {
    let text = fs::read_to_string(path).unwrap_or_default();
    let lines: Vec<&str> = text.lines().rev().take(5).collect();
    lines.into_iter().rev().collect::<Vec<_>>().join(" | ")
}

/// The directory of one run, which is gone with this value.
#[derive(Debug)]
struct Directory(PathBuf);

impl Directory {
    fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        // What cannot be removed is a few configuration files and logs in the directory of temporary ones.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
