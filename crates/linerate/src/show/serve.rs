//! What a test partner says, on standard error.

use measure::serve::Event;
use model::run::{Outcome, Run};
use model::spec::{Direction, Limit, Protocol, TestSpec};
use units::duration::show;

use super::when;

/// Prints one event as a line with its time.
pub fn event(event: &Event) {
    let line = match event {
        Event::Listening { address } => format!("listening on {address}, for linerate and iperf3"),
        Event::Queued { peer, ahead } => format!("{peer} waits for its turn, {ahead} before it"),
        Event::Started { peer, spec } => format!("{peer} starts: {}", summary(spec)),
        Event::Refused { peer, reason } => format!("{peer} is not let in: {reason}"),
        Event::Nuisance { peer, what } => format!("{peer} {what}"),
        Event::Suppressed { count } => format!("{count} more of that kind"),
        // Shown as a run, with the numbers.
        Event::Finished(_) => return,
    };
    print(&line);
}

/// Prints how a test ended.
pub fn finished(run: &Run) {
    let peer = run.peer.address.as_deref().unwrap_or(&run.peer.target);
    match &run.outcome {
        Outcome::Failed(failure) => print(&format!("{peer} failed: {}", failure.detail)),
        Outcome::Complete => {
            let totals = run.measurement.iter().flat_map(|measurement| &measurement.totals);
            let rates: Vec<String> =
                totals.map(|total| format!("{} {}", super::intervals::way(total.heading), total.goodput)).collect();
            print(&format!("{peer} done: {} (run {})", rates.join(", "), run.id));
        }
    }
}

/// A test in a few words.
pub fn summary(spec: &TestSpec) -> String {
    let protocol = match spec.protocol {
        Protocol::Tcp => "TCP",
        Protocol::Udp => "UDP",
    };
    let way = match spec.direction {
        Direction::Forward => "from the client",
        Direction::Reverse => "to the client",
        Direction::Bidirectional => "both ways",
    };
    let streams = if spec.streams == 1 { String::new() } else { format!(", {} streams", spec.streams) };
    let limit = match spec.limit {
        Limit::Time(time) => show(time),
        Limit::Bytes(bytes) => bytes.to_string(),
        Limit::Blocks(blocks) => format!("{blocks} blocks"),
    };
    format!("{protocol} {way}{streams}, {limit}")
}

fn print(line: &str) {
    eprintln!("{}  {line}", when::local(linux::clock::wall_now()));
}
