//! Tests of access lines that print a few titled numbers: `speedtest-cli --simple`, `librespeed-cli`, `networkQuality` of macOS.

use std::time::Duration;

use super::access::{AccessRates, AccessStreams, LoadedLatency, NEAR_SERVER, rate};
use super::shown::Found;
use crate::quantity::milliseconds;

/// Reads `Ping: 14.20 ms` and the rates below it: `Download: 93.91 Mbit/s` or `Download rate: 46.31 Mbps`.
pub(crate) fn read(lines: &[&str], before: &[&str], _: &mut Vec<String>) -> Option<Found> {
    let rtt = time(titled(lines.first()?, &["Ping"])?)?;
    let mut rates =
        AccessRates { rtt: Some(rtt), ..AccessRates::unknown(server_above(before), AccessStreams::Several) };
    let mut used = 1;
    for line in lines[1..].iter().take(2) {
        if let Some(value) = titled(line, &["Download", "Download rate"]) {
            rates.download = Some(rate(value)?);
        } else if let Some(value) = titled(line, &["Upload", "Upload rate"]) {
            rates.upload = Some(rate(value)?);
        } else {
            break;
        }
        used += 1;
    }
    Found::of_access(rates, used)
}

/// `Selected server: Delft (Some ISP) [one.example.org]` of `librespeed-cli`, a few lines above its rates.
fn server_above<'a>(before: &[&'a str]) -> &'a str {
    let server = before.iter().rev().take(NEAR).find_map(|line| line.trim().strip_prefix("Selected server: "));
    server.map_or(NEAR_SERVER, |server| server.split(" [").next().unwrap_or(server))
}

/// Reads the summary of `networkQuality`: capacities, responsiveness under load (RPM), idle latency.
pub(crate) fn network_quality(lines: &[&str], _: &[&str], _: &mut Vec<String>) -> Option<Found> {
    titled(lines.first()?, &[UP[0], UP[1], DOWN[0], DOWN[1]])?;
    let mut rates = AccessRates::unknown(NEAR_SERVER, AccessStreams::Several);
    let mut used = 0;
    for line in lines.iter().take(MAX_LINES) {
        let Some((title, _)) = line.trim().split_once(": ") else { break };
        if let Some(value) = titled(line, &UP) {
            rates.upload = Some(rate(value)?);
        } else if let Some(value) = titled(line, &DOWN) {
            rates.download = Some(rate(value)?);
        } else if let Some(value) = titled(line, &["Idle Latency", "Base RTT"]) {
            rates.rtt = time(value);
        } else if let Some(value) = titled(line, &["Downlink Responsiveness"]) {
            rates.loaded[0] = loaded(value);
        } else if let Some(value) = titled(line, &["Uplink Responsiveness"]) {
            rates.loaded[1] = loaded(value);
        } else if let Some(value) = titled(line, &["Responsiveness"]) {
            // Of both directions at once: the line is full either way.
            rates.loaded = [loaded(value); 2];
        } else if !OTHERS.iter().any(|other| title.ends_with(other)) {
            break;
        }
        used += 1;
    }
    Found::of_access(rates, used)
}

const UP: [&str; 2] = ["Uplink capacity", "Upload capacity"];
const DOWN: [&str; 2] = ["Downlink capacity", "Download capacity"];
/// Lines among them that say nothing of the path.
const OTHERS: [&str; 9] =
    ["Interface", "transferred", "Flow count", "flows", "Start", "End", "OS Version", "Test Endpoint", "Confidence"];

/// `Low (812.233 milliseconds | 73 RPM) (Accuracy: High)`, `Low (134 RPM)`, `134 RPM`: a minute over the RTT.
fn loaded(value: &str) -> Option<LoadedLatency> {
    let words: Vec<&str> = value.split([' ', '(', ')']).filter(|word| !word.is_empty()).collect();
    let of =
        |unit: &str| words.iter().position(|word| *word == unit).and_then(|at| words.get(at.checked_sub(1)?).copied());
    let rtt = match of("milliseconds") {
        Some(time) => milliseconds(time)?,
        None => Duration::from_secs(60).checked_div(of("RPM")?.parse::<u32>().ok()?)?,
    };
    (rtt < LONGEST_RTT).then_some(LoadedLatency { rtt, most: None })
}

