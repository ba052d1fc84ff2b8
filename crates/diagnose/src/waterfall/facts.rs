//! What matters most, in sentences, and the command that asks the next question.

use std::time::Duration;

use model::measurement::Heading;
use model::run::Run;
use model::spec::{Family, ReceiveMethod};
use serde::{Deserialize, Serialize};
use units::duration::show;
use units::{ByteCount, DataRate};

use super::cause::{Cause, Reason};
use super::line::LineRateSource;
use super::{Share, Waterfall};
use crate::silence::{SentSegments, Silence};
use crate::swallowed::SwallowedSegments;
use crate::wires::way::opposite;

/// One thing worth knowing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Fact {
    /// The cause that it is about.
    pub cause: Cause,
    /// One sentence, without a full stop.
    pub text: String,
    /// What to do next, where there is something.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<NextStep>,
}

/// What to do next.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NextStep {
    /// What kind of step it is.
    pub kind: NextKind,
    /// Where to type it.
    pub place: HostSide,
    /// What to type.
    pub command: String,
    /// What it changes or tells.
    pub purpose: String,
}

/// What a next step does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum NextKind {
    /// It changes a setting of a host.
    Setting,
    /// It is another test.
    Test,
    /// It looks at a host.
    Look,
}

/// Where a next step is typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum HostSide {
    /// On the host that stores the run.
    Here,
    /// On the other host.
    Peer,
}

/// The shares that matter most, as sentences; at most three, and none that is too small to say anything.
pub(super) fn facts(waterfall: &Waterfall, run: &Run) -> Vec<Fact> {
    let teller = Teller { waterfall, run };
    let least = least_told(waterfall);
    let worth = |share: &&Share| share.part_of_line_rate >= least && share.cause != Cause::ProtocolOverhead;
    let largest = waterfall.shares.iter().filter(worth).take(3);
    let told: Vec<Fact> = largest.map(|share| teller.fact(share)).collect();
    if told.is_empty() { waterfall.shares.iter().take(1).map(|share| teller.fact(share)).collect() } else { told }
}

#[derive(Debug, Clone, Copy)]
struct Teller<'a> {
    waterfall: &'a Waterfall,
    run: &'a Run,
}

