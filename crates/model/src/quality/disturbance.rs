//! From what was observed beside a test to what that means for its result.

use std::fmt;
use std::time::Duration;

use units::ByteCount;
use units::duration::show;

use super::{CpuContention, EmulatorConditions};
use crate::counters::CounterReadings;
use crate::host::HostIdentity;
use crate::measurement::{Heading, Measurement, Whose};
use crate::played::Finding;
use crate::round::Tested;
use crate::run::Run;

/// How far the result of one test can be trusted.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Quality {
    /// What disturbed it, the worst first.
    pub disturbances: Vec<Disturbance>,
}

/// One thing that disturbed a test and is no part of the path.
#[derive(Debug, Clone, PartialEq)]
pub struct Disturbance {
    /// What it was.
    pub kind: DisturbanceKind,
    /// At which host; absent for the lab's emulator and for the relation of the clocks.
    pub whose: Option<Whose>,
    /// The share of the result that it may explain, 0 to 1.
    pub severity: f64,
}

impl Disturbance {
    /// Whether the lab's emulator was the cause, and not a host of the test.
    #[must_use]
    pub fn is_the_emulators(&self) -> bool {
        matches!(
            self.kind,
            DisturbanceKind::EmulatorLate { .. }
                | DisturbanceKind::EmulatorStopped { .. }
                | DisturbanceKind::EmulatorSlow { .. }
                | DisturbanceKind::EmulatorLost { .. }
        )
    }
}

/// Kinds of disturbance, each with the numbers that show it.
#[derive(Debug, Clone, PartialEq)]
pub enum DisturbanceKind {
    /// The hypervisor ran something else while the host's tasks wanted a CPU.
    Steal {
        /// Of the CPU time that the host's tasks wanted, 0 to 1.
        share: f64,
    },
    /// The streams' threads waited for a CPU that other tasks had.
    RunDelay {
        /// Of the time in which they could have run, 0 to 1.
        share: f64,
    },
    /// The CPU quota of the test's control group stopped it.
    Throttled {
        /// Of the test's time.
        share: f64,
    },
    /// Packets dropped since a CPU's backlog was full (`softnet_stat`, second column).
    SoftnetDrops {
        /// How many.
        packets: u64,
    },
    /// Rounds of packet processing that ended with packets left (`softnet_stat`, third column).
    SoftnetSqueezes {
        /// How many in each second.
        per_second: f64,
    },
    /// The interface of the test carried more than the test.
    CrossTraffic {
        /// Interface whose counters showed other traffic.
        device: String,
        /// Bytes besides those of the test, of the direction that had more.
        other: ByteCount,
        /// The test's own bytes in that direction, without headers.
        own: ByteCount,
    },
    /// The kernel's state of the streams was not sampled for a long time: the sampling thread was not scheduled.
    SamplingGap {
        /// The longest time without a sample.
        longest: Duration,
    },
    /// The relation of the two hosts' clocks is hardly known: one-way times are worth nothing.
    ClockUncertain {
        /// The offset is within this of the truth.
        within: Duration,
    },
    /// The lab's emulator delivered packets late.
    EmulatorLate {
        /// One packet burst in a hundred was later than this.
        p99: Duration,
        /// What is allowed.
        limit: Duration,
    },
    /// The lab's emulator was not scheduled, and its clock stood still.
    EmulatorStopped {
        /// The longest time.
        longest: Duration,
    },
    /// The lab's emulator ran its clock slower than real time.
    EmulatorSlow {
        /// The share of real time, 0 to 1.
        speed: f64,
    },
    /// The lab's emulator lost packets.
    EmulatorLost {
        /// How many.
        packets: u64,
    },
}

/// How far a result can be trusted, in a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Grade {
    /// Nothing that was observed disturbed the test.
    Good,
    /// Something did, by less than what a diagnosis looks for.
    Fair,
    /// What disturbed it may explain the result: test again.
    Poor,
}

impl Quality {
    /// Of a test of a round.
    #[must_use]
    pub fn of(tested: &Tested) -> Self {
        let mut quality = match &tested.finding {
            Finding::Run(run) => Self::of_run(run),
            _ => Self::default(),
        };
        quality.disturbances.extend(tested.emulator.iter().flat_map(by_emulator));
        quality.sorted()
    }