/// The value of a line with one of some titles.
fn titled<'a>(line: &'a str, titles: &[&str]) -> Option<&'a str> {
    let (title, value) = line.trim().split_once(':')?;
    titles.contains(&title).then(|| value.trim())
}

/// `14.20 ms Jitter: 1.12 ms`, `21.333 milliseconds | 2812 RPM`, `18` of milliseconds.
fn time(value: &str) -> Option<Duration> {
    let mut words = value.split_whitespace();
    let time = milliseconds(words.next()?)?;
    words
        .next()
        .is_none_or(|unit| matches!(unit, "ms" | "milliseconds"))
        .then_some(time)
        .filter(|time| *time < LONGEST_RTT)
}

const NEAR: usize = 4;
const MAX_LINES: usize = 24;
const LONGEST_RTT: Duration = Duration::from_secs(60);

#[cfg(test)]
mod tests {
    use super::super::host_fact::HostFact;
    use units::DataRate;

    use super::super::shown::Shown;
    use super::*;

    fn rates(reader: super::super::Reader, before: &[&str], text: &str) -> Option<AccessRates> {
        let lines: Vec<&str> = text.lines().collect();
        match reader(&lines, before, &mut Vec::new())?.shows.as_slice() {
            [Shown::Host(HostFact::Access(rates))] => Some(rates.clone()),
            other => panic!("{other:?}"),
        }
    }

    fn bps(rates: &AccessRates) -> [Option<u64>; 2] {
        [rates.download.map(DataRate::bps), rates.upload.map(DataRate::bps)]
    }

    #[test]
    fn three_titled_numbers_are_an_access_line() {
        let simple =
            rates(read, &[], "Ping: 11.482 ms\nDownload: 93.91 Mbit/s\nUpload: 94.20 Mbit/s\nprose").expect("rates");
        assert_eq!(bps(&simple), [Some(93_910_000), Some(94_200_000)]);
        let before =
            ["Selected server: Delft (Some ISP) [one.example.org]", "Sponsored by: Some ISP @ https://example.org"];
        let libre = rates(
            read,
            &before,
            "Ping: 14.20 ms\tJitter: 1.12 ms\nDownload rate:\t46.31 Mbps\nUpload rate:\t9.77 Mbps",
        );
        let libre = libre.expect("rates");
        assert_eq!((libre.server.as_str(), libre.rtt.map(|rtt| rtt.as_micros())), ("Delft (Some ISP)", Some(14_200)));
        assert_eq!(rates(read, &[], "Ping: 14 ms is what we see\nelsewhere"), None);
    }

    #[test]
    fn responsiveness_is_an_rtt_under_load() {
        let new = "Uplink capacity: 18.321 Mbps (Accuracy: High)\nDownlink capacity: 221.904 Mbps (Accuracy: High)\nUplink Responsiveness: \
                   Low (812.233 milliseconds | 73 RPM) (Accuracy: High)\nDownlink Responsiveness: Medium (88.101 milliseconds | 681 RPM)\n\
                   Idle Latency: 21.333 milliseconds | 2812 RPM\nInterface: en0\nStart: 11/12/25, 9:41:22";
        let found = rates(network_quality, &[], new).expect("rates");
        assert_eq!(bps(&found), [Some(221_904_000), Some(18_321_000)]);
        let loaded = found.loaded.map(|loaded| loaded.map(|loaded| loaded.rtt.as_micros()));
        assert_eq!((found.rtt.map(|rtt| rtt.as_micros()), loaded), (Some(21_333), [Some(88_101), Some(812_233)]));
        let old = "Upload capacity: 4.552 Mbps\nDownload capacity: 71.326 Mbps\nUpload flows: 20\nResponsiveness: Low (120 RPM)\nBase RTT: 18";
        let found = rates(network_quality, &[], old).expect("rates");
        assert_eq!(found.loaded[0].map(|loaded| loaded.rtt.as_millis()), Some(500));
        assert_eq!(found.rtt.map(|rtt| rtt.as_millis()), Some(18));
    }
}
