//! The streams of one test: prepared, started, watched, stopped and counted together.

use std::io;
use std::net::{Shutdown, SocketAddr};
use std::num::NonZeroU64;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use linux::clock;
use model::measurement::{DatagramCounts, End, Heading};
use model::spec::{Protocol, ReceiveMethod, SendMethod, TestSpec};
use units::{MonoTime, PacketCount};

use super::budget::Budget;
use super::counters::StreamCounters;
use super::datagram::CounterWidth;
use super::gate::Gate;
use super::low_water::LowWater;
use super::recorder::SampleRecorder;
use super::{tcp_receive, tcp_send, udp_receive, udp_send};
use crate::contention::StreamsScheduled;
use crate::control::Waker;

/// One end of one stream.
#[derive(Debug)]
pub struct Stream {
    /// Number of the stream, from 1, in order of creation.
    pub number: u32,
    /// Which way its payload goes, seen from this host.
    pub heading: Heading,
    /// This end's address.
    pub local: SocketAddr,
    /// The other end's address.
    pub remote: SocketAddr,
    /// What its thread has done so far.
    pub counters: Arc<StreamCounters>,
    pub(super) recorder: Arc<SampleRecorder>,
    pub(super) sampled_by: SampledBy,
    socket: Arc<OwnedFd>,
    done: Arc<AtomicBool>,
}

/// Who takes the samples of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SampledBy {
    /// Its own thread, which comes by as often as samples are wanted, also where nothing moves.
    OwnThread,
    /// Its own thread where it comes by, else the sampler.
    Both,
}

/// A connected socket that is to become a stream.
#[derive(Debug)]
pub struct Endpoint {
    /// Socket of TCP or UDP, connected to `remote`.
    pub socket: OwnedFd,
    /// Which way its payload goes, seen from this host.
    pub heading: Heading,
    /// This end's address.
    pub local: SocketAddr,
    /// The other end's address.
    pub remote: SocketAddr,
}

/// How the streams of a test are to work, besides its specification.
#[derive(Debug, Clone)]
pub struct Conduct {
    /// Bytes of a write or datagram, where they are fixed.
    pub length: Option<usize>,
    /// What a receiver counts of an amount of bytes.
    pub amount: Amount,
    /// How wide datagram numbers are.
    pub counter_width: CounterWidth,
    /// Whether a TCP sender closes its direction when it is done, so that the receiver reads to the end.
    pub closing: Closing,
    /// Ends the control thread's waiting when a stream is done.
    pub waker: Waker,
}

/// What a receiver counts of an amount of bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Amount {
    /// Every byte.
    Exact,
    /// Whole blocks of so many bytes, as an iperf3 does: what is less at the end is never counted, and some wait for the rest
    /// of a block for ever.
    WholeBlocks(NonZeroU64),
}

impl Conduct {
    /// The size of the blocks that the receiver counts, where it counts nothing less.
    pub(crate) fn whole_block(&self) -> Option<NonZeroU64> {
        match self.amount {
            Amount::Exact => None,
            Amount::WholeBlocks(block) => Some(block),
        }
    }
}

/// What a TCP sender does when it is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Closing {
    /// Closes its direction: the peer counts to the end of the stream.
    EndOfStream,
    /// Only stops: an iperf3 takes a closed direction for a failure.
    LeaveOpen,
}

/// What became of one stream.
#[derive(Debug)]
pub struct StreamEnd {
    /// From the start to this end's last byte.
    pub elapsed: Duration,
    /// Why it stopped.
    pub finish: Finish,
    /// How data was handed over, of a TCP sender.
    pub sent_by: Option<SendMethod>,
    /// Whether the kernel copied in spite of that.
    pub copy_fallback: Option<bool>,
    /// How data was taken, of a TCP receiver.
    pub received_by: Option<ReceiveMethod>,
    /// What became of datagrams, as far as this end knows.
    pub datagrams: Option<DatagramCounts>,
    /// What was odd.
    pub anomaly: Option<String>,
}

/// Why a stream stopped.
#[derive(Debug)]
pub enum Finish {
    /// It was told to, or its budget was spent.
    Done,
    /// The sender closed its direction, and everything was read.
    EndOfStream,
    /// The connection failed.
    Failed(io::Error),
}

/// Bytes of a stream's stack, which holds no buffer.
const STACK: usize = 256 << 10;

/// Bytes that the streams' own buffers may take together, so that 128 streams fit where one does.
const BUFFER_MEMORY: usize = 16 << 20;

