//! A thousand connections at once.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};

use crate::actors::linerate::{Server, measured, succeeded, test};

const CROWD: usize = 1_000;

/// How much more memory a server may take with a crowd before it: 20 KiB for each that is there.
const MOST_MORE_MEMORY_KIB: u64 = 20 << 10;

/// The most memory of a test, whatever a client asks for.
const MOST_OF_A_TEST_KIB: u64 = 128 << 10;

/// Lines that a server may say about a crowd.
const MOST_LINES: usize = 16;

/// Connections that stay open, each of which has said this.
fn crowd(server: &Server, word: &[u8]) -> Vec<TcpStream> {
    let come = |_| {
        let mut stream = TcpStream::connect(("127.0.0.1", server.port)).unwrap();
        // One that was sent away meanwhile cannot be talked to.
        let _ = stream.write_all(word);
        stream
    };
    (0..CROWD).map(come).collect()
}

/// Asserts that a server held its memory, and printed little.
fn was_calm(mut server: Server, memory_before: u64) {
    let more = server.most_memory_kib() - memory_before;
    assert!(more < MOST_MORE_MEMORY_KIB, "{more} KiB more than {memory_before} KiB");
    server.process().signal("TERM");
    assert_eq!(server.process().wait().code(), Some(0));
    let said = server.talk.rest();
    assert!(said.len() <= MOST_LINES, "{said:#?}");
}

#[test]
fn a_thousand_silent_connections_cost_little_and_disturb_no_test() {
    let server = Server::start(&[]);
    let memory = server.most_memory_kib();
    let crowd = crowd(&server, b"");
    for args in [&["--bytes", "10MB"][..], &["--bytes", "100kB", "-u", "--rate", "50Mbit/s"]] {
        let client = test(server.port, args);
        succeeded(&client);
        let total = &measured(&client.run).totals[0];
        assert_eq!(total.sent, total.received);
        server.run();
    }
    assert_eq!(crowd.len(), CROWD);
    was_calm(server, memory);
}

#[test]
fn a_thousand_clients_that_go_no_further_cost_little_and_are_forgotten_when_they_leave() {
    let server = Server::start(&[]);
    let memory = server.most_memory_kib();
    let crowd = crowd(&server, &[b'x'; 37]);
    for mut stream in crowd {
        // One that was sent away is gone already.
        let _ = stream.shutdown(Shutdown::Write);
        let _ = stream.read_to_end(&mut Vec::new());
    }
    succeeded(&test(server.port, &["--bytes", "10MB"]));
    was_calm(server, memory);
}

#[test]
fn many_streams_with_many_samples_stay_within_the_memory_of_a_test() {
    let server = Server::start(&[]);
    let client = test(server.port, &["-P", "128", "--time", "2s", "--rate", "1Mbit/s", "--sample-every", "1ms"]);
    succeeded(&client);
    server.run();
    assert!(measured(&client.run).telemetry.iter().all(|cadence| cadence.thinned > 0), "all of the samples fit");
    let most = server.most_memory_kib();
    assert!(most < MOST_OF_A_TEST_KIB, "{most} KiB");
}
