//! Packets as `tshark` prints them, a line each with its remarks: windows that are closed.

use super::host_fact::{ClosedWindow, HostFact};
use super::shown::{Found, Shown};

/// Reads packets that follow each other, of which several say that a receiver has no room (`[TCP ZeroWindow]`).
pub(crate) fn read(lines: &[&str], _: &[&str], _: &mut Vec<String>) -> Option<Found> {
    let packets: Vec<Packet<'_>> = lines.iter().take(MAX_PACKETS).map_while(|line| Packet::of(line)).collect();
    let closed = packets.iter().find(|packet| packet.is_closed)?;
    let times = packets.iter().filter(|packet| packet.is_closed && packet.from == closed.from).count();
    let fact = ClosedWindow {
        from: closed.from.to_owned(),
        to: closed.to.to_owned(),
        times: u64::try_from(times).ok()?,
        packets: u64::try_from(packets.len()).ok()?,
    };
    (times >= FEWEST).then_some(Found { shows: vec![Shown::Host(HostFact::ClosedWindow(fact))], lines: packets.len() })
}

/// A capture of a minute at a gigabit has more, and nobody pastes it.
const MAX_PACKETS: usize = 100_000;
/// A window that is closed once or twice opens again.
const FEWEST: usize = 3;

struct Packet<'a> {
    from: &'a str,
    to: &'a str,
    /// Whether its window is zero.
    is_closed: bool,
}

impl<'a> Packet<'a> {
    /// `  3   0.000006 192.0.2.9 -> 192.0.2.7 TCP [TCP ZeroWindow] nfs > 997 [ACK] Seq=1 Ack=1 Win=0 Len=0`.
    fn of(line: &'a str) -> Option<Self> {
        let mut words = line.split_whitespace();
        words.next()?.parse::<u32>().ok()?;
        words.next()?.parse::<f64>().ok()?;
        let from = words.next()?;
        matches!(words.next()?, "->" | "\u{2192}").then_some(())?;
        let to = words.next()?;
        Some(Self { from, to, is_closed: line.contains("[TCP ZeroWindow]") })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_that_stays_closed_is_seen() {
        let packet = |number: u32, remark: &str| {
            format!(
                "  {number}   0.00000{number} 192.0.2.9 \u{2192} 192.0.2.7 TCP 66 {remark} 2049 \u{2192} 997 [ACK] Seq=1 Ack=1 Win=0 Len=0"
            )
        };
        let text: Vec<String> = (1..5).map(|number| packet(number, "[TCP ZeroWindow]")).collect();
        let lines: Vec<&str> = text.iter().map(String::as_str).chain(["prose"]).collect();
        let found = read(&lines, &[], &mut Vec::new()).expect("closed");
        let [Shown::Host(HostFact::ClosedWindow(fact))] = found.shows.as_slice() else { panic!("{:?}", found.shows) };
        assert_eq!((fact.from.as_str(), fact.to.as_str(), fact.times, found.lines), ("192.0.2.9", "192.0.2.7", 4, 4));
        assert!(read(&lines[2..], &[], &mut Vec::new()).is_none(), "twice");
    }
}
