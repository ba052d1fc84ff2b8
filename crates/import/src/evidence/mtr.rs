//! `mtr --json` and `mtr --report`: loss and RTT of each hop, as sums over all probes.

use std::net::IpAddr;
use std::time::Duration;

use model::measurement::RttSummary;
use model::probe::echo::{EchoSeries, EchoSpec, EchoSummary};
use model::probe::hops::{Hop, HopAnswer, HopsSpec, TraceEnd};
use model::probe::{ReportKind, Subject};
use model::run::Outcome;
use serde_json::Value;
use units::{PacketCount, WallTime};

use super::shown::{Found, Shown, command_above, command_near, trace_as_printed};
use crate::command::after_prompt;
use crate::quantity::milliseconds;

/// One line of a report.
struct Hub {
    number: u8,
    host: String,
    /// Lost probes of those sent, in per cent with one decimal.
    loss_percent: f64,
    sent: u64,
    average: Duration,
    best: Duration,
    worst: Duration,
}

/// Reads the object of `mtr --json`; `None` where it is another's.
pub(crate) fn read_json(object: &Value) -> Option<Vec<Shown>> {
    let report = object.get("report").unwrap_or(object);
    let target = report.get("mtr")?.get("dst")?.as_str()?.to_owned();
    let hubs: Vec<Hub> = report.get("hubs")?.as_array()?.iter().map_while(hub_of_json).collect();
    shown(&target, &hubs)
}

fn hub_of_json(hub: &Value) -> Option<Hub> {
    // Versions differ in whether numbers are quoted.
    let number = |key: &str| {
        let value = hub.get(key)?;
        value.as_f64().or_else(|| value.as_str()?.parse().ok()).filter(|number| number.is_finite() && *number >= 0.0)
    };
    let time = |key: &str| Duration::try_from_secs_f64(number(key)? / 1000.0).ok();
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the ranges are checked")]
    let (count, sent) = (number("count")?.min(255.0) as u8, number("Snt")?.min(1e12) as u64);
    Some(Hub {
        number: count,
        host: hub.get("host")?.as_str()?.to_owned(),
        loss_percent: number("Loss%").filter(|loss| *loss <= 100.0)?,
        sent,
        average: time("Avg")?,
        best: time("Best")?,
        worst: time("Wrst")?,
    })
}

/// Reads `HOST: here   Loss%   Snt   Last   Avg  Best  Wrst StDev` and the lines `  1.|-- gateway  0.0%  10  …` below.
pub(crate) fn read_text(lines: &[&str], before: &[&str], _: &mut Vec<String>) -> Option<Found> {
    let head: Vec<&str> = lines.first()?.split_whitespace().collect();
    let first = head.iter().position(|word| *word == "Loss%")?;
    let columns = ["Loss%", "Snt", "Last", "Avg", "Best", "Wrst"];
    // Of a line that was cut at a width, the columns whose titles are whole.
    let is_cut = head.len() < first + columns.len();
    let titles = head.get(first..).map(|titles| titles.get(..columns.len()).unwrap_or(titles))?;
    (titles.len() >= 3 && columns.starts_with(titles)).then_some(())?;
    let mut hubs: Vec<Hub> = Vec::new();
    let mut used = 1;
    // A form of a web page leaves one blank between words, and no numbers of hops.
    let first_hop = command_near(before, "mtr").and_then(|words| first_hop(&words)).unwrap_or(1);
    for line in &lines[1..] {
        let whole = if is_cut { hub_of_cut(line) } else { hub_of_text(line) };
        match whole.or_else(|| hub_without_number(line, first_hop.checked_add(hubs.len())?)) {
            Some(hub) => hubs.push(hub),
            // A further router of the same hop.
            None if line.trim_start().starts_with("|  `|--") || is_further(line) => {}
            // Some print more of the host before the first hop.
            None if hubs.is_empty() && used < MOST_TITLES => {}
            None => break,
        }
        used += 1;
    }
    let above = before.iter().rposition(|line| !line.starts_with("Start: ") && !line.trim().is_empty());
    let above = above.map_or(&[] as &[&str], |at| &before[..=at]);
    let words = command_above(above, "mtr");
    // Options with values may stand behind it; prose has a colon at the end of its sentence.
    let is_host =
        |word: &&&str| !word.starts_with('-') && word.contains(['.', ':']) && !word.ends_with([':', '.', ',']);
    let is_command = above.last().is_some_and(|line| is_command(line));
    let command = words.and_then(|words| {
        words.iter().rev().find(is_host).copied().or(words.last().copied().filter(|_| is_command)).map(str::to_owned)
    });
    let target = command.or_else(|| hubs.last().map(|hub| hub.host.clone()))?;
    Some(Found { shows: shown(&target, &hubs)?, lines: used })
}

