//! What the linerate at a host says of itself, and of its host.

use std::ffi::OsString;
use std::time::Duration;

use measure::stop::Stop;
use model::host::snapshot::Snapshot;

use crate::carrier::{Call, Voice};
use crate::program::{self, Allowance, Ended, Said};
use crate::task::{Site, cannot_start, no_version, silence};

/// The version of linerate at a host, which is also the question whether the host answers.
///
/// # Errors
/// Why there is no answer within `patience`, in a sentence that names the host.
pub fn version(site: &Site<'_>, patience: Duration, stop: &Stop) -> Result<String, String> {
    let said = ask(site, &["--version"], Allowance { time: patience, output: MAX_VERSION }, stop)?;
    let text = String::from_utf8_lossy(&said.stdout).trim().to_owned();
    match (said.ended, text.strip_prefix("linerate ")) {
        (Ended::By(status), Some(version)) if status.success() => Ok(version.to_owned()),
        (Ended::By(status), _) if status.success() => Err(no_version(site, &text)),
        _ => Err(silence(site, &said).0),
    }
}

/// All facts of a host.
///
/// # Errors
/// Why they cannot be had within `patience`, in a sentence that names the host.
pub fn snapshot(site: &Site<'_>, patience: Duration, stop: &Stop) -> Result<Box<Snapshot>, String> {
    let said = ask(site, &["host", "snapshot", "--json"], Allowance { time: patience, output: MAX_SNAPSHOT }, stop)?;
    Snapshot::read(&said.stdout).map(Box::new).map_err(|error| match said.ended {
        Ended::By(status) if status.success() => format!("{}: its snapshot is not understood: {error}", site.name),
        _ => silence(site, &said).0,
    })
}

/// One line.
const MAX_VERSION: usize = 64 << 10;
/// A snapshot has about 100 kB for each network namespace: that of a host with 300 containers.
const MAX_SNAPSHOT: usize = 32 << 20;

fn ask(site: &Site<'_>, words: &[&str], allowed: Allowance, stop: &Stop) -> Result<Said, String> {
    let Some(carrier) = site.carrier else { return Err(format!("{}: nothing can be started there", site.name)) };
    let arguments: Vec<OsString> = words.iter().map(OsString::from).collect();
    let call = Call { program: site.program, arguments: &arguments, voice: Voice::Silent };
    program::ask(carrier, &call, allowed, stop).map_err(|error| cannot_start(site, &error))
}