impl Teller<'_> {
    fn fact(self, share: &Share) -> Fact {
        let what = match share.cause {
            Cause::ProtocolOverhead => "headers and framing",
            Cause::StartUp => "the start-up",
            Cause::ReceiveWindow => "the receiver's window",
            Cause::SendBuffer => "the sender's socket buffer",
            Cause::SenderApplication => "the sending program or its CPU",
            Cause::ReceiverApplication => "the receiving program or its CPU",
            Cause::LossRecovery if self.waterfall.losses.is_reordering() => {
                "reordering, which the sender took for loss,"
            }
            Cause::LossRecovery => "loss and recovery",
            Cause::ConfiguredCap if share.is_socket_pace() => "the pacing rate of the sender's socket",
            Cause::ConfiguredCap => "the rate that the test asked for",
            Cause::CongestionWindow => "the congestion window, without a loss,",
            Cause::PathCapacity if share.is_host_queue() => "a queue of the sending host",
            Cause::PathCapacity => "the capacity of the path",
            Cause::Idle => "time with nothing left to send",
            Cause::Unknown => "something that the evidence does not show",
        };
        let percent = share.part_of_line_rate * 100.0;
        let text = format!("{what} took {percent:.0} % of the line rate: {}", self.detail(share));
        let is_worth_a_test = share.part_of_line_rate >= LEAST_WORTH_A_TEST;
        Fact { cause: share.cause, text, next: self.next(share).filter(|_| is_worth_a_test) }
    }

    /// The numbers behind a share.
    fn detail(self, share: &Share) -> String {
        let seen = &self.waterfall.observed;
        let reason = share.because.first().map_or(Reason::NotInSamples, |because| because.reason);
        let numbers = match share.cause {
            Cause::ReceiveWindow => seen
                .window_offered
                .filter(|offered| self.is_too_small(*offered))
                .zip(self.need())
                .map(|(offered, need)| format!("it offered at most {offered} where {need}")),
            Cause::SendBuffer => seen
                .send_buffer_held
                .filter(|held| self.is_too_small(*held))
                .zip(self.need())
                .map(|(held, need)| format!("it held at most {held} where {need}")),
            Cause::PathCapacity if share.is_host_queue() => {
                seen.host_queue.map(|held| format!("{}: up to {held} waited there", reason.text()))
            }
            Cause::PathCapacity => seen.path_rate.map(|rate| {
                format!(
                    "it passed {rate}, headers included, while a queue stood on it, and the line rate is {}",
                    self.line()
                )
            }),
            Cause::LossRecovery => Some(self.losses()),
            Cause::CongestionWindow => seen.reverse_queue.map(|grown| {
                format!("RTTs grew by {} on the reverse path, where acknowledgments wait or are dropped", show(grown))
            }),
            Cause::ReceiverApplication => {
                seen.unread.map(|unread| format!("{}, up to {unread} of data unread", reason.text()))
            }
            Cause::ConfiguredCap if share.is_socket_pace() => seen
                .pacing_limit
                .map(|rate| format!("its program has the kernel pace at {rate} at most (SO_MAX_PACING_RATE)")),
            Cause::ConfiguredCap => self.asked().map(|rate| format!("{rate} for each stream")),
            Cause::ProtocolOverhead => {
                let framing = self.waterfall.framing;
                Some(format!("{} bytes around each {} bytes of payload", framing.header_bytes, framing.payload_bytes))
            }
            _ => None,
        };
        numbers.unwrap_or_else(|| reason.text().to_owned())
    }

    fn losses(self) -> String {
        let losses = &self.waterfall.losses;
        let segments = |count: u64| if count == 1 { "1 segment".to_owned() } else { format!("{count} segments") };
        if losses.is_reordering() {
            return format!(
                "of {} retransmitted, {} had arrived already, behind others that overtook them (DSACK)",
                segments(losses.retransmits.get()),
                losses.spurious.min(losses.retransmits).get()
            );
        }
        if let Some(swallowed) = self.swallowed() {
            return format!("{swallowed}: the path takes smaller packets only, and nobody says so");
        }
        if let Some((began, lasted)) = self.silence() {
            return format!(
                "nothing got through for {} from {} on, while the sender tried again: a link or route was down, or a device forgot \
                 the connection",
                show(lasted),
                show(began)
            );
        }
        let all =
            format!("{} retransmitted in {} of loss", segments(losses.retransmits.get()), episodes(losses.episodes));
        match losses.worst.first() {
            // The first of them came before any rate that it could have lowered.
            Some(worst) if worst.lost_time.is_zero() => {
                format!("{all}; none began at a higher rate than came after it, so that what each cost is not known")
            }
            Some(worst) => format!(
                "{all}; the costliest began at {} with {} and cost {}",
                show(worst.start),
                segments(worst.retransmits.get()),
                show(worst.lost_time),
            ),
            None => all,
        }
    }

    /// When nothing got through for a time, and for how long, where that took most of what losses took.
    fn silence(self) -> Option<(Duration, Duration)> {
        let seen = &self.waterfall.observed;
        let intervals = Silence::since_start(self.run.measurement.as_ref()?, self.waterfall.heading);
        let silence = Silence::only(&intervals, seen.base_rtt)?;
        let of_losses = self.waterfall.shares.iter().filter(|share| share.cause == Cause::LossRecovery);
        let is_most = silence.lasted() * 2 >= of_losses.map(|share| share.time).sum();
        let (payload, streams) = (self.waterfall.framing.payload_bytes, u32::from(self.run.spec.streams));
        let is_unanswered = silence.is_unanswered(SentSegments { payload, streams });
        (is_most && is_unanswered).then(|| (silence.began(), silence.lasted()))
    }

    /// Whether no full segment got through, and small packets did.
    fn swallowed(self) -> Option<SwallowedSegments> {
        let totals = &self.run.measurement.as_ref()?.totals;
        let total = totals.iter().find(|total| total.heading == self.waterfall.heading)?;
        SwallowedSegments::of(self.run, total)
    }

    fn asked(self) -> Option<DataRate> {
        [self.run.spec.rate, self.run.spec.pace].into_iter().flatten().min()
    }

    fn line(self) -> DataRate {
        self.waterfall.line_rate.rate
    }

    /// Whether a buffer or window of this size holds less than fills the line, or nobody knows how much that is.
    fn is_too_small(self, bytes: ByteCount) -> bool {
        self.waterfall.observed.needed.is_none_or(|needed| bytes < needed)
    }

    /// The bytes in flight that fill the line.
    fn need(self) -> Option<String> {
        let seen = &self.waterfall.observed;
        let (needed, rtt) = seen.needed.zip(seen.base_rtt)?;
        Some(format!("{needed} were needed ({} x {})", self.line(), show(rtt)))
    }

    fn next(self, share: &Share) -> Option<NextStep> {
        let reason = share.because.first().map(|because| because.reason);
        let goodput = DataRate::of(self.waterfall.delivered, self.waterfall.time).unwrap_or_default();
        match share.cause {
            Cause::CongestionWindow | Cause::SendBuffer if self.waterfall.observed.reverse_queue.is_some() => {
                Some(NextStep {
                    kind: NextKind::Test,
                    place: HostSide::Here,
                    command: again(self.run, opposite(self.waterfall.heading)),
                    purpose: "how much the path carries on which the acknowledgments wait".to_owned(),
                })
            }
            Cause::ReceiveWindow if self.run.spec.window.is_some() => Some(self.without_window()),
            Cause::SendBuffer if self.run.spec.window.is_some() => Some(self.without_window()),
            Cause::ReceiveWindow => self.buffers(Buffers::Receiver, self.waterfall.observed.window_offered),
            Cause::SendBuffer => self.buffers(Buffers::Sender, self.waterfall.observed.send_buffer_held),
            Cause::StartUp | Cause::Idle => {
                Some(self.test("--time 30s", "a longer run, in which the start-up weighs less"))
            }
            Cause::SenderApplication => self.more_streams("more threads: whether more CPUs help the sender"),
            Cause::ReceiverApplication if self.discards() => {
                self.more_streams("more threads: whether more CPUs help the receiver")
            }
            Cause::ReceiverApplication => {
                Some(self.test("--receive discard", "whether the receiver keeps up when it does not touch the data"))
            }
            Cause::LossRecovery if self.swallowed().is_some() => Some(NextStep {
                kind: NextKind::Look,
                place: HostSide::Here,
                command: format!("linerate probe mtu {}", self.run.peer.target),
                purpose: "how large packets may be, and at which hop larger ones end".to_owned(),
            }),
            Cause::LossRecovery if self.silence().is_some() => Some(self.test(
                "--time 60s",
                "whether it happens again; the logs of the devices on the way tell what was down at that time",
            )),
            Cause::LossRecovery => {
                let options = format!("--udp --rate {}", typed(goodput));
                Some(self.test(
                    &options,
                    if self.waterfall.losses.is_reordering() {
                        "how many datagrams overtake others at the same rate"
                    } else {
                        "where datagrams are lost at the same rate: in a host, or on the path"
                    },
                ))
            }
            Cause::PathCapacity if share.is_host_queue() => Some(NextStep {
                kind: NextKind::Look,
                place: if self.waterfall.heading == Heading::Outbound { HostSide::Here } else { HostSide::Peer },
                command: "tc -s qdisc show".to_owned(),
                purpose: "the rate, backlog and drops of the sending host's qdiscs, while the test runs again"
                    .to_owned(),
            }),
            Cause::PathCapacity => {
                let rate = self.waterfall.observed.path_rate.unwrap_or(goodput);
                let options = format!("--udp --rate {}", typed(rate));
                Some(self.test(&options, "whether the path passes more to traffic that does not slow down"))
            }
            Cause::ConfiguredCap if share.is_socket_pace() => {
                Some(self.test("", "whether the path carries more than the program has its kernel pace"))
            }
            Cause::ConfiguredCap => Some(self.test("", "the same without --rate and --pace")),
            Cause::CongestionWindow => {
                self.more_streams("whether more streams fill the path before their windows grow")
            }
            Cause::Unknown => self.more_evidence(reason?),
            Cause::ProtocolOverhead => None,
        }
    }

    fn more_evidence(self, reason: Reason) -> Option<NextStep> {
        match reason {
            Reason::NoSenderSamples | Reason::ClockNotAligned => Some(NextStep {
                kind: NextKind::Look,
                place: HostSide::Peer,
                command: "linerate serve".to_owned(),
                purpose: "a peer that reports its TCP_INFO and its clock".to_owned(),
            }),
            Reason::NoSamples | Reason::SampleGap | Reason::NotSending | Reason::NotInSamples => {
                let is_slower = self.run.spec.sample_every > SHORTEST_SPACING;
                is_slower.then(|| self.test("--sample-every 1ms", "more samples"))
            }
            Reason::ShorterThanRoundTrip => Some(self.test("--time 30s", "a run of many RTTs")),
            _ => None,
        }
    }

    /// Four times as many streams; nothing where there were as many as there can be.
    fn more_streams(self, purpose: &str) -> Option<NextStep> {
        let more = self.run.spec.streams.saturating_mul(4).clamp(4, MOST_STREAMS);
        (more > self.run.spec.streams).then(|| self.test(&format!("--streams {more}"), purpose))
    }

    /// Whether the receiver left the data in the kernel.
    fn discards(self) -> bool {
        let flows = self.run.measurement.iter().flat_map(|found| &found.flows);
        let mut flows = flows.filter(|flow| flow.heading == self.waterfall.heading);
        flows.any(|flow| flow.received_by == Some(ReceiveMethod::Discard))
    }

    fn without_window(self) -> NextStep {
        self.test("", "the same without --window, so that the kernel sizes the buffers")
    }

    /// Raises the limit of autotuning to twice rate times round trip: half of a buffer is the kernel's own overhead
    /// (`tcp_adv_win_scale` up to Linux 6.5; a sender's buffer holds twice its window, `tcp_sndbuf_expand`).
    /// Nothing where as much was there as the path needs: then it was full for want of something else.
    fn buffers(self, which: Buffers, had: Option<ByteCount>) -> Option<NextStep> {
        if had.is_some_and(|had| !self.is_too_small(had)) {
            return None;
        }
        let bytes = self.waterfall.observed.needed?.get().saturating_mul(2).clamp(SMALLEST_LIMIT, LARGEST_LIMIT);
        let outbound = self.waterfall.heading == Heading::Outbound;
        let (setting, here) = match which {
            Buffers::Receiver => (format!("net.ipv4.tcp_rmem='4096 131072 {bytes}'"), !outbound),
            Buffers::Sender => (format!("net.ipv4.tcp_wmem='4096 16384 {bytes}'"), outbound),
        };
        Some(NextStep {
            kind: NextKind::Setting,
            place: if here { HostSide::Here } else { HostSide::Peer },
            command: format!("sysctl -w {setting}"),
            purpose: format!(
                "buffers of up to {}; the path needs {} in flight",
                ByteCount::new(bytes),
                self.waterfall.observed.needed?,
            ),
        })
    }

    /// Another test of the same direction.
    fn test(self, options: &str, purpose: &str) -> NextStep {
        let mut command = again(self.run, self.waterfall.heading);
        if !options.is_empty() {
            command.push(' ');
            command.push_str(options);
        }
        NextStep { kind: NextKind::Test, place: HostSide::Here, command, purpose: purpose.to_owned() }
    }
}

