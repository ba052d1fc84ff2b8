//! NICs: their links, rings, buses and merging.

use std::collections::BTreeMap;
use std::time::Duration;

use import::StatedKind;
use import::evidence::{BusRate, Duplex, HostFact, LateCollisions, LinkState, LroState, RingSizes};
use units::DataRate;
use units::duration::show;

use super::beside::{Beside, MOST_FACTS, named};
use super::statement::Statement;

/// All of the facts.
pub(super) fn of(beside: &Beside<'_>) -> Vec<Statement> {
    let mut all = Vec::new();
    let mut links: Links<'_> = BTreeMap::new();
    for (host, fact) in beside.facts.iter().take(MOST_FACTS) {
        match fact {
            HostFact::Link(link) => links.entry(&link.device).or_default().push((link, host.as_ref())),
            HostFact::Rings(rings) => all.extend(of_rings(beside, named(host.as_ref()), rings)),
            _ => {}
        }
    }
    for (device, states) in &links {
        let before = all.len();
        match slower_than_before(device, states) {
            Some(slower) => all.push(slower),
            None => all.extend(comes_and_goes(device, states)),
        }
        all.extend(is_full(beside, device, states));
        all.extend(slower_than_stated(beside, device, states));
        all.extend(half_duplex(device, states));
        all.extend(below_both(beside, device, states));
        if all.len() == before {
            all.extend(as_negotiated(device, states));
        }
    }
    all.extend(late_collisions(beside, &links));
    for (host, fact) in beside.facts.iter().take(MOST_FACTS) {
        if let HostFact::Bus(bus) = fact {
            let own =
                links.values().flatten().map(|(link, _)| *link).find(|link| link.slot.as_ref() == Some(&bus.slot));
            all.extend(of_bus(beside, host.as_ref(), BusOf { bus, own }));
        }
    }
    all.extend(merging(beside));
    all.truncate(MOST);
    all
}

/// A switch has hundreds of ports.
const MOST: usize = 16;

/// `enp3s0 of this host`, `a NIC of this host`.
fn nic(device: &str, host: Option<&String>) -> String {
    if device.is_empty() { format!("a NIC of {}", named(host)) } else { format!("{device} of {}", named(host)) }
}

/// A link that came up with a lower rate than it had.
fn slower_than_before(device: &str, states: &[(&LinkState, Option<&String>)]) -> Option<Statement> {
    let rates =
        states.iter().filter(|(link, _)| link.is_up).filter_map(|(link, host)| Some((link.rate?, *link, *host)));
    let rates: Vec<_> = rates.collect();
    let (now, last, host) = *rates.last()?;
    let most = rates.iter().map(|(rate, ..)| *rate).max()?;
    let downs = states.iter().filter(|(link, _)| !link.is_up).count();
    (now < most).then(|| {
        let at = last.at.map_or_else(String::new, |at| format!(" ({} after the start of the host)", show(at)));
        let downs = match downs {
            0 => String::new(),
            1 => " it went down".to_owned(),
            _ => format!(" it went down {downs} times{}", within(states)),
        };
        let since = if downs.is_empty() { " before".to_owned() } else { format!(" before{downs}") };
        Statement::fault(format!(
            "{}: its link came up{at} with {now} where it had {most}{since}: cable, optics, or the port at the other end",
            nic(device, host)
        ))
    })
}

/// ` in 14.9 s`: from the first time that a link came or went to the last.
fn within(states: &[(&LinkState, Option<&String>)]) -> String {
    let mut times = states.iter().filter_map(|(link, _)| link.at);
    let first = times.next();
    let time = first.zip(times.next_back()).map(|(first, last)| last.saturating_sub(first));
    time.filter(|time| !time.is_zero()).map_or_else(String::new, |time| format!(" in {}", show(time)))
}

