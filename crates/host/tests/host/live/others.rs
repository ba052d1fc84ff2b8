//! Other namespaces than the own.

use host::live::{ReadError, Request, Which, read};
use linux::netns::NetnsRef;

use crate::sandbox::{Mounts, Neighbour, in_sandbox, shell};

#[test]
fn each_namespace_that_may_be_entered_is_read_with_its_own_sysctls() {
    in_sandbox(module_path!(), "each_namespace_that_may_be_entered_is_read_with_its_own_sysctls", Mounts::Own, || {
        shell("sysctl -qw net.ipv4.tcp_ecn=1");
        let neighbour = Neighbour::with("sysctl -qw net.ipv4.tcp_ecn=0; ip link add there type veth peer name too");
        let snapshot = read(&Request { which: Which::All, ..Request::default() }).unwrap();
        assert_eq!(snapshot.own().unwrap().sysctl("net.ipv4.tcp_ecn"), Some("1"));
        let other = format!("pid:{}", neighbour.pid());
        let found = snapshot.namespaces.iter().find(|namespace| namespace.name.as_deref() == Some(&other)).unwrap();
        assert_eq!(found.sysctl("net.ipv4.tcp_ecn"), Some("0"));
        assert_eq!(found.interfaces.iter().map(|each| each.name.as_str()).collect::<Vec<_>>(), ["lo", "there", "too"]);
        assert!(found.interface("there").unwrap().queues.value().is_some(), "its sysfs is mounted for the reading");
        // Those outside may be seen to exist, and no more.
        assert!(snapshot.closed_namespaces.iter().all(|closed| closed.reason.contains("CAP_SYS_ADMIN")));
        assert!(snapshot.namespaces.len() == 2 && snapshot.own().unwrap().inode != found.inode);
        // The reader has stayed where it was.
        assert_eq!(Some(linux::netns::current_inode().unwrap()), snapshot.own().unwrap().inode);
    });
}

#[test]
fn namespace_that_was_asked_for_is_the_first_or_the_reading_fails() {
    in_sandbox(
        module_path!(),
        "namespace_that_was_asked_for_is_the_first_or_the_reading_fails",
        Mounts::Shared,
        || {
            let neighbour = Neighbour::with("ip link add there type veth peer name too");
            let reference = NetnsRef::Pid(neighbour.pid());
            let read_one = |reference| read(&Request { which: Which::Named(vec![reference]), ..Request::default() });
            let snapshot = read_one(reference).unwrap();
            assert!(snapshot.own().unwrap().interface("there").is_some());
            let pid = neighbour.pid();
            drop(neighbour);
            assert!(matches!(read_one(NetnsRef::Pid(pid)), Err(ReadError::Namespace(_))));
        },
    );
}

#[test]
fn devices_that_come_and_go_meanwhile_end_no_reading() {
    in_sandbox(module_path!(), "devices_that_come_and_go_meanwhile_end_no_reading", Mounts::Own, || {
        let stop = std::sync::atomic::AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                    shell("ip link add here type veth peer name gone && ip link del here");
                }
            });
            for _ in 0..20 {
                let snapshot = read(&Request::default()).unwrap();
                assert!(snapshot.own().unwrap().interface("lo").is_some());
            }
            stop.store(true, std::sync::atomic::Ordering::Relaxed);
        });
    });
}
