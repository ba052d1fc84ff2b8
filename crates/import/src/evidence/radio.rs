//! Radio links of Wi-Fi: `iw dev DEVICE link`, `iwconfig`, `netsh wlan show interfaces`, `airport -I` of macOS.

use super::counted::RadioLink;
use super::host_fact::HostFact;
use super::shown::{Found, Shown};
use crate::quantity::{decimal, megabits};

/// Reads from the line that each of them begins with to the last one that belongs to it.
pub(crate) fn read(lines: &[&str], _: &[&str], _: &mut Vec<String>) -> Option<Found> {
    let first = lines.first()?;
    let mut link = RadioLink { device: begins(first)?, ..RadioLink::default() };
    let mut used = 1;
    take(&mut link, first);
    for line in lines[1..].iter().take(MAX_LINES) {
        let text = line.trim();
        let goes_on =
            !text.is_empty() && (line.starts_with([' ', '\t']) || text.contains(':')) && begins(line).is_none();
        if !goes_on {
            break;
        }
        take(&mut link, line);
        used += 1;
    }
    let is_known = link.signal_dbm.is_some() || link.quality.is_some() || link.receive.is_some() || link.send.is_some();
    is_known.then_some(Found { shows: vec![Shown::Host(HostFact::Radio(link))], lines: used })
}

/// The device, where the line is the first of an output; empty where it is not named.
fn begins(line: &str) -> Option<String> {
    let text = line.trim();
    if let Some((_, rest)) = text.strip_prefix("Connected to ").and_then(|rest| rest.split_once("(on ")) {
        return rest.strip_suffix(')').filter(|device| is_device(device)).map(str::to_owned);
    }
    if let Some((_, rest)) = text.strip_prefix("Station ").and_then(|rest| rest.split_once("(on ")) {
        return rest.strip_suffix(')').filter(|device| is_device(device)).map(str::to_owned);
    }
    if text.starts_with("agrCtlRSSI:") {
        return Some(String::new());
    }
    if let Some((_, name)) = text.split_once(':').filter(|(title, _)| title.trim() == "Name") {
        // `netsh` prints `Name : Wi-Fi` first, and a driver's description below.
        let name = name.trim();
        return (!name.is_empty() && name.len() <= 32 && line.starts_with("    ")).then(|| name.to_owned());
    }
    let device = text.split_whitespace().next()?;
    (text.contains("IEEE 802.11") && is_device(device)).then(|| device.to_owned())
}

/// As the kernel has them (`dev_valid_name`, net/core/dev.c).
fn is_device(name: &str) -> bool {
    (1..=15).contains(&name.len()) && !name.contains(['/', ':', ' '])
}

/// What a line says of the link.
fn take(link: &mut RadioLink, line: &str) {
    let value = |names: &[&str]| {
        names.iter().find_map(|name| {
            let rest = line.split_once(name)?.1.trim_start().strip_prefix([':', '='])?;
            Some(rest.split_whitespace().next()?.trim_end_matches(['%', ',']))
        })
    };
    let signal = value(&["signal", "Signal level", "agrCtlRSSI"]).and_then(|text| text.parse::<i32>().ok());
    link.signal_dbm = signal.filter(|signal| (-120..0).contains(signal)).or(link.signal_dbm);
    let quality = value(&["Link Quality"]).and_then(part).or_else(|| {
        let percent = line.trim_end().strip_suffix('%')?;
        percent.trim_start().starts_with("Signal").then(|| percent.rsplit_once(':')?.1.trim().parse().ok())?
    });
    link.quality = quality.filter(|quality| *quality <= 100).or(link.quality);
    let rate = |names: &[&str]| value(names).and_then(megabits).filter(|rate| !rate.is_zero());
    link.receive = rate(&["rx bitrate", "Receive rate (Mbps)"]).or(link.receive);
    link.send = rate(&["tx bitrate", "Bit Rate", "Transmit rate (Mbps)", "lastTxRate"]).or(link.send);
}

/// `31/70` of hundred.
fn part(text: &str) -> Option<u32> {
    let (part, whole) = text.split_once('/')?;
    let [part, whole] = [part, whole].map(|number| decimal(number).and_then(|number| number.times(1)));
    u32::try_from(part?.checked_mul(100)?.checked_div(whole?)?).ok()
}

/// `netsh` prints two dozen.
const MAX_LINES: usize = 40;

#[cfg(test)]
mod tests {
    use units::DataRate;

    use super::*;

    fn link(text: &str) -> Option<RadioLink> {
        let lines: Vec<&str> = text.lines().collect();
        match read(&lines, &[], &mut Vec::new())?.shows.as_slice() {
            [Shown::Host(HostFact::Radio(link))] => Some(link.clone()),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn each_system_says_how_good_its_link_is() {
        let iw = "Connected to 02:00:00:00:00:01 (on wlan0)\n\tSSID: lab\n\tfreq: 2437\n\tsignal: -79 dBm\n\trx bitrate: 13.0 MBit/s MCS 1\n\t\
                  tx bitrate: 6.5 MBit/s MCS 0";
        let iwconfig = "wlan0     IEEE 802.11  ESSID:\"lab\"  \n          Mode:Managed  Frequency:2.437 GHz  Access Point: 02:00:00:00:00:01\n\
                        \x20         Bit Rate=6.5 Mb/s   Tx-Power=22 dBm   \n          Link Quality=31/70  Signal level=-79 dBm  \n";
        let netsh = "    Name                   : Wi-Fi\n    Radio type             : 802.11n\n    Receive rate (Mbps)    : 13\n    Transmit rate \
                     (Mbps)   : 6.5\n    Signal                 : 42%\n    Profile                : lab";
        let airport = "     agrCtlRSSI: -79\n     agrExtRSSI: 0\n    agrCtlNoise: -91\n          state: running\n     lastTxRate: 13\n";
        let [iw, iwconfig, netsh, airport] = [iw, iwconfig, netsh, airport].map(|text| link(text).expect(text));
        let megabits = |rate: Option<DataRate>| rate.map(|rate| rate.bps() / 100_000);
        assert_eq!(
            (iw.device.as_str(), iw.signal_dbm, megabits(iw.receive), megabits(iw.send)),
            ("wlan0", Some(-79), Some(130), Some(65))
        );
        assert_eq!((iwconfig.signal_dbm, iwconfig.quality, megabits(iwconfig.send)), (Some(-79), Some(44), Some(65)));
        assert_eq!(
            (netsh.device.as_str(), netsh.quality, megabits(netsh.receive), megabits(netsh.send)),
            ("Wi-Fi", Some(42), Some(130), Some(65))
        );
        assert_eq!((airport.signal_dbm, megabits(airport.send)), (Some(-79), Some(130)));
        assert_eq!(link("Name: somebody\nSignal: none"), None);
    }
}
