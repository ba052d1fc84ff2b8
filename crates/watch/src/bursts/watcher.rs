//! The loop that watches a device.

use std::io;
use std::time::Duration;

use linux::bpf::meter::{BurstMeter, Hook, epoch};
use linux::links::{self, Link};
use linux::netlink::NetlinkError;
use linux::netns::{self, NetnsError, NetnsRef};
use linux::readiness::{Patience, Readiness};
use linux::{Unavailable, clock, host};
use model::bursts::{BurstReport, CountedBy, DirectionBursts};
use model::measurement::Heading;
use passive::bursts::around::{BucketClock, DropRecorder};
use passive::bursts::finder::{BurstFinder, LooksIntoPackets, RetransmissionsKnown, Search};
use passive::bursts::flows::{FlowEnds, SampledPacket};
use passive::bursts::tick::Tick;
use units::{DataRate, MonoTime, Percent, WallTime};

use super::counters::DeviceReader;
use super::drops::DropCounters;
use super::retransmits::DeviceRetransmits;
use super::surroundings::{Before, interrupt_delay, reported_rate};

/// What to watch.
#[derive(Debug, Clone)]
pub struct Request {
    /// Name of the device, in the namespace.
    pub device: String,
    /// The network namespace; none for that of the calling thread.
    pub namespace: Option<NetnsRef>,
    /// How long a bucket is.
    pub bucket: Duration,
    /// How long to watch; none for no end.
    pub length: Option<Duration>,
    /// The line rate that the user declares.
    pub line_rate: Option<DataRate>,
    /// More than this part of the line rate is a burst.
    pub threshold: Percent,
    /// The rate of a slower link whose queue is reckoned.
    pub drain: Option<DataRate>,
}

