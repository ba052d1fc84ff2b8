//! What watched transfers say beside a test or another transfer: what shared the device meanwhile, and what users' transfers of the
//! same path reach.

use std::net::{IpAddr, SocketAddr};
use std::ops::Range;
use std::time::Duration;

use diagnose::statements::{Statement, StatementKind};
use model::measurement::{DirectionTotal, Flow, Heading};
use model::run::{Role, Run};
use model::transfer::Transfer;
use units::{ByteCount, DataRate, WallTime};

use super::finish::canonical;
use super::reading::Ends;

/// A test or a transfer, and where it went.
#[derive(Debug, Clone)]
pub struct Subject {
    host: Option<String>,
    device: Option<String>,
    peer: IpAddr,
    heading: Heading,
    started: WallTime,
    elapsed: Duration,
    goodput: DataRate,
    /// Its own connections: a watcher sees a test as transfers, too.
    own: Vec<Ends>,
    noun: &'static str,
}

impl Subject {
    /// Of a run, one for each direction that moved anything.
    #[must_use]
    pub fn of_run(run: &Run) -> Vec<Self> {
        let Some(found) = &run.measurement else { return Vec::new() };
        let end = |text: &str| text.parse().ok().map(canonical);
        let ends = |flow: &Flow| Some(Ends { local: end(&flow.local_address)?, peer: end(&flow.peer_address)? });
        let own: Vec<Ends> = found.flows.iter().filter_map(ends).collect();
        let peer = own.first().map(|ends| ends.peer.ip()).or_else(|| address(run.peer.address.as_deref()?));
        let Some(peer) = peer else { return Vec::new() };
        let of = |total: &DirectionTotal| Self {
            host: run.local.name.clone(),
            device: run.local.device.as_ref().map(|device| device.name.clone()),
            peer,
            heading: total.heading,
            started: run.started,
            elapsed: total.elapsed,
            goodput: total.goodput,
            own: own.clone(),
            noun: if run.role == Role::Client { "test" } else { "test that was served" },
        };
        found.totals.iter().filter(|total| !total.goodput.is_zero()).map(of).collect()
    }

    /// Of a watched transfer.
    #[must_use]
    pub fn of_transfer(transfer: &Transfer) -> Self {
        Self {
            host: transfer.host.name.clone(),
            device: transfer.host.device.as_ref().map(|device| device.name.clone()),
            peer: transfer.peer.ip(),
            heading: transfer.heading,
            started: transfer.started,
            elapsed: transfer.active,
            goodput: transfer.goodput,
            own: vec![Ends { local: transfer.local, peer: transfer.peer }],
            noun: "transfer",
        }
    }

    /// What the transfers of an archive say beside it, the weightier first.
    #[must_use]
    pub fn statements(&self, transfers: &[Transfer]) -> Vec<Statement> {
        self.meanwhile(transfers).into_iter().chain(self.others(transfers)).collect()
    }

    /// Transfers that shared its device while it went on.
    ///
    /// Model: a transfer moves as much in each second of its life; its share of another's time is that of its length.
    fn meanwhile(&self, transfers: &[Transfer]) -> Option<Statement> {
        let device = self.device.as_deref()?;
        let mut beside: Vec<(&Transfer, u64)> = transfers
            .iter()
            .filter(|each| self.is_of_host(each) && each.heading == self.heading && !self.is_own(each))
            .filter(|each| each.host.device.as_ref().is_some_and(|known| known.name == device))
            .filter_map(|each| Some((each, self.shared(each)?)))
            .collect();
        beside.sort_by_key(|(_, bytes)| std::cmp::Reverse(*bytes));
        let bytes = beside.iter().map(|(_, bytes)| *bytes).fold(0, u64::saturating_add);
        let rate = DataRate::of(ByteCount::new(bytes), self.elapsed)?;
        if rate.is_zero() || rate.bps() < self.goodput.bps() / LEAST_PART {
            return None;
        }
        let way = if self.heading == Heading::Outbound { "left by" } else { "came in by" };
        let named: Vec<String> = beside.iter().take(MOST_NAMED).map(|(each, _)| self.named(each)).collect();
        let more = beside.len().saturating_sub(MOST_NAMED);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        // As much as a tenth of its own rate may be what it lacked.
        let kind = if rate.bps() >= self.goodput.bps() / 10 { StatementKind::Fault } else { StatementKind::Fact };
        let (noun, named) = (self.noun, named.join(", "));
        Some(Statement {
            kind,
            says: format!("while the {noun} went on, {rate} of watched transfers {way} {device} too: {named}{more}"),
        })
    }

