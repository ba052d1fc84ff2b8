//! Counters of NICs, devices and kernels, and what the kernel says of a socket.

use std::time::Duration;

use model::counters::CounterReadings;
use model::measurement::End;
use model::round::Tested;
use model::series::StreamSamples;
use model::series::field::Field;

use units::duration::show;
use units::{ByteCount, DataRate};

use super::retransmits::{self, A_FEW, LOSSY};
use super::statement::{Statement, percent, ratio};

/// What counters that moved mean.
struct Meaning {
    /// Parts of a counter's name, in lower letters.
    parts: &'static [&'static str],
    /// What it says.
    says: &'static str,
}

/// The first that fits decides; names differ from driver to driver.
const MEANINGS: [Meaning; 9] = [
    Meaning {
        parts: &["allowance_exceeded"],
        says: "packets beyond what the cloud allows this virtual machine were queued or dropped by its host",
    },
    Meaning {
        parts: &["crc", "symbol_err", "align", "frame_err", "fcs", "rx_length_err", "jabber"],
        says: "frames arrived damaged: cable, optics or port",
    },
    Meaning { parts: &["pause", "pfc", "xoff", "xon"], says: "Ethernet flow control stopped a sender" },
    Meaning {
        parts: &["missed", "no_buffer", "rx_fifo", "rx_over", "out_of_buffer", "rx_discards", "no_dma", "rx_no_buf"],
        says: "the NIC had no room for packets: rings too small, or the CPU that empties them too slow",
    },
    Meaning { parts: &["rx_drop"], says: "the kernel dropped packets that the NIC had received" },
    Meaning {
        parts: &["tx_drop", "tx_err", "tx_carrier", "carrier_err", "collision", "colls"],
        says: "the NIC did not send all packets",
    },
    Meaning {
        parts: &["rcvbuferrors"],
        says: "sockets were full: the receiving program was too slow, or its buffer too small",
    },
    Meaning { parts: &["sndbuferrors"], says: "the sender dropped its own datagrams: its queue was full" },
    Meaning {
        parts: &["prunecalled", "listenoverflows", "listendrops"],
        says: "the kernel ran out of room for this socket",
    },
];

/// What a counter that moved means, by its name.
pub(super) fn meaning(name: &str) -> Option<&'static str> {
    let lower = name.rsplit('.').next().unwrap_or(name).to_lowercase();
    let fits = |meaning: &&Meaning| meaning.parts.iter().any(|part| lower.contains(part));
    MEANINGS.iter().find(fits).map(|meaning| meaning.says)
}

/// All that moved and means something.
pub(super) fn of(host: &str, readings: &CounterReadings) -> Vec<Statement> {
    let mut all: Vec<Statement> = Vec::new();
    all.extend(retransmits::of(host, readings));
    let packets = |name: &str| {
        if let Some(table) = name.strip_suffix(".RcvbufErrors") {
            // What found the buffer full is none of those delivered (RFC 4113).
            let delivered = readings.change(&format!("{table}.InDatagrams"))?;
            return delivered.checked_add(readings.change(name)?);
        }
        let prefix = name.rsplit_once('.').map_or("", |(prefix, _)| prefix);
        let way = if name.contains("tx") { "tx_packets" } else { "rx_packets" };
        let all = [format!("{prefix}.{way}"), format!("{prefix}.{way}_phy")];
        all.iter().find_map(|name| readings.change(name)).filter(|packets| *packets > 0)
    };
    let mut moved: Vec<(&str, u64)> = readings.moved().collect();
    // Names of one host's counters are in the order of letters; what moved most is said first.
    moved.sort_by_key(|(_, moved)| std::cmp::Reverse(*moved));
    for (name, moved) in moved {
        let lower = name.rsplit('.').next().unwrap_or(name).to_lowercase();
        let Some(meaning) = MEANINGS.iter().find(|meaning| meaning.parts.iter().any(|part| lower.contains(part)))
        else {
            continue;
        };
        let of = packets(name).map_or_else(String::new, |packets| {
            format!(" of {packets} packets ({})", percent(ratio([moved, packets])))
        });
        if let Some(paused) = paused(host, name, moved) {
            all.push(paused);
            continue;
        }
        let shown = name.strip_prefix("nic.").or_else(|| name.strip_prefix("dev.")).unwrap_or(name);
        all.push(Statement::fault(format!("{host}: {shown} went up by {moved}{of}: {}", meaning.says)));
        if all.len() >= MOST {
            break;
        }
    }
    for reason in readings.unreadable.values() {
        all.push(Statement::fact(format!("{host}: {reason}")));
    }
    all
}

/// Frames that ask a sender to pause, in a counter that says in which direction.
fn paused(host: &str, name: &str, moved: u64) -> Option<Statement> {
    let mut parts = name.splitn(3, '.').skip(1);
    let (device, counter) = (parts.next()?, parts.next()?);
    let lower = counter.to_lowercase();
    let is_frames = ["xoff", "pause"].iter().any(|part| lower.contains(part))
        && !["xon", "xoff2xon", "duration", "transition", "storm", "discard"].iter().any(|part| lower.contains(part));
    is_frames.then_some(())?;
    let at = if device == "nic" { "its NIC".to_owned() } else { device.to_owned() };
    let says = if lower.contains("rx") {
        format!(
            "{host} was asked to pause {moved} times between two readings of {at} ({counter}): what stands behind its port (the switch, or a host \
             that the switch passes the frames on for) does not keep up, and all that leaves {at} waits, whoever it is for"
        )
    } else if lower.contains("tx") {
        format!(
            "{host} asked its switch to pause {moved} times between two readings of {at} ({counter}): the host does not keep up with what arrives"
        )
    } else {
        return None;
    };
    Some(Statement::fault(says))
}

