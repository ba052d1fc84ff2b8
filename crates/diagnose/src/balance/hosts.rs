//! From a host's counters to datagrams dropped in it.
//!
//! Which counters say the same thing twice was read in Linux 6.18 (net/ipv4/udp.c, net/core/dev.c, net/sched) and is
//! held by truth tests:
//! * A datagram that the queueing discipline drops moves the discipline's `drops` and `Udp.SndbufErrors`, since
//!   `udp_send_skb` takes the discipline's refusal for a full buffer: the greater of the two counts.
//! * A discipline and its child both count what the child drops: of one device the greatest counts.
//! * A packet that finds the receive backlog full moves the device's `rx_drop` and `softnet.cpuN.dropped`: the greater.
//! * What a socket drops moves `Udp.RcvbufErrors`; the socket's own count (`SO_RXQ_OVFL`) comes with the next datagram
//!   that is received, so what was dropped after the last one is only in the former: the greater.

use model::counters::CounterReadings;
use units::PacketCount;

use super::part::{BalanceShare, Certainty, Counted};

/// One end of a run.
#[derive(Debug, Clone, Copy)]
pub(super) struct Host<'a> {
    pub(super) counters: Option<&'a CounterReadings>,
    /// The device that carried the test, where it is known.
    pub(super) device: Option<&'a str>,
    pub(super) kernel: Kernel,
}

/// Whether the other end is the same machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kernel {
    Shared,
    Own,
}

/// Whether one packet of the host may have held several datagrams (GSO, GRO). Such a packet is dropped as one and
/// counted as one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Merging {
    Possible,
    Never,
}

/// What a host dropped by its counters.
#[derive(Debug, Clone, Default)]
pub(super) struct HostDrops {
    /// By counters of the whole host, those of the socket included.
    by_host: u64,
    /// By the test's own socket: nobody else's.
    pub(super) own: u64,
    /// Other datagrams that may be among those counted; `None` where nobody knows.
    others: Option<u64>,
    counted: Vec<Counted>,
    unknown: Vec<String>,
}

impl HostDrops {
    pub(super) fn total(&self) -> u64 {
        self.by_host.max(self.own)
    }

    /// The share, of which `kept` fit into what is missing.
    pub(super) fn part(self, kept: u64) -> BalanceShare {
        if !self.unknown.is_empty() {
            let packets = None;
            let because = Some(self.unknown.join("; "));
            return BalanceShare { packets, certainty: Certainty::Unknown, because, counted: self.counted };
        }
        let exact = kept <= self.own || self.others == Some(0);
        let certainty = if exact { Certainty::Exact } else { Certainty::AtMost };
        let because = (!exact).then(|| match self.others {
            Some(others) => format!("at most {others} of them may be other datagrams that this host sent meanwhile"),
            None => "counted by the whole host: other datagrams may be among them".to_owned(),
        });
        BalanceShare { packets: Some(PacketCount::new(kept)), certainty, because, counted: self.counted }
    }
}

/// What the sending host dropped of the `handed` datagrams.
///
/// Where every send is one datagram, `Udp.OutDatagrams` and `Udp.SndbufErrors` together are all that the host sent, and
/// so tell how many were not of this test.
pub(super) fn in_sender(host: &Host<'_>, merging: Merging, handed: u64) -> HostDrops {
    let mut sheet = Sheet::open(host);
    let socket = sheet.both_families("SndbufErrors");
    let queue = sheet.qdiscs(host.device);
    let driver = sheet.device(host.device, &["tx_drop", "tx_dropped"]);
    let sends = |family: &str| host.counters.and_then(|counters| counters.change(&format!("{family}.OutDatagrams")));
    let all = sends("Udp").map(|all| all.saturating_add(sends("Udp6").unwrap_or(0)));
    // What only the queue counted may not be datagrams at all.
    let others = all.map(|all| all.saturating_add(socket)).filter(|_| merging == Merging::Never && socket >= queue);
    let others = others.and_then(|all| all.checked_sub(handed)).map(|others| others.min(socket));
    let drops = sheet.close(socket.max(queue).saturating_add(driver), 0, merging);
    HostDrops { others: others.filter(|_| driver == 0), ..drops }
}

/// What the receiving host dropped.
pub(super) fn in_receiver(host: &Host<'_>, merging: Merging, own: Option<PacketCount>) -> HostDrops {
    let mut sheet = Sheet::open(host);
    let socket = sheet.both_families("RcvbufErrors");
    let device = sheet.device(host.device, &["rx_drop", "rx_dropped", "rx_missed", "rx_fifo"]);
    let backlog = match host.kernel {
        // The other end, and everything between, count in the same place.
        Kernel::Shared => 0,
        Kernel::Own => sheet.backlog(),
    };
    let own = own.map_or(0, PacketCount::get);
    if own > 0 {
        sheet.counted.push(Counted { counter: "SO_RXQ_OVFL".to_owned(), change: own });
    }
    sheet.close(socket.max(own).saturating_add(device.max(backlog)), own, merging)
}

/// Reads counters and notes what moved and what could not be read.
struct Sheet<'a> {
    counters: Option<&'a CounterReadings>,
    counted: Vec<Counted>,
    unknown: Vec<String>,
}

