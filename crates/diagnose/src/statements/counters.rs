//! Counters of NICs, devices and kernels, and what the kernel says of a socket.

use model::counters::CounterReadings;
use model::measurement::End;
use model::round::Tested;
use model::series::StreamSamples;
use model::series::field::Field;

use super::statement::{Statement, percent, ratio};

/// What counters that moved mean.
struct Meaning {
    /// Parts of a counter's name, in lower letters.
    parts: &'static [&'static str],
    /// What it says.
    says: &'static str,
}

/// The first that fits decides; names differ from driver to driver.
const MEANINGS: [Meaning; 8] = [
    Meaning {
        parts: &["crc", "symbol_err", "align", "frame_err", "fcs", "rx_length_err", "jabber"],
        says: "frames arrived damaged: cable, optics or port",
    },
    Meaning { parts: &["pause", "pfc"], says: "Ethernet flow control stopped a sender" },
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

/// All that moved and means something.
pub(super) fn of(host: &str, readings: &CounterReadings) -> Vec<Statement> {
    let mut all: Vec<Statement> = Vec::new();
    if let (Some(again), Some(sent)) = (readings.change("Tcp.RetransSegs"), readings.change("Tcp.OutSegs")) {
        let part = ratio([again, sent]);
        let says = format!(
            "{host}: {again} of {sent} TCP segments retransmitted ({}), all connections together",
            percent(part)
        );
        all.push(if part >= LOSSY && again >= A_FEW { Statement::fault(says) } else { Statement::fact(says) });
    }
    let packets = |name: &str| {
        let prefix = name.rsplit_once('.').map_or("", |(prefix, _)| prefix);
        let way = if name.contains("tx") { "tx_packets" } else { "rx_packets" };
        readings.change(&format!("{prefix}.{way}")).filter(|packets| *packets > 0)
    };
    for (name, moved) in readings.moved() {
        let lower = name.rsplit('.').next().unwrap_or(name).to_lowercase();
        let Some(meaning) = MEANINGS.iter().find(|meaning| meaning.parts.iter().any(|part| lower.contains(part)))
        else {
            continue;
        };
        let of = packets(name).map_or_else(String::new, |packets| {
            format!(" of {packets} packets ({})", percent(ratio([moved, packets])))
        });
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

/// A NIC of 128 queues has a counter for each.
const MOST: usize = 8;
const LOSSY: f64 = 1e-3;
const A_FEW: u64 = 20;

/// What a socket waited for, and how much it sent twice.
pub(super) fn of_socket(tested: &Tested, stream: &StreamSamples) -> Vec<Statement> {
    let last = |field: Field| stream.column(field).and_then(|values| values.last().copied());
    let Some(busy) = last(Field::BusyTime).filter(|busy| *busy > 0 && stream.end == End::Sender) else {
        return Vec::new();
    };
    let whose = format!("{} to {}", tested.from.host, tested.to.host);
    let mut all = Vec::new();
    let limits = [
        (Field::RwndLimited, "the receive window", "the receiver's buffer is too small or its program too slow"),
        (Field::SndbufLimited, "the send buffer", "raise `net.ipv4.tcp_wmem`, or the buffer that the program asks for"),
    ];
    for (field, what, so) in limits {
        let part = ratio([last(field).unwrap_or(0), busy]);
        if part >= MUCH {
            let says = format!("{whose}: limited by {what} for {} of the time with data to send: {so}", percent(part));
            all.push(Statement::fault(says));
        }
    }
    let segments = last(Field::DataSegsOut).or_else(|| last(Field::SegsOut));
    if let (Some(again), Some(segments)) = (last(Field::TotalRetrans), segments)
        && ratio([again, segments]) >= LOSSY
        && again >= A_FEW
    {
        let part = percent(ratio([again, segments]));
        all.push(Statement::fault(format!("{whose}: {again} of {segments} segments retransmitted ({part})")));
    }
    all
}

/// A limit for less of the time is one of several.
const MUCH: f64 = 0.3;