/// A NIC of 128 queues has a counter for each.
const MOST: usize = 8;

/// What a socket waited for, and how much it sent twice.
pub(super) fn of_socket(tested: &Tested, stream: &StreamSamples, most_send: Option<ByteCount>) -> Vec<Statement> {
    if stream.end != End::Sender {
        return Vec::new();
    }
    let last = |field: Field| stream.column(field).and_then(|values| values.last().copied());
    of_fields([&tested.from.host, &tested.to.host], most_send, last)
}

/// The same of a socket's fields.
pub(super) fn of_fields(
    [from, to]: [&str; 2],
    most_send: Option<ByteCount>,
    last: impl Fn(Field) -> Option<u64>,
) -> Vec<Statement> {
    let whose = format!("{from} to {to}");
    let Some(busy) = last(Field::BusyTime).filter(|busy| *busy > 0) else { return Vec::new() };
    let mut all = Vec::new();
    let limits = [
        (Field::RwndLimited, "the receive window", "the receiver's buffer is too small or its program too slow"),
        (Field::SndbufLimited, "the send buffer", "raise `net.ipv4.tcp_wmem`, or the buffer that the program asks for"),
    ];
    for (field, what, so) in limits {
        let part = ratio([last(field).unwrap_or(0), busy]);
        if part >= MUCH {
            let is_unscaled = field == Field::RwndLimited && last(Field::SndWnd).is_some_and(|window| window <= 65_535);
            let is_asked = field == Field::SndbufLimited && most_send.is_some_and(|most| is_far_above(most, &last));
            let so = if is_unscaled {
                UNSCALED
            } else if is_asked {
                ASKED
            } else {
                so
            };
            let window = if field == Field::RwndLimited { allowed_by_window(&last) } else { None };
            let window = window.unwrap_or_default();
            let says =
                format!("{whose}: limited by {what} for {} of the time with data to send{window}", percent(part));
            all.push(match of_own_pace(field, &last) {
                Some(pace) => Statement::fact(format!("{says}{pace}")),
                None => Statement::fault(format!("{says}: {so}")),
            });
        }
    }
    let segments = last(Field::DataSegsOut).or_else(|| last(Field::SegsOut));
    if let (Some(again), Some(segments)) = (last(Field::TotalRetrans), segments)
        && ratio([again, segments]) >= LOSSY
        && again >= A_FEW
        && last(Field::DsackDups).is_none_or(|twice| twice * 2 < again)
    {
        let part = percent(ratio([again, segments]));
        all.push(Statement::fault(format!("{whose}: {again} of {segments} segments retransmitted ({part})")));
    }
    all
}

/// Of a window that needs no scaling (RFC 7323 section 2).
const UNSCALED: &str = "it is no larger than one without window scaling: an end has that off, a box on the path takes the option out of the SYN, \
                        or the receiver's buffer is small";

/// A buffer that its program has set (`SO_SNDBUF`), and the kernel no longer grows.
const ASKED: &str = "`net.ipv4.tcp_wmem` allows far more, so that the program has set its buffer itself (`-tcp-bs`, `-w`, SO_SNDBUF): leave that out, \
                     so that the kernel lets it grow";

/// Whether a buffer may grow to several times what the socket had under way.
fn is_far_above(most: ByteCount, last: &impl Fn(Field) -> Option<u64>) -> bool {
    let under_way = last(Field::Unacked).zip(last(Field::SndMss)).map(|(segments, size)| segments.saturating_mul(size));
    under_way.is_some_and(|under_way| under_way.saturating_mul(FAR_ABOVE) < most.get())
}

/// The kernel doubles what a program asks for, and counts what packets need beside their data.
const FAR_ABOVE: u64 = 8;

/// A receiver that takes next to nothing for a long time takes what it needs: a player, a monitor. Its window is closed some of the time, and
/// nothing is wrong.
fn of_own_pace(field: Field, last: &impl Fn(Field) -> Option<u64>) -> Option<String> {
    let busy = Duration::from_micros(last(Field::BusyTime)?);
    let rate = DataRate::of(ByteCount::new(last(Field::BytesAcked)?), busy)?;
    let is_steady =
        field == Field::RwndLimited && busy >= LONG && rate <= SLOW && last(Field::Retrans).unwrap_or(0) == 0;
    is_steady.then(|| {
        format!(
            "; it has carried {rate} for {}, as to a program that takes data at its own pace (a player, a monitor): if that is one, nothing is \
             wrong",
            show(busy)
        )
    })
}

/// A transfer that is slow for so long is one that nobody waits for.
const LONG: Duration = Duration::from_secs(1_200);
const SLOW: DataRate = DataRate::from_bps(10_000_000);

/// `, of 3.15 MB, which at an RTT of 88.4 ms is 285 Mbit/s`: the window that the peer offers, where the socket has it.
fn allowed_by_window(last: &impl Fn(Field) -> Option<u64>) -> Option<String> {
    let (window, rtt) = (ByteCount::new(last(Field::SndWnd)?), Duration::from_micros(last(Field::Rtt)?));
    let rate = DataRate::of(window, rtt).filter(|rate| !rate.is_zero())?;
    Some(format!(" (a window of {window}, which at {} allows {rate})", show(rtt)))
}

/// A limit for less of the time is one of several.
const MUCH: f64 = 0.3;
