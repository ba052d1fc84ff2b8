//! What `curl -w` prints by the names of its variables: `time_connect: 0.031`.

use std::time::Duration;

use model::probe::Subject;
use model::probe::download::{Download, DownloadSpec, DownloadTimes};
use model::run::Outcome;
use units::{ByteCount, DataRate, WallTime};

use super::shown::{Found, Shown, command_near};
use crate::proof::{Claim, half_digit};
use crate::quantity::{decimal, seconds};

/// Reads the lines from the first variable to the last one.
pub(crate) fn read(lines: &[&str], before: &[&str], complaints: &mut Vec<String>) -> Option<Found> {
    variable(lines.first()?)?;
    let all: Vec<(&str, &str)> = lines.iter().take(MAX_LINES).map_while(|line| variable(line)).collect();
    let value = |name: &str| all.iter().find(|(known, _)| *known == name).map(|(_, value)| *value);
    let time = |name: &str| value(name).and_then(|text| seconds(text.trim_end_matches('s')));
    let total = time("time_total")?;
    let size = value("size_download").and_then(|text| decimal(text)?.times(1));
    let speed = value("speed_download").and_then(|text| decimal(text)?.times(1));
    let rate = speed.map(DataRate::from_bytes_per_second).filter(|rate| !rate.is_zero());
    let claim = size.zip(rate).map(|(size, rate)| Claim {
        bytes: ByteCount::new(size),
        bytes_within: 0.5,
        elapsed: total,
        elapsed_within: Duration::from_secs_f64(half_digit(value("time_total").unwrap_or("0").trim_end_matches('s'))),
        rate,
        rate_within: 8.0,
    });
    let first_byte = time("time_starttransfer").filter(|first| !first.is_zero());
    let in_order = [time("time_namelookup"), time("time_connect"), first_byte, Some(total)];
    let in_order = in_order.into_iter().flatten().is_sorted();
    if !in_order || claim.is_some_and(|claim| !claim.holds()) {
        complaints.push("times of curl in their order, and a size that over the whole time is the speed".to_owned());
        return None;
    }
    let body = ByteCount::new(size.or_else(|| moved(rate?, total)).unwrap_or(0));
    let words = command_near(before, "curl").unwrap_or_default();
    let url = words.iter().map(|word| word.trim_matches(['\'', '"'])).find(|word| word.contains("://"));
    let url = url.unwrap_or("http://unknown/");
    let host = url.split_once("://")?.1.split(['/', ':']).next()?.to_owned();
    let body_time = total.saturating_sub(first_byte.unwrap_or_default());
    let download = Download {
        subject: Subject { target: host, address: None, started: WallTime::from_unix_nanos(0) },
        spec: DownloadSpec::of(url),
        outcome: Outcome::Complete,
        local_address: None,
        peer_address: None,
        answer: None,
        times: DownloadTimes {
            resolved: time("time_namelookup"),
            connected: time("time_connect").filter(|time| !time.is_zero()),
            first_byte,
            total,
        },
        body,
        goodput: DataRate::of(body, body_time).filter(|rate| !rate.is_zero()).or(rate),
        overall: DataRate::of(body, total),
        tcp: Vec::new(),
        congestion_control: None,
    };
    Some(Found { shows: vec![Shown::Download(download)], lines: all.len() })
}

/// Reads lines that a format of the command above made, `-w '%{speed_download} %{time_total}\\n'`: a number for each variable, in its order.
pub(crate) fn by_format(lines: &[&str], before: &[&str], complaints: &mut Vec<String>) -> Option<Found> {
    let command = before.iter().rev().take(NEAR).find(|line| line.contains("curl ") && line.contains("%{"))?;
    let (_, format) = command.split_once("-w ").or_else(|| command.split_once("--write-out "))?;
    let format =
        format.strip_prefix(['\'', '"']).map_or(format, |inside| inside.split(['\'', '"']).next().unwrap_or(inside));
    let names: Vec<&str> = format
        .split("\\n")
        .next()?
        .split_whitespace()
        .map(|word| word.strip_prefix("%{").and_then(|word| word.strip_suffix('}')).unwrap_or_default())
        .collect();
    names.contains(&"time_total").then_some(())?;
    let rows = lines.iter().take(MAX_ROWS).map_while(|line| {
        let values: Vec<&str> = line.split_whitespace().collect();
        let fits = values.len() == names.len()
            && names.iter().zip(&values).all(|(name, value)| !VARIABLES.contains(name) || decimal(value).is_some());
        fits.then(|| names.iter().zip(values).map(|(name, value)| format!("{name}: {value}")).collect::<Vec<String>>())
    });
    let rows: Vec<Vec<String>> = rows.collect();
    let mut shows = Vec::new();
    for row in &rows {
        let own: Vec<&str> = row.iter().map(String::as_str).filter(|line| variable(line).is_some()).collect();
        shows.extend(read(&own, &[*command], complaints)?.shows);
    }
    (!shows.is_empty()).then_some(Found { shows, lines: rows.len() })
}