    /// What transfers of the same path and direction reached in the days before.
    fn others(&self, transfers: &[Transfer]) -> Option<Statement> {
        let since = self.started.unix_nanos().saturating_sub(units::duration::nanos(HISTORY));
        let alike: Vec<&Transfer> = transfers
            .iter()
            .filter(|each| self.is_of_host(each) && each.heading == self.heading && !self.is_own(each))
            .filter(|each| each.peer.ip() == self.peer && each.active >= LEAST_ACTIVE && !each.goodput.is_zero())
            .filter(|each| !is_test(each))
            // One that still went on had this one beside it.
            .filter(|each| each.started.unix_nanos() >= since)
            .filter(|each| span(each.started, each.active).end <= self.started.unix_nanos())
            .collect();
        if alike.len() < FEWEST {
            return None;
        }
        let mut rates: Vec<DataRate> = alike.iter().map(|each| each.goodput).collect();
        rates.sort_unstable();
        let (least, median, most) = (rates[0], rates[rates.len() / 2], rates[rates.len() - 1]);
        let slower = rates.iter().filter(|rate| **rate > self.goodput).count();
        let rank = match slower {
            0 => format!("this {} is faster than all of them", self.noun),
            all if all == rates.len() => format!("this {} is slower than all of them", self.noun),
            some => format!("{some} of them were faster than this {}", self.noun),
        };
        // By chance alone the slowest of 20 comes once in 20 times.
        let is_fault = self.noun == "transfer" && slower == rates.len() && rates.len() >= MANY;
        let kind = if is_fault { StatementKind::Fault } else { StatementKind::Fact };
        let limit = usual_limit(&alike).map(|limit| format!(", {limit}")).unwrap_or_default();
        let (count, peer) = (rates.len(), self.peer);
        let way = if self.heading == Heading::Outbound { "to" } else { "from" };
        Some(Statement {
            kind,
            says: format!(
                "{count} transfers {way} {peer} in the 30 days before reached {least}, {median}, {most} (least, median, most){limit}; {rank}"
            ),
        })
    }

    fn is_of_host(&self, transfer: &Transfer) -> bool {
        self.host.is_some() && self.host == transfer.host.name
    }

    /// Ports are used again: only what went on at the same time is the same connection.
    fn is_own(&self, transfer: &Transfer) -> bool {
        self.own.contains(&Ends { local: transfer.local, peer: transfer.peer }) && self.shared(transfer).is_some()
    }

    /// Bytes that a transfer moved in the time of this one.
    fn shared(&self, other: &Transfer) -> Option<u64> {
        let (own, its) = (span(self.started, self.elapsed), span(other.started, other.active));
        let both = own.end.min(its.end).saturating_sub(own.start.max(its.start));
        (both > 0).then(|| (other.goodput * Duration::from_nanos(both)).get())
    }

    fn named(&self, transfer: &Transfer) -> String {
        let program = transfer.owner.as_ref().and_then(|owner| owner.program.as_deref()).unwrap_or("a program");
        let arrow = if self.heading == Heading::Outbound { "→" } else { "←" };
        format!("{program} {arrow} {} {}", transfer.peer.ip(), transfer.goodput)
    }
}

