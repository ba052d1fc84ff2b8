//! `ethtool` without an option: speed and duplex of the link.

use model::host::interface::driver::LinkMode;
use units::DataRate;

use crate::saved::Read;

/// `ethtool DEVICE`. Of its many lines those of the present mode are read; what is `Unknown!` is absent.
#[must_use]
pub fn read(text: &str) -> Read<LinkMode> {
    let mut read = Read::<LinkMode>::default();
    for (number, line) in (1..).zip(text.lines()) {
        let Some((name, value)) = line.split_once(':') else { continue };
        let value = value.trim();
        if value.starts_with("Unknown!") {
            continue;
        }
        let mode = &mut read.value;
        let is_read = match name.trim() {
            "Speed" => put(&mut mode.speed, speed(value)),
            "Duplex" => put(&mut mode.full_duplex, one_of(value, ["Half", "Full"])),
            "Auto-negotiation" => put(&mut mode.autonegotiation, one_of(value, ["off", "on"])),
            "Lanes" => put(&mut mode.lanes, value.parse().ok()),
            _ => continue,
        };
        if !is_read {
            read.note(number, format!("not a value of `{}`", name.trim()));
        }
    }
    read
}

fn put<T>(place: &mut Option<T>, value: Option<T>) -> bool {
    *place = value;
    place.is_some()
}

/// `100000Mb/s`: 10⁶ bits each.
fn speed(text: &str) -> Option<DataRate> {
    let megabits: u64 = text.strip_suffix("Mb/s")?.parse().ok()?;
    megabits.checked_mul(1_000_000).map(DataRate::from_bps)
}

fn one_of(text: &str, [no, yes]: [&str; 2]) -> Option<bool> {
    if text == yes { Some(true) } else { (text == no).then_some(false) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// ethtool 6.1 of a card with two ports, shortened.
    const TEXT: &str = "\
Settings for ens1f0:
\tSupported link modes:   10000baseT/Full
\t                        100000baseSR4/Full
\tAdvertised auto-negotiation: Yes
\tSpeed: 100000Mb/s
\tLanes: 4
\tDuplex: Full
\tAuto-negotiation: off
\tPort: FIBRE
\tLink detected: yes
";

    #[test]
    fn the_mode_in_use_is_read_among_those_that_could_be() {
        let read = read(TEXT);
        let expected = LinkMode {
            speed: Some(DataRate::from_bps(100_000_000_000)),
            full_duplex: Some(true),
            autonegotiation: Some(false),
            lanes: Some(4),
        };
        assert_eq!((read.value, read.unknown), (expected, vec![]));
    }

    #[test]
    fn what_the_link_does_not_know_is_absent_and_nonsense_is_told() {
        let down = read("Settings for eth0:\n\tSpeed: Unknown!\n\tDuplex: Unknown! (255)\n");
        assert_eq!((down.value, down.unknown), (LinkMode::default(), vec![]));
        let odd = read("\tSpeed: fast\n\tDuplex: 99999999999999999999Mb/s\n");
        assert_eq!(odd.unknown.iter().map(|(line, _)| *line).collect::<Vec<_>>(), [1, 2]);
    }
}
