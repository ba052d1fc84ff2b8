//! Which sysctls are written at all, and which values they may have.
//!
//! Those that a snapshot holds are written, but for some of which the old state does not come back by writing the old
//! value, and some that decide what a host lets through, which is no matter of rates.

use crate::host::tracked;

/// Why a value is not written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ValueError {
    /// Not as many values as the sysctl has.
    #[error("{key} has {expected} values, not {found}")]
    Count {
        /// Key with dots, such as `net.ipv4.tcp_rmem`.
        key: String,
        /// How many it has.
        expected: usize,
        /// How many were given.
        found: usize,
    },
    /// Not a number.
    #[error("{key}: `{value}` is not a whole number")]
    NotANumber {
        /// Key with dots, such as `net.ipv4.tcp_rmem`.
        key: String,
        /// What was given.
        value: String,
    },
    /// A number that the kernel does not hold.
    #[error("{key}: {value} is not between {least} and {most}, which is what the kernel holds")]
    Range {
        /// Key with dots, such as `net.ipv4.tcp_rmem`.
        key: String,
        /// What was given.
        value: i128,
        /// Smallest value that is written, included.
        least: i128,
        /// Largest value that is written, included.
        most: i128,
    },
    /// Of least, default and most one is less than the one before it.
    #[error("{key}: `{value}` does not rise from the least to the most")]
    Order {
        /// Key with dots, such as `net.ipv4.tcp_rmem`.
        key: String,
        /// What was given.
        value: String,
    },
    /// Not a word.
    #[error("{key}: `{value}` is not a name")]
    NotAWord {
        /// Key with dots, such as `net.ipv4.tcp_rmem`.
        key: String,
        /// What was given.
        value: String,
    },
}

/// Whether this program writes the sysctl called `key`.
#[must_use]
pub fn may_be_written(key: &str) -> bool {
    match device_part(key) {
        Some((pattern, device)) => {
            WRITTEN_PER_INTERFACE.contains(&pattern) && foreign::device::is_name(&swapped(device))
        }
        None => tracked::SYSCTLS.binary_search(&key).is_ok() && !NEVER_WRITTEN.contains(&key),
    }
}

/// The file of a sysctl below `/proc/sys`. The part that is a device's name is taken as one, with dots or, as sysctl(8)
/// writes them, slashes in it.
#[must_use]
pub fn file(key: &str) -> String {
    let Some((pattern, device)) = device_part(key) else { return key.replace('.', "/") };
    let (before, after) = pattern.split_once('*').unwrap_or((pattern, ""));
    format!("{}{}{}", before.replace('.', "/"), swapped(device), after.replace('.', "/"))
}

/// The same value as the kernel would show it, with one blank between numbers.
///
/// # Errors
/// For a value that the kernel does not hold.
pub fn checked(key: &str, value: &str) -> Result<String, ValueError> {
    let parts: Vec<&str> = value.split_whitespace().collect();
    let expected = count(key);
    let owned = || key.to_owned();
    if !LISTS.contains(&key) && parts.len() != expected {
        return Err(ValueError::Count { key: owned(), expected, found: parts.len() });
    }
    if WORDS.contains(&key) || LISTS.contains(&key) {
        let word = |part: &&str| part.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
        return match parts.iter().find(|part| part.len() > LONGEST_WORD || !word(part)) {
            None => Ok(parts.join(" ")),
            Some(part) => Err(ValueError::NotAWord { key: owned(), value: (*part).to_owned() }),
        };
    }
    let (least, most) = range(key);
    let mut before = i128::MIN;
    for part in &parts {
        let number = part.parse::<i128>();
        let number = number.map_err(|_| ValueError::NotANumber { key: owned(), value: (*part).to_owned() })?;
        if !(least..=most).contains(&number) {
            return Err(ValueError::Range { key: owned(), value: number, least, most });
        }
        if number < before {
            return Err(ValueError::Order { key: owned(), value: value.to_owned() });
        }
        before = number;
    }
    Ok(parts.join(" "))
}

/// The pattern that a key of one interface follows, and the interface.
fn device_part(key: &str) -> Option<(&'static str, &str)> {
    let global = |key: &str| tracked::SYSCTLS.binary_search(&key).is_ok();
    tracked::PER_INTERFACE.iter().filter(|_| !global(key)).find_map(|pattern| {
        let (before, after) = pattern.split_once('*')?;
        let device = key.strip_prefix(before)?.strip_suffix(after)?;
        Some((*pattern, device))
    })
}

fn swapped(device: &str) -> String {
    device.replace('/', ".")
}

fn count(key: &str) -> usize {
    match key {
        "net.ipv4.tcp_rmem" | "net.ipv4.tcp_wmem" | "net.ipv4.tcp_mem" | "net.ipv4.udp_mem" => 3,
        "net.ipv4.ip_local_port_range" => 2,
        _ => 1,
    }
}