/// The command that tests one direction of a run again: from and to the same place, by the same port and family.
#[must_use]
pub fn again(run: &Run, heading: Heading) -> String {
    /// Where `linerate serve` and `iperf3 -s` listen unless told otherwise.
    const USUAL_PORT: &str = "5201";
    let mut command = format!("linerate test {}", run.peer.target);
    let mut option = |name: &str, value: &str| {
        command.push_str(&format!(" {name}{}{value}", if value.is_empty() { "" } else { " " }));
    };
    let port = run.peer.address.as_deref().and_then(|address| Some(address.rsplit_once(':')?.1));
    // The port of a watched connection, or of another protocol's server, is not one at which a test partner listens.
    let is_of_partner = !run.command.windows(2).any(|words| words == ["watch", "flows"] || words == ["probe", "ndt"]);
    let port = port.filter(|_| is_of_partner);
    if let Some(port) = port.filter(|port| *port != USUAL_PORT && port.parse::<u16>().is_ok()) {
        option("--port", port);
    }
    if heading == Heading::Inbound {
        option("--reverse", "");
    }
    match run.spec.family {
        Some(Family::Ipv4) => option("--ipv4", ""),
        Some(Family::Ipv6) => option("--ipv6", ""),
        None => {}
    }
    let place = &run.spec.place;
    if let Some(bind) = place.bind {
        option("--bind", &bind.to_string());
    }
    for (name, value) in [("--device", &place.device), ("--netns", &place.netns)] {
        if let Some(value) = value {
            option(name, value);
        }
    }
    command
}

