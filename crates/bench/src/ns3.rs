//! ns-3 as a program: where it comes from, and one transfer in it.
//!
//! The scenario is `peers/ns3/transfer.cc`. It is compiled against the libraries in the wheel that the Python Package Index
//! has, which is fetched once into a folder beside this program: 300 MB, gone with `cargo clean`.

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, ensure};
use serde::Deserialize;

/// A scenario that is compiled.
#[derive(Debug)]
pub(crate) struct Ns3 {
    program: PathBuf,
}

/// What a transfer is told (`peers/ns3/transfer.cc`).
#[derive(Debug, Clone, Copy)]
pub(crate) struct Asked {
    pub(crate) algorithm: &'static str,
    pub(crate) bytes: u64,
    pub(crate) segment: u32,
    pub(crate) rate_bps: u64,
    pub(crate) rtt_us: u64,
    pub(crate) window: u64,
    pub(crate) queue: u64,
    /// Every which packet is lost; 0 where none is.
    pub(crate) loses: u64,
    /// Seconds of processor time after which it is given up.
    pub(crate) limit_s: u64,
}

/// What came of a transfer.
#[derive(Debug, Clone, Copy, Deserialize)]
pub(crate) struct Found {
    /// From the connection to the last acknowledgement, in virtual time; negative where it was given up.
    pub(crate) took_s: f64,
    /// Real time of the simulation alone.
    pub(crate) wall_s: f64,
    /// Segments sent, with those that were sent again.
    pub(crate) segments: u64,
    /// Segments sent again.
    pub(crate) again: u64,
}

/// The last release that comes as a wheel with its headers.
pub(crate) const VERSION: &str = "3.44";
const PACKAGE: &str = "ns3==3.44.post0";
const SCENARIO: &str = include_str!("../peers/ns3/transfer.cc");
const MODULES: [&str; 8] =
    ["core", "network", "internet", "point-to-point", "applications", "traffic-control", "stats", "bridge"];

impl Ns3 {
    /// Fetches ns-3 and compiles the scenario, unless that was done before.
    pub(crate) fn find() -> anyhow::Result<Self> {
        let ours = std::env::current_exe().context("this program does not know where it is")?;
        let folder = ours.with_file_name(format!("ns3-{VERSION}"));
        let installed = match installed(&folder) {
            Some(installed) => installed,
            None => fetch(&folder).context("ns-3 cannot be fetched; it takes python3 with venv, and pypi.org")?,
        };
        let program = folder.join(format!("transfer-{:016x}", digest(SCENARIO)));
        if !program.exists() {
            compile(&installed, &program).context("the scenario for ns-3 cannot be compiled; it takes g++")?;
        }
        Ok(Self { program })
    }

    /// Runs a transfer.
    pub(crate) fn transfer(&self, asked: &Asked) -> anyhow::Result<Found> {
        let Asked { algorithm, bytes, segment, rate_bps, rtt_us, window, queue, loses, limit_s } = *asked;
        let numbers = [bytes, segment.into(), rate_bps, rtt_us, window, queue, loses, limit_s];
        let mut command = Command::new(&self.program);
        command.arg(algorithm).args(numbers.map(|number| number.to_string()));
        let found: Found = serde_json::from_str(&succeeds(command)?).context("ns-3 prints no result")?;
        ensure!(found.took_s >= 0.0, "ns-3 did not come to an end in {limit_s} s of CPU time");
        Ok(found)
    }
}

/// The folder with headers and libraries.
fn installed(folder: &Path) -> Option<PathBuf> {
    let pythons = fs::read_dir(folder.join("lib")).ok()?.flatten();
    let packages = pythons.map(|python| python.path().join("site-packages/ns3"));
    packages.into_iter().find(|package| package.join("include/ns3").is_dir())
}

fn fetch(folder: &Path) -> anyhow::Result<PathBuf> {
    eprintln!("fetching ns-3 {VERSION} into {} …", folder.display());
    // Where this is ended half way, the next one does not take the half for the whole.
    let half = folder.with_extension("half");
    let mut venv = Command::new("python3");
    venv.args(["-m", "venv", "--clear"]).arg(&half);
    succeeds(venv)?;
    let mut pip = Command::new(half.join("bin/pip"));
    // Python is not what it is used from, so what that would take is left out.
    pip.args(["install", "--quiet", "--no-deps", "--only-binary", ":all:", PACKAGE]);
    succeeds(pip)?;
    fs::rename(&half, folder)?;
    installed(folder).context("the package has no headers")
}

fn compile(installed: &Path, program: &Path) -> anyhow::Result<()> {
    let (source, half) = (program.with_extension("cc"), program.with_extension("half"));
    fs::write(&source, SCENARIO)?;
    let libraries = installed.join("lib64");
    let mut compiler = Command::new("g++");
    compiler.args(["-std=c++20", "-O2", "-Wl,--allow-shlib-undefined", "-o"]).arg(&half).arg(&source);
    compiler.arg("-I").arg(installed.join("include")).arg("-L").arg(&libraries);
    compiler.arg(format!("-Wl,-rpath,{}", libraries.display()));
    compiler.args(MODULES.map(|module| format!("-lns{VERSION}-{module}")));
    succeeds(compiler)?;
    // Whoever is ended here leaves no program that is not whole.
    Ok(fs::rename(&half, program)?)
}

fn succeeds(mut command: Command) -> anyhow::Result<String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command.stdin(Stdio::null()).output().with_context(|| format!("`{name}` cannot be started"))?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "`{name}` fails: {}", said.trim().lines().last().unwrap_or("it says nothing"));
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

fn digest(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}
