//! What was printed is kept, whatever happens next.

use archive::{Archive, Filter};
use model::run::{Run, RunId};

use crate::actors::linerate::{ArchiveFile, Server, program};
use crate::actors::process::Process;

/// How often a test is killed.
const KILLS: u64 = 24;

#[test]
fn every_run_that_was_printed_is_in_the_archive_whenever_the_test_is_killed() {
    let server = Server::start(&[]);
    let archive = ArchiveFile::new();
    let port = server.port.to_string();
    let mut printed: Vec<RunId> = Vec::new();
    for round in 0..KILLS {
        let mut command = program();
        let args = ["test", "127.0.0.1", "--json", "--archive", archive.arg(), "--port", &port, "--bytes", "1MB"];
        let mut test = Process::start(command.args(args));
        let out = test.stdout();
        // At different moments of its life: before the flow, beside it, after it, and when it has said the result.
        match round % 4 {
            0 => drop(server.talk.wait_for("the start", |line| line.contains(" starts: "))),
            1 => drop(server.run()),
            2 => {}
            _ => printed.push(id(&out.wait_for("the run", |_| true))),
        }
        test.kill();
        // What was on its way when it was killed was printed too, if it is whole.
        printed.extend(out.rest().iter().filter(|line| line.ends_with('}')).map(|line| id(line)));
    }
    assert!(printed.len() as u64 >= KILLS / 4);
    let archive = Archive::open(&archive.path).unwrap();
    for id in &printed {
        assert_eq!(archive.run(id).unwrap().id, *id);
        assert!(!archive.samples(id).unwrap().streams.is_empty());
    }
    // Runs that were kept and not printed may be there as well, and then they are whole.
    for run in archive.list(&Filter::default()).unwrap() {
        archive.run(&run.id).unwrap();
        archive.samples(&run.id).unwrap();
    }
}

fn id(line: &str) -> RunId {
    serde_json::from_str::<Run>(line).unwrap().id
}
