//! Claims about network namespaces, on fresh ones of this kernel.

use std::net::{TcpListener, TcpStream};

use super::*;
use crate::sandbox::in_sandbox;

/// The file of the namespace of the calling thread, which another thread can open too.
fn own_path() -> PathBuf {
    let thread = fs::read_link("/proc/thread-self").unwrap();
    Path::new("/proc").join(thread).join("ns/net")
}

#[test]
fn fresh_namespace_has_only_loopback_and_it_is_up() {
    in_sandbox(module_path!(), "fresh_namespace_has_only_loopback_and_it_is_up", || {
        in_fresh_netns(|| {
            let devices = crate::counters::HostCounters::read().devices.unwrap();
            assert!(devices.iter().any(|device| device.device == "lo"));
            assert!(!devices.iter().any(|device| device.device == "eth0"));
            for address in ["127.0.0.1:0", "[::1]:0"] {
                let listener = TcpListener::bind(address).unwrap();
                TcpStream::connect(listener.local_addr().unwrap()).unwrap();
            }
        })
        .unwrap();
    });
}

#[test]
fn closure_runs_in_the_namespace_and_the_caller_stays() {
    in_sandbox(module_path!(), "closure_runs_in_the_namespace_and_the_caller_stays", || {
        let outer = NetnsRef::Path(own_path());
        let (outer_inode, borrowed) = (current_inode().unwrap(), String::from("borrowed"));
        let inner = in_fresh_netns(|| {
            let back = with_netns(&outer, || (current_inode().unwrap(), borrowed.len())).unwrap();
            assert_eq!(back, (outer_inode, 8));
            current_inode().unwrap()
        });
        assert_ne!(inner.unwrap(), outer_inode);
        assert_eq!(current_inode().unwrap(), outer_inode);
    });
}

#[test]
fn protocol_counters_are_those_of_the_entered_namespace() {
    in_sandbox(module_path!(), "protocol_counters_are_those_of_the_entered_namespace", || {
        let opens = || crate::counters::HostCounters::read().snmp.unwrap().get("Tcp", "ActiveOpens").unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        assert_eq!(opens(), 1);
        assert_eq!(in_fresh_netns(opens).unwrap(), 0);
    });
}

#[test]
fn panic_in_the_closure_goes_on_in_the_caller() {
    let outcome = std::panic::catch_unwind(|| on_scratch_thread(|| Ok(()), || panic!("as planned")));
    assert_eq!(outcome.unwrap_err().downcast_ref::<&str>(), Some(&"as planned"));
}

#[test]
fn namespace_that_does_not_exist_is_named_with_where_it_was_looked_for() {
    let error = Netns::open(&NetnsRef::parse("nonesuch").unwrap()).unwrap_err();
    assert!(matches!(&error, NetnsError::Absent { looked_at, .. } if looked_at.len() == 3));
    assert!(error.to_string().contains("/run/netns/nonesuch"), "{error}");
    assert!(matches!(Netns::open(&NetnsRef::Pid(u32::MAX)), Err(NetnsError::Absent { .. })));
}

#[test]
fn file_that_is_no_network_namespace_is_refused() {
    for path in ["/proc/self/ns/uts", "/proc/self/status", "/dev/null", "/proc/self/ns"] {
        let error = Netns::open(&NetnsRef::parse(path).unwrap()).unwrap_err();
        assert!(matches!(error, NetnsError::NotANetns { .. }), "{path}: {error}");
    }
    Netns::open(&NetnsRef::Pid(std::process::id())).unwrap();
}

#[test]
fn namespace_of_the_parent_may_not_be_entered_from_inside_a_user_namespace() {
    let outside = format!("/proc/{}/ns/net", std::process::id());
    let outside = if crate::sandbox::inside() { format!("/proc/{}/ns/net", parent()) } else { outside };
    in_sandbox(module_path!(), "namespace_of_the_parent_may_not_be_entered_from_inside_a_user_namespace", || {
        let error = with_netns(&NetnsRef::parse(&outside).unwrap(), || ()).unwrap_err();
        assert!(matches!(error, NetnsError::Denied { .. }), "{error}");
    });
}

fn parent() -> i32 {
    rustix::process::getppid().unwrap().as_raw_pid()
}

#[test]
fn process_with_threads_cannot_make_a_user_namespace() {
    let error = std::thread::spawn(unshare_user_net).join().unwrap().unwrap_err();
    assert_eq!(error.raw_os_error(), Some(libc::EINVAL));
}

#[test]
fn list_leaves_out_what_is_no_namespace() {
    assert_eq!(named(Path::new("/dev/null")), None);
    assert_eq!(named(Path::new("/proc/self/ns/net")).unwrap().inode, current_inode().unwrap());
    assert!(list().iter().all(|netns| Netns::open(&NetnsRef::Name(netns.name.clone())).is_ok()));
}
