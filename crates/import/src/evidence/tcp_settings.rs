//! Settings of TCP as `sysctl` prints them, or `cat` below the name of their file.

use units::ByteCount;

use super::counted::{Switch, TcpSettings};
use super::host_fact::HostFact;
use super::shown::{Found, Shown};

/// Reads one setting, or all of a list: those that are not known are passed over.
pub(crate) fn read(lines: &[&str], before: &[&str], _: &mut Vec<String>) -> Option<Found> {
    let mut settings = TcpSettings { host: before.last().and_then(|line| label(line)), ..TcpSettings::default() };
    let (mut used, mut known) = (0, 0);
    let mut at = 0;
    while let Some(line) = lines.get(at).filter(|_| at < MAX_LINES) {
        let line = line.trim();
        let (name, value, more) = match (assignment(line), file(line)) {
            (Some((name, value)), _) => (name, value, 1),
            (None, Some(name)) => (name, lines.get(at + 1)?.trim(), 2),
            (None, None) => break,
        };
        // These two have a reader of their own.
        if matches!(name, "tcp_mem" | "tcp_max_orphans") {
            break;
        }
        let is_known = settings.take([name, value]);
        // The first line is one of these, and no other reader's.
        if known == 0 && !is_known {
            return None;
        }
        known += usize::from(is_known);
        at += more;
        used = at;
    }
    (known > 0).then_some(Found { shows: vec![Shown::Host(HostFact::TcpSettings(settings))], lines: used })
}

/// A host's name alone in the line above, as people write it over what they copied from there: `dtn-ith:`.
fn label(line: &str) -> Option<String> {
    let name = line.trim().trim_start_matches(['#', '*', '-', ' ']).strip_suffix(':')?;
    let is_name = (2..=63).contains(&name.len())
        && name.starts_with(|first: char| first.is_ascii_alphabetic())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_'));
    (is_name && !TIMES.contains(&name.to_lowercase().as_str())).then(|| name.to_owned())
}

/// What stands over readings and is no host.
const TIMES: [&str; 10] =
    ["before", "after", "now", "settings", "sysctl", "then", "both", "output", "client", "server"];

/// `net.ipv4.tcp_rmem = 4096 87380 6291456`.
fn assignment(line: &str) -> Option<(&str, &str)> {
    let (name, value) = line.split_once('=')?;
    let name = name.trim().strip_prefix("net.")?;
    let name = name.strip_prefix("ipv4.").or_else(|| name.strip_prefix("core."))?;
    let plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-'));
    plain.then(|| (name, value.trim()))
}

/// `$ cat /proc/sys/net/ipv4/tcp_rmem`, `/proc/sys/net/ipv4/tcp_sack`.
fn file(line: &str) -> Option<&str> {
    let (before, name) = line.rsplit_once("/proc/sys/net/")?;
    let name = name.strip_prefix("ipv4/").or_else(|| name.strip_prefix("core/"))?;
    let is_one = before.trim_end().is_empty() || before.trim_end().ends_with("cat");
    (is_one && !name.contains([' ', '/', '*'])).then_some(name)
}

/// `sysctl -a` has a thousand.
const MAX_LINES: usize = 4_096;

impl TcpSettings {
    /// Whether it is one of the settings.
    fn take(&mut self, [name, value]: [&str; 2]) -> bool {
        let last = || value.split_whitespace().nth(2).and_then(|most| most.parse().ok()).map(ByteCount::new);
        let middle = || value.split_whitespace().nth(1).and_then(|first| first.parse().ok()).map(ByteCount::new);
        let switch = || match value {
            "0" => Some(Switch::Off),
            "1" | "2" => Some(Switch::On),
            _ => None,
        };
        match name {
            "tcp_rmem" => {
                (self.first_receive, self.most_receive) = (middle(), last());
                self.most_receive.is_some()
            }
            "tcp_wmem" => {
                self.most_send = last();
                self.most_send.is_some()
            }
            "tcp_window_scaling" => set(&mut self.window_scaling, switch()),
            "tcp_sack" => set(&mut self.sack, switch()),
            "tcp_moderate_rcvbuf" => set(&mut self.receive_grows, switch()),
            "tcp_congestion_control" => {
                let is_name = !value.is_empty() && value.len() <= LONGEST && !value.contains(' ');
                self.congestion_control = is_name.then(|| value.to_owned());
                is_name
            }
            "rmem_max" | "wmem_max" | "rmem_default" | "wmem_default" | "tcp_timestamps" | "tcp_dsack" => {
                value.parse::<u64>().is_ok()
            }
            _ => false,
        }
    }
}

/// `TCP_CA_NAME_MAX`.
const LONGEST: usize = 16;

fn set<T>(place: &mut Option<T>, value: Option<T>) -> bool {
    let is_known = value.is_some();
    *place = value;
    is_known
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(text: &str) -> Option<(TcpSettings, usize)> {
        let lines: Vec<&str> = text.lines().collect();
        let found = read(&lines, &[], &mut Vec::new())?;
        match found.shows.as_slice() {
            [Shown::Host(HostFact::TcpSettings(settings))] => Some((settings.clone(), found.lines)),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_list_and_files_say_the_same() {
        let list = "net.core.rmem_max = 212992\nnet.ipv4.tcp_congestion_control = cubic\nnet.ipv4.tcp_other = 3\nnet.ipv4.tcp_rmem = \
                    4096\t87380\t174760\nnet.ipv4.tcp_sack = 0\nprose";
        let (found, lines) = settings(list).expect("settings");
        assert_eq!((found.most_receive.map(ByteCount::get), found.sack, lines), (Some(174_760), Some(Switch::Off), 5));
        let (file, lines) =
            settings("$ cat /proc/sys/net/ipv4/tcp_rmem\n4096    87380   174760\nmore").expect("a setting");
        assert_eq!((file.most_receive, lines), (found.most_receive, 2));
        assert_eq!(settings("net.ipv4.ip_forward = 1\nnet.ipv4.tcp_sack = 1"), None);
        assert_eq!(settings("we set net.ipv4.tcp_rmem = as you said"), None);
        assert_eq!(settings("net.ipv4.tcp_rmem = 4096 87380"), None, "a number that was cut off");
    }
}