/// Tests say what a path could carry, not what users get of it.
fn is_test(transfer: &Transfer) -> bool {
    let program = transfer.owner.as_ref().and_then(|owner| owner.program.as_deref());
    program.is_some_and(|program| TEST_PROGRAMS.contains(&program))
}

/// What limited most of them, where that is one thing.
fn usual_limit(transfers: &[&Transfer]) -> Option<String> {
    let mut counts: Vec<(&str, usize)> = Vec::new();
    for limit in transfers.iter().filter_map(|each| each.limits.first()) {
        match counts.iter_mut().find(|(label, _)| *label == limit.label) {
            Some((_, count)) => *count += 1,
            None => counts.push((&limit.label, 1)),
        }
    }
    let (label, count) = counts.into_iter().max_by_key(|(_, count)| *count)?;
    (count * 2 > transfers.len()).then(|| format!("{count} of them limited by {label}"))
}

/// In nanoseconds of the calendar.
fn span(started: WallTime, length: Duration) -> Range<u64> {
    let start = started.unix_nanos();
    start..start.saturating_add(units::duration::nanos(length))
}

fn address(text: &str) -> Option<IpAddr> {
    text.parse()
        .map(|address: SocketAddr| address.ip())
        .or_else(|_| text.parse())
        .ok()
        .map(|ip: IpAddr| ip.to_canonical())
}

pub(super) const TEST_PROGRAMS: [&str; 3] = ["linerate", "iperf3", "nuttcp"];
/// How far back transfers say what is usual.
pub const HISTORY: Duration = Duration::from_secs(30 * 86_400);
/// Shorter ones say how they start, not what the path carries.
const LEAST_ACTIVE: Duration = Duration::from_secs(1);
/// Fewer say nothing of what is usual.
const FEWEST: usize = 3;
const MANY: usize = 20;
const MOST_NAMED: usize = 3;
/// Less than a hundredth of its own rate beside it explains nothing.
const LEAST_PART: u64 = 100;

#[cfg(test)]
mod tests {
    use model::host::{Device, HostIdentity};
    use model::run::RunId;
    use model::transfer::{LimitShare, ReceivedCount, SocketOwner, TransferEnd};
    use units::PacketCount;

    use super::*;

    /// A transfer that began so many seconds after the hour and reached so many Mbit/s for ten seconds.
    fn transfer(second: u64, mbps: u64, peer: &str) -> Transfer {
        let (started, active) = (WallTime::from_unix_nanos((3_600 + second) * 1_000_000_000), Duration::from_secs(10));
        let goodput = DataRate::from_bps(mbps * 1_000_000);
        Transfer {
            format: Transfer::FORMAT,
            id: RunId::new(started, u128::from(mbps)),
            host: host("eth0"),
            namespace: None,
            local: "192.0.2.1:40000".parse().unwrap(),
            peer: peer.parse().unwrap(),
            owner: Some(SocketOwner { program: Some("rsync".to_owned()), ..SocketOwner::default() }),
            heading: Heading::Outbound,
            sent: goodput * active,
            received: ByteCount::ZERO,
            received_count: ReceivedCount::Exact,
            before_watch: ByteCount::ZERO,
            started,
            started_within: None,
            active,
            goodput,
            end: TransferEnd::Closed,
            retransmits: PacketCount::ZERO,
            mss: None,
            congestion_control: None,
            min_rtt: None,
            rtt: None,
            declared_line_rate: None,
            expected: None,
            limits: vec![LimitShare {
                cause: "receive_window".to_owned(),
                label: "receive window".to_owned(),
                part: 0.7,
            }],
            loss_events: Vec::new(),
            retransmit_runs: Vec::new(),
            sample_every: Duration::ZERO,
        }
    }

    fn host(device: &str) -> HostIdentity {
        let device = Device { name: device.to_owned(), driver: None, speed: None, mtu: None };
        HostIdentity { name: Some("dtn1".to_owned()), device: Some(device), ..HostIdentity::default() }
    }