/// The address of a further router of a hop, as the screen of mtr has it below the first.
fn is_further(line: &str) -> bool {
    line.starts_with([' ', '\t']) && line.trim().parse::<IpAddr>().is_ok()
}

/// A line that runs mtr, and does not speak of it.
fn is_command(line: &str) -> bool {
    let line = line.trim_start();
    let bare = after_prompt(line).unwrap_or(line);
    let bare = bare.trim_start_matches(['%', '>', ' ']).trim_start_matches("sudo ");
    bare.split(' ').next().and_then(|program| program.rsplit('/').next()) == Some("mtr")
        && !line.trim_end().ends_with([':', '.'])
}

/// Reads `Mtr_Version,Start_Time,Status,Host,Hop,Ip,Loss%,Snt, ,Last,Avg,Best,Wrst,StDev,` and the lines below.
pub(crate) fn read_csv(lines: &[&str], _: &[&str], _: &mut Vec<String>) -> Option<Found> {
    lines.first()?.starts_with(CSV).then_some(())?;
    let titles: Vec<&str> = lines.first()?.split(',').collect();
    let at = |title: &str| titles.iter().position(|found| *found == title);
    let (target, hop, host, loss) = (at("Host")?, at("Hop")?, at("Ip")?, at("Loss%")?);
    let (sent, average, best, worst) = (at("Snt")?, at("Avg")?, at("Best")?, at("Wrst")?);
    // The next output has titles of its own.
    let own = lines[1..].iter().take_while(|line| !line.starts_with(CSV));
    let rows: Vec<Vec<&str>> =
        own.map(|line| line.split(',').collect::<Vec<_>>()).take_while(|row| row.len() > worst).collect();
    let hub = |row: &Vec<&str>| {
        Some(Hub {
            number: row[hop].parse().ok()?,
            host: row[host].to_owned(),
            loss_percent: row[loss].parse::<f64>().ok().filter(|loss| (0.0..=100.0).contains(loss))?,
            sent: probes(row[sent])?,
            average: milliseconds(row[average])?,
            best: milliseconds(row[best])?,
            worst: milliseconds(row[worst])?,
        })
    };
    let hubs: Vec<Hub> = rows.iter().map_while(hub).collect();
    let target = rows.first()?.get(target)?;
    Some(Found { shows: shown(target, &hubs)?, lines: 1 + hubs.len() })
}

/// How the titles of `mtr --csv` begin.
const CSV: &str = "Mtr_Version,";

fn hub_of_text(line: &str) -> Option<Hub> {
    let line = line.trim_start();
    // A report has `1.|-- host`, the screen `1. host`.
    let (number, rest) = line.split_once(".|--").or_else(|| line.split_once(". "))?;
    let number = number.trim().parse().ok()?;
    if rest.trim() == "(waiting for reply)" {
        let time = Duration::ZERO;
        let host = "???".to_owned();
        return Some(Hub { number, host, loss_percent: 100.0, sent: 1, average: time, best: time, worst: time });
    }
    // With -b the address stands behind the name.
    let words: Vec<&str> = rest.split_whitespace().filter(|word| !word.starts_with('(')).collect();
    // With -z the number of the autonomous system stands before it.
    let words = if words.first().is_some_and(|word| is_system(word)) { &words[1..] } else { &words };
    let [host, loss, sent, _, average, best, worst, ..] = *words else { return None };
    // From a second on the decimal is left out, and its point is not: the column is five wide.
    let time = |text: &str| milliseconds(text.trim_end_matches('.'));
    Some(Hub {
        number,
        host: host.to_owned(),
        // Of 100 the sign is left out: the column is five wide.
        loss_percent: loss
            .trim_end_matches('%')
            .replace(',', ".")
            .parse::<f64>()
            .ok()
            .filter(|loss| (0.0..=100.0).contains(loss))?,
        sent: probes(sent)?,
        average: time(average)?,
        best: time(best)?,
        worst: time(worst)?,
    })
}

/// The same without what stands behind the last RTT: that is the only one.
fn hub_of_cut(line: &str) -> Option<Hub> {
    let at = line.split_whitespace().position(|word| word.ends_with('%') && word.len() > 1)?;
    let words: Vec<&str> = line.split_whitespace().take(at + 3).collect();
    let last = *words.get(at + 2)?;
    // A number that lost its decimal may have lost a digit.
    let (_, decimals) = last.split_once('.')?;
    (decimals.len() == 1).then_some(())?;
    // Some print no bar behind the number of a hop.
    hub_of_text(&format!("{} {last} {last} {last}", words.join(" ")))
}

