//! Ookla's test of access lines for the command line, which also prints RTTs while the line is full.

use std::time::Duration;

use super::access::{AccessRates, AccessStreams, LONGEST_NAME, LoadedLatency, NEAR_SERVER, rate};
use super::shown::Found;
use crate::quantity::{hundredths, milliseconds};

/// Reads from the title, or where that was cut off from `Server:` or `Idle Latency:`, to the last line of the result.
pub(crate) fn read(lines: &[&str], _: &[&str], _: &mut Vec<String>) -> Option<Found> {
    let first = lines.first()?.trim();
    let has_rates = || lines.iter().take(MAX_LINES).any(|line| line.contains("(data used: "));
    let begins = first.ends_with("test by Ookla")
        || first.starts_with("Idle Latency:")
        || (first.starts_with("Server: ") && has_rates());
    begins.then_some(())?;
    let mut rates = AccessRates::unknown(NEAR_SERVER, AccessStreams::Several);
    // Which rate the line of an RTT stands below.
    let mut below = None;
    let mut used = 0;
    for (at, line) in lines.iter().enumerate().take(MAX_LINES) {
        let text = after_progress(line).trim();
        let Some((title, value)) = text.split_once(':').map(|(title, value)| (title, value.trim())) else {
            if at > 0 && !text.is_empty() {
                break;
            }
            continue;
        };
        match title {
            "Server" => rates.server = value.split(" (id").next().unwrap_or(value).chars().take(LONGEST_NAME).collect(),
            "Idle Latency" | "Latency" => rates.rtt = latency(value).map(|idle| idle.rtt),
            "Download" => (rates.download, below) = (rate(value), Some(0)),
            "Upload" => (rates.upload, below) = (rate(value), Some(1)),
            "Packet Loss" => rates.lost = value.strip_suffix('%').and_then(|part| hundredths(part.trim())),
            "ISP" | "Result URL" => {}
            _ => match (below, latency(text)) {
                (Some(of), Some(loaded)) => rates.loaded[of] = Some(loaded),
                _ => break,
            },
        }
        used = at + 1;
        if title == "Result URL" {
            break;
        }
    }
    Found::of_access(rates, used)
}

/// The last state of a rate that was printed over and over, as a terminal's record has it in one line, with
/// bars and RTTs between them: `Upload: 9.55 Mbps (data used: 9.9 MB)` ends it.
fn after_progress(line: &str) -> &str {
    let at = ["Download:", "Upload:"].iter().filter_map(|title| line.rfind(title)).max();
    at.filter(|_| line.contains("latency: ")).map_or(line, |at| &line[at..])
}

/// `11.67 ms   (jitter: 2.67ms, low: 7.72ms, high: 36.95ms)`.
fn latency(text: &str) -> Option<LoadedLatency> {
    let (mean, more) = text.split_once(" ms")?;
    let most = more.split_once("high: ").and_then(|(_, most)| milliseconds(most.split("ms").next()?.trim()));
    Some(LoadedLatency { rtt: milliseconds(mean).filter(|rtt| *rtt < LONGEST_RTT)?, most })
}

const MAX_LINES: usize = 16;
const LONGEST_RTT: Duration = Duration::from_secs(60);

#[cfg(test)]
mod tests {
    use super::super::host_fact::HostFact;
    use units::DataRate;

    use super::super::shown::Shown;
    use super::*;

    #[test]
    fn each_rate_has_the_rtt_of_the_line_below_it() {
        let text = "   A test by Ookla\n\n      Server: Some ISP - Delft (id: 7)\n         ISP: Fibre\nIdle Latency:     \
                    8.25 ms   (jitter: 1.01ms, low: 7.81ms, high: 9.26ms)\n    Download:   94.10 Mbps (data used: 99.4 MB)\n\
                    \x20                311.67 ms   (jitter: 2.67ms, low: 7.72ms, high: 536.95ms)\n      Upload:     9.55 Mbps \
                    (data used: 9.9 MB)\n                 14.25 ms   (jitter: 4.84ms, low: 3.29ms, high: 36.15ms)\n Packet Loss:     \
                    0.2%\n  Result URL: https://example.org/c/1\nprose";
        let lines: Vec<&str> = text.lines().collect();
        let found = read(&lines, &[], &mut Vec::new()).expect("a result");
        let [Shown::Host(HostFact::Access(rates))] = found.shows.as_slice() else { panic!("{:?}", found.shows) };
        assert_eq!((found.lines, rates.server.as_str(), rates.lost), (11, "Some ISP - Delft", Some(20)));
        let bps = |rate: Option<DataRate>| rate.map(DataRate::bps);
        assert_eq!((bps(rates.download), bps(rates.upload)), (Some(94_100_000), Some(9_550_000)));
        let loaded = rates.loaded.map(|loaded| loaded.map(|loaded| loaded.rtt.as_micros()));
        assert_eq!((rates.rtt.map(|rtt| rtt.as_micros()), loaded), (Some(8_250), [Some(311_670), Some(14_250)]));
        assert_eq!(rates.loaded[0].and_then(|loaded| loaded.most).map(|most| most.as_millis()), Some(536));
        assert!(read(&["Idle Latency: the time without load"], &[], &mut Vec::new()).is_none());
    }
}
