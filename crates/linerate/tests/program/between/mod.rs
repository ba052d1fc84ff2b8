//! Tests between two linerates, which know more of each other than an iperf3 tells.
//!
//! * [`counting`]: what was sent, what arrived, by which means and when
//! * [`clocks`]: both ends on one clock, and probes
//! * [`queue`]: one test at a time
//! * [`limits`]: what a server allows
//! * [`places`]: addresses and network namespaces
//! * [`reflector`]: foreign senders of probes

mod clocks;
mod counting;
mod limits;
mod places;
mod queue;
mod reflector;

use model::run::{Outcome, Role, Run};

use crate::actors::linerate::{Server, Tested, measured, succeeded, test};

/// Runs a test with a server of its own, and returns how the client ended and the server's run.
fn tested(args: &[&str]) -> (Tested, Run) {
    let server = Server::start(&[]);
    let client = test(server.port, args);
    let run = server.run();
    succeeded(&client);
    assert_eq!((run.role, &run.outcome), (Role::Server, &Outcome::Complete));
    assert_eq!(measured(&run).anomalies, [""; 0]);
    (client, run)
}
