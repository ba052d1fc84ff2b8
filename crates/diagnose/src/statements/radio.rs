//! Links of Wi-Fi: what their signal and their bit rates allow, beside what transfers reached.

use import::evidence::{HostFact, OutgoingDevice, RadioLink};
use model::measurement::Heading;
use units::DataRate;

use super::beside::{Beside, MOST_FACTS, Transfer, named};
use super::statement::Statement;

/// All of the facts.
pub(super) fn of(beside: &Beside<'_>) -> Vec<Statement> {
    let links = beside.facts.iter().take(MOST_FACTS).filter_map(|(host, fact)| match fact {
        HostFact::Radio(link) => Some((host.as_ref(), link)),
        _ => None,
    });
    let mut all: Vec<Statement> = links.take(MOST).map(|(host, link)| of_link(beside, named(host), link)).collect();
    all.extend(beside.facts.iter().take(MOST_FACTS).filter_map(|(_, fact)| match fact {
        HostFact::Outgoing(one) => leaves_by(one),
        _ => None,
    }));
    all
}

/// Packets that leave by another device than a person believes.
fn leaves_by(one: &OutgoingDevice) -> Option<Statement> {
    let OutgoingDevice { to, device, port, inactive } = one;
    let port = port.as_ref()?;
    let is_radio = port.contains("Wi-Fi") || port.contains("AirPort");
    let says = format!("packets to {to} leave by {device}, which is {port}");
    Some(match inactive.as_ref().filter(|inactive| is_radio && *inactive != device) {
        Some(inactive) => Statement::decisive(format!(
            "{says}, and {inactive} has no link: the cable is not what carries them (a dead port, jack, cable or dock), and Wi-Fi gives what it gives"
        )),
        None => Statement::fact(says),
    })
}

fn of_link(beside: &Beside<'_>, host: &str, link: &RadioLink) -> Statement {
    let device = match link.device.as_str() {
        "" | "Wi-Fi" => "the Wi-Fi link".to_owned(),
        device => format!("the Wi-Fi link {device}"),
    };
    let signal = link.signal_dbm.map(|signal| format!("receives {signal} dBm"));
    let quality = link.quality.filter(|_| signal.is_none()).map(|quality| format!("has a signal of {quality} %"));
    let rates = [("receives", link.receive), ("sends", link.send)];
    let rates = rates.into_iter().filter_map(|(what, rate)| Some(format!("{what} at {}", rate?)));
    let known: Vec<String> = signal.into_iter().chain(quality).chain(rates).collect();
    let says = format!("{device} of {host} {}", known.join(", "));
    let slowest = [link.receive, link.send].into_iter().flatten().min();
    let weak = link.signal_dbm.is_some_and(|signal| signal <= WEAK_DBM)
        || link.quality.filter(|_| link.signal_dbm.is_none()).is_some_and(|quality| quality <= WEAK_PERCENT);
    let is_slow = slowest.is_some_and(|rate| rate <= SLOW);
    let half = |rate: DataRate| DataRate::from_bps(rate.bps() / 2);
    let halves = [("received", link.receive), ("sent", link.send)];
    let halves = halves.into_iter().filter_map(|(what, rate)| Some(format!("{} {what}", half(rate?))));
    let halves: Vec<String> = halves.collect();
    let allows = if halves.is_empty() {
        String::new()
    } else {
        format!("; TCP gets about half of a bit rate, {}", halves.join(" and "))
    };
    if !weak && !is_slow {
        return Statement::fact(format!("{says}{allows}"));
    }
    let reached = beside.transfers().find_map(|Transfer { total, from, to, .. }| {
        let own = if total.heading == Heading::Inbound { link.receive } else { link.send };
        let is_of_link = own.is_some_and(|rate| !total.goodput.is_zero() && total.goodput <= rate);
        is_of_link.then(|| format!(", and {from} to {to} reached {}", total.goodput))
    });
    let why = if weak { "the signal is weak" } else { "the bit rate is low" };
    Statement::fault(format!(
        "{says}: {why}{allows}{}; nearer to the access point, another channel or band, or a cable tells whether the radio is the limit",
        reached.unwrap_or_default()
    ))
}

const MOST: usize = 8;
/// From here down links fall to their lowest rates, and many frames are retransmitted.
const WEAK_DBM: i32 = -75;
/// Windows maps -100 to -50 dBm to 0 to 100 %.
const WEAK_PERCENT: u32 = 50;
/// Below what 802.11n gives one stream next to the access point, by a factor of two.
const SLOW: DataRate = DataRate::from_bps(30_000_000);
