//! Packets of one connection as `tcpdump` prints them, in the form of today and in that of before 4.0: a time in which it stood still.

use std::time::Duration;

use super::host_fact::{HostFact, StoodStill};
use super::shown::{Found, Shown};
use crate::quantity::seconds;

/// Reads packets that follow each other, where one connection among them had data under way and nothing moved for seconds.
pub(crate) fn read(lines: &[&str], _: &[&str], _: &mut Vec<String>) -> Option<Found> {
    let packets: Vec<Packet<'_>> = lines.iter().take(MAX_PACKETS).map_while(|line| Packet::of(line)).collect();
    let first = packets.first().filter(|_| packets.len() >= FEWEST)?;
    let of_connection = packets.iter().filter(|packet| packet.ends() == first.ends());
    let fact = stood_still(&of_connection.collect::<Vec<_>>())?;
    Some(Found { shows: vec![Shown::Host(HostFact::StoodStill(fact))], lines: packets.len() })
}

/// A capture of a minute at a gigabit has more, and nobody pastes it.
const MAX_PACKETS: usize = 100_000;
/// Fewer packets are an example.
const FEWEST: usize = 6;

/// The longest time without a packet in which data was under way, and after which the first of it was sent again.
fn stood_still(packets: &[&Packet<'_>]) -> Option<StoodStill> {
    let mut longest: Option<StoodStill> = None;
    let mut flights: Vec<Flight<'_>> = Vec::new();
    for (number, packet) in packets.iter().enumerate() {
        let silent = number.checked_sub(1).map_or(Duration::ZERO, |last| packet.at.saturating_sub(packets[last].at));
        let own = flights.iter().position(|flight| flight.from == packet.from).unwrap_or_else(|| {
            flights.push(Flight { from: packet.from, sent_to: 0, acked_to: 0, again: 0 });
            flights.len() - 1
        });
        if let Some((start, end)) = packet.span {
            let flight = &mut flights[own];
            let is_again = end <= flight.sent_to;
            let waits = flight.sent_to.saturating_sub(flight.acked_to.max(start));
            if is_again && silent >= LONG && waits > 0 && longest.as_ref().is_none_or(|known| known.silent < silent) {
                longest = Some(StoodStill {
                    from: host(packet.from).to_owned(),
                    to: host(packet.to).to_owned(),
                    silent,
                    unacknowledged: waits,
                    again: flight.again,
                });
            }
            flight.again += u64::from(is_again);
            flight.sent_to = flight.sent_to.max(end);
        }
        if let Some(ack) = packet.ack
            && let Some(flight) = flights.iter_mut().find(|flight| flight.from == packet.to)
        {
            flight.acked_to = flight.acked_to.max(ack);
        }
    }
    longest
}

/// No timer that runs for the first time takes so long.
const LONG: Duration = Duration::from_secs(3);

/// What one end has sent and was acknowledged.
struct Flight<'a> {
    from: &'a str,
    sent_to: u64,
    acked_to: u64,
    again: u64,
}

/// `192.0.2.1` of `192.0.2.1.5201`.
fn host(endpoint: &str) -> &str {
    endpoint.rsplit_once('.').map_or(endpoint, |(host, _)| host)
}

struct Packet<'a> {
    /// Time of the day.
    at: Duration,
    from: &'a str,
    to: &'a str,
    /// From the first byte of payload to that behind the last.
    span: Option<(u64, u64)>,
    ack: Option<u64>,
}

impl<'a> Packet<'a> {
    /// `16:02:09.445650 IP a.57798 > b.3632: Flags [.], seq 95409:96833, ack 1, …`, `16:02:09.445650 a.57798 > b.3632: . 95409:96833(1424) ack 1 …`.
    fn of(line: &'a str) -> Option<Self> {
        let (clock, rest) = line.trim().split_once(' ')?;
        let at = time_of_day(clock)?;
        let (from, rest) = rest.split_once(" > ")?;
        let from = from.strip_prefix("IP6 ").or_else(|| from.strip_prefix("IP ")).unwrap_or(from);
        let (to, rest) = rest.split_once(": ")?;
        (!from.contains(' ') && !to.contains(' ')).then_some(())?;
        let words: Vec<&str> = rest.split_whitespace().collect();
        // Options have numbers with colons as well.
        let span = words.iter().take(4).find_map(|word| span(word));
        let ack =
            words.windows(2).find(|pair| pair[0] == "ack").and_then(|pair| pair[1].trim_end_matches(',').parse().ok());
        (span.is_some() || ack.is_some()).then_some(Self { at, from, to, span, ack })
    }

