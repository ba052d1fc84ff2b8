//! `ethtool DEVICE`, `ethtool -g`, `ethtool -k`, and what drivers of NICs write into the kernel's log.

use std::time::Duration;

use units::DataRate;

use super::host_fact::{BusRate, Duplex, HostFact, LinkState, LroState, RingSizes};
use super::shown::{Found, Shown, command_above};
use crate::quantity::{decimal, seconds};

/// Reads `Settings for eth0:` and the lines below, or `Speed: 100Mb/s` and the lines below alone.
pub(crate) fn settings(lines: &[&str], before: &[&str], _: &mut Vec<String>) -> Option<Found> {
    let first = lines.first()?.trim();
    let named = first.strip_prefix("Settings for ").map(|name| name.trim_end_matches(':').to_owned());
    (named.is_some() || first.starts_with("Speed: ") || first.starts_with("Duplex: ")).then_some(())?;
    let device = named.clone().or_else(|| device_above(before));
    let mut link = LinkState { device: device.unwrap_or_default(), is_up: true, ..LinkState::default() };
    let mut used = usize::from(named.is_some());
    let mut modes = LinkModes::default();
    for line in lines[used..].iter().take(MAX_SETTINGS) {
        let text = line.trim();
        // A setting stands in from the margin; a list of modes goes on without a colon.
        if text.is_empty() || !line.starts_with([' ', '\t']) {
            break;
        }
        modes.line(text);
        match text.split_once(": ").map(|(key, value)| (key, value.trim())) {
            Some(("Speed", value)) => link.rate = rate_in(value),
            Some(("Duplex", value)) => link.duplex = duplex_in(&value.to_lowercase()),
            Some(("Auto-negotiation", value)) => link.negotiates = Some(value == "on"),
            Some(("Link detected", value)) => link.is_up = value != "no",
            _ => {}
        }
        used += 1;
    }
    link.possible = modes.of_both();
    link.supported = most_of(&modes.supported);
    link.offered = most_of(&modes.own);
    link.offered_by_partner = most_of(&modes.partner);
    (link.rate.is_some() || link.duplex.is_some()).then(|| found(HostFact::Link(link), used))
}

/// Rates in Mbit/s that both ends of a link advertise.
#[derive(Default)]
struct LinkModes {
    supported: Vec<u64>,
    own: Vec<u64>,
    partner: Vec<u64>,
    /// The list that a line without a title goes on with.
    list: Option<ModeList>,
}

#[derive(Clone, Copy)]
enum ModeList {
    Supported,
    Own,
    Partner,
}

impl LinkModes {
    fn line(&mut self, text: &str) {
        let (title, values) = text.split_once(':').map_or((None, text), |(title, values)| (Some(title), values));
        match title {
            Some("Supported link modes") => self.list = Some(ModeList::Supported),
            Some("Advertised link modes") => self.list = Some(ModeList::Own),
            Some("Link partner advertised link modes") => self.list = Some(ModeList::Partner),
            Some(_) => self.list = None,
            None => {}
        }
        let list = match self.list {
            Some(ModeList::Supported) => &mut self.supported,
            Some(ModeList::Own) => &mut self.own,
            Some(ModeList::Partner) => &mut self.partner,
            None => return,
        };
        list.extend(values.split_whitespace().filter_map(|mode| mode.split_once("base")?.0.parse::<u64>().ok()));
    }

    fn of_both(&self) -> Option<DataRate> {
        let of_both: Vec<u64> = self.own.iter().copied().filter(|rate| self.partner.contains(rate)).collect();
        most_of(&of_both)
    }
}

/// The highest of some rates in Mbit/s.
fn most_of(rates: &[u64]) -> Option<DataRate> {
    rates.iter().max()?.checked_mul(1_000_000).map(DataRate::from_bps)
}

/// Modes of a link of 400 Gbit/s are a hundred lines.
const MAX_SETTINGS: usize = 300;

