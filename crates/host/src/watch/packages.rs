//! Packages whose version decides how a host's network behaves: kernel, firmware, drivers, tools that set something.
//!
//! The data base of dpkg is read. That of rpm is a data base that rpm alone reads; of it is told that it changed.

use std::collections::BTreeMap;

use audit::settings::Key;

use crate::files::Files;

/// The group of these settings.
pub(super) const GROUP: &str = "package";

/// Versions of installed packages that matter, by key.
pub(super) fn read(files: &dyn Files) -> BTreeMap<Key, String> {
    let mut found = BTreeMap::new();
    if let Ok(status) = files.text(DPKG) {
        found.extend(dpkg(&status));
    }
    found.extend(RPM.iter().find_map(|path| {
        let modified = std::fs::metadata(path).ok()?.modified().ok()?;
        let since = modified.duration_since(std::time::UNIX_EPOCH).ok()?;
        Some((Key::host("package.rpm-database"), format!("of {} s since 1970", since.as_secs())))
    }));
    found
}

/// Paragraphs of `Field: value`, one a package (deb-control(5)).
fn dpkg(status: &str) -> impl Iterator<Item = (Key, String)> {
    status.split("\n\n").filter_map(|paragraph| {
        let field = |name: &str| paragraph.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
        let name = field("Package")?;
        let installed = field("Status")?.ends_with(" installed");
        (installed && matters(name))
            .then(|| Some((Key::host(format!("package.{name}")), field("Version")?.to_owned())))?
    })
}

fn matters(name: &str) -> bool {
    NAMES.contains(&name) || BEGINNINGS.iter().any(|beginning| name.starts_with(beginning))
}

const DPKG: &str = "/var/lib/dpkg/status";
const RPM: [&str; 3] = ["/var/lib/rpm/rpmdb.sqlite", "/usr/lib/sysimage/rpm/rpmdb.sqlite", "/var/lib/rpm/Packages"];

const NAMES: [&str; 20] = [
    "bpftune",
    "containerd",
    "docker-ce",
    "docker.io",
    "ethtool",
    "fasterdata-tuning",
    "firewalld",
    "ifupdown",
    "iproute2",
    "irqbalance",
    "kubelet",
    "linerate",
    "mlnx-tools",
    "netplan.io",
    "network-manager",
    "nftables",
    "procps",
    "systemd",
    "tuned",
    "udev",
];
const BEGINNINGS: [&str; 8] =
    ["firmware-", "linux-firmware", "linux-image-", "linux-modules-", "mlnx-ofed", "mft", "perfsonar-", "iptables"];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::FilesInMemory;

    #[test]
    fn installed_packages_that_matter_are_found_and_a_file_cut_short_is_no_trouble() {
        let status = "Package: tuned\nStatus: install ok installed\nVersion: 2.21-1\n\n\
            Package: vim\nStatus: install ok installed\nVersion: 9\n\n\
            Package: irqbalance\nStatus: deinstall ok config-files\nVersion: 1\n\n\
            Package: linux-image-6.12.1-amd64\nDescription: x\n y: z\nStatus: install ok installed\nVersion: 6.12.1-3\n\n\
            Package: ethtool\nStatus: install ok inst";
        let files = FilesInMemory { files: [(DPKG.to_owned(), status.into())].into(), ..FilesInMemory::default() };
        let found: Vec<_> = read(&files).into_iter().map(|(key, version)| format!("{key} {version}")).collect();
        let of_dpkg: Vec<_> = found.iter().filter(|line| !line.contains("rpm-database")).collect();
        assert_eq!(of_dpkg, ["package.linux-image-6.12.1-amd64 6.12.1-3", "package.tuned 2.21-1"]);
    }
}