    /// Both ends, whichever sends.
    fn ends(&self) -> [&'a str; 2] {
        if self.from <= self.to { [self.from, self.to] } else { [self.to, self.from] }
    }
}

/// `95409:96833(1424)`, `95409:96833,`.
fn span(word: &str) -> Option<(u64, u64)> {
    let (start, end) = word.trim_end_matches(',').split_once(':')?;
    let end = end.split('(').next()?;
    let (start, end) = (start.parse().ok()?, end.parse().ok()?);
    (start < end).then_some((start, end))
}

fn time_of_day(clock: &str) -> Option<Duration> {
    let parts: Vec<&str> = clock.split(':').collect();
    let [hours, minutes, rest] = *parts.as_slice() else { return None };
    let whole = |text: &str| text.parse::<u64>().ok().filter(|number| text.len() == 2 && *number < 60);
    seconds(rest)?.checked_add(Duration::from_secs(whole(hours)? * 3600 + whole(minutes)? * 60))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Option<StoodStill> {
        let lines: Vec<&str> = text.lines().collect();
        let found = read(&lines, &[], &mut Vec::new())?;
        let [Shown::Host(HostFact::StoodStill(fact))] = found.shows.as_slice() else { panic!("{:?}", found.shows) };
        Some(fact.clone())
    }

    /// Seven packets of a connection, of which the last is sent after `clock`.
    fn connection(clock: &str) -> String {
        format!(
            "10:00:00.000100 IP a.example.4000 > b.example.80: Flags [.], seq 1:1449, ack 1, win 229, length 1448\n\
             10:00:00.000200 IP a.example.4000 > b.example.80: Flags [.], seq 1449:2897, ack 1, win 229, length 1448\n\
             10:00:00.000300 IP a.example.4000 > b.example.80: Flags [P.], seq 2897:4345, ack 1, win 229, length 1448\n\
             10:00:00.010100 IP b.example.80 > a.example.4000: Flags [.], ack 1449, win 501, length 0\n\
             10:00:00.010200 IP b.example.80 > a.example.4000: Flags [.], ack 1449, win 501, options [sack 1 {{2897:4345}}], length 0\n\
             10:00:00.220000 IP a.example.4000 > b.example.80: Flags [.], seq 1449:2897, ack 1, win 229, length 1448\n\
             {clock} IP a.example.4000 > b.example.80: Flags [.], seq 1449:2897, ack 1, win 229, length 1448\n"
        )
    }

    #[test]
    fn a_connection_that_waits_for_its_own_timer_stood_still() {
        let fact = found(&connection("10:00:31.220000")).expect("it stood still");
        assert_eq!((fact.from.as_str(), fact.to.as_str(), fact.silent.as_secs()), ("a.example", "b.example", 31));
        assert_eq!((fact.unacknowledged, fact.again), (2_896, 1));
        let old = connection("10:00:31.220000")
            .replace("IP ", "")
            .replace("Flags [.], seq ", ". ")
            .replace("Flags [P.], seq ", "P ")
            .replace(", ack 1, win 229, length 1448", "(1448) ack 1 win 229");
        assert!(found(&old).is_some_and(|old| old == fact), "{old}");
    }

    #[test]
    fn a_connection_that_was_idle_or_waited_for_less_did_not() {
        assert_eq!(found(&connection("10:00:00.640000")), None);
        let idle = connection("10:00:31.220000").replace("ack 1449", "ack 4345").replace(
            "10:00:31.220000 IP a.example.4000 > b.example.80: Flags [.], seq 1449:2897",
            "10:00:31.220000 IP a.example.4000 > b.example.80: Flags [.], seq 4345:5793",
        );
        assert_eq!(found(&idle), None);
    }
}
