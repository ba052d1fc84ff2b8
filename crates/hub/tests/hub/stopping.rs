//! Agents that are told to stop.

use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use hub::agent::run::{Options, Watch, run};
use hub::api::work::LONGEST_WAIT;
use hub::trust::token::Purpose;
use measure::stop::Stop;
use tempfile::TempDir;

use crate::running::Running;

#[test]
fn agent_that_waits_for_work_stops_before_the_hub_answers() {
    let hub = Running::start();
    let home = TempDir::new().unwrap();
    hub.join(home.path(), "dtn-1", hub.token(Purpose::Join)).unwrap();
    let (watch, transfers) = (Watch::Off, Watch::Off);
    let options =
        Options { directory: home.path().to_owned(), program: "false".into(), watch, transfers, metrics: None };
    let stop = Stop::default();
    let (says, said) = mpsc::channel::<String>();
    let (ends, ended) = mpsc::channel();
    let told = stop.clone();
    let agent = thread::spawn(move || {
        run(&options, &told, &|line| says.send(line.to_owned()).unwrap()).unwrap();
        ends.send(()).unwrap();
    });
    let first = said.recv_timeout(Duration::from_secs(60)).unwrap();
    assert!(first.contains("dtn-1 is connected to"), "{first}");
    // allow(sleep): nobody says that a request waits at the hub; that the agent's second does by now
    thread::sleep(Duration::from_secs(2));
    stop.stop();
    ended.recv_timeout(LONGEST_WAIT / 2).unwrap();
    agent.join().unwrap();
    let rest: Vec<String> = said.try_iter().filter(|line| line.contains("the hub")).collect();
    assert_eq!(rest, Vec::<String>::new(), "stopping is no failure of the hub");
}