/// Reads `Ring parameters for eth0:` with both lists.
pub(crate) fn rings(lines: &[&str], _: &[&str], _: &mut Vec<String>) -> Option<Found> {
    let device = lines.first()?.trim().strip_prefix("Ring parameters for ")?.trim_end_matches(':').to_owned();
    let (mut most, mut now) = ([None; 2], [None; 2]);
    let mut is_now = false;
    let mut used = 1;
    for line in lines[1..].iter().take(MAX_RINGS) {
        let text = line.trim();
        if text.starts_with("Current hardware settings") {
            is_now = true;
        } else if let Some((key, value)) = text.split_once(':') {
            let list = if is_now { &mut now } else { &mut most };
            let value = value.trim().parse::<u32>().ok();
            match key {
                "RX" => list[0] = value,
                "TX" => list[1] = value,
                _ => {}
            }
        } else {
            break;
        }
        used += 1;
    }
    let both = |at: usize| now[at].zip(most[at]);
    let rings = RingSizes { device, receive: both(0), send: both(1) };
    (rings.receive.is_some() || rings.send.is_some()).then(|| found(HostFact::Rings(rings), used))
}

/// Both lists with all their titles.
const MAX_RINGS: usize = 40;

/// Reads lines of `ethtool -k`, of which that of LRO says something.
pub(crate) fn features(lines: &[&str], before: &[&str], _: &mut Vec<String>) -> Option<Found> {
    let first = lines.first()?.trim();
    let named = first.strip_prefix("Features for ").map(|name| name.trim_end_matches(':').to_owned());
    let is_feature = |line: &&&str| {
        line.trim().split_once(": ").is_some_and(|(name, value)| {
            let state = value.split(' ').next();
            !name.contains(' ') && name.contains('-') && matches!(state, Some("on" | "off"))
        })
    };
    let titles = usize::from(named.is_some());
    let used = titles + lines[titles..].iter().take(MAX_FEATURES).take_while(is_feature).count();
    let lro = lines[titles..used].iter().find_map(|line| line.trim().strip_prefix("large-receive-offload: "))?;
    let device = named.or_else(|| device_above(before)).unwrap_or_default();
    let shows =
        if lro.starts_with("on") { vec![Shown::Host(HostFact::Lro(LroState::On { device }))] } else { Vec::new() };
    Some(Found { shows, lines: used })
}

/// The kernel has 64 features.
const MAX_FEATURES: usize = 200;

/// The device that the command above names: `ethtool -k em1 | grep lro`.
fn device_above(before: &[&str]) -> Option<String> {
    let words = command_above(before, "ethtool")?;
    words.iter().find(|word| !word.starts_with('-')).map(|word| (*word).to_owned())
}

/// Reads one line of the kernel's log, with or without its stamp: a link that came up or went down, what the bus carries, LRO.
pub(crate) fn kernel_log(lines: &[&str], _: &[&str], _: &mut Vec<String>) -> Option<Found> {
    let line = lines.first()?.trim();
    (line.len() <= LONGEST).then_some(())?;
    let (at, text) = uptime(line).map_or((None, line), |(at, text)| (Some(at), text));
    let fact = link(text, at).map(HostFact::Link).or_else(|| bus(text).map(HostFact::Bus));
    fact.or_else(|| lro(text).map(HostFact::Lro)).map(|fact| found(fact, 1))
}

/// The kernel breaks longer ones.
const LONGEST: usize = 1_000;

/// `[ 7713.201114] ` before a line of the kernel's log.
pub(crate) fn uptime(line: &str) -> Option<(Duration, &str)> {
    let (stamp, text) = line.trim_start().strip_prefix('[')?.split_once(']')?;
    let (_, fraction) = stamp.split_once('.')?;
    (fraction.len() == 6).then_some(())?;
    Some((seconds(stamp.trim())?, text.trim_start()))
}

