//! What a test partner says, on standard error.

#[cfg(feature = "ndt7")]
use measure::ndt7::url::Security;
use measure::serve::Event;
use model::run::{Outcome, Run};
use owamp::control::Protocol;

use super::when;

/// Prints one event as a line with its time.
pub fn event(event: &Event) {
    let line = match event {
        Event::Listening { address } => format!("listening on {address}, for linerate and iperf3"),
        Event::Queued { peer, ahead } => format!("{peer} waits for its turn, {ahead} before it"),
        Event::Started { peer, spec } => format!("{peer} starts: {}", spec.summary()),
        Event::Refused { peer, reason } => format!("{peer} is not let in: {reason}"),
        Event::Nuisance { peer, what } => format!("{peer} {what}"),
        Event::ServesSessions { protocol, address } => {
            format!("listening on {address}, for {}", protocol_name(*protocol))
        }
        #[cfg(feature = "ndt7")]
        Event::ServesNdt7 { address, security: Security::Plain } => format!("listening on {address}, for NDT7"),
        #[cfg(feature = "ndt7")]
        Event::ServesNdt7 { address, security: Security::Tls } => format!("listening on {address}, for NDT7 over TLS"),
        Event::SessionOver { peer, summary } => format!("{peer} done: {summary}"),
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

const fn protocol_name(protocol: Protocol) -> &'static str {
    match protocol {
        Protocol::Owamp => "OWAMP",
        Protocol::Twamp => "TWAMP",
    }
}

fn print(line: &str) {
    eprintln!("{}  {line}", when::local(linux::clock::wall_now()));
}