fn episodes(count: u64) -> String {
    if count == 1 { "1 episode".to_owned() } else { format!("{count} episodes") }
}

#[derive(Debug, Clone, Copy)]
enum Buffers {
    Receiver,
    Sender,
}

/// The part of the line rate below which a share is not told. Where nobody knows the line rate, the highest rate over a tenth
/// of a second stands for it, which a burst through a shaper raises by a few hundredths: such shares are of that burst.
fn least_told(waterfall: &Waterfall) -> f64 {
    match waterfall.line_rate.source {
        LineRateSource::Unknown => LEAST_WORTH_A_TEST,
        LineRateSource::Nic | LineRateSource::Declared | LineRateSource::Expected => 0.01,
    }
}

/// The part of the line rate below which no step is named: what it could win is within what repeated tests differ by.
const LEAST_WORTH_A_TEST: f64 = 0.05;

/// A rate in the form that options take, to three digits: `10.5Gbit/s`.
#[must_use]
pub fn typed(rate: DataRate) -> String {
    rate.to_string().replace(' ', "")
}

/// Samples that are closer cost what they measure.
const SHORTEST_SPACING: std::time::Duration = std::time::Duration::from_millis(1);
/// The most that `linerate test` takes.
const MOST_STREAMS: u16 = 128;
/// The default limit of Linux 6.18; a smaller one would be a step back (Documentation/networking/ip-sysctl.rst had
/// 6 MiB until then).
const SMALLEST_LIMIT: u64 = 32 << 20;
/// The setting is a signed 32-bit number.
const LARGEST_LIMIT: u64 = 2_147_483_647;
