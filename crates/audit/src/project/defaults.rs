//! What an untouched kernel of this release begins with. A fresh namespace does not show it: it inherits what the host has
//! (net/ipv4/tcp_ipv4.c, tcp_sk_init).

use model::host::snapshot::Snapshot;

use super::machine;
use super::value::absent;
use crate::fact::{Fact, FactMap};

/// Defaults of sysctls by name, of those whose default depends on nothing but the release and the memory.
pub(super) fn facts(snapshot: &Snapshot) -> Fact {
    let (Some(release), Some(&memory)) = (snapshot.machine.kernel_release.value(), snapshot.machine.memory.value())
    else {
        return absent("the kernel's release or the memory is not known");
    };
    let Fact::Int(version) = machine::version(release) else {
        return absent("the release is not a version");
    };
    let Ok(memory) = i64::try_from(memory) else { return absent("the memory is not known") };
    let triple = |least: i64, start: i64, most: i64| Fact::List([least, start, most].map(Fact::Int).into());
    Fact::Map(FactMap::from([
        ("net.ipv4.tcp_rmem".to_owned(), triple(4_096, 131_072, share(memory, most_receive(version), 131_072))),
        ("net.ipv4.tcp_wmem".to_owned(), triple(4_096, 16_384, share(memory, 4 << 20, 65_536))),
    ]))
}

/// A 128th of the memory, between bounds (net/ipv4/tcp.c, tcp_init).
///
/// Model: all memory counts, where the kernel counts what is free for buffers. Where the 128th decides, a tenth less is
/// taken, so that an untouched host never looks as if somebody had made its buffers small.
fn share(memory: i64, most: i64, least: i64) -> i64 {
    (memory / 128 / 10 * 9).min(most).max(least)
}

/// 32 MiB since Linux 6.16, 6 MiB before (net/ipv4/tcp.c, tcp_init).
fn most_receive(version: i64) -> i64 {
    if version >= 6_016 { 32 << 20 } else { 6 << 20 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_large_host_begins_with_the_limits_of_its_release() {
        let gib = 1 << 30;
        assert_eq!(share(24 * gib, most_receive(6_018), 131_072), 33_554_432);
        assert_eq!(share(24 * gib, most_receive(5_014), 131_072), 6_291_456);
        assert!(share(gib, most_receive(6_018), 131_072) < 8 << 20, "a small one with a share of its memory");
    }
}
