//! Kernel modules of congestion control and queueing: whether they are there, and loading them.

use std::fs;
use std::io;
use std::process::{Command, Stdio};

use model::host::fix::names::ModuleName;

use super::error::FixError;

/// Whether the module is loaded or a part of the kernel.
pub(super) fn is_there(name: &ModuleName) -> bool {
    is_loaded(name.as_str())
}

/// The same by its name.
pub(super) fn is_loaded(name: &str) -> bool {
    if fs::exists(format!("/sys/module/{name}")).unwrap_or_default() {
        return true;
    }
    // A part of the kernel without parameters has no directory there, but is offered.
    let offered = fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control").unwrap_or_default();
    name.strip_prefix("tcp_").is_some_and(|control| offered.split_whitespace().any(|known| known == control))
}

/// Loads the module by the program by which the kernel loads modules itself (`kernel.modprobe`). The name has been
/// checked, it is the last argument behind `--`, no shell is in between, and what the program says is not read.
pub(super) fn load(name: &ModuleName) -> Result<(), FixError> {
    if is_there(name) {
        return Ok(());
    }
    let failed = |source| FixError::File { what: format!("load the module {name}"), source };
    let program = fs::read_to_string("/proc/sys/kernel/modprobe").map_err(failed)?;
    let program = program.trim();
    if !program.starts_with('/') {
        return Err(failed(io::Error::new(io::ErrorKind::NotFound, "kernel.modprobe names no program")));
    }
    let mut command = Command::new(program);
    command.args(["-q", "--", name.as_str()]).env_clear().stdin(Stdio::null()).stdout(Stdio::null());
    let status = command.stderr(Stdio::null()).status().map_err(failed)?;
    if status.success() && is_there(name) {
        return Ok(());
    }
    Err(failed(io::Error::new(io::ErrorKind::NotFound, format!("{program} ended with {status}"))))
}