    /// Of a run, by what it holds itself.
    #[must_use]
    pub fn of_run(run: &Run) -> Self {
        let Some(measurement) = &run.measurement else { return Self::default() };
        let sides = [
            (Whose::Local, &measurement.local_contention, &measurement.local_counters, &run.local),
            (Whose::Peer, &measurement.peer_contention, &measurement.peer_counters, &run.peer.host),
        ];
        let mut disturbances = Vec::new();
        for (whose, contention, counters, host) in sides {
            let mut add = |(kind, severity)| disturbances.push(Disturbance { kind, whose: Some(whose), severity });
            contention.iter().flat_map(by_contention).for_each(&mut add);
            let elapsed = elapsed(measurement);
            counters.iter().flat_map(|counters| by_softnet(counters, elapsed)).for_each(&mut add);
            cross_traffic(measurement, counters.as_ref(), host, whose).into_iter().for_each(&mut add);
        }
        disturbances.extend(by_sampling(measurement));
        disturbances.extend(by_clock(measurement));
        Self { disturbances }.sorted()
    }

    /// In a word.
    #[must_use]
    pub fn grade(&self) -> Grade {
        match self.disturbances.first().map_or(0.0, |worst| worst.severity) {
            severity if severity >= POOR => Grade::Poor,
            severity if severity >= FAIR => Grade::Fair,
            _ => Grade::Good,
        }
    }

    /// How much the result weighs beside one that nothing disturbed, 0 to 1.
    #[must_use]
    pub fn weight(&self) -> f64 {
        self.disturbances.iter().map(|disturbance| 1.0 - disturbance.severity.clamp(0.0, 1.0)).product()
    }

    fn sorted(mut self) -> Self {
        self.disturbances.retain(|disturbance| disturbance.severity >= NEGLIGIBLE);
        self.disturbances.sort_by(|one, other| other.severity.total_cmp(&one.severity));
        self
    }
}

/// From this severity on a test is worth another attempt.
pub const POOR: f64 = 0.2;
/// Below this a disturbance is smaller than the scatter of undisturbed tests.
pub const FAIR: f64 = 0.05;
/// Below this a disturbance is not listed.
const NEGLIGIBLE: f64 = 0.02;

fn by_contention(contention: &CpuContention) -> Vec<(DisturbanceKind, f64)> {
    let mut found = Vec::new();
    if let Some((share, severity)) = contention.steal_share().zip(contention.steal_rate()) {
        // On a host that wants little CPU, little of it stolen changes little.
        found.push((DisturbanceKind::Steal { share }, share.min(severity)));
    }
    if let Some((share, rate)) = contention.run_delay_share().zip(contention.run_delay_rate()) {
        // Socket buffers keep the path busy while a stream waits, as long as it has time left to fill them again: waiting
        // matters where running and waiting together take all of the test.
        let wanted = rate + contention.on_cpu_rate().unwrap_or(0.0);
        found.push((DisturbanceKind::RunDelay { share }, share.min(rate) * wanted.min(1.0).powi(2)));
    }
    if let Some(share) = contention.throttled_share() {
        found.push((DisturbanceKind::Throttled { share }, share.min(1.0)));
    }
    found
}

fn by_softnet(counters: &CounterReadings, elapsed: Duration) -> Vec<(DisturbanceKind, f64)> {
    let sum = |counter: &str| -> u64 {
        let of_cpu = |(name, _): &(&str, u64)| name.starts_with("softnet.cpu") && name.ends_with(counter);
        counters.moved().filter(of_cpu).fold(0, |sum, (_, change)| sum.saturating_add(change))
    };
    let processed = sum(".processed").max(1);
    let (dropped, squeezed) = (sum(".dropped"), sum(".time_squeeze"));
    let share = dropped as f64 / processed as f64;
    // TCP halves its rate for one loss in some ten thousand packets of a long path.
    let drops = (DisturbanceKind::SoftnetDrops { packets: dropped }, (share * LOSS_MATTERS).min(1.0));
    let per_second = squeezed as f64 / elapsed.as_secs_f64().max(1.0);
    // A squeeze delays packets by a scheduling slice and loses none.
    let squeezes = (DisturbanceKind::SoftnetSqueezes { per_second }, (per_second * SQUEEZE).min(FAIR));
    vec![drops, squeezes]
}

