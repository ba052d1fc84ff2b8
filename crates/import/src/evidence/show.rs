//! One line for a person.

use std::fmt;

use model::measurement::{Heading, RttSummary};
use model::series::field::Field;
use units::duration::show;

use super::host_fact::{HostFact, LroState};
use super::shown::{CounterKind, Evidence, OneWaySeries, Shown};
use crate::sockets::value;

impl fmt::Display for Evidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: ", self.line)?;
        match &self.shows {
            Shown::Echo(found) => {
                let rtt = &found.summary.rtt;
                write!(f, "echoes to {}: {} sent, {} lost{}", found.subject.target, rtt.sent, rtt.lost, times(rtt))
            }
            Shown::Hops(found) => write!(f, "{} hops to {}", found.hops.len(), found.subject.target),
            Shown::PathMtu(found) => match found.path_mtu {
                Some(mtu) => write!(f, "path MTU {} bytes to {}", mtu.get(), found.subject.target),
                None => write!(f, "no path MTU to {}: the output ends before", found.subject.target),
            },
            Shown::Download(found) => {
                write!(f, "download of {} from {}", found.body, found.subject.target)?;
                if !found.times.total.is_zero() {
                    write!(f, " in {}", show(found.times.total))?;
                }
                found.goodput.map_or(Ok(()), |rate| write!(f, ", {rate}"))
            }
            Shown::Sockets(list) => {
                write!(f, "{} TCP sockets", list.len())?;
                let least = list.iter().filter_map(|socket| value(socket, Field::MinRtt)).min();
                least.map_or(Ok(()), |micros| {
                    write!(f, ", least RTT {}", show(std::time::Duration::from_micros(micros)))
                })
            }
            Shown::Counters(found) => {
                let device = match found.kind {
                    CounterKind::Nic | CounterKind::Link => found.device.as_deref().unwrap_or("a NIC"),
                    CounterKind::Kernel | CounterKind::KernelChange => "the kernel",
                };
                write!(f, "{} counters of {device}", found.values.len())
            }
            Shown::OneWay(found) => {
                let OneWaySeries { tool, from, to, sent, lost, duplicated, reordered, .. } = found;
                write!(
                    f,
                    "{tool}: {sent} packets from {from} to {to}, {lost} lost, {duplicated} twice, {reordered} overtaken"
                )
            }
            Shown::RouterTest(found) => {
                write!(f, "a test of two routers with {} in {}", found.target, show(found.elapsed))?;
                let rates = [("sent", found.sent), ("received", found.received)];
                rates
                    .into_iter()
                    .filter_map(|(way, rate)| Some((way, rate?)))
                    .try_for_each(|(way, rate)| write!(f, ", {way} {rate}"))
            }
            Shown::Summed(found) => {
                let way = if found.heading == Heading::Outbound { "sent" } else { "received" };
                write!(
                    f,
                    "{}: a test with {}, {way} {} in {}",
                    found.tool,
                    found.target,
                    found.rate,
                    show(found.elapsed)
                )?;
                let lost = found.datagrams.map(|[sent, received]| [sent.saturating_sub(received), sent]);
                lost.map_or(Ok(()), |[lost, sent]| write!(f, ", {lost} of {sent} datagrams lost"))
            }
            Shown::Run(export) => write!(f, "a run of linerate with {}", export.run.peer.target),
            Shown::Host(fact) => f.write_str(&subject(fact)),
            Shown::Transfer(found) => {
                let (moved, rate, time) = (found.moved, found.rate, show(found.elapsed));
                let part = if found.is_whole { "" } else { ", not all of it" };
                write!(f, "{}: {moved} in {time}, {rate}{part}", found.tool)
            }
        }
    }
}

