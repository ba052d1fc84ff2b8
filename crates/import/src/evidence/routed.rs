//! Which interface packets leave by, as `route -n get` of macOS and BSD prints it, and what that interface is.

use super::counted::OutgoingDevice;
use super::host_fact::HostFact;
use super::shown::{Found, Shown};

/// Reads `route to: HOST` and the lines below it. What its device is, and which other one has no link, stands near in other outputs.
pub(crate) fn read(lines: &[&str], before: &[&str], _: &mut Vec<String>) -> Option<Found> {
    let to = lines.first()?.trim().strip_prefix("route to: ")?.to_owned();
    let block = lines.iter().take(MOST_LINES);
    let (at, device) =
        block.enumerate().find_map(|(at, line)| Some((at, line.trim().strip_prefix("interface: ")?.to_owned())))?;
    let near = || before[before.len().saturating_sub(NEAR)..].iter().chain(lines.iter().take(NEAR));
    let all: Vec<&str> = near().copied().collect();
    let port = all.windows(2).find_map(|pair| {
        let name = pair[0].trim().strip_prefix("Hardware Port: ")?;
        (pair[1].trim() == format!("Device: {device}")).then(|| name.to_owned())
    });
    let inactive = all.iter().position(|line| line.trim() == "status: inactive").and_then(|at| idle_device(&all[..at]));
    let shows = OutgoingDevice { to, device, port, inactive: inactive.filter(|other| !other.is_empty()) };
    Some(Found { shows: vec![Shown::Host(HostFact::Outgoing(shows))], lines: at + 1 })
}

/// The device of the `ifconfig` whose lines end here.
fn idle_device(before: &[&str]) -> Option<String> {
    before.iter().rev().take(MOST_LINES).find_map(|line| {
        if let Some((name, _)) = line.split_once(": flags=") {
            return Some(name.trim().to_owned());
        }
        let (_, command) = line.split_once("ifconfig ")?;
        command.split_whitespace().next().map(str::to_owned)
    })
}

const MOST_LINES: usize = 12;
const NEAR: usize = 30;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_device_of_a_route_has_the_name_of_its_port() {
        let text = "   route to: 10.4.1.20\ndestination: 10.4.1.20\n  interface: en0\n% networksetup -listallhardwareports\nHardware Port: Dock\nDevice: \
                    en7\n--\nHardware Port: Wi-Fi\nDevice: en0\n% ifconfig en7 | tail -3\n\tmedia: autoselect (none)\n\tstatus: inactive";
        let lines: Vec<&str> = text.lines().collect();
        let found = read(&lines, &[], &mut Vec::new()).unwrap();
        let Some(Shown::Host(HostFact::Outgoing(one))) = found.shows.first() else { panic!("{:?}", found.shows) };
        assert_eq!(
            (one.device.as_str(), one.port.as_deref(), one.inactive.as_deref()),
            ("en0", Some("Wi-Fi"), Some("en7"))
        );
        assert_eq!(found.lines, 3);
    }
}