/// What the interface of the test carried besides it. Headers and retransmits are allowed for by [`OVERHEAD_DIVISOR`].
fn cross_traffic(
    measurement: &Measurement,
    counters: Option<&CounterReadings>,
    host: &HostIdentity,
    whose: Whose,
) -> Option<(DisturbanceKind, f64)> {
    let device = &host.device.as_ref()?.name;
    let counters = counters?;
    let carried = |counter: &str| counters.change(&format!("dev.{device}.{counter}"));
    let mut worst: Option<(DisturbanceKind, f64)> = None;
    for (counter, heading) in [("tx_bytes", Heading::Outbound), ("rx_bytes", Heading::Inbound)] {
        let Some(carried) = carried(counter) else { continue };
        let heading = if whose == Whose::Local { heading } else { heading.mirrored() };
        let mut own = own_bytes(measurement, heading);
        if device == LOOPBACK {
            // What leaves arrives on the same device.
            own = own.saturating_add(own_bytes(measurement, heading.mirrored()));
        }
        let with_headers = own.saturating_add(own / OVERHEAD_DIVISOR);
        let acknowledgements = ACKNOWLEDGEMENTS_AT_LEAST.max(own_back(measurement, heading));
        let other = carried.saturating_sub(with_headers.saturating_add(acknowledgements));
        let share = other as f64 / (other + own).max(1) as f64;
        // Of a direction that the test hardly used, as much traffic as the test had in the other is what matters.
        let all = own_bytes(measurement, heading).max(own_bytes(measurement, heading.mirrored()));
        let severity = share.min(other as f64 / (all.saturating_add(other)).max(1) as f64);
        if worst.as_ref().is_none_or(|(_, known)| severity > *known) {
            let kind = DisturbanceKind::CrossTraffic {
                device: device.clone(),
                other: ByteCount::new(other),
                own: ByteCount::new(own),
            };
            worst = Some((kind, severity));
        }
    }
    worst
}

/// Payload of the test in this direction, with what was retransmitted.
fn own_bytes(measurement: &Measurement, heading: Heading) -> u64 {
    let totals = measurement.totals.iter().filter(|total| total.heading == heading);
    let bytes = totals.map(|total| {
        let payload = total.sent.max(total.received).map_or(0, ByteCount::get);
        let again = total.retransmits.map_or(0, |packets| packets.get().saturating_mul(LARGE_SEGMENT));
        payload.saturating_add(again)
    });
    bytes.fold(0, u64::saturating_add)
}

/// What acknowledgements of the other direction take at most: one of a hundred bytes for each segment of a small path.
fn own_back(measurement: &Measurement, heading: Heading) -> u64 {
    own_bytes(measurement, heading.mirrored()) / 10
}

fn by_sampling(measurement: &Measurement) -> Vec<Disturbance> {
    let late = measurement.telemetry.iter().filter(|cadence| cadence.gaps > 0);
    let disturbances = late.map(|cadence| {
        let longest = Duration::from_micros(cadence.longest_gap_us);
        let bound_us = cadence.at_most_us.unwrap_or(cadence.wanted_us.saturating_mul(2));
        let beyond = cadence.longest_gap_us.saturating_sub(bound_us);
        let severity = (beyond as f64 / elapsed(measurement).as_micros().max(1) as f64).min(1.0);
        Disturbance { kind: DisturbanceKind::SamplingGap { longest }, whose: Some(cadence.whose), severity }
    });
    disturbances.collect()
}

fn by_clock(measurement: &Measurement) -> Option<Disturbance> {
    let within = Duration::from_nanos(measurement.clock?.uncertainty_ns);
    // Nothing but one-way times depends on it.
    let severity = if within > CLOCK { FAIR } else { 0.0 };
    Some(Disturbance { kind: DisturbanceKind::ClockUncertain { within }, whose: None, severity })
}

fn by_emulator(emulator: &EmulatorConditions) -> Vec<Disturbance> {
    let disturbance = |kind, severity| Disturbance { kind, whose: None, severity };
    let (p99, limit) = (emulator.late_p99, emulator.late_limit);
    let late = POOR * p99.as_secs_f64() / limit.as_secs_f64().max(f64::MIN_POSITIVE);
    let lost = emulator.lost_packets.get();
    vec![
        disturbance(DisturbanceKind::EmulatorLate { p99, limit }, late.min(1.0)),
        disturbance(
            DisturbanceKind::EmulatorStopped { longest: emulator.longest_stop },
            (POOR * emulator.longest_stop.as_secs_f64() / RETRANSMISSION_TIMEOUT.as_secs_f64()).min(1.0),
        ),
        disturbance(
            DisturbanceKind::EmulatorSlow { speed: emulator.speed() },
            (1.0 - emulator.speed()) * SLOWNESS_MATTERS,
        ),
        disturbance(DisturbanceKind::EmulatorLost { packets: lost }, if lost > 0 { 1.0 } else { 0.0 }),
    ]
}

