//! Watchers that were not there, events that were lost, disks that are full.

use archive::Archive;
use archive::changes::ChangeFilter;
use host::watch::Options;
use model::host::change::{Actor, ChangeSource};
use tempfile::TempDir;

use super::watcher::{Said, Watcher};
use crate::sandbox::{Mounts, in_sandbox, shell};

#[test]
fn what_changed_while_nobody_watched_is_entered_between_two_times_and_once() {
    let name = "what_changed_while_nobody_watched_is_entered_between_two_times_and_once";
    in_sandbox(module_path!(), name, Mounts::Own, || {
        shell("sysctl -qw net.ipv4.tcp_ecn=2 net.ipv4.tcp_sack=1");
        let folder = TempDir::new().unwrap();
        let first = Watcher::start(folder.path(), Options::default());
        shell("sysctl -qw net.ipv4.tcp_ecn=1");
        first.entry("net.ipv4.tcp_ecn");
        drop(first);
        shell("sysctl -qw net.ipv4.tcp_sack=0; ip link add west type veth peer name east");
        let second = Watcher::start(folder.path(), Options::default());
        let entry = second.entry("net.ipv4.tcp_sack");
        assert_eq!((entry.old.as_deref(), entry.new.as_deref()), (Some("1"), Some("0")));
        assert_eq!(entry.source, ChangeSource::Comparison);
        assert!(entry.after.is_some_and(|after| after < entry.time), "{entry:?}");
        assert!(matches!(&entry.actor, Actor::Unknown { reason } if reason == "nobody watched"), "{entry:?}");
        drop(second);
        let third = Watcher::start(folder.path(), Options::default());
        shell("sysctl -qw net.ipv4.tcp_sack=1");
        third.entry("net.ipv4.tcp_sack");
        drop(third);
        let archive = Archive::open(folder.path().join("archive.db")).unwrap();
        let all = archive.changes(&ChangeFilter::default()).unwrap();
        let facts: Vec<&str> = all.iter().map(|change| change.entry.fact.as_str()).collect();
        assert_eq!(facts, ["net.ipv4.tcp_ecn", "net.ipv4.tcp_sack", "device", "device", "net.ipv4.tcp_sack"]);
    });
}

#[test]
fn events_that_the_kernel_could_not_tell_are_said_to_be_lost_and_everything_is_read() {
    let name = "events_that_the_kernel_could_not_tell_are_said_to_be_lost_and_everything_is_read";
    in_sandbox(module_path!(), name, Mounts::Own, || {
        shell("ip link add west type veth peer name east");
        let folder = TempDir::new().unwrap();
        // The kernel makes the smallest queue that it has of it.
        let watcher = Watcher::start(folder.path(), Options { queue_bytes: 1, ..Options::default() });
        let is_lost = |said: &Said| matches!(said, Said::Entered(change) if change.entry.fact == "watch.events-lost");
        loop {
            // Names of many links in one go are more than it holds.
            let burst = "for i in $(seq 40); do echo link set west mtu $((1300 + i)); done | ip -batch -";
            shell(burst);
            if watcher.said_by_now().iter().any(is_lost) {
                break;
            }
        }
        shell("ip link set west mtu 1281");
        watcher.wait_for("the last MTU", |said| match said {
            Said::Entered(change) if change.entry.new.as_deref() == Some("1281") => Some(()),
            _ => None,
        });
    });
}

#[test]
fn full_disk_is_said_and_nothing_is_lost() {
    in_sandbox(module_path!(), "full_disk_is_said_and_nothing_is_lost", Mounts::Own, || {
        let folder = TempDir::new().unwrap();
        let place = folder.path().display();
        shell(&format!("sysctl -qw net.ipv4.tcp_ecn=2; mount -t tmpfs -o size=4m tmpfs {place}"));
        let watcher = Watcher::start(folder.path(), Options::default());
        shell(&format!("cat /dev/zero > {place}/full 2> /dev/null || true"));
        // The log of the data base has some room of its own: more than that is written.
        let mut round = 0;
        loop {
            round += 1;
            shell(&format!("sysctl -qw net.ipv4.tcp_rmem='4096 131072 {}'", 6_000_000 + round));
            let warned = watcher.wait_for("an entry, or that the disk is full", |said| match said {
                Said::Entered(_) => Some(false),
                Said::Warning(words) => Some(words.contains("the disk is full")),
                Said::Began => None,
            });
            if warned {
                break;
            }
        }
        shell(&format!("sysctl -qw net.ipv4.tcp_ecn=1; rm {place}/full"));
        let last = (6_000_000 + round).to_string();
        // Entries that waited for room may come in either order.
        let mut awaited = vec![("net.ipv4.tcp_rmem", last.as_str()), ("net.ipv4.tcp_ecn", "1")];
        watcher.wait_for("the entries that did not fit", |said| {
            if let Said::Entered(change) = said {
                let new = change.entry.new.as_deref().unwrap_or_default();
                awaited.retain(|(fact, end)| change.entry.fact != *fact || !new.ends_with(end));
            }
            awaited.is_empty().then_some(())
        });
        drop(watcher);
        shell(&format!("umount {place}"));
    });
}