/// `-f 8`: the first hop that is probed.
fn first_hop(words: &[&str]) -> Option<usize> {
    let at = words.iter().position(|word| matches!(*word, "-f" | "--first-ttl"))?;
    words.get(at + 1)?.parse().ok().filter(|first| (1..=255).contains(first))
}

/// `AS64500 192.0.2.1 66.7% 30 2.0 3.3 1.7 12.1 3.1`, of all columns.
fn hub_without_number(line: &str, number: usize) -> Option<Hub> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let (system, columns) = words.split_first()?;
    let are_numbers = columns.get(1..)?.iter().all(|word| word.trim_end_matches(['%', '.']).parse::<f64>().is_ok());
    (is_system(system) && columns.len() == COLUMNS && are_numbers).then_some(())?;
    hub_of_text(&format!("{number}.|-- {line}"))
}

/// Host, loss, count and five times.
const COLUMNS: usize = 8;

/// Lines of titles before the first hop.
const MOST_TITLES: usize = 3;

/// `AS64500`, `AS???`.
fn is_system(word: &str) -> bool {
    let number = word.strip_prefix("AS").unwrap_or_default();
    number == "???" || (!number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
}

/// How many were sent: mtr counts in 32 bits (`sent`, ui/net.c).
fn probes(text: &str) -> Option<u64> {
    text.parse::<u32>().ok().map(u64::from)
}

impl Hub {
    fn lost(&self) -> u64 {
        #[expect(
            clippy::cast_precision_loss,
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "counts of probes"
        )]
        let lost = (self.sent as f64 * self.loss_percent / 100.0).round() as u64;
        lost.min(self.sent)
    }

    fn address(&self) -> Option<IpAddr> {
        self.host.trim_matches(['(', ')']).parse().ok()
    }

    /// Model: mtr prints sums; its answers are the best, the worst, and the average for all others. More than 255 probes
    /// of a hop are reduced in proportion.
    fn hop(&self, is_last: bool) -> Hop {
        let sent = u8::try_from(self.sent).unwrap_or(u8::MAX);
        let answered = (self.sent - self.lost()) * u64::from(sent) / self.sent.max(1);
        let report = (!is_last).then_some(ReportKind::TimeExceeded);
        let rtt = |index: u64| match index {
            0 => self.best,
            1 => self.worst,
            _ => self.average,
        };
        let answer = |index| HopAnswer { address: self.address(), rtt: rtt(index), report };
        Hop { number: self.number, sent, answers: (0..answered).map(answer).collect() }
    }
}

/// Whether the last hop has another address than the one that was asked for: the report was cut before its end.
fn is_another(target: &str, last: &Hub) -> bool {
    let Ok(asked) = target.parse::<IpAddr>() else { return false };
    let is_number = last.host.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    (is_number || last.address().is_some()) && last.address() != Some(asked)
}

/// The path, and what the last hop says of the whole of it: routers on the way may answer seldom and forward well.
fn shown(target: &str, hubs: &[Hub]) -> Option<Vec<Shown>> {
    let last = hubs.last()?;
    let subject = Subject { target: target.to_owned(), address: last.address(), started: WallTime::from_unix_nanos(0) };
    // Where nobody answered, the last line is `???`.
    let reached = !last.host.starts_with("???") && last.loss_percent < 100.0 && !is_another(target, last);
    let hops = hubs.iter().enumerate().map(|(at, hub)| hub.hop(at + 1 == hubs.len() && reached)).collect();
    let micros = |time: Duration| u64::try_from(time.as_micros()).ok().filter(|_| last.lost() < last.sent);
    let echoes = EchoSeries {
        subject: subject.clone(),
        spec: EchoSpec {
            count: u32::try_from(last.sent).unwrap_or(u32::MAX),
            interval: Duration::from_secs(1),
            ..EchoSpec::default()
        },
        outcome: Outcome::Complete,
        access: None,
        summary: EchoSummary {
            rtt: RttSummary {
                sent: PacketCount::new(last.sent),
                lost: PacketCount::new(last.lost()),
                min_us: micros(last.best),
                max_us: micros(last.worst),
                ..RttSummary::default()
            },
            ..EchoSummary::default()
        },
        probes: Vec::new(),
    };
    let end = if reached { TraceEnd::Destination } else { TraceEnd::Stopped };
    let trace = trace_as_printed(subject, HopsSpec::default(), end, hops);
    let mut shows = vec![Shown::Hops(trace)];
    if reached {
        shows.push(Shown::Echo(echoes));
    }
    Some(shows)
}