/// `ixgbe 0000:03:00.0 enp3s0: NIC Link is Up 10 Gbps, Flow Control: None`, `eth0: Link is up at 100 Mbps, half duplex`,
/// `enp2s0: Link is Up - 1Gbps/Full - flow control rx/tx`.
fn link(text: &str, at: Option<Duration>) -> Option<LinkState> {
    // ASCII letters alone change, so that places stay.
    let lower = text.to_ascii_lowercase();
    // `smsc95xx 1-1.1:1.0 eth0: link up, 100Mbps, full-duplex, lpa 0xCDE1` (`mii_check_media`, drivers/net/mii.c).
    let marks = ["link is ", ": link "].into_iter();
    let (place, mark) = marks.filter_map(|mark| Some((lower.find(mark)?, mark))).next()?;
    let state = &lower[place + mark.len()..];
    let is_up = state.starts_with("up");
    (is_up || state.starts_with("down")).then_some(())?;
    let words: Vec<&str> = text[..place].split_whitespace().filter(|word| !word.eq_ignore_ascii_case("NIC")).collect();
    let device = words.last()?.trim_end_matches(':');
    // A sentence that ends in `the link is up` names no device and no rate.
    is_device(device).then_some(())?;
    let rate = rate_in(state);
    (rate.is_some() || text[..=place].contains(':')).then_some(())?;
    let slot = words.iter().map(|word| word.trim_end_matches(':')).find(|word| is_slot(word)).map(str::to_owned);
    Some(LinkState {
        device: device.to_owned(),
        slot,
        at,
        is_up,
        rate,
        duplex: duplex_in(state),
        ..LinkState::default()
    })
}

fn is_device(name: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'@' | b'.');
    (2..=15).contains(&name.len())
        && name.starts_with(|first: char| first.is_ascii_lowercase())
        && name.contains(|letter: char| letter.is_ascii_digit())
        && name.bytes().all(plain)
}

/// `0000:03:00.0`.
pub(super) fn is_slot(word: &str) -> bool {
    let parts: Vec<&str> = word.split([':', '.']).collect();
    let hex = |part: &&str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_hexdigit());
    parts.len() == 4 && parts[0].len() == 4 && parts.iter().all(hex)
}

fn duplex_in(lower: &str) -> Option<Duplex> {
    if lower.contains("half") { Some(Duplex::Half) } else { lower.contains("full").then_some(Duplex::Full) }
}

/// The first rate of a text: `10 Gbps`, `1Gbps/Full`, `100Mb/s`, `63.008 Gb/s`.
fn rate_in(text: &str) -> Option<DataRate> {
    let words: Vec<&str> = text.split([' ', ',', '\t']).filter(|word| !word.is_empty()).collect();
    words.iter().enumerate().find_map(|(at, word)| {
        let end = word.find(|letter: char| letter.is_ascii_alphabetic()).unwrap_or(word.len());
        let (number, unit) = word.split_at(end);
        let number = number.trim_start_matches('(');
        let unit = if unit.is_empty() { words.get(at + 1).copied().unwrap_or_default() } else { unit };
        let unit = unit.to_ascii_lowercase();
        let unit = unit.strip_suffix("/full").or_else(|| unit.strip_suffix("/half")).unwrap_or(&unit);
        let bits = match unit {
            "gbps" | "gb/s" | "gbit/s" => 1_000_000_000,
            "mbps" | "mb/s" | "mbit/s" => 1_000_000,
            _ => return None,
        };
        decimal(number)?.times(bits).map(DataRate::from_bps).filter(|rate| !rate.is_zero())
    })
}

/// `… 63.008 Gb/s available PCIe …, limited by 8.0 GT/s PCIe x8 link at 0000:20:03.1 (capable of 126.016 Gb/s with …)`.
fn bus(text: &str) -> Option<BusRate> {
    let (before, after) = text.split_once(" available PCIe ")?;
    let slot = before.split_whitespace().map(|word| word.trim_end_matches(':')).find(|word| is_slot(word))?;
    let number = before.rsplit_once(": ").map_or(before, |(_, number)| number);
    let limited_by =
        after.split_once("limited by ").map(|(_, link)| link.split(" (").next().unwrap_or(link).to_owned());
    let capable = after.split_once("capable of ").and_then(|(_, rate)| rate_in(rate));
    Some(BusRate { slot: slot.to_owned(), available: rate_in(number)?, limited_by, capable })
}