fn elapsed(measurement: &Measurement) -> Duration {
    let of_totals = measurement.totals.iter().map(|total| total.elapsed).max().unwrap_or_default();
    measurement.local_contention.map_or(of_totals, |contention| contention.elapsed.max(of_totals))
}

impl fmt::Display for Disturbance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.whose {
            Some(Whose::Local) => write!(f, "this host: {}", self.kind),
            Some(Whose::Peer) => write!(f, "peer: {}", self.kind),
            None => write!(f, "{}", self.kind),
        }
    }
}

impl fmt::Display for DisturbanceKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Steal { share } => {
                write!(f, "the hypervisor took {:.0} % of the CPU time (steal)", share * 100.0)
            }
            Self::RunDelay { share } => {
                write!(f, "the streams waited for a CPU for {:.0} % of the time they could run", share * 100.0)
            }
            Self::Throttled { share } => {
                write!(f, "a CPU quota stopped the test for {:.0} % of its time (cgroup)", share * 100.0)
            }
            Self::SoftnetDrops { packets } => write!(f, "{packets} packets dropped at a full CPU backlog (softnet)"),
            Self::SoftnetSqueezes { per_second } => write!(f, "softnet time_squeeze {per_second:.0} times per second"),
            Self::CrossTraffic { device, other, own } => {
                write!(f, "{device} carried {other} beside the test's {own}")
            }
            Self::SamplingGap { longest } => write!(f, "no sample for {}", show(*longest)),
            Self::ClockUncertain { within } => write!(f, "clock offset uncertain by {}", show(*within)),
            Self::EmulatorLate { p99, limit } => {
                write!(f, "emulator: 1 % of packet bursts more than {} late (limit {})", show(*p99), show(*limit))
            }
            Self::EmulatorStopped { longest } => write!(f, "emulator: not scheduled for {}", show(*longest)),
            Self::EmulatorSlow { speed } => write!(f, "emulator: at {:.0} % of real time", speed * 100.0),
            Self::EmulatorLost { packets } => write!(f, "emulator: {packets} packets lost by the emulator itself"),
        }
    }
}

impl Grade {
    /// As text and documents have it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Good => "good",
            Self::Fair => "fair",
            Self::Poor => "poor",
        }
    }
}

