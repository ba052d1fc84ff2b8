//! Packets as `tshark` prints them, a line each with its remarks: windows that are closed.

use units::ByteCount;

use super::counted::SmallWindow;
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

/// Reads acknowledgments that all have the same small receive window, as a list of packets shows them: no more than that is ever under way.
pub(crate) fn windows(lines: &[&str], _: &[&str], _: &mut Vec<String>) -> Option<Found> {
    let own: Vec<&&str> = lines.iter().take(MAX_PACKETS).take_while(|line| listed(line).is_some()).collect();
    let windows: Vec<(&str, &str, u64)> = own.iter().filter_map(|line| acknowledgment(line)).collect();
    let (from, to, window) = *windows.first()?;
    let same = windows.iter().filter(|other| (other.0, other.2) == (from, window)).count();
    // A scaled window is shown multiplied, and may be as small by chance for a moment.
    let is_small = (1_000..=65_535).contains(&window) && same >= 2 && same == windows.len();
    let fact = SmallWindow { from: from.to_owned(), to: to.to_owned(), window: ByteCount::new(window) };
    is_small.then(|| Found { shows: vec![Shown::Host(HostFact::SmallWindow(fact))], lines: own.len() })
}

/// The ends of a packet in a list of Wireshark: number, time, source, destination, `TCP`.
fn listed(line: &str) -> Option<(&str, &str)> {
    let mut words = line.split_whitespace();
    words.next()?.parse::<u32>().ok()?;
    words.next()?.parse::<f64>().ok()?;
    let ends = (words.next()?, words.next()?);
    (words.next()? == "TCP").then_some(ends)
}

fn acknowledgment(line: &str) -> Option<(&str, &str, u64)> {
    let (from, to) = listed(line)?;
    let (_, window) = line.split_once("[ACK]")?.1.split_once(" Win=")?;
    let (window, rest) = window.split_once(' ')?;
    rest.trim_start().starts_with("Len=0").then_some((from, to, window.parse().ok()?))
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
    fn a_window_that_is_small_all_the_time_is_seen() {
        let text = [
            " 8124  41.310024  10.44.1.20  10.0.3.15  TCP 1514 [TCP segment of a reassembled PDU]",
            " 8125  41.321408  10.0.3.15  10.44.1.20  TCP 60 microsoft-ds > 50211 [ACK] Seq=7741 Ack=6131921 Win=17520 Len=0",
            " 8128  41.321466  10.0.3.15  10.44.1.20  TCP 60 microsoft-ds > 50211 [ACK] Seq=7741 Ack=6134841 Win=17520 Len=0",
        ];
        let found = windows(&text, &[], &mut Vec::new()).expect("a window");
        let [Shown::Host(HostFact::SmallWindow(fact))] = found.shows.as_slice() else { panic!("{:?}", found.shows) };
        assert_eq!((fact.from.as_str(), fact.window.get(), found.lines), ("10.0.3.15", 17_520, 3));
        assert!(windows(&text[..2], &[], &mut Vec::new()).is_none(), "once");
    }

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
