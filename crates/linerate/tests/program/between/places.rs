//! Addresses, names and network namespaces.

use std::process::Command;

use crate::actors::linerate::{Server, failure, measured, program, succeeded, test, test_host};
use crate::actors::process::{Ended, Process};

#[test]
fn a_client_may_choose_its_address_however_it_writes_it() {
    let server = Server::start(&[]);
    for (host, bind, from) in [
        ("127.0.0.1", "127.0.0.5", "127.0.0.5:"),
        ("127.0.0.1", "::ffff:127.0.0.5", "127.0.0.5:"),
        ("::1", "::1", "[::1]:"),
    ] {
        for protocol in [&[][..], &["-u", "--rate", "4Mbit/s"]] {
            let client = test_host(host, server.port, &[protocol, &["--bytes", "20kB", "--bind", bind]].concat());
            succeeded(&client);
            assert!(server.run().peer.address.unwrap().starts_with(from), "{bind}");
        }
    }
}

#[test]
fn the_family_of_the_clients_address_decides_which_address_of_a_name_is_used() {
    let server = Server::start(&[]);
    let client = test_host("localhost", server.port, &["--bytes", "1kB", "--bind", "127.0.0.5"]);
    succeeded(&client);
}

#[test]
fn a_server_on_one_address_serves_only_that() {
    let server = Server::start(&["--bind", "::ffff:127.0.0.5"]);
    assert_eq!(test(server.port, &["--bytes", "1kB"]).code, Some(3));
    for protocol in [&[][..], &["-u", "--rate", "4Mbit/s"]] {
        succeeded(&test_host("127.0.0.5", server.port, &[protocol, &["--bytes", "20kB"]].concat()));
    }
}

#[test]
fn an_answer_to_datagrams_comes_from_the_address_that_was_asked() {
    let server = Server::start(&[]);
    let client = test_host("127.0.0.9", server.port, &["--bytes", "20kB", "-u", "--rate", "4Mbit/s", "--bidir"]);
    succeeded(&client);
    assert_eq!(measured(&client.run).latency.as_ref().unwrap().idle.unwrap().lost.get(), 0);
}

/// The network of this test: two namespaces with a link between them, by name under `/run/netns`.
const NETWORK: &str = "
    set -eu
    mount -t tmpfs none /run
    ip netns add near
    ip netns add far
    ip -n near link add to_far type veth peer name to_near netns far
    ip -n near addr add 192.0.2.1/24 dev to_far
    ip -n far addr add 192.0.2.2/24 dev to_near
    ip -n near link set to_far up
    ip -n far link set to_near up
    ip -n near link set lo up
    ip -n far link set lo up
    printf '192.0.2.3 dtn.test\\n192.0.2.2 dtn.test\\n' > /run/hosts
    mount --bind /run/hosts /etc/hosts
";

/// Runs this test again, as root of fresh user, mount and network namespaces with the network in them.
fn in_network(name: &str, body: impl FnOnce()) {
    const MARK: &str = "LINERATE_TEST_NETWORK";
    if std::env::var_os(MARK).is_some() {
        return body();
    }
    let own = std::env::current_exe().unwrap();
    let script = format!("{NETWORK}\nexec '{}' --exact between::places::{name} --nocapture", own.display());
    let mut command = Command::new("unshare");
    let ended = Process::start(
        command.args(["--user", "--map-root-user", "--net", "--mount", "sh", "-c", &script]).env(MARK, "1"),
    )
    .finish();
    assert!(
        ended.code == Some(0) && ended.stdout.contains("1 passed"),
        "in the network: {}\n{}",
        ended.stdout,
        ended.stderr
    );
}

#[test]
fn client_and_server_each_in_a_namespace_by_name_path_and_process() {
    in_network("client_and_server_each_in_a_namespace_by_name_path_and_process", || {
        let mut server = Server::start(&["--netns", "far"]);
        let served = server.process().id();
        for netns in ["near", "/run/netns/near"] {
            let client = test_host("192.0.2.2", server.port, &["--bytes", "1MB", "--netns", netns]);
            succeeded(&client);
            assert!(measured(&client.run).flows[0].local_address.starts_with("192.0.2.1:"), "{netns}");
            assert_eq!(measured(&client.run).latency.as_ref().unwrap().idle.unwrap().lost.get(), 0);
            assert!(server.run().peer.address.unwrap().starts_with("192.0.2.1:"));
        }
        let netns = format!("pid:{served}");
        let client = test_host("192.0.2.2", server.port, &["--bytes", "1MB", "--netns", &netns]);
        succeeded(&client);
        assert!(server.run().peer.address.unwrap().starts_with("192.0.2.2:"), "both in the server's namespace");
    });
}

#[test]
fn a_name_is_reached_at_its_second_address_where_the_first_does_not_answer() {
    in_network("a_name_is_reached_at_its_second_address_where_the_first_does_not_answer", || {
        let server = Server::start(&["--netns", "far"]);
        // Nobody has 192.0.2.3, so nothing comes back from there before the time is up. Both are equally near to
        // 192.0.2.1 by their bits, so the resolver keeps their order (RFC 6724, rules 9 and 10).
        let args = ["--bytes", "1MB", "--netns", "near", "--connect-timeout", "300ms"];
        let client = test_host("dtn.test", server.port, &args);
        succeeded(&client);
        assert_eq!(client.run.peer.address, Some(format!("192.0.2.2:{}", server.port)));
        drop(server);
        let client = test_host("dtn.test", 5201, &args);
        assert_eq!(client.code, Some(3));
        let told = "no address of `dtn.test` answers: 192.0.2.3:5201 does not answer within 300 ms; \
                    192.0.2.2:5201 refuses the connection: nothing listens on this port";
        assert_eq!(failure(&client.run).detail, told);
    });
}

#[test]
fn a_device_is_used_where_it_is_named() {
    in_network("a_device_is_used_where_it_is_named", || {
        let server = Server::start(&["--netns", "far"]);
        succeeded(&test_host("192.0.2.2", server.port, &["--bytes", "1MB", "--netns", "near", "--device", "to_far"]));
        let client = test_host("192.0.2.2", server.port, &["--bytes", "1MB", "--netns", "near", "--device", "lo"]);
        assert_ne!(client.code, Some(0), "nothing leaves to the peer by the loopback device");
    });
}

/// Runs a test whose place is wrong.
fn misplaced(args: &[&str]) -> Ended {
    Process::start(program().args(["test", "127.0.0.1", "--no-archive"]).args(args)).finish()
}

#[test]
fn a_namespace_that_is_not_there_is_a_slip_of_the_user() {
    for netns in ["nonesuch", "/run/netns/nonesuch", "pid:4194305", "pid:me"] {
        let ended = misplaced(&["--netns", netns]);
        assert_eq!(ended.code, Some(2), "{netns}: {ended:?}");
        let mut lines = ended.stderr.lines();
        let error = lines.next().unwrap();
        assert!(error.starts_with(&format!("error: network namespace `{netns}` cannot be entered: ")), "{error}");
        assert!(lines.next().unwrap().starts_with("hint: "), "{ended:?}");
        assert_eq!(ended.stdout, "");
    }
}

#[test]
fn an_address_or_device_that_is_not_of_this_host_is_named() {
    for (args, what) in [
        (["--bind", "192.0.2.77"], "bound to 192.0.2.77 cannot be made"),
        (["--device", "nonesuch0"], "on device nonesuch0 cannot be made"),
    ] {
        let ended = misplaced(&args);
        assert_eq!(ended.code, Some(8), "{ended:?}");
        assert!(ended.stderr.contains(what), "{ended:?}");
    }
}