    const PEER: &str = "198.51.100.7:22";
    const OTHER: &str = "203.0.113.9:443";

    #[test]
    fn what_shared_the_device_meanwhile_is_named_with_its_part_of_the_time() {
        let subject = Subject::of_transfer(&transfer(100, 1_000, PEER));
        // Half of the other's life lies within.
        let beside =
            subject.statements(&[transfer(100, 1_000, PEER), transfer(105, 800, OTHER), transfer(200, 9_000, OTHER)]);
        let [one] = &beside[..] else { panic!("{beside:?}") };
        assert_eq!(one.kind, StatementKind::Fault);
        assert_eq!(
            one.says,
            "while the transfer went on, 400 Mbit/s of watched transfers left by eth0 too: rsync → 203.0.113.9 800 Mbit/s"
        );
    }

    #[test]
    fn another_device_direction_or_host_and_a_trickle_say_nothing() {
        let subject = Subject::of_transfer(&transfer(100, 1_000, PEER));
        let elsewhere = Transfer { host: host("eth1"), ..transfer(100, 800, OTHER) };
        let back = Transfer { heading: Heading::Inbound, ..transfer(100, 800, OTHER) };
        let named = HostIdentity { name: Some("dtn2".to_owned()), ..host("eth0") };
        let stranger = Transfer { host: named, ..transfer(100, 800, OTHER) };
        assert_eq!(subject.statements(&[elsewhere, back, stranger, transfer(100, 9, OTHER)]), []);
    }

    #[test]
    fn what_transfers_of_the_path_reach_stands_beside_one_that_is_slower_than_all() {
        let earlier: Vec<Transfer> = (0..20).map(|number| transfer(number * 20, 400 + number, PEER)).collect();
        let says = |mbps, count| {
            let found = Subject::of_transfer(&transfer(1_000, mbps, PEER)).statements(&earlier[..count]);
            found.into_iter().map(|statement| (statement.kind, statement.says)).next()
        };
        assert_eq!(says(300, 2), None, "two are no history");
        let (kind, text) = says(300, 20).unwrap();
        assert_eq!(kind, StatementKind::Fault);
        assert!(
            text.starts_with(
                "20 transfers to 198.51.100.7 in the 30 days before reached 400 Mbit/s, 410 Mbit/s, 419 Mbit/s"
            ),
            "{text}"
        );
        assert!(
            text.contains("20 of them limited by receive window; this transfer is slower than all of them"),
            "{text}"
        );
        let of_tests = earlier.iter().cloned().map(|mut each| {
            each.owner = Some(SocketOwner { program: Some("iperf3".to_owned()), ..SocketOwner::default() });
            each
        });
        let of_tests: Vec<Transfer> = of_tests.collect();
        assert_eq!(
            Subject::of_transfer(&transfer(1_000, 300, PEER)).statements(&of_tests),
            [],
            "tests are no transfers"
        );
        let (kind, text) = says(410, 19).unwrap();
        assert!(kind == StatementKind::Fact && text.ends_with("8 of them were faster than this transfer"), "{text}");
    }

    #[test]
    fn a_test_is_held_against_transfers_and_not_against_itself_as_a_transfer() {
        let seen = transfer(100, 900, PEER);
        let run = super::super::evidence::run(&seen, &model::series::RunSamples::default());
        let subject = &Subject::of_run(&run)[0];
        assert_eq!(subject.statements(&[seen]), []);
        let slow: Vec<Transfer> = (0..3)
            .map(|number| Transfer { local: "192.0.2.1:50000".parse().unwrap(), ..transfer(number * 20, 100, PEER) })
            .collect();
        let [one] = &subject.statements(&slow)[..] else { panic!("one") };
        assert!(one.kind == StatementKind::Fact && one.says.ends_with("is faster than all of them"), "{}", one.says);
    }
}