/// Headers of Ethernet, VXLAN, IP and TCP on segments of 536 B, the smallest in use: a quarter more than the payload.
const OVERHEAD_DIVISOR: u64 = 4;
const LOOPBACK: &str = "lo";
/// Control connection, probes, ARP and the exchange of results, which carries samples.
const ACKNOWLEDGEMENTS_AT_LEAST: u64 = 2_000_000;
/// A retransmitted segment is at most so large on paths of large packets.
const LARGE_SEGMENT: u64 = 9_000;
const LOSS_MATTERS: f64 = 1_000.0;
const SQUEEZE: f64 = 0.001;
/// Linux's least retransmission timeout (`TCP_RTO_MIN`, include/net/tcp.h): from there on a stop looks like a loss.
const RETRANSMISSION_TIMEOUT: Duration = Duration::from_millis(200);
/// A slower path is a path all the same; what is left is that hosts' own timers do not slow down with it.
const SLOWNESS_MATTERS: f64 = 0.25;
const CLOCK: Duration = Duration::from_millis(5);

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::counters::Reading;
    use crate::host::Device;
    use crate::measurement::{DirectionTotal, SteadyState};
    use units::{DataRate, PacketCount};

    const SECOND: Duration = Duration::from_secs(1);

    fn contention() -> CpuContention {
        CpuContention {
            elapsed: SECOND * 10,
            cpus: 2,
            steal: Some(Duration::ZERO),
            busy: Some(SECOND * 5),
            on_cpu: Some(SECOND * 2),
            run_delay: Some(Duration::ZERO),
            throttled: Some(Duration::ZERO),
            pressure: None,
        }
    }

    fn graded(local: CpuContention) -> Quality {
        let found = by_contention(&local).into_iter();
        Quality {
            disturbances: found
                .map(|(kind, severity)| Disturbance { kind, whose: Some(Whose::Local), severity })
                .collect(),
        }
        .sorted()
    }

    #[test]
    fn quiet_host_is_good_and_one_whose_cpu_is_stolen_is_poor() {
        assert_eq!(graded(contention()).grade(), Grade::Good);
        let stolen = graded(CpuContention { steal: Some(SECOND * 3), ..contention() });
        assert_eq!(stolen.grade(), Grade::Poor);
        assert!(stolen.weight() < 0.75, "{}", stolen.weight());
        assert_eq!(stolen.disturbances[0].to_string(), "this host: the hypervisor took 38 % of the CPU time (steal)");
    }

    #[test]
    fn waiting_for_a_cpu_matters_by_how_much_of_the_test_it_takes() {
        let waits = |run_delay| graded(CpuContention { run_delay: Some(run_delay), ..contention() }).grade();
        assert_eq!(waits(SECOND / 10), Grade::Good);
        assert_eq!(waits(SECOND), Grade::Good, "what it waits for it makes up");
        assert_eq!(waits(SECOND * 4), Grade::Fair);
        assert_eq!(waits(SECOND * 8), Grade::Poor);
        let idle = CpuContention { on_cpu: Some(SECOND / 1000), run_delay: Some(SECOND / 2000), ..contention() };
        assert_eq!(graded(idle).grade(), Grade::Good, "a stream that hardly runs says nothing");
    }

    #[test]
    fn unknown_is_no_disturbance_and_no_proof_of_quiet_either() {
        assert_eq!(graded(CpuContention::default()), Quality::default());
    }

    #[test]
    fn interface_that_carries_others_bytes_is_named_with_them() {
        let total = DirectionTotal {
            heading: Heading::Outbound,
            sent: Some(ByteCount::new(100_000_000)),
            received: Some(ByteCount::new(100_000_000)),
            elapsed: SECOND * 10,
            goodput: DataRate::from_bps(80_000_000),
            retransmits: Some(PacketCount::new(3)),
            datagrams: None,
            steady: SteadyState::NotReached,
        };
        let measurement = Measurement { totals: vec![total], ..Measurement::default() };
        let device = Device { name: "eth0".to_owned(), driver: None, speed: None, mtu: None };
        let host = HostIdentity { device: Some(device), ..HostIdentity::default() };
        let carried = |tx: u64, whose| {
            let reading = |after| Reading { before: 0, after };
            let names = [("dev.eth0.tx_bytes", tx), ("dev.eth0.rx_bytes", 2_000_000)];
            let values: BTreeMap<String, Reading> =
                names.into_iter().map(|(name, value)| (name.to_owned(), reading(value))).collect();
            let counters = CounterReadings { values, ..CounterReadings::default() };
            cross_traffic(&measurement, Some(&counters), &host, whose).unwrap().1
        };
        assert!(carried(106_000_000, Whose::Local) < NEGLIGIBLE, "headers are the test's own");
        assert!(carried(400_000_000, Whose::Local) > POOR);
        assert!(carried(400_000_000, Whose::Peer) > POOR, "the receiver sends acknowledgements only");
    }

    #[test]
    fn emulator_beyond_its_limit_is_poor_and_one_that_lost_a_packet_is_worthless() {
        let late = |millis| EmulatorConditions {
            late_p99: Duration::from_millis(millis),
            late_limit: Duration::from_millis(1),
            ..EmulatorConditions::default()
        };
        let graded = |emulator| Quality { disturbances: by_emulator(&emulator) }.sorted();
        assert_eq!(graded(late(0)).grade(), Grade::Good);
        assert_eq!(graded(late(2)).grade(), Grade::Poor);
        let stopped = |millis| {
            let time = Duration::from_millis(millis);
            graded(EmulatorConditions { longest_stop: time, elapsed: SECOND, emulated: SECOND - time, ..late(0) })
                .grade()
        };
        assert_eq!([10, 100, 250].map(stopped), [Grade::Good, Grade::Fair, Grade::Poor]);
        let lost = EmulatorConditions { lost_packets: PacketCount::new(1), ..late(0) };
        assert!(graded(lost).weight() < 1e-9);
    }
}
