//! Tests of access lines: `speedtest-cli`, and RouterOS's `bandwidth-test`.

use model::measurement::Heading;
use units::DataRate;

use super::access::{AccessRates, AccessStreams};
use super::shown::{Found, RouterTest, Shown};
use crate::quantity::{megabits, milliseconds, seconds};

/// Reads from `Hosted by … [165.65 km]: 31.582 ms` to `Upload: 28.98 Mbit/s`.
pub(crate) fn read(lines: &[&str], _: &[&str], _: &mut Vec<String>) -> Option<Found> {
    let (server, rtt) = lines.first()?.trim().strip_prefix("Hosted by ")?.rsplit_once(": ")?;
    let rtt = milliseconds(rtt.strip_suffix(" ms")?);
    let server = server.split(" [").next().unwrap_or(server);
    let mut rates = AccessRates { rtt, ..AccessRates::unknown(server, AccessStreams::Several) };
    let mut used = 1;
    for line in lines[1..].iter().take(MAX_LINES) {
        let text = line.trim();
        let rate = |title: &str| {
            let (number, unit) = text.strip_prefix(title)?.split_once(' ')?;
            (unit == "Mbit/s").then(|| megabits(number))?
        };
        match (rate("Download: "), rate("Upload: ")) {
            (Some(rate), _) => rates.download = Some(rate),
            (_, Some(rate)) => rates.upload = Some(rate),
            _ if text.starts_with("Testing ") => {}
            _ => break,
        }
        used += 1;
    }
    Found::of_access(rates, used)
}

const MAX_LINES: usize = 8;

/// Reads the last state of RouterOS's `bandwidth-test`, from `status: done testing` or `running` to its last line.
pub(crate) fn router(lines: &[&str], before: &[&str], _: &mut Vec<String>) -> Option<Found> {
    let state = lines.first()?.trim().strip_prefix("status: ")?;
    matches!(state, "done testing" | "running").then_some(())?;
    let own = lines.iter().take(MOST_STATES);
    let used = own.take_while(|line| line.trim().split_once(": ").is_some_and(|(name, _)| !name.contains(' '))).count();
    let value = |key: &str| {
        lines[..used].iter().find_map(|line| line.trim().strip_prefix(key)?.strip_prefix(": ").map(str::trim))
    };
    let rate = |name: &str| {
        ["-total-average", "-10-second-average"].iter().find_map(|kind| rate(value(&format!("{name}{kind}"))?))
    };
    // The command is broken at the width of the terminal, with a backslash at the end of each line.
    let words: Vec<&str> = before.iter().rev().take(MOST_LINES).flat_map(|line| line.split_whitespace()).collect();
    let option = |key: &str| words.iter().find_map(|word| word.strip_prefix(key)?.strip_prefix('='));
    let asked = |key: &str| option(key).and_then(self::rate);
    let test = RouterTest {
        local: words
            .iter()
            .find_map(|word| Some(word.strip_prefix('[')?.strip_suffix(']')?.split_once('@')?.1.to_owned())),
        target: option("address").unwrap_or("the other router").to_owned(),
        is_udp: option("protocol") == Some("udp") || value("lost-packets").is_some(),
        elapsed: value("duration").and_then(|time| seconds(time.strip_suffix('s')?)).unwrap_or_default(),
        connections: value("connection-count").and_then(|count| count.parse().ok()),
        sent: rate("tx"),
        received: rate("rx"),
        asked: [(Heading::Outbound, asked("local-tx-speed")), (Heading::Inbound, asked("remote-tx-speed"))]
            .into_iter()
            .filter_map(|(heading, rate)| Some((heading, rate?)))
            .collect(),
    };
    let is_known = (test.sent.is_some() || test.received.is_some()) && !test.elapsed.is_zero();
    is_known.then_some(Found { shows: vec![Shown::RouterTest(test)], lines: used })
}

/// `49.9Mbps`, `1.2Gbps`, `50M`.
fn rate(text: &str) -> Option<DataRate> {
    let text = text.strip_suffix("bps").unwrap_or(text);
    let end = text.find(|letter: char| letter.is_ascii_alphabetic())?;
    let (number, unit) = text.split_at(end);
    let step = match unit {
        "k" => 1_000,
        "M" => 1_000_000,
        "G" => 1_000_000_000,
        _ => return None,
    };
    crate::quantity::decimal(number)?.times(step).map(DataRate::from_bps).filter(|rate| !rate.is_zero())
}

/// Lines of one state.
const MOST_STATES: usize = 30;
/// Lines of a command that was broken.
const MOST_LINES: usize = 5;

#[cfg(test)]
mod tests {
    use super::super::host_fact::HostFact;
    use super::*;

    fn shown(reader: super::super::Reader, before: &[&str], text: &str) -> Vec<Shown> {
        let lines: Vec<&str> = text.lines().collect();
        reader(&lines, before, &mut Vec::new()).map(|found| found.shows).unwrap_or_default()
    }

    #[test]
    fn both_rates_of_an_access_line_are_read() {
        let text = "Hosted by Some ISP (Delft) [12.3 km]: 8.25 ms\nTesting download speed....\nDownload: 94.10 Mbit/s\n\
                    Testing upload speed......\nUpload: 9.55 Mbit/s\nprose";
        let found = shown(read, &[], text);
        let [Shown::Host(HostFact::Access(rates))] = found.as_slice() else { panic!("{found:?}") };
        assert_eq!(rates.server, "Some ISP (Delft)");
        assert_eq!(
            rates.download.zip(rates.upload).map(|(down, up)| (down.bps(), up.bps())),
            Some((94_100_000, 9_550_000))
        );
        assert_eq!(rates.rtt.map(|rtt| rtt.as_micros()), Some(8_250));
        assert_eq!(shown(read, &[], "Hosted by us: 10 ms\nprose"), []);
    }

    #[test]
    fn a_test_of_a_router_has_what_was_asked_for() {
        let before = [
            "[admin@core1] > /tool/bandwidth-test address=192.0.2.7 protocol=tcp \\",
            "    direction=both local-tx-speed=80M",
        ];
        let text = "                status: done testing\n              duration: 20s\n            tx-current: 81.0Mbps\n  \
                    tx-10-second-average: 79.8Mbps\n      tx-total-average: 79.6Mbps\n      rx-total-average: 310.2Mbps\n      \
                    connection-count: 20\n        local-cpu-load: 9%\nprose here";
        let found = shown(router, &before, text);
        let [Shown::RouterTest(test)] = found.as_slice() else { panic!("{found:?}") };
        assert_eq!((test.local.as_deref(), test.target.as_str(), test.is_udp), (Some("core1"), "192.0.2.7", false));
        assert_eq!(
            (test.sent.map(DataRate::bps), test.received.map(DataRate::bps)),
            (Some(79_600_000), Some(310_200_000))
        );
        assert_eq!(test.asked, [(Heading::Outbound, DataRate::from_bps(80_000_000))]);
        assert_eq!((test.elapsed.as_secs(), test.connections), (20, Some(20)));
    }
}