/// What every stream's thread gets.
pub(crate) struct Task {
    pub(crate) socket: Arc<OwnedFd>,
    pub(crate) counters: Arc<StreamCounters>,
    pub(super) recorder: Arc<SampleRecorder>,
    /// Of a receiver from a sender that keeps to a rate.
    pub(super) low_water: Option<LowWater>,
    pub(crate) budget: Arc<Budget>,
    pub(crate) stop: Arc<AtomicBool>,
    pub(crate) spec: Arc<TestSpec>,
    pub(crate) conduct: Conduct,
    /// Streams of the test at this host, which share what memory it may take.
    pub(crate) streams: usize,
}

impl Task {
    /// Bytes for the buffers of one stream, of what those of all streams together may take.
    pub(crate) fn share_of_memory(&self) -> usize {
        BUFFER_MEMORY / self.streams.max(1)
    }

    pub(crate) fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    pub(crate) fn fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

/// The streams of one test.
#[derive(Debug)]
pub struct StreamSet {
    streams: Vec<Stream>,
    threads: Vec<JoinHandle<Option<StreamEnd>>>,
    gate: Arc<Gate>,
    stop_sending: Arc<AtomicBool>,
    stop_receiving: Arc<AtomicBool>,
    budget: Arc<Budget>,
    scheduled: Arc<StreamsScheduled>,
    protocol: Protocol,
    closing: Closing,
}

impl StreamSet {
    /// Makes a thread for each endpoint. Nothing moves yet.
    ///
    /// # Errors
    /// If a thread cannot be made.
    pub fn prepare(endpoints: Vec<Endpoint>, spec: &TestSpec, conduct: &Conduct) -> io::Result<Self> {
        let mut set = Self {
            streams: Vec::new(),
            threads: Vec::new(),
            gate: Arc::default(),
            stop_sending: Arc::default(),
            stop_receiving: Arc::default(),
            budget: Arc::new(Budget::of(spec.limit, conduct.whole_block())),
            scheduled: Arc::default(),
            protocol: spec.protocol,
            closing: conduct.closing,
        };
        let spec = Arc::new(spec.clone());
        let streams = endpoints.len();
        for (index, endpoint) in endpoints.into_iter().enumerate() {
            set.add((index, streams), endpoint, &spec, conduct)?;
        }
        Ok(set)
    }

    fn add(
        &mut self,
        (index, streams): (usize, usize),
        endpoint: Endpoint,
        spec: &Arc<TestSpec>,
        conduct: &Conduct,
    ) -> io::Result<()> {
        let Endpoint { socket, heading, local, remote } = endpoint;
        let (socket, counters, recorder) =
            (Arc::new(socket), Arc::<StreamCounters>::default(), Arc::<SampleRecorder>::default());
        let end = end_of(heading);
        let receives = spec.protocol == Protocol::Tcp && end == End::Receiver;
        let low_water = LowWater::of(spec.rate.filter(|_| receives), socket.as_fd());
        // Each read then takes a sample, every second one of those that are wanted at least.
        let often = low_water.is_some() && LowWater::SPACING <= spec.sample_every * 2;
        let task = Task {
            socket: Arc::clone(&socket),
            counters: Arc::clone(&counters),
            recorder: Arc::clone(&recorder),
            low_water,
            budget: Arc::clone(&self.budget),
            stop: Arc::clone(if end == End::Sender { &self.stop_sending } else { &self.stop_receiving }),
            spec: Arc::clone(spec),
            conduct: conduct.clone(),
            streams,
        };
        let cpu = pick(&spec.place.cpus, index);
        let gate = Arc::clone(&self.gate);
        let done = Arc::<AtomicBool>::default();
        let (flag, scheduled) = (Arc::clone(&done), Arc::clone(&self.scheduled));
        let name = format!("stream {}", index + 1);
        let thread = thread::Builder::new().name(name).stack_size(STACK).spawn(move || {
            let ended = run(&task, end, &gate, cpu);
            scheduled.add_this_thread();
            flag.store(true, Ordering::Release);
            task.conduct.waker.wake();
            ended
        })?;
        self.threads.push(thread);
        let number = u32::try_from(index + 1).unwrap_or(u32::MAX);
        let sampled_by = if often { SampledBy::OwnThread } else { SampledBy::Both };
        self.streams.push(Stream { number, heading, local, remote, counters, recorder, sampled_by, socket, done });
        Ok(())
    }

    /// Lets everything move.
    pub fn start(&self, start: MonoTime) {
        self.gate.open(start);
    }

    /// The streams, in order of creation.
    #[must_use]
    pub fn streams(&self) -> &[Stream] {
        &self.streams
    }

    /// Whether all streams of this heading have stopped by themselves.
    #[must_use]
    pub fn is_done(&self, heading: Heading) -> bool {
        self.of(heading).all(|stream| stream.done.load(Ordering::Acquire))
    }

