//! Sockets of TCP and their memory: `/proc/net/sockstat`, and the two settings that limit them.

use super::counted::SocketMemory;
use super::host_fact::HostFact;
use super::shown::{Found, Shown};

/// Reads `sockets: used 39845` and the lines of protocols below (`sockstat_seq_show`, net/ipv4/proc.c).
pub(crate) fn read(lines: &[&str], _: &[&str], _: &mut Vec<String>) -> Option<Found> {
    lines.first()?.trim().strip_prefix("sockets: used ")?.parse::<u64>().ok()?;
    let own = lines[1..].iter().take(MOST_PROTOCOLS);
    let used = 1 + own.take_while(|line| is_protocol(line)).count();
    let tcp: Vec<&str> =
        lines[1..used].iter().find_map(|line| line.trim().strip_prefix("TCP: "))?.split_whitespace().collect();
    let of = |key: &str| tcp.iter().position(|word| *word == key).and_then(|at| tcp.get(at + 1)?.parse::<u64>().ok());
    let fact = SocketMemory { orphans: of("orphan"), pages: of("mem"), ..SocketMemory::default() };
    Some(Found { shows: vec![Shown::Host(HostFact::SocketMemory(fact))], lines: used })
}

/// `TCP: inuse 125217 orphan 65738 tw 103758 alloc 121429 mem 22016`.
fn is_protocol(line: &str) -> bool {
    let Some((name, rest)) = line.trim().split_once(": ") else { return false };
    name.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit()) && rest.starts_with("inuse ")
}

/// IPv4's are six.
const MOST_PROTOCOLS: usize = 12;

/// Reads what `cat /proc/sys/net/ipv4/tcp_mem` prints below itself, what `sysctl` prints of it in one line, and the same of
/// `tcp_max_orphans`.
pub(crate) fn limit(lines: &[&str], _: &[&str], _: &mut Vec<String>) -> Option<Found> {
    let line = lines.first()?.trim();
    let name = ["tcp_mem", "tcp_max_orphans"].into_iter().find(|name| line.contains(name))?;
    let (text, used) = match line.split_once(" = ") {
        Some((key, values)) if key.trim_start_matches("net.ipv4.") == name => (values, 1),
        _ if line.ends_with(&format!("/proc/sys/net/ipv4/{name}")) => (*lines.get(1)?, 2),
        _ => return None,
    };
    let values: Vec<u64> = text.split_whitespace().map(|word| word.parse().ok()).collect::<Option<_>>()?;
    let fact = match *values.as_slice() {
        [_, pressure, most] if name == "tcp_mem" => {
            SocketMemory { pressure: Some(pressure), most_pages: Some(most), ..SocketMemory::default() }
        }
        [most] if name == "tcp_max_orphans" => SocketMemory { most_orphans: Some(most), ..SocketMemory::default() },
        _ => return None,
    };
    Some(Found { shows: vec![Shown::Host(HostFact::SocketMemory(fact))], lines: used })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fact(reader: super::super::Reader, text: &str) -> Option<SocketMemory> {
        let lines: Vec<&str> = text.lines().collect();
        match reader(&lines, &[], &mut Vec::new())?.shows.as_slice() {
            [Shown::Host(HostFact::SocketMemory(fact))] => Some(*fact),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn sockets_and_their_limits_are_one_fact() {
        let counted =
            fact(read, "sockets: used 9\nTCP: inuse 5 orphan 3 tw 2 alloc 8 mem 70\nUDP: inuse 2 mem 6\nprose")
                .expect("counts");
        let memory = fact(limit, "#cat /proc/sys/net/ipv4/tcp_mem\n21180   28243   42360\n").expect("three numbers");
        let orphans = fact(limit, "net.ipv4.tcp_max_orphans = 65536").expect("one number");
        let all = counted.with(memory).with(orphans);
        assert_eq!((all.orphans, all.most_orphans), (Some(3), Some(65_536)));
        assert_eq!((all.pages, all.pressure, all.most_pages), (Some(70), Some(28_243), Some(42_360)));
        assert_eq!(fact(limit, "we set tcp_mem higher\n1 2 3"), None);
        assert_eq!(fact(read, "sockets: used many\nTCP: inuse 5"), None);
    }
}