/// What `ethtool` or a switch says of a link of which nothing is wrong by itself: its rate, and which end asks for no more.
fn as_negotiated(device: &str, states: &[(&LinkState, Option<&String>)]) -> Option<Statement> {
    let (link, host) = states.iter().rev().find(|(link, _)| link.at.is_none() && link.is_up && link.rate.is_some())?;
    let rate = link.rate?;
    let duplex = match link.duplex {
        Some(Duplex::Half) => ", half duplex",
        Some(Duplex::Full) => ", full duplex",
        None => "",
    };
    let says = format!("{}: its link runs at {rate}{duplex}", nic(device, *host));
    if let Some(offered) = link.offered
        && let Some(supported) = link.supported.filter(|supported| rate < *supported && offered < *supported)
    {
        let set = if link.negotiates == Some(false) { " and negotiation is off" } else { "" };
        return Some(Statement::fault(format!(
            "{says}: it could run at {supported} and offers no more than {offered}{set}: a setting of this end keeps it there (`ethtool -s`, a \
             profile of the network manager)"
        )));
    }
    let (Some(own), Some(partner)) = (link.offered, link.offered_by_partner) else {
        return Some(Statement::fact(says));
    };
    let says = format!("{says}; this end offers up to {own}, the partner up to {partner}");
    if own <= partner || rate >= own {
        return Some(Statement::fact(says));
    }
    let so = "the other end sets the rate: its port is no faster or is set so, or a cable with a bad pair has made it offer less";
    // Ports of less than a gigabit are hardly made any more; a faster NIC at a gigabit is as planned more often than not.
    Some(if rate < GIGABIT && own >= GIGABIT {
        Statement::fault(format!("{says}: {so}"))
    } else {
        Statement::fact(format!("{says}: {so}"))
    })
}

/// A slow link that a transfer has filled: nothing else is slow.
fn is_full(beside: &Beside<'_>, device: &str, states: &[(&LinkState, Option<&String>)]) -> Option<Statement> {
    let (link, host) = states.iter().rev().find(|(link, _)| link.is_up && link.rate.is_some())?;
    let rate = link.rate.filter(|rate| *rate < GIGABIT && !rate.is_zero())?;
    let fills = |sent: DataRate| sent.bps() * 100 >= rate.bps() * FILLED && sent <= rate;
    let sent = beside.sent().into_iter().find(|sent| {
        let is_own = host.is_none_or(|host| [sent.from, sent.to].contains(&host.as_str()) || beside.hosts() <= 2);
        is_own && fills(sent.rate)
    });
    // What a person says of a transfer whose output is not there.
    let said = beside.stated().find(|said| said.kind == StatedKind::Measured && fills(said.down));
    let filled = match (sent, said) {
        (Some(sent), _) => format!("{} to {} has {}", sent.from, sent.to, sent.rate),
        (None, Some(said)) => format!("the transfer of line {} has {}", said.line, said.down),
        (None, None) => return None,
    };
    let more = |than: DataRate| than.bps() * 2 > rate.bps() * 3;
    let is_known_to_do_more = link.supported.or(link.offered).is_some_and(more)
        || beside.stated().any(|said| said.kind != StatedKind::Measured && more(said.down.max(said.up)));
    if !is_known_to_do_more && !said_to_be_slow(beside) {
        return Some(Statement::well(format!(
            "{}: its link runs at {rate}, and {filled}, which is all that it carries; only a faster port at both ends gives more",
            nic(device, *host)
        )));
    }
    Some(Statement::fault(format!(
        "{}: its link runs at {rate}, and {filled}, which is all that it carries: nearly every port made since 2005 does a gigabit, so that a cable \
         with a bad pair, an old switch or a setting keeps it there",
        nic(device, *host)
    )))
}

/// Whether somebody says what a transfer should reach or has.
fn said_to_be_slow(beside: &Beside<'_>) -> bool {
    beside.stated().any(|said| said.kind != StatedKind::Link)
}

