//! The files of a host that are its own.
//!
//! They lie in a file system in memory that only the host sees, over the directory of labs, and end with it.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use linux::mounts;

use crate::blueprint::{Blueprint, Host};

/// The names and addresses of all hosts, as /etc/hosts. An end of a cable or overlay is called `HOST.DEVICE`, so that a
/// trace shows where it went.
pub(super) fn names(blueprint: &Blueprint) -> String {
    let mut text = String::from("127.0.0.1\tlocalhost\n::1\tlocalhost\n");
    for host in &blueprint.hosts {
        for address in &host.addresses {
            // Writing to a string does not fail.
            let _ = writeln!(text, "{address}\t{}", host.name);
        }
        let devices = host.devices.iter().map(|device| (&device.name, &device.addresses));
        let tunnels = host.tunnels.iter().map(|tunnel| (&tunnel.name, &tunnel.addresses));
        for (device, addresses) in devices.chain(tunnels) {
            for (address, _) in addresses {
                let only = if host.addresses.is_empty() { format!(" {}", host.name) } else { String::new() };
                let _ = writeln!(text, "{address}\t{}.{device}{only}", host.name);
            }
        }
    }
    text
}

/// The files of a host that are its own.
#[derive(Debug)]
pub(super) struct Own {
    /// Where they are, as programs in the host see it.
    pub(super) place: PathBuf,
    /// The same directory, by which others look into it.
    pub(super) directory: OwnedFd,
    /// Whether there are recorded facts.
    pub(super) has_facts: bool,
}

impl Own {
    /// The recorded facts, as programs in the host see them.
    pub(super) fn facts(&self) -> Option<PathBuf> {
        self.has_facts.then(|| self.place.join(FACTS))
    }
}

/// What the recorded facts are called.
pub(crate) const FACTS: &str = "recorded-facts.toml";

/// Writes the files of a host and shows those of the system in their places. The calling thread has a mount namespace of
/// its own.
pub(super) fn show(place: &Path, names: &str, host: &Host) -> io::Result<Own> {
    mounts::cover_with_tmpfs(place)?;
    let directory = File::open(place)?.into();
    let hosts = place.join("hosts");
    fs::write(&hosts, names)?;
    mounts::show_file(&hosts, Path::new("/etc/hosts"))?;
    let resolver = place.join("resolv.conf");
    fs::write(&resolver, "# The hosts of a lab know each other from /etc/hosts, and nobody else.\n")?;
    match mounts::show_file(&resolver, Path::new("/etc/resolv.conf")) {
        // A system without the file asks nobody.
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        shown => shown?,
    }
    if let Some(facts) = &host.recorded_facts {
        fs::write(place.join(FACTS), facts.to_string())?;
    }
    Ok(Own { place: place.to_owned(), directory, has_facts: host.recorded_facts.is_some() })
}