impl<'a> Sheet<'a> {
    fn open(host: &Host<'a>) -> Self {
        let mut unknown = Vec::new();
        if host.counters.is_none() {
            unknown.push("the host reported no counters".to_owned());
        }
        Self { counters: host.counters, counted: Vec::new(), unknown }
    }

    fn close(mut self, by_host: u64, own: u64, merging: Merging) -> HostDrops {
        // What a socket dropped on its own may be merged too, so nothing is known of such a host but that it dropped.
        if merging == Merging::Possible && by_host > 0 && self.unknown.is_empty() {
            self.unknown.push(format!(
                "{by_host} packets were dropped, each of which may have held up to 128 datagrams (with --no-gso \
                 --no-gro each is one)"
            ));
        }
        if self.unknown.is_empty() {
            return HostDrops { by_host, own, others: None, counted: self.counted, unknown: self.unknown };
        }
        HostDrops { by_host: 0, own: 0, others: None, counted: self.counted, unknown: self.unknown }
    }

    /// A counter of UDP, over both versions of IP.
    fn both_families(&mut self, name: &str) -> u64 {
        let v4 = self.required(&format!("Udp.{name}"), "snmp");
        let v6 = self.optional(&format!("Udp6.{name}"));
        v4.saturating_add(v6)
    }

    /// Drops of queueing disciplines: of each device the greatest, since a discipline counts its children's too.
    fn qdiscs(&mut self, device: Option<&str>) -> u64 {
        self.readable("qdisc");
        let Some(counters) = self.counters else { return 0 };
        let mut greatest: Vec<(&str, &str, u64)> = Vec::new();
        for (name, reading) in &counters.values {
            let Some(on) = device_of_qdisc(name).filter(|on| device.is_none_or(|device| device == *on)) else {
                continue;
            };
            let Some(change) = reading.change() else {
                self.unknown.push(format!("{name} went backwards"));
                continue;
            };
            match greatest.iter_mut().find(|(of, ..)| *of == on) {
                Some(known) if known.2 < change => *known = (on, name, change),
                Some(_) => {}
                None => greatest.push((on, name, change)),
            }
        }
        greatest.iter().map(|(_, name, change)| self.note(name, *change)).fold(0, u64::saturating_add)
    }

    /// Drops of a device, or of all where it is not known which carried the test. A driver's own counters are also in
    /// the device's: the greatest counts.
    fn device(&mut self, device: Option<&str>, names: &[&str]) -> u64 {
        self.readable("dev");
        let Some(counters) = self.counters else { return 0 };
        let mut greatest: Vec<(&str, &str, u64)> = Vec::new();
        for (name, reading) in &counters.values {
            let Some((on, counter)) = device_and_counter(name) else { continue };
            if !names.contains(&counter)
                || device.is_some_and(|device| device != on)
                || (device.is_none() && on == "lo")
            {
                continue;
            }
            let change = reading.change().unwrap_or(0);
            match greatest.iter_mut().find(|(of, ..)| *of == on) {
                Some(known) if known.2 < change => *known = (on, name, change),
                Some(_) => {}
                None => greatest.push((on, name, change)),
            }
        }
        greatest.iter().map(|(_, name, change)| self.note(name, *change)).fold(0, u64::saturating_add)
    }

    /// Packets that found the backlog of their processor full.
    fn backlog(&mut self) -> u64 {
        self.readable("softnet");
        let Some(counters) = self.counters else { return 0 };
        let dropped =
            counters.values.iter().filter(|(name, _)| name.starts_with("softnet.") && name.ends_with(".dropped"));
        let moved: Vec<(&str, u64)> =
            dropped.filter_map(|(name, reading)| Some((name.as_str(), reading.change()?))).collect();
        moved.into_iter().map(|(name, change)| self.note(name, change)).fold(0, u64::saturating_add)
    }

    fn required(&mut self, name: &str, group: &str) -> u64 {
        let Some(counters) = self.counters else { return 0 };
        match counters.change(name) {
            Some(change) => self.note(name, change),
            None => {
                let why = counters.unreadable.get(group).map_or("it is not there, or went backwards", String::as_str);
                self.unknown.push(format!("{name} cannot be read: {why}"));
                0
            }
        }
    }

    fn optional(&mut self, name: &str) -> u64 {
        self.counters.and_then(|counters| counters.change(name)).map_or(0, |change| self.note(name, change))
    }

    /// Notes a group of counters that could not be read.
    fn readable(&mut self, group: &str) {
        if let Some(why) = self.counters.and_then(|counters| counters.unreadable.get(group)) {
            self.unknown.push(format!("{group} counters cannot be read: {why}"));
        }
    }

    fn note(&mut self, name: &str, change: u64) -> u64 {
        if change > 0 {
            self.counted.push(Counted { counter: name.to_owned(), change });
        }
        change
    }
}

/// The device of `qdisc.eth0.8001:.drops`; a device's name may hold dots itself.
fn device_of_qdisc(name: &str) -> Option<&str> {
    let (device, _handle) = name.strip_prefix("qdisc.")?.strip_suffix(".drops")?.rsplit_once('.')?;
    Some(device)
}

/// Device and counter of `dev.eth0.rx_drop` and `nic.eth0.rx_missed`.
fn device_and_counter(name: &str) -> Option<(&str, &str)> {
    name.strip_prefix("dev.").or_else(|| name.strip_prefix("nic."))?.rsplit_once('.')
}