/// A link that is slower than what the text says of the line, and that nothing was faster than.
fn slower_than_stated(
    beside: &Beside<'_>,
    device: &str,
    states: &[(&LinkState, Option<&String>)],
) -> Option<Statement> {
    let (link, host) = states.iter().rev().find(|(link, _)| link.is_up && link.rate.is_some())?;
    let rate = link.rate.filter(|rate| *rate < GIGABIT && !rate.is_zero())?;
    let access = beside.facts.iter().take(MOST_FACTS).find_map(|(_, fact)| match fact {
        HostFact::Access(rates) => rates.download.max(rates.upload),
        _ => None,
    });
    let reached = access.filter(|reached| reached.bps() * 100 >= rate.bps() * FILLED && *reached <= rate)?;
    let stated = beside.stated().find(|said| said.kind != StatedKind::Measured);
    let stated = stated.filter(|said| said.down.max(said.up).bps() * 2 > rate.bps() * 3)?;
    Some(Statement::decisive(format!(
        "{}: its link runs at {rate}, less than the {} that line {} states, and the {reached} that were reached are what it carries: a bad pair of wires, \
         a plug, a port or a setting at either end keeps it there",
        nic(device, *host),
        stated.down.max(stated.up),
        stated.line
    )))
}

/// Of a link, in percent, that files and streams take when it is full.
const FILLED: u64 = 85;

const GIGABIT: DataRate = DataRate::from_bps(1_000_000_000);

/// Links by device, with the host that each state is of.
type Links<'a> = BTreeMap<&'a str, Vec<(&'a LinkState, Option<&'a String>)>>;

/// Collisions that a link of full duplex cannot have: it had another duplex when they were counted, or its partner has.
fn late_collisions(beside: &Beside<'_>, links: &Links<'_>) -> Vec<Statement> {
    let all = beside.facts.iter().take(MOST_FACTS).filter_map(|(host, fact)| match fact {
        HostFact::LateCollisions(late) => Some((host.as_ref(), late)),
        _ => None,
    });
    let one = |(host, late): (Option<&String>, &LateCollisions)| {
        let states = links.get(late.device.as_str());
        let duplex = states.and_then(|states| states.iter().rev().find_map(|(link, _)| link.duplex));
        let of = late.sent.map_or_else(String::new, |sent| format!(" for {sent} packets sent"));
        let says =
            format!("{} counted {} late collisions{of} since its counters began", nic(&late.device, host), late.count);
        let so = match duplex {
            Some(Duplex::Full) => {
                "it runs full duplex, where there are none, so that it ran half duplex before, with a partner at full duplex (a duplex \
                 mismatch) or on too long a cable; whether that is over a second reading tells: let both ends negotiate"
            }
            Some(Duplex::Half) => {
                "its partner sends whenever it likes, at full duplex (a duplex mismatch), or the cable is too long: let both ends negotiate"
            }
            None => {
                "a duplex mismatch (one end full, one half) or too long a cable: `ethtool` or `show interface` at both ends tells"
            }
        };
        Statement::fault(format!("{says}: {so}"))
    };
    all.map(one).collect()
}

/// What a link is set to that both ends do not agree on.
fn half_duplex(device: &str, states: &[(&LinkState, Option<&String>)]) -> Option<Statement> {
    let duplex = states.iter().rev().find_map(|(link, _)| link.duplex)?;
    (duplex == Duplex::Half).then_some(())?;
    let host = states.iter().rev().find_map(|(_, host)| *host);
    let rate =
        states.iter().rev().find_map(|(link, _)| link.rate).map_or_else(String::new, |rate| format!(" at {rate}"));
    let negotiates = match states.iter().rev().find_map(|(link, _)| link.negotiates) {
        Some(true) => {
            ", though it negotiates, as where the other end does not (where that is fixed at full duplex: a duplex mismatch)"
        }
        Some(false) => ", since it is fixed so",
        None => "",
    };
    Some(Statement::fault(format!(
        "{}: its link runs{rate} half duplex{negotiates}: frames collide and are lost under load; let both ends negotiate",
        nic(device, host)
    )))
}