    /// Waits until all streams of this heading have stopped, or until `deadline`.
    pub fn await_done(&self, heading: Heading, deadline: MonoTime) {
        const GLANCE: Duration = Duration::from_millis(1);
        while !self.is_done(heading) && clock::now() < deadline && clock::sleep_until(clock::now() + GLANCE).is_ok() {}
    }

    /// Payload over all streams of this heading so far.
    #[must_use]
    pub fn bytes(&self, heading: Heading) -> u64 {
        self.of(heading).map(|stream| stream.counters.read().bytes).sum()
    }

    /// Stops the senders, also those that wait for the kernel.
    pub fn stop_sending(&self) {
        self.stop_sending.store(true, Ordering::Relaxed);
        if self.protocol == Protocol::Tcp && self.closing == Closing::EndOfStream {
            self.shut(Heading::Outbound, Shutdown::Write);
        }
    }

    /// Stops the receivers; what already lies in their sockets is still counted.
    pub fn stop_receiving(&self) {
        self.stop_receiving.store(true, Ordering::Relaxed);
        if self.protocol == Protocol::Tcp {
            self.shut(Heading::Inbound, Shutdown::Read);
        }
    }

    /// What the scheduler gave the streams' threads, as far as they have ended.
    #[must_use]
    pub fn scheduled(&self) -> Arc<StreamsScheduled> {
        Arc::clone(&self.scheduled)
    }

    /// Waits for every thread, which must have been stopped or be sure to end.
    #[must_use]
    pub fn join(mut self) -> (Vec<Stream>, Vec<StreamEnd>) {
        let threads = std::mem::take(&mut self.threads);
        let ends = threads.into_iter().map(|thread| thread.join().ok().flatten().unwrap_or_else(never_ran)).collect();
        (std::mem::take(&mut self.streams), ends)
    }

    fn of(&self, heading: Heading) -> impl Iterator<Item = &Stream> {
        self.streams.iter().filter(move |stream| stream.heading == heading)
    }

    fn shut(&self, heading: Heading, how: Shutdown) {
        for stream in self.of(heading) {
            // It fails only where the connection is gone, which the stream's own thread reports.
            let _ = socket2::SockRef::from(&*stream.socket).shutdown(how);
        }
    }
}

/// Threads never outlive the test they belong to.
impl Drop for StreamSet {
    fn drop(&mut self) {
        self.gate.abandon();
        self.stop_sending();
        self.stop_receiving();
        for stream in &self.streams {
            let _ = socket2::SockRef::from(&*stream.socket).shutdown(Shutdown::Both);
        }
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

impl Stream {
    /// The socket, for reading the kernel's state of it.
    #[must_use]
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    /// A share in the socket that keeps it open.
    #[must_use]
    pub fn share(&self) -> Arc<OwnedFd> {
        Arc::clone(&self.socket)
    }

    /// Which end this host is.
    #[must_use]
    pub const fn end(&self) -> End {
        end_of(self.heading)
    }
}

/// Which end of a stream of this heading is here.
#[must_use]
pub const fn end_of(heading: Heading) -> End {
    match heading {
        Heading::Outbound => End::Sender,
        Heading::Inbound => End::Receiver,
    }
}

fn run(task: &Task, end: End, gate: &Gate, cpu: Option<u16>) -> Option<StreamEnd> {
    let pinned = cpu.map_or(Ok(()), |cpu| linux::affinity::pin_current_thread(&[usize::from(cpu)]));
    let mut ended = match (task.spec.protocol, end) {
        (Protocol::Tcp, End::Sender) => tcp_send::run(task, gate),
        (Protocol::Tcp, End::Receiver) => tcp_receive::run(task, gate),
        (Protocol::Udp, End::Sender) => udp_send::run(task, gate),
        (Protocol::Udp, End::Receiver) => udp_receive::run(task, gate),
    };
    if let (Some(ended), Err(error)) = (&mut ended, pinned) {
        ended.anomaly.get_or_insert_with(|| error.to_string());
    }
    ended
}

/// Of a stream that did nothing: its thread was sent home before the start.
pub(super) fn never_ran() -> StreamEnd {
    StreamEnd {
        elapsed: Duration::ZERO,
        finish: Finish::Done,
        sent_by: None,
        copy_fallback: None,
        received_by: None,
        datagrams: None,
        anomaly: None,
    }
}

fn pick(cpus: &[u16], index: usize) -> Option<u16> {
    (!cpus.is_empty()).then(|| cpus[index % cpus.len()])
}

/// Datagrams as a sender knows them.
pub(crate) fn datagrams_sent(sent: u64) -> DatagramCounts {
    DatagramCounts { sent: PacketCount::new(sent), ..DatagramCounts::default() }
}
