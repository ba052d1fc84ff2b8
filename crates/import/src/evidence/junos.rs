//! Ports of Juniper routers and switches: `show interfaces extensive`, whole or as `match` leaves its lines.

use super::host_fact::{ErrorsOfKind, HostFact, PortErrors};
use super::shown::{Found, Shown};

/// Reads from `Physical interface: ge-4/1/0, Enabled, Physical link is Up` over all ports that follow: what each counted of bad frames
/// that came in.
pub(crate) fn read(lines: &[&str], _: &[&str], _: &mut Vec<String>) -> Option<Found> {
    port(lines.first()?)?;
    let mut shows = Vec::new();
    let mut open: Option<PortErrors> = None;
    let mut used = 0;
    for (number, line) in lines.iter().enumerate().take(MAX_LINES) {
        let text = line.trim();
        if let Some(name) = port(line) {
            shows.extend(open.take().and_then(shown));
            open = Some(PortErrors { port: name.to_owned(), errors: 0, kinds: Vec::new(), packets: None });
            used = number + 1;
            continue;
        }
        let Some(current) = &mut open else { break };
        if text.is_empty() || text == "--" {
            continue;
        }
        // A whole output has far more lines than those with numbers that matter.
        if !counts(text, current) && !is_detail(line) {
            break;
        }
        used = number + 1;
    }
    shows.extend(open.take().and_then(shown));
    (used > 1).then_some(Found { shows, lines: used })
}

/// Reads what `match` leaves of one port, whose name is in the command: `noc@fra> show interfaces xe-0/1/2 extensive | match error`.
pub(crate) fn matched(lines: &[&str], before: &[&str], _: &mut Vec<String>) -> Option<Found> {
    let name = asked(before.iter().rev().find(|line| !line.trim().is_empty())?)?;
    let mut port = PortErrors { port: name.to_owned(), errors: 0, kinds: Vec::new(), packets: None };
    let own = lines.iter().take(MAX_LINES).take_while(|line| port_line(line, &mut port));
    let used = own.count();
    let shows: Vec<Shown> = shown(port).into_iter().collect();
    (used > 0 && !shows.is_empty()).then_some(Found { shows, lines: used })
}

/// The port of `show interfaces xe-0/1/2 extensive`.
fn asked(line: &str) -> Option<&str> {
    let rest = line.split_once("show interfaces ")?.1;
    let name = rest.split_whitespace().next().filter(|name| name.contains('-') && name.contains('/'))?;
    (rest.contains("extensive") && name.len() <= LONGEST_NAME).then_some(name)
}

/// Whether a line is one of a port, which has numbers or is further in than a prompt.
fn port_line(line: &str, current: &mut PortErrors) -> bool {
    // The line of errors that came in is first; a second one is of those that went out.
    counts(line.trim(), current) || (is_detail(line) && self::port(line).is_none())
}

/// A chassis has a thousand ports of eighty lines.
const MAX_LINES: usize = 100_000;

fn port(line: &str) -> Option<&str> {
    let (name, rest) = line.trim().strip_prefix("Physical interface: ")?.split_once(", ")?;
    (rest.contains("hysical link is ") && name.len() <= LONGEST_NAME && !name.contains(' ')).then_some(name)
}

const LONGEST_NAME: usize = 40;

fn shown(port: PortErrors) -> Option<Shown> {
    (port.errors > 0).then_some(Shown::Host(HostFact::Port(port)))
}

/// Any other line of a port stands in from the margin, as no prompt does.
fn is_detail(line: &str) -> bool {
    line.starts_with("  ") && !line.contains("> ")
}

/// `Errors: 936427, Drops: 0, Framing errors: 0, …`, `Input  packets:             1234                    0 pps`; whether it is one of them.
fn counts(text: &str, port: &mut PortErrors) -> bool {
    let packets = text.strip_prefix("Input").and_then(|rest| rest.trim_start().strip_prefix("packets:"));
    if let Some(packets) = packets.and_then(|packets| packets.split_whitespace().next()?.parse().ok()) {
        port.packets.get_or_insert(packets);
        return true;
    }
    // Those that went out begin with carrier transitions.
    let Some((errors, kinds)) = text.strip_prefix("Errors: ").and_then(|counts| counts.split_once(", ")) else {
        return false;
    };
    let Ok(errors) = errors.parse() else { return false };
    let kind = |part: &str| {
        let (kind, count) = part.trim().rsplit_once(": ")?;
        Some(ErrorsOfKind { kind: kind.to_owned(), count: count.trim_end_matches(',').parse().ok()? })
    };
    port.errors = errors;
    port.kinds = kinds.split(", ").filter_map(kind).filter(|kind| kind.count > 0).collect();
    port.kinds.sort_by_key(|kind| std::cmp::Reverse(kind.count));
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_port_with_errors_has_their_kinds() {
        let text = "    Physical interface: xe-0/0/1, Enabled, Physical link is Up\n      Input  packets:              9000000                  100 pps\n      \
                    Input errors:\n        Errors: 812, Drops: 3, Framing errors: 809, Runts: 0, L3 incompletes: 0\n      Output errors:\n        \
                    Carrier transitions: 1, Errors: 77, Drops: 0\n    Physical interface: xe-0/0/2, Enabled, Physical link is Up\n        \
                    Errors: 0, Drops: 0, Framing errors: 0\n    --\n    Physical interface: xe-0/0/3, Enabled, Physical link is Down\nprose\n";
        let lines: Vec<&str> = text.lines().collect();
        let found = read(&lines, &[], &mut Vec::new()).expect("three ports");
        let [Shown::Host(HostFact::Port(port))] = found.shows.as_slice() else { panic!("{:?}", found.shows) };
        assert_eq!((port.port.as_str(), port.errors, port.packets), ("xe-0/0/1", 812, Some(9_000_000)));
        assert_eq!(port.kinds[0], ErrorsOfKind { kind: "Framing errors".to_owned(), count: 809 });
        assert_eq!(found.lines, 10);
        assert!(read(&lines[1..], &[], &mut Vec::new()).is_none(), "no port");
        let command = "noc@edge1> show interfaces xe-0/0/1 extensive | match \"packets|error\"";
        let alone = matched(&lines[1..4], &[command], &mut Vec::new()).expect("a port");
        assert_eq!(alone.shows, found.shows);
        assert!(matched(&lines[1..4], &["$ cat errors"], &mut Vec::new()).is_none());
    }
}