/// Lines of a command and of what ran beside it.
const NEAR: usize = 4;
/// One of each connection.
const MAX_ROWS: usize = 1_000;

/// `time_namelookup:  0.004`, `time_total = 1,25s`.
fn variable(line: &str) -> Option<(&str, &str)> {
    let (name, value) = line.trim().split_once([':', '='])?;
    let (name, value) = (name.trim(), value.trim());
    VARIABLES.contains(&name).then_some(())?;
    let number = value.strip_suffix('s').unwrap_or(value);
    decimal(number).map(|_| (name, value))
}

fn moved(rate: DataRate, time: Duration) -> Option<u64> {
    u64::try_from(u128::from(rate.bps()) * time.as_micros() / 8_000_000).ok()
}

/// curl(1), `--write-out`, as far as they are numbers.
const VARIABLES: [&str; 17] = [
    "http_code",
    "response_code",
    "num_connects",
    "num_redirects",
    "size_download",
    "size_header",
    "size_request",
    "size_upload",
    "speed_download",
    "speed_upload",
    "time_appconnect",
    "time_connect",
    "time_namelookup",
    "time_pretransfer",
    "time_redirect",
    "time_starttransfer",
    "time_total",
];

/// More than there are variables.
const MAX_LINES: usize = 32;

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "    time_namelookup:  5.012411s\n       time_connect:  5.031002s\n    time_appconnect:  5.071220s\n \
                        time_starttransfer:  5.099001s\n         time_total:  7.141002s\n     speed_download:  29367756\n      \
                        size_download:  209715200\nprose";

    fn download(text: &str) -> Option<Download> {
        let lines: Vec<&str> = text.lines().collect();
        let found = read(&lines, &["$ curl -s -o /dev/null -w @fmt https://data.example.org/f"], &mut Vec::new())?;
        match found.shows.as_slice() {
            [Shown::Download(download)] => Some(download.clone()),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_format_says_what_each_number_is() {
        let command = "$ for i in 1 2; do curl -s -o /dev/null -w '%{remote_ip} %{speed_download} %{time_total}\\n' https://m.example.org/f & done";
        let lines = ["192.0.2.7 5241904 200.037", "192.0.2.7 5241878 200.038", "prose of three"];
        let found = by_format(&lines, &[command], &mut Vec::new()).expect("two downloads");
        let rates = found.shows.iter().map(|shown| match shown {
            Shown::Download(one) => (one.subject.target.as_str(), one.overall.map(|rate| rate.bps() / 1_000)),
            other => panic!("{other:?}"),
        });
        assert_eq!(rates.collect::<Vec<_>>(), [("m.example.org", Some(41_935)); 2]);
        assert!(by_format(&lines, &["$ curl -s https://m.example.org/f"], &mut Vec::new()).is_none());
    }

    #[test]
    fn each_part_of_the_time_has_its_name() {
        let found = download(TEXT).expect("a download");
        assert_eq!((found.subject.target.as_str(), found.body.get()), ("data.example.org", 209_715_200));
        assert_eq!(found.times.resolved.map(|time| time.as_micros()), Some(5_012_411));
        assert_eq!(found.goodput.map(|rate| rate.bps() / 1_000_000), Some(821), "of the body alone");
        assert_eq!(download(&TEXT.replace("209715200", "20971520")), None);
        assert_eq!(download(&TEXT.replace("5.031002", "0.031002")), None, "times are from the start on");
    }
}