/// Why bursts are not watched.
#[derive(Debug, thiserror::Error)]
pub enum BurstError {
    /// The namespace cannot be entered.
    #[error(transparent)]
    Namespace(#[from] NetnsError),
    /// Devices cannot be listed.
    #[error("the devices cannot be listed")]
    Devices(#[from] NetlinkError),
    /// There is no such device.
    #[error("there is no device {device} here; there are {}", known.join(", "))]
    NoDevice {
        /// What was asked for.
        device: String,
        /// Those there are.
        known: Vec<String>,
    },
    /// Its counters cannot be read any more.
    #[error("the device cannot be watched")]
    Reading(#[from] io::Error),
}

/// What passed so far, while the watch goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// How long it has been watched.
    pub watched: Duration,
    /// Buckets with packets so far, both directions.
    pub buckets: u64,
}

/// Watches a device until `stopped` or the time is over.
///
/// # Errors
/// See [`BurstError`].
pub fn watch(
    request: &Request,
    stopped: impl Fn() -> bool + Send,
    progress: impl FnMut(Progress) + Send,
) -> Result<BurstReport, BurstError> {
    match &request.namespace {
        Some(reference) => netns::with_netns(reference, || within(request, stopped, progress))?,
        None => within(request, stopped, progress),
    }
}

fn within(
    request: &Request,
    stopped: impl Fn() -> bool,
    mut progress: impl FnMut(Progress),
) -> Result<BurstReport, BurstError> {
    let links = links::dump()?;
    let link = links.iter().find(|link| link.name == request.device).ok_or_else(|| BurstError::NoDevice {
        device: request.device.clone(),
        known: links.iter().map(|link| link.name.clone()).collect(),
    })?;
    let mut watcher = Watcher::open(request, link);
    let readiness = Readiness::new()?;
    let end = request.length.map(|length| watcher.began + length);
    loop {
        let now = clock::now();
        if stopped() || end.is_some_and(|end| now >= end) {
            break;
        }
        let left = end.map_or(Duration::MAX, |end| end.since(now));
        readiness.wait(Patience::For(watcher.source.pause().min(left)), |_| {})?;
        watcher.read()?;
        watcher.look_for_drops();
        progress(Progress { watched: clock::now().since(watcher.began), buckets: watcher.found.buckets });
    }
    // The last bucket closes two later.
    readiness.wait(Patience::For(watcher.bucket * 3), |_| {})?;
    watcher.read()?;
    watcher.look_for_drops();
    Ok(watcher.report(request, link))
}

/// Who counts.
enum Source {
    Program(BurstMeter),
    Counters(DeviceReader, Unavailable),
}

impl Source {
    /// How long nobody needs to read.
    fn pause(&self) -> Duration {
        match self {
            Self::Program(meter) => (meter.memory() / 8).min(GLANCE),
            Self::Counters(..) => COARSE,
        }
    }
}

struct Watcher {
    source: Source,
    bucket: Duration,
    began: MonoTime,
    start: WallTime,
    line_rate: Option<DataRate>,
    before: Before,
    drops: DropCounters,
    /// When the counters of drops were read last.
    looked: MonoTime,
    found: Found,
}

/// What buckets are pushed to.
struct Found {
    inbound: BurstFinder,
    outbound: BurstFinder,
    recorder: DropRecorder,
    retransmits: Result<DeviceRetransmits, Unavailable>,
    buckets: u64,
    samples_lost: u64,
}

impl Found {
    fn finder(&mut self, heading: Heading) -> &mut BurstFinder {
        match heading {
            Heading::Inbound => &mut self.inbound,
            Heading::Outbound => &mut self.outbound,
        }
    }

    /// Takes a bucket with packets.
    fn push(&mut self, heading: Heading, tick: Tick) {
        self.buckets += 1;
        let Self { inbound, outbound, recorder, retransmits, .. } = self;
        let finder = if heading == Heading::Inbound { inbound } else { outbound };
        let mut each = |tick: &Tick| {
            finder.push(tick);
            recorder.push(heading, tick);
        };
        match retransmits {
            Ok(events) if heading == Heading::Outbound => events.times.join(tick, each),
            _ => each(&tick),
        }
    }

    /// All buckets before this one have been pushed.
    fn settle(&mut self, before: u64) {
        let Self { outbound, recorder, retransmits, .. } = self;
        if let Ok(events) = retransmits {
            events.times.settle(before, |tick| {
                outbound.push(tick);
                recorder.push(Heading::Outbound, tick);
            });
        }
    }
}

impl Watcher {
    fn open(request: &Request, link: &Link) -> Self {
        let before = Before::read(&link.name);
        let (source, bucket) = match BurstMeter::open(link.index, request.bucket) {
            Ok(meter) => (Source::Program(meter), request.bucket),
            Err(why) => {
                let bucket = COARSE.max(request.bucket);
                (Source::Counters(DeviceReader::new(&link.name, bucket), why), bucket)
            }
        };
        let (began, start) = (clock::now(), clock::wall_now());
        // When the bucket began in which the watch begins.
        let since = began.as_nanos() % units::duration::nanos(bucket).max(1);
        let aligned = WallTime::from_unix_nanos(start.unix_nanos().saturating_sub(since));
        let line_rate = request.line_rate.or_else(|| reported_rate(link));
        let looks = if matches!(source, Source::Program(_)) { LooksIntoPackets::Yes } else { LooksIntoPackets::No };
        let retransmits = DeviceRetransmits::open(&link.name);
        let search = Search {
            bucket,
            line_rate,
            threshold: request.threshold,
            drain: request.drain,
            first: epoch(began, bucket),
            start: aligned,
            looks_into_packets: looks,
            retransmissions: RetransmissionsKnown::No,
        };
        let known = if retransmits.is_ok() { RetransmissionsKnown::Yes } else { RetransmissionsKnown::No };
        let outbound = BurstFinder::new(Search { retransmissions: known, ..search });
        let inbound = BurstFinder::new(search);
        let recorder = DropRecorder::new(BucketClock { bucket, first: search.first, start: aligned });
        let drops = DropCounters::open(&link.name);
        Self {
            source,
            bucket,
            began,
            start,
            line_rate,
            before,
            drops,
            looked: clock::now(),
            found: Found { inbound, outbound, recorder, retransmits, buckets: 0, samples_lost: 0 },
        }
    }

    /// Keeps the buckets around what was dropped since the last look. Buckets have been read before.
    fn look_for_drops(&mut self) {
        let grown = self.drops.grown();
        let now = clock::now();
        self.found.recorder.dropped(epoch(self.looked, self.bucket)..=epoch(now, self.bucket), grown);
        let upto = self.read_upto();
        self.found.recorder.settle(upto);
        self.looked = now;
    }

    /// The bucket up to which all have been read: the last closes two later.
    fn read_upto(&self) -> u64 {
        epoch(self.looked, self.bucket).saturating_sub(2)
    }

    fn read(&mut self) -> io::Result<()> {
        let Self { source, found, bucket, .. } = self;
        let now = clock::now();
        // Before the buckets, which close later than what is in them happens.
        if let Ok(events) = &mut found.retransmits {
            events.take(*bucket);
        }
        match source {
            Source::Program(meter) => read_meter(meter, now, found),
            Source::Counters(reader, _) => reader.read(|heading, tick| found.push(heading, tick))?,
        }
        found.settle(epoch(now, *bucket).saturating_sub(1));
        Ok(())
    }

    fn report(self, request: &Request, link: &Link) -> BurstReport {
        let length = clock::now().since(self.began);
        let since = self.before.since(&link.name);
        let Found { inbound, outbound, recorder, retransmits, samples_lost, .. } = self.found;
        let (drops, more_drops) = recorder.finish();
        let directions = vec![inbound.report(Heading::Inbound, length), outbound.report(Heading::Outbound, length)];
        let noted = Noted {
            source: &self.source,
            directions: &directions,
            line_rate: self.line_rate,
            link,
            samples_lost,
            retransmits: &retransmits,
        };
        BurstReport {
            format: BurstReport::FORMAT,
            host: host::hostname(),
            namespace: request.namespace.as_ref().map(ToString::to_string),
            device: link.name.clone(),
            start: self.start,
            length,
            bucket: self.bucket,
            counted_by: match self.source {
                Source::Program(_) => CountedBy::Program,
                Source::Counters(..) => CountedBy::Counters,
            },
            line_rate: self.line_rate,
            threshold_percent: u8::try_from(request.threshold.get()).unwrap_or(u8::MAX),
            notes: noted.notes(),
            directions,
            busiest: since.busiest,
            retransmits: since.retransmits,
            dropped: since.dropped,
            drops,
            more_drops,
        }
    }
}

const fn heading(hook: Hook) -> Heading {
    match hook {
        Hook::Ingress => Heading::Inbound,
        Hook::Egress => Heading::Outbound,
    }
}

fn read_meter(meter: &mut BurstMeter, now: MonoTime, found: &mut Found) {
    for hook in [Hook::Ingress, Hook::Egress] {
        let heading = heading(hook);
        // Before the buckets, which close later than their packets come.
        meter.samples(hook, |sample| {
            let flow = FlowEnds::of(sample.head);
            found.finder(heading).sample(SampledPacket { epoch: sample.epoch, bytes: sample.bytes, flow });
        });
        let overrun = meter.read(hook, now, |bucket| {
            found.samples_lost += bucket.samples_lost;
            let tick = Tick {
                epoch: bucket.epoch,
                bytes: bucket.bytes,
                packets: bucket.packets,
                marked: bucket.marked,
                flows: bucket.flows,
                retransmissions: 0,
            };
            found.push(heading, tick);
        });
        if overrun.ticks > 0 {
            found.finder(heading).missed(overrun.ticks);
        }
    }
}

/// What the notes of a report come from.
struct Noted<'a> {
    source: &'a Source,
    directions: &'a [DirectionBursts],
    line_rate: Option<DataRate>,
    link: &'a Link,
    samples_lost: u64,
    retransmits: &'a Result<DeviceRetransmits, Unavailable>,
}

impl Noted<'_> {
    fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if let Source::Counters(_, why) = self.source {
            notes.push(format!(
                "counters were read every 10 ms: shorter bursts are not seen. {why}: buckets of 1 ms and less take CAP_BPF and \
                 CAP_NET_ADMIN of the machine, and Linux 6.6"
            ));
        }
        if self.line_rate.is_none() {
            notes.push(format!(
                "{} reports no link speed, so there are no bursts: --expect RATE declares one",
                self.link.name
            ));
        }
        if let Some(delay) = interrupt_delay(self.link).filter(|delay| *delay > 0) {
            notes.push(format!(
                "the NIC may hold received packets for {delay} us (rx-usecs): shorter buckets show its batches"
            ));
        }
        let is_over = |each: &&DirectionBursts| self.line_rate.is_some_and(|rate| each.busiest_bucket > rate);
        if self.directions.iter().any(|each| is_over(&each)) {
            notes.push(
                "a bucket above the line rate is a batch that the kernel took at once, or data offered to a queue"
                    .to_owned(),
            );
        }
        let missed: u64 = self.directions.iter().map(|each| each.missed_buckets).sum();
        if missed > 0 {
            notes.push(format!("{missed} buckets were not read in time, and are not in the sums"));
        }
        match self.retransmits {
            Err(why) => notes.push(format!("how often TCP retransmits is not known by bucket: {why}")),
            Ok(events) if events.lost > 0 => {
                notes.push(format!("{} retransmissions were not read in time, and are in no bucket", events.lost));
            }
            Ok(_) => {}
        }
        if self.samples_lost > 0 {
            notes.push(format!(
                "{} packets that were to be looked at were not read in time: the flows of bursts are those of the others",
                self.samples_lost
            ));
        }
        notes
    }
}

/// Counters cost more than buckets, and a process is woken late: finer readings would show that.
const COARSE: Duration = Duration::from_millis(10);
/// How often buckets are read at least, and the end is looked for.
const GLANCE: Duration = Duration::from_millis(100);