/// `em1: received packets cannot be forwarded while LRO is enabled`, `br0: port 1(em1) entered forwarding state`.
fn lro(text: &str) -> Option<LroState> {
    if let Some((before, _)) = text.split_once(": received packets cannot be forwarded while LRO is enabled") {
        let device = before.split([' ', ':']).next_back()?.to_owned();
        return is_device(&device).then_some(LroState::Refused { device });
    }
    let (before, after) = text.split_once(": port ")?;
    let (port, state) = after.split_once(") ")?;
    state.starts_with("entered forwarding").then_some(())?;
    let device = port.split_once('(')?.1.to_owned();
    let bridge = before.split_whitespace().last()?.to_owned();
    is_device(&device).then_some(LroState::Bridged { device, bridge })
}

fn found(fact: HostFact, lines: usize) -> Found {
    Found { shows: vec![Shown::Host(fact)], lines }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drivers_say_in_many_words_that_a_link_is_up() {
        for (line, device, mbps, duplex) in [
            ("ixgbe 0000:03:00.0 enp3s0: NIC Link is Up 10 Gbps, Flow Control: None", "enp3s0", 10_000, None),
            (
                "e1000e: eth0 NIC Link is Up 1000 Mbps Full Duplex, Flow Control: Rx/Tx",
                "eth0",
                1_000,
                Some(Duplex::Full),
            ),
            ("tg3 0000:02:00.0 eth0: Link is up at 100 Mbps, half duplex", "eth0", 100, Some(Duplex::Half)),
            (
                "r8169 0000:02:00.0 enp2s0: Link is Up - 1Gbps/Full - flow control off",
                "enp2s0",
                1_000,
                Some(Duplex::Full),
            ),
            ("igc 0000:01:00.0 eth0: NIC Link is Up 2.5 Gbps Full Duplex", "eth0", 2_500, Some(Duplex::Full)),
        ] {
            let link = link(line, None).unwrap_or_else(|| panic!("{line}"));
            let rate = link.rate.map(|rate| rate.bps() / 1_000_000);
            assert_eq!((link.device.as_str(), rate, link.duplex), (device, Some(mbps), duplex), "{line}");
        }
        let line = "smsc95xx 1-1.1:1.0 eth0: link up, 100Mbps, full-duplex, lpa 0xCDE1";
        let up = link(line, None).unwrap();
        assert_eq!((up.device.as_str(), up.is_up, up.duplex), ("eth0", true, Some(Duplex::Full)));
        assert_eq!(up.rate, Some(DataRate::from_bps(100_000_000)));
        assert!(link("smsc95xx 1-1.1:1.0 eth0: link down", None).is_some_and(|down| !down.is_up));
        for line in ["we think the link is up", "eth0: link becomes ready", "the link is down again"] {
            assert_eq!(link(line, None), None, "{line}");
        }
    }

    #[test]
    fn a_bus_has_its_rate_and_what_limits_it() {
        let line = "mlx5_core 0000:21:00.0: 63.008 Gb/s available PCIe bandwidth, limited by 8.0 GT/s PCIe x8 link at \
                    0000:20:03.1 (capable of 126.016 Gb/s with 8.0 GT/s PCIe x16 link)";
        let bus = bus(line).unwrap();
        assert_eq!((bus.slot.as_str(), bus.available.bps()), ("0000:21:00.0", 63_008_000_000));
        assert_eq!(bus.limited_by.as_deref(), Some("8.0 GT/s PCIe x8 link at 0000:20:03.1"));
        assert_eq!(bus.capable.unwrap().bps(), 126_016_000_000);
    }

    #[test]
    fn a_stamp_of_the_kernel_is_no_label_of_a_row() {
        assert_eq!(uptime("[ 7713.201114] x").unwrap().0.as_micros(), 7_713_201_114);
        for line in ["[  5] x", "[  5]   0.00-1.00 sec", "[SUM] x", "[5.1] x"] {
            assert_eq!(uptime(line), None, "{line}");
        }
    }
}