/// A link that is slower than what both its ends offer.
fn below_both(beside: &Beside<'_>, device: &str, states: &[(&LinkState, Option<&String>)]) -> Option<Statement> {
    let (link, host) = states.iter().rev().find(|(link, _)| link.possible.is_some())?;
    let (rate, possible) = (link.rate?, link.possible.filter(|_| link.negotiates != Some(false))?);
    (rate < possible).then_some(())?;
    let near = |rate: DataRate, of: DataRate| (of.bps() / 10 * 9..=of.bps()).contains(&rate.bps());
    let sent = beside.sent();
    let reached = sent
        .iter()
        .find(|sent| near(sent.rate, rate) && host.is_none_or(|host| [sent.from, sent.to].contains(&host.as_str())));
    let reached = reached.map_or_else(String::new, |sent| {
        format!("; the {} from {} to {} are what it carries", sent.rate, sent.from, sent.to)
    });
    Some(Statement::fault(format!(
        "{}: its link negotiated {rate} though both ends advertise {possible}: a pair of wires in the cable, a plug or a port is bad{reached}",
        nic(device, *host)
    )))
}

/// A link that was up at one time and had no carrier at another.
fn comes_and_goes(device: &str, states: &[(&LinkState, Option<&String>)]) -> Option<Statement> {
    let downs = states.iter().filter(|(link, _)| !link.is_up).count();
    let has_come_back = states.iter().any(|(link, _)| link.is_up);
    // Once is what an administrator or a boot does, and is in a log of the kernel; outputs of tools are read to show a fault.
    let is_logged = states.iter().any(|(link, _)| link.at.is_some());
    let host = states.iter().rev().find_map(|(_, host)| *host);
    (has_come_back && downs >= if is_logged { 2 } else { 1 }).then(|| {
        let of = states.len();
        Statement::fault(format!(
            "{}: its link was down in {downs} of {of} reports and up in the others: cable, plug, or the port at the other end (in a log of the \
             kernel `dmesg -T` has the times)",
            nic(device, host)
        ))
    })
}

/// A ring far below its most, beside packets for which there was no room.
fn of_rings(beside: &Beside<'_>, host: &str, rings: &RingSizes) -> Option<Statement> {
    let (now, most) = rings.receive.filter(|(now, most)| now.saturating_mul(2) <= *most)?;
    let device = &rings.device;
    let prefix = format!("nic.{device}.");
    let moved = beside.readings().into_iter().flat_map(|readings| readings.moved()).filter(|(name, _)| {
        let lower = name.to_lowercase();
        name.starts_with(&prefix) && NO_ROOM.iter().any(|part| lower.contains(part))
    });
    let dropped = moved.max_by_key(|(_, moved)| *moved);
    let interval = beside.interval_of(device);
    if dropped.is_none()
        && let Some((counter, count)) = asked_to_stop(beside, &prefix)
    {
        return Some(Statement::fault(format!(
            "{device} of {host} asked its switch to stop {count} times since its counters began ({counter}), with a receive ring of {now} of at most \
             {most}: what comes meanwhile waits in the switch, or is dropped there; a longer ring is worth a try (`ethtool -G {device} rx {most}`)"
        )));
    }
    Some(match dropped {
        Some((name, moved)) => Statement::fault(format!(
            "{device} of {host} had no room for {moved} packets ({}) between two readings{}, with a receive ring of {now} of at most {most}: a \
             longer one is worth a try (`ethtool -G {device} rx {most}`); a CPU that empties it too late would look the same",
            name.trim_start_matches(&prefix),
            interval.map_or_else(String::new, |time| apart(moved, time))
        )),
        None => {
            Statement::fact(format!("the receive ring of {device} of {host} has {now} descriptors of at most {most}"))
        }
    })
}

/// How often a NIC has sent pause frames, and the counter that says so: it does that where its ring has no room.
fn asked_to_stop<'a>(beside: &Beside<'a>, prefix: &str) -> Option<(&'a str, u64)> {
    let all = beside.readings().into_iter().flat_map(|readings| &readings.values).filter_map(|(name, reading)| {
        let counter = name.strip_prefix(prefix)?;
        let lower = counter.to_lowercase();
        let is_sent = lower.contains("tx") && (lower.contains("xoff") || lower.contains("pause"));
        (is_sent && reading.after >= OFTEN).then_some((counter, reading.after))
    });
    all.max_by_key(|(_, count)| *count)
}

/// Less has happened to most hosts once.
const OFTEN: u64 = 10_000;