/// What a fact is about.
fn subject(fact: &HostFact) -> String {
    let of = |what: &str, device: &str| {
        if device.is_empty() { format!("{what} of a NIC") } else { format!("{what} of {device}") }
    };
    match fact {
        HostFact::Link(link) => of("the link", &link.device),
        HostFact::Bus(bus) => of("the bus", &bus.slot),
        HostFact::Rings(rings) => of("the rings", &rings.device),
        HostFact::Lro(LroState::On { device } | LroState::Refused { device }) => of("LRO", device),
        HostFact::Lro(LroState::Bridged { device, bridge }) => format!("{device} is a port of {bridge}"),
        HostFact::Qdisc(qdisc) => of(&format!("a qdisc, {},", qdisc.kind), qdisc.device.as_deref().unwrap_or("")),
        HostFact::Cpu(_) => "what CPUs did".to_owned(),
        HostFact::Handshake(scales) => format!("a handshake of {} with {}", scales.client, scales.server),
        HostFact::ScaleRemoved(one) => format!("a SYN of {} to {} that lost its window scale", one.client, one.server),
        HostFact::TrackedConnections(_) => "the table of connections of a firewall".to_owned(),
        HostFact::CounterInterval { device, .. } => of("the time between readings", device.as_deref().unwrap_or("")),
        HostFact::DeltaTransfer { tool, moved } => format!("{tool}: {moved} of differences"),
        HostFact::Complaint(one) => format!("the kernel's log on {}, {} times", one.subject, one.times),
        HostFact::Receiving(cpus) => format!("packets of {} CPUs", cpus.cpus),
        HostFact::RetransmittedSoFar(one) => format!("{} segments retransmitted beside {} sent", one.again, one.sent),
        HostFact::LateCollisions(one) => of(&format!("{} late collisions", one.count), &one.device),
        HostFact::SocketMemory(_) => "sockets of TCP and their memory".to_owned(),
        HostFact::TcpSettings(_) => "how TCP is set".to_owned(),
        HostFact::DiskUse(disk) => format!("how busy the disk {} is", disk.device),
        HostFact::Unread(socket) => format!("{} that the program with {} has not read", socket.waiting, socket.peer),
        HostFact::Radio(link) => of("the radio link", &link.device),
        HostFact::Allowance(one) => of(&format!("{} packets beyond what is allowed", one.packets), &one.device),
        HostFact::PacketRates(one) => of("packets a second", &one.device),
        HostFact::FailedConnection(one) => format!("no connection to {} ({}): {}", one.host, one.address, one.why),
        HostFact::TransferMarks(one) => format!("{}: {} in {}", one.tool, one.moved, show(one.elapsed)),
        HostFact::LostSoFar(lost) => format!("{} of {} lost ({})", lost.lost, lost.all, lost.counter),
        HostFact::OneWay(delays) => format!("delays from {} to {}", delays.from, delays.to),
        HostFact::Asked(asked) => format!("{}: {} of {} packets asked for", asked.tool, asked.sent, asked.asked),
        HostFact::WindowsTcp(_) => "how TCP of Windows is set".to_owned(),
        HostFact::Port(port) => format!("{} errors of {}", port.errors, port.port),
        HostFact::StoodStill(fact) => {
            format!("a connection of {} that stood still for {}", fact.from, show(fact.silent))
        }
        HostFact::ClosedWindow(fact) => format!("{} packets of {} with a window of 0", fact.times, fact.from),
        HostFact::Disk(disk) => format!("a disk that takes {} a second", disk.rate),
        HostFact::BusyProgram(one) => format!("{}, which has all of a CPU", one.name),
        HostFact::SmallWindow(one) => format!("a receive window of {} of {}", one.window, one.from),
        HostFact::Relayed(one) => format!("{} through the relay {}", one.peer, one.relay),
        HostFact::Outgoing(one) => format!("packets to {} leave by {}", one.to, one.device),
        HostFact::Signature(_) => "lines that say something by themselves".to_owned(),
        HostFact::Policed(one) => format!("a policer of {}, which dropped {} packets", one.rate, one.dropped),
        HostFact::Figures(all) => format!("{} numbers of the text and of what was measured", all.len()),
        HostFact::Stated(rate) => format!("{} in and {} out, which line {} states", rate.down, rate.up, rate.line),
        HostFact::Access(rates) => format!("rates to and from {}", rates.server),
        HostFact::Bursts(one) => of(&format!("{} bursts", one.bursts), &one.device),
        HostFact::DropsOfBurst(one) => of(&format!("{} drops ({})", one.packets, one.counter), &one.device),
        HostFact::SwitchQueue(one) => format!("{} reports of a queue of switch {}", one.reports, one.node),
        HostFact::Dropped(one) => format!("what {} dropped in {}", one.place, show(one.length)),
        HostFact::Socket(between) => format!("a socket of {} with {}", between.local, between.peer),
    }
}

fn times(rtt: &RttSummary) -> String {
    let text =
        |micros: Option<u64>| micros.map_or("?".to_owned(), |micros| show(std::time::Duration::from_micros(micros)));
    if rtt.min_us.is_none() {
        return String::new();
    }
    format!(", RTT min/median/max {}/{}/{}", text(rtt.min_us), text(rtt.median_us), text(rtt.max_us))
}
