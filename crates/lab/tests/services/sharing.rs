//! Who gets which request, and that all of a file comes through.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::mpsc::channel;
use std::thread;

use lab::services::Limits;
use lab::services::deal::{Reroute, Share};
use measure::download::download;
use measure::stop::Stop;
use model::probe::download::DownloadSpec;
use model::run::Outcome;

use crate::running::{Running, acting};

fn files(name: &str) -> Running {
    Running::files(name, Limits::default())
}

#[test]
fn files_are_as_large_as_their_name_or_the_list_says() {
    let server = files("dtn1");
    for (file, bytes) in [("3MB", 3_000_000), ("0B", 0), ("1KiB", 1024), ("survey.fits", 12_345)] {
        let found = server.fetch(file);
        assert_eq!((&found.outcome, found.body.get()), (&Outcome::Complete, bytes), "{file}");
        let answer = found.answer.unwrap();
        assert_eq!((answer.content_length.unwrap().get(), answer.served_by.as_deref()), (bytes, Some("dtn1")));
        let heard = server.heard.recv().unwrap();
        assert_eq!((heard.target, heard.status, heard.body_bytes.get()), (Some(format!("/{file}")), Some(200), bytes));
    }
    let head = server.say(b"HEAD /5GB HTTP/1.1\r\nHost: a\r\n\r\n");
    assert!(head.starts_with("HTTP/1.1 200 OK\r\n") && head.ends_with("\r\n\r\n"), "{head}");
    assert!(head.contains("Content-Length: 5000000000\r\n"));
    assert!(server.say(b"GET /nonesuch HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 404 "));
    assert!(server.say(b"POST /1MB HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 405 "));
}

#[test]
fn five_nodes_with_one_replica_each_pass_on_four_requests_of_five() {
    let stores: Vec<Running> = (1..=5).map(|number| files(&format!("store{number}"))).collect();
    let nodes: Vec<Running> = (0..5)
        .map(|number| {
            let others = (1..5).map(|step| stores[(number + step) % 5].address).collect();
            let reroute = Reroute { share: Share::new(0.8).unwrap(), to: others };
            Running::proxy(&format!("node{}", number + 1), vec![stores[number].address], Some(reroute))
        })
        .collect();
    let front = Running::proxy("front", nodes.iter().map(|node| node.address).collect(), None);
    let mut served = BTreeMap::new();
    for _ in 0..100 {
        let found = front.fetch("100kB");
        assert_eq!((&found.outcome, found.body.get()), (&Outcome::Complete, 100_000));
        let answer = found.answer.unwrap();
        let node = answer.via[0].strip_prefix("1.1 node").unwrap().to_owned();
        let store = answer.served_by.unwrap().strip_prefix("store").unwrap().to_owned();
        assert_eq!(answer.via[1..], ["1.1 front"]);
        *served.entry((node, store)).or_insert(0) += 1;
    }
    // Each node has 20 requests: 4 of its own files, 4 of each other's.
    assert_eq!(served.len(), 25, "{served:?}");
    assert!(served.values().all(|count| *count == 4), "{served:?}");
    let rerouted = |node: &Running| {
        node.heard.iter().take(20).filter(|exchange| exchange.through.is_some_and(|through| through.rerouted)).count()
    };
    assert_eq!(nodes.iter().map(rerouted).collect::<Vec<_>>(), [16; 5]);
}

#[test]
fn a_request_that_was_passed_on_is_not_passed_on_again() {
    let store = files("store");
    let everything = |to| Some(Reroute { share: Share::new(1.0).unwrap(), to: vec![to] });
    let second = Running::proxy("second", vec![store.address], everything(store.address));
    let first = Running::proxy("first", vec![store.address], everything(second.address));
    for _ in 0..3 {
        assert_eq!(first.fetch("1kB").answer.unwrap().via, ["1.1 second", "1.1 first"]);
        assert!(first.heard.recv().unwrap().through.unwrap().rerouted);
        assert!(!second.heard.recv().unwrap().through.unwrap().rerouted);
    }
}

#[test]
fn a_proxy_passes_on_what_has_come_before_the_rest_comes() {
    let (go_on, gone_on) = channel();
    let server = acting(move |mut stream| {
        stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nfirst").unwrap();
        // The rest comes only when the client has the first half.
        gone_on.recv().unwrap();
        stream.write_all(b"other").unwrap();
    });
    let proxy = Running::proxy("proxy", vec![server], None);
    let mut client = TcpStream::connect(proxy.address).unwrap();
    client.write_all(b"GET /file HTTP/1.1\r\n\r\n").unwrap();
    let mut answer = Vec::new();
    while !answer.ends_with(b"first") {
        let mut byte = [0];
        assert_eq!(client.read(&mut byte).unwrap(), 1, "{:?}", String::from_utf8_lossy(&answer));
        answer.extend(byte);
    }
    go_on.send(()).unwrap();
    let mut rest = String::new();
    client.read_to_string(&mut rest).unwrap();
    assert_eq!(rest, "other");
}

#[test]
fn bodies_in_chunks_and_without_length_come_through() {
    for (body, expected) in [
        ("Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n", 5),
        ("\r\nhello", 5),
        ("Content-Length: 0\r\n\r\n", 0),
    ] {
        let server =
            acting(move |mut stream| stream.write_all(format!("HTTP/1.1 200 OK\r\n{body}").as_bytes()).unwrap());
        let found = Running::proxy("proxy", vec![server], None).fetch("file");
        assert_eq!((&found.outcome, found.body.get()), (&Outcome::Complete, expected), "{body}");
    }
}

#[test]
fn twenty_clients_at_once_all_get_their_file() {
    let store = files("store");
    let proxy = Running::proxy("proxy", vec![store.address], None);
    let bytes: Vec<u64> = thread::scope(|scope| {
        let proxy = proxy.address;
        let fetch = |number: u64| {
            scope.spawn(move || {
                let spec = DownloadSpec::of(format!("http://{proxy}/{number}MB"));
                download(&spec, &Stop::default()).body.get()
            })
        };
        let clients: Vec<_> = (1..=20).map(fetch).collect();
        clients.into_iter().map(|client| client.join().unwrap()).collect()
    });
    assert_eq!(bytes, (1..=20).map(|number| number * 1_000_000).collect::<Vec<_>>());
}
