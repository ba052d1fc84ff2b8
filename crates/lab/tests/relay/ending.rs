//! What is left when the process of a relay is gone.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use lab::relay::{Options, Relay, Wire};
use linux::tap::Tap;
use path::Seed;

use super::world::in_sandbox;

#[test]
fn killed_relay_leaves_no_device() {
    const MARK: &str = "LINERATE_TEST_RELAY_TO_KILL";
    in_sandbox("ending::killed_relay_leaves_no_device", || {
        if std::env::var_os(MARK).is_some() {
            return be_killed();
        }
        let devices = || linux::links::dump().unwrap().into_iter().filter(|link| link.name.starts_with("end")).count();
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["ending::killed_relay_leaves_no_device", "--exact", "--nocapture"]).env(MARK, "1");
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        assert!(lines.any(|line| line.unwrap() == "up"));
        assert_eq!(devices(), 2);
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(devices(), 0);
    });
}

fn be_killed() {
    let taps = ["end0", "end1"].map(|name| Tap::open(name).unwrap());
    let wire =
        Wire { name: "w".to_owned(), taps, stages: Default::default(), reporters: Default::default(), seed: Seed(1) };
    let _relay = Relay::start(vec![wire], linux::clock::now(), &Options::default()).unwrap();
    println!("\nup");
    loop {
        std::thread::park();
    }
}