/// What the kernel holds: `int` almost everywhere (net/ipv4/sysctl_net_ipv4.c and net/core/sysctl_net_core.c of 6.18).
fn range(key: &str) -> (i128, i128) {
    match key {
        "net.ipv4.tcp_mem" | "net.ipv4.udp_mem" => (0, i64::MAX.into()), // pages, proc_doulongvec_minmax
        "net.ipv4.tcp_notsent_lowat" => (0, u32::MAX.into()),            // proc_douintvec
        "net.ipv4.tcp_adv_win_scale" => (-31, 31),
        // A buffer below zero is taken by some kernels and stops every connection.
        _ => (0, i32::MAX.into()),
    }
}

const WORDS: [&str; 2] = ["net.core.default_qdisc", "net.ipv4.tcp_congestion_control"];
const LISTS: [&str; 1] = ["net.ipv4.tcp_allowed_congestion_control"];

/// TCP_CA_NAME_MAX (include/net/tcp.h) and IFNAMSIZ for a discipline, each with the zero at the end.
const LONGEST_WORD: usize = 15;

/// Of each interface.
const WRITTEN_PER_INTERFACE: [&str; 2] = ["net.ipv4.conf.*.rp_filter", "net.ipv6.conf.*.mtu"];

/// Held by a snapshot and never written.
const NEVER_WRITTEN: [&str; 15] = [
    // Each bit allocates or frees a table: a mask, not a number.
    "net.core.flow_limit_cpu_bitmap",
    // What a host answers for, and to whom.
    "net.ipv4.conf.all.arp_announce",
    "net.ipv4.conf.all.arp_filter",
    "net.ipv4.conf.all.arp_ignore",
    // Writing it resets other settings (Documentation/networking/ip-sysctl.rst).
    "net.ipv4.ip_forward",
    // The kernel's to say.
    "net.ipv4.tcp_available_congestion_control",
    "net.netfilter.nf_conntrack_count",
    // Removes or makes addresses and routes, which do not come back with the old value.
    "net.ipv6.conf.all.accept_ra",
    "net.ipv6.conf.all.disable_ipv6",
    "net.ipv6.conf.all.forwarding",
    "net.ipv6.conf.default.disable_ipv6",
    // Other values than numbers, or of the whole machine.
    "kernel.sched_autogroup_enabled",
    "net.core.bpf_jit_enable",
    "vm.max_map_count",
    "vm.min_free_kbytes",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn number_that_the_kernel_does_not_hold_is_refused() {
        assert_eq!(checked("net.core.rmem_max", "2147483647").unwrap(), "2147483647");
        for value in ["2147483648", "-1", "99999999999999999999999"] {
            let error = checked("net.core.rmem_max", value).unwrap_err();
            assert!(matches!(error, ValueError::Range { .. }), "{value}: {error}");
        }
        assert!(matches!(checked("net.core.rmem_max", "12k"), Err(ValueError::NotANumber { .. })));
        assert_eq!(checked("net.ipv4.tcp_notsent_lowat", "4294967295").unwrap(), "4294967295");
        assert_eq!(checked("net.ipv4.tcp_mem", "1 2 3000000000").unwrap(), "1 2 3000000000");
    }

    #[test]
    fn three_values_are_three_and_rise() {
        assert_eq!(checked("net.ipv4.tcp_rmem", "4096\t131072  536870912").unwrap(), "4096 131072 536870912");
        assert!(matches!(checked("net.ipv4.tcp_rmem", "4096"), Err(ValueError::Count { expected: 3, found: 1, .. })));
        assert!(matches!(checked("net.ipv4.tcp_rmem", "4096 2 1"), Err(ValueError::Order { .. })));
        assert!(checked("net.ipv4.tcp_congestion_control", "bbr").is_ok());
        assert!(matches!(checked("net.core.default_qdisc", "../fq"), Err(ValueError::NotAWord { .. })));
    }

    #[test]
    fn only_listed_sysctls_are_written_and_each_leads_to_its_own_file() {
        for key in ["kernel.core_pattern", "kernel.modprobe", "net.ipv4.ip_forward", "net.ipv6.conf.eth0.disable_ipv6"]
        {
            assert!(!may_be_written(key), "{key}");
        }
        for key in ["net.ipv4.conf.//.rp_filter", "net.ipv4.conf.a b.rp_filter", "net.ipv4.conf..rp_filter"] {
            assert!(!may_be_written(key), "{key}");
        }
        assert!(may_be_written("net.ipv4.conf.eth0/100.rp_filter"));
        assert_eq!(file("net.ipv4.conf.eth0/100.rp_filter"), "net/ipv4/conf/eth0.100/rp_filter");
        assert_eq!(file("net.ipv4.conf.eth0.100.rp_filter"), "net/ipv4/conf/eth0.100/rp_filter");
        assert_eq!(file("net.ipv4.conf.all.rp_filter"), "net/ipv4/conf/all/rp_filter");
        assert_eq!(file("net.ipv4.tcp_rmem"), "net/ipv4/tcp_rmem");
        for key in NEVER_WRITTEN {
            assert!(tracked::is_tracked(key), "{key} is not even read");
        }
    }
}