/// ` 60.0 s apart (128 a second)`.
fn apart(moved: u64, time: Duration) -> String {
    let nanos = u128::from(moved) * 1_000_000_000;
    let each = nanos.checked_div(time.as_nanos()).filter(|each| *each > 0);
    let each = each.map_or_else(String::new, |each| format!(" ({each} a second)"));
    format!(" {} apart{each}", show(time))
}

/// Parts of names of counters of packets for which a NIC had no room.
const NO_ROOM: [&str; 6] = ["missed", "no_buffer", "fifo", "out_of_buffer", "no_dma", "rx_no_buf"];

/// A slot, and the link of its NIC where that is known.
#[derive(Clone, Copy)]
struct BusOf<'a> {
    bus: &'a BusRate,
    own: Option<&'a LinkState>,
}

/// A slot that carries less than the NIC.
fn of_bus(beside: &Beside<'_>, host: Option<&String>, nic: BusOf<'_>) -> Option<Statement> {
    let BusOf { bus, own } = nic;
    let host = named(host);
    // PCIe's own headers and its flow control leave so much.
    let is_left = |rate: DataRate| rate.share_of(bus.available).is_some_and(|part| (0.7..=0.95).contains(&part));
    let reached = beside.sent().into_iter().find(|sent| is_left(sent.rate));
    let reached =
        reached.map_or_else(String::new, |sent| format!("; the {} of a test are what that leaves", sent.rate));
    let (available, slot) = (bus.available, &bus.slot);
    let link = own.and_then(|link| link.rate);
    let device = own.map(|link| &link.device).filter(|device| !device.is_empty());
    let name = device.map_or_else(|| slot.clone(), |device| format!("{device} ({slot})"));
    let limited = bus.limited_by.as_ref().map_or_else(String::new, |by| format!(", limited by {by}"));
    let capable = bus.capable.filter(|capable| *capable > available);
    let could = capable.map_or_else(String::new, |capable| format!(", where the NIC could use {capable}"));
    let payload = "(PCIe's own headers take 10 to 20 % of it)";
    match link {
        Some(link) if link <= available => None,
        Some(link) => Some(Statement::fault(format!(
            "the PCIe slot of {name} of {host} carries {available} {payload}{limited}{could}{reached}: less than its link of {link}; another slot"
        ))),
        None => capable.map(|_| {
            Statement::fault(format!(
                "the PCIe slot of {name} of {host} carries {available} {payload}{limited}{could}{reached}: if its link is faster, the slot is the limit \
                 and another one the remedy"
            ))
        }),
    }
}

/// LRO on a NIC whose packets are passed on.
fn merging(beside: &Beside<'_>) -> Option<Statement> {
    let mut states = beside.facts.iter().filter_map(|(host, fact)| match fact {
        HostFact::Lro(state) => Some((host.as_ref(), state)),
        _ => None,
    });
    let all: Vec<(Option<&String>, &LroState)> = states.by_ref().take(MOST_FACTS).collect();
    let refused = all.iter().find_map(|(_, state)| match state {
        LroState::Refused { device } => Some(device.as_str()),
        _ => None,
    });
    let on = all.iter().find_map(|(host, state)| match state {
        LroState::On { device } => Some((*host, device.as_str())),
        _ => None,
    });
    let device = refused.or(on.map(|(_, device)| device))?;
    let is_of_device = |state: &LroState| matches!(state, LroState::Bridged { device: port, .. } if port == device);
    let bridge = all.iter().find_map(|(_, state)| match state {
        LroState::Bridged { bridge, .. } if is_of_device(state) => Some(bridge),
        _ => None,
    });
    (refused.is_some() || bridge.is_some()).then_some(())?;
    let host = named(on.and_then(|(host, _)| host));
    let is_on = if on.is_some_and(|(_, of)| of == device || of.is_empty()) { "LRO is on" } else { "LRO was on" };
    let bridge = bridge.map_or_else(String::new, |bridge| format!(", a port of the bridge {bridge}"));
    let kernel = if refused.is_some() { ", and the kernel says that it cannot forward what LRO merged" } else { "" };
    Some(Statement::fault(format!(
        "{is_on} at {device} of {host}{bridge}{kernel}: what arrives there for other hosts or VMs is lost; `ethtool -K {device} lro off`"
    )))
}
