//! NICs of Windows: `Get-NetAdapter`.

use units::DataRate;

use super::host_fact::{HostFact, LinkState};
use super::shown::{Found, Shown};
use crate::quantity::decimal;

/// Reads the table of `Get-NetAdapter`, or its list.
pub(crate) fn read(lines: &[&str], _: &[&str], _: &mut Vec<String>) -> Option<Found> {
    table(lines).or_else(|| list(lines))
}

/// Columns stand below their titles.
fn table(lines: &[&str]) -> Option<Found> {
    let titles = lines.first()?;
    let is_title = titles.trim_start().starts_with("Name ") && titles.contains("InterfaceDescription");
    let at = titles.find("LinkSpeed").filter(|_| is_title)?;
    lines.get(1)?.trim_start().starts_with("----").then_some(())?;
    let rows = lines[2..].iter().take(MAX_ROWS).take_while(|line| !line.trim().is_empty());
    let mut shows = Vec::new();
    let mut used = 2;
    for row in rows {
        // Of the columns only the two words of a rate are certain: names are cut with letters that are wider than a byte.
        let words: Vec<&str> = row.split_whitespace().collect();
        let Some(rate) = words.windows(2).rev().find_map(|words| rate([words[0], words[1]])) else { break };
        let device = row.split("  ").next().unwrap_or_default().trim().to_owned();
        if words.contains(&"Up") && row.len() >= at.min(ROW) {
            shows.push(Shown::Host(HostFact::Link(link(device, rate))));
        }
        used += 1;
    }
    (used > 2).then_some(Found { shows, lines: used })
}

/// `LinkSpeed : 100 Mbps` of `Get-NetAdapter | Format-List`, with the name above it.
fn list(lines: &[&str]) -> Option<Found> {
    let value = |line: &str, key: &str| {
        let (title, value) = line.split_once(" : ")?;
        (title.trim() == key).then(|| value.trim().to_owned())
    };
    let device = value(lines.first()?, "Name")?;
    let own = lines.iter().take(MAX_ROWS).take_while(|line| line.contains(" : "));
    let used = own.count();
    let speed = lines[..used].iter().find_map(|line| value(line, "LinkSpeed"))?;
    let (number, unit) = speed.split_once(' ')?;
    let shows = vec![Shown::Host(HostFact::Link(link(device, rate([number, unit])?)))];
    Some(Found { shows, lines: used })
}

fn link(device: String, rate: DataRate) -> LinkState {
    LinkState { device, is_up: true, rate: Some(rate), ..LinkState::default() }
}

fn rate([number, unit]: [&str; 2]) -> Option<DataRate> {
    let step = match unit {
        "bps" => 1,
        "Kbps" => 1_000,
        "Mbps" => 1_000_000,
        "Gbps" => 1_000_000_000,
        _ => return None,
    };
    decimal(number)?.times(step).map(DataRate::from_bps)
}

/// More than a host of virtual machines has.
const MAX_ROWS: usize = 100;
/// Of a row that was not cut.
const ROW: usize = 40;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nics_that_are_up_have_the_rate_of_their_link() {
        let text = "Name                      InterfaceDescription                    ifIndex Status       MacAddress             LinkSpeed\n\
                    ----                      --------------------                    ------- ------       ----------             ---------\n\
                    Ethernet                  Some (R) Connection (7) X219                 12 Up           00-11-22-33-44-55       100 Mbps\n\
                    Wi-Fi                     Some Wireless                                 7 Disconnected 00-11-22-33-44-56          0 bps\n\nprose";
        let lines: Vec<&str> = text.lines().collect();
        let found = read(&lines, &[], &mut Vec::new()).expect("adapters");
        let [Shown::Host(HostFact::Link(link))] = found.shows.as_slice() else { panic!("{:?}", found.shows) };
        assert_eq!(
            (link.device.as_str(), link.rate.map(DataRate::bps), found.lines),
            ("Ethernet", Some(100_000_000), 4)
        );
        assert!(read(&["Name  LinkSpeed", "prose"], &[], &mut Vec::new()).is_none());
    }
}
