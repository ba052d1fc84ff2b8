//! What identifies a host: kernel, name, boot, processor.

use std::io;

use rustix::system::uname;

use crate::{affinity, kernel_text};

/// The release of the running kernel as `uname -r` prints it, such as `6.18.44`.
#[must_use]
pub fn kernel_release() -> String {
    uname().release().to_string_lossy().into_owned()
}

/// The version of a kernel, as far as features depend on it. Compares by age.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KernelVersion {
    /// The 6 of 6.18.
    pub major: u32,
    /// The 18 of 6.18.
    pub minor: u32,
}

impl KernelVersion {
    /// Reads the version at the beginning of a release such as `6.18.44-fc`; `None` where it has none.
    #[must_use]
    pub fn parse(release: &str) -> Option<Self> {
        let mut numbers = release.split(|character: char| !character.is_ascii_digit());
        Some(Self { major: numbers.next()?.parse().ok()?, minor: numbers.next()?.parse().ok()? })
    }
}

/// The version of the running kernel, `None` where its release does not begin with one.
#[must_use]
pub fn kernel_version() -> Option<KernelVersion> {
    KernelVersion::parse(&kernel_release())
}

/// The name of the host as the kernel has it.
#[must_use]
pub fn hostname() -> String {
    uname().nodename().to_string_lossy().into_owned()
}

/// The machine's architecture, such as `x86_64`.
#[must_use]
pub fn architecture() -> String {
    uname().machine().to_string_lossy().into_owned()
}

/// The numbers of a sysctl such as `net.ipv4.tcp_rmem`. Those of `net` are of the network namespace of this thread.
///
/// # Errors
/// If the kernel has none of this name, or it does not hold numbers.
pub fn sysctl_numbers(name: &str) -> io::Result<Vec<u64>> {
    let text = kernel_text::read(format!("/proc/sys/{}", name.replace('.', "/")))?;
    text.split_whitespace().map(|number| number.parse().map_err(io::Error::other)).collect()
}

/// A random identifier, the same from one boot to the next (`/proc/sys/kernel/random/boot_id`). Monotonic times of one
/// host may be compared only where it is the same.
///
/// # Errors
/// What reading the file gives.
pub fn boot_id() -> io::Result<String> {
    Ok(kernel_text::read("/proc/sys/kernel/random/boot_id")?.trim().to_owned())
}

/// Size of a page of memory.
#[must_use]
pub fn page_bytes() -> u64 {
    // SAFETY: takes a number and returns one.
    u64::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap_or(4_096)
}

/// The processors of a host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cpus {
    /// The model as `/proc/cpuinfo` names the first of them; absent where it does not (as on arm64).
    pub model: Option<String>,
    /// How many are online, hyper-threads counted.
    pub online: usize,
}

/// The processors of this host.
///
/// # Errors
/// What reading `/proc/cpuinfo` and the list of CPUs in sysfs gives.
pub fn cpus() -> io::Result<Cpus> {
    // Of hundreds of CPUs the first one is enough.
    let model = model_name(&kernel_text::read_beginning("/proc/cpuinfo")?);
    Ok(Cpus { model, online: affinity::online_cpus()?.len() })
}

fn model_name(cpuinfo: &str) -> Option<String> {
    let mut entries = cpuinfo.lines().filter_map(|line| line.split_once(':'));
    entries.find(|(key, _)| key.trim() == "model name").map(|(_, value)| value.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_host_says_who_it_is() {
        assert!(kernel_version() >= Some(KernelVersion { major: 3, minor: 0 }), "{}", kernel_release());
        assert!(!hostname().is_empty() && !architecture().is_empty());
        assert_eq!(boot_id().unwrap().len(), 36);
        assert!(cpus().unwrap().online >= 1);
    }

    #[test]
    fn versions_compare_by_age_and_not_as_text() {
        let parse = |release| KernelVersion::parse(release).unwrap();
        assert!(parse("6.18.44-fc-v595") > parse("6.9.0"));
        assert!(parse("5.15.0-91-generic") < parse("6.1-rc1"));
        assert_eq!(KernelVersion::parse("unknown"), None);
    }

    #[test]
    fn model_of_the_processor_is_found_where_there_is_one() {
        assert_eq!(model_name("processor\t: 0\nmodel name\t: A: fast one\n").as_deref(), Some("A: fast one"));
        assert_eq!(model_name("processor\t: 0\nBogoMIPS\t: 50.00\n"), None);
    }
}
