//! `ss -ti`: what the kernel knows of its TCP sockets (iproute2, `misc/ss.c`, `tcp_stats_print`).

use model::probe::download::FieldValue;
use model::series::field::Field;

use super::counted::{Switch, UnreadSocket};
use super::host_fact::HostFact;
use super::shown::{Found, Shown};
use super::socket::Socket;
use units::ByteCount;

use crate::quantity::{decimal, iperf3_rate, milliseconds};

/// Reads sockets that follow each other: a line of addresses, and below it, or behind it with `-O`, the fields.
pub(crate) fn read(lines: &[&str], _: &[&str], _: &mut Vec<String>) -> Option<Found> {
    let mut sockets = Vec::new();
    let mut used = 0;
    if is_header(lines.first()?) {
        used = 1;
    }
    while let Some((socket, length)) = lines.get(used..).and_then(socket) {
        sockets.push(socket);
        used += length;
        if sockets.len() >= MAX_SOCKETS {
            break;
        }
    }
    (!sockets.is_empty()).then_some(Found { shows: vec![Shown::Sockets(sockets)], lines: used })
}

/// Reads sockets without their fields, as `ss -tn` prints them, for what has arrived at them and is not read.
pub(crate) fn unread(lines: &[&str], _: &[&str], _: &mut Vec<String>) -> Option<Found> {
    is_header(lines.first()?).then_some(())?;
    let own = lines[1..].iter().take(MAX_SOCKETS).map_while(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [state, receive, _, local, peer, ..] = *words.as_slice() else { return None };
        let waiting =
            receive.parse().ok().filter(|_| STATES.contains(&state) && local.contains(':') && peer.contains(':'))?;
        let socket = UnreadSocket { local: address(local), peer: address(peer), waiting: ByteCount::new(waiting) };
        Some((state, socket))
    });
    let all: Vec<(&str, UnreadSocket)> = own.collect();
    let used = 1 + all.len();
    // What waits at a listener are connections.
    let full = all.into_iter().filter(|(state, socket)| *state == "ESTAB" && socket.waiting >= MUCH_UNREAD);
    let shows: Vec<Shown> = full.take(MOST_UNREAD).map(|(_, socket)| Shown::Host(HostFact::Unread(socket))).collect();
    (!shows.is_empty()).then_some(Found { shows, lines: used })
}

/// More than a program leaves between two of its reads.
const MUCH_UNREAD: ByteCount = ByteCount::new(1 << 20);
const MOST_UNREAD: usize = 8;

/// Reads the fields of one socket whose line of addresses was left out.
pub(crate) fn fields_alone(lines: &[&str], _: &[&str], _: &mut Vec<String>) -> Option<Found> {
    let own = lines.iter().take(MAX_FIELD_LINES).take_while(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        !is_header(line) && !words.first().is_some_and(|word| STATES.contains(word)) && has_fields(&words)
    });
    let words: Vec<&str> = own.clone().flat_map(|line| line.split_whitespace()).collect();
    let used = own.count();
    words.iter().any(|word| word.starts_with("rtt:") || word.starts_with("rwnd_limited:")).then_some(())?;
    let mut socket = Socket::default();
    fields(&words, &mut socket);
    (socket.fields.len() >= FEWEST_FIELDS).then_some(Found { shows: vec![Shown::Sockets(vec![socket])], lines: used })
}

/// Fewer fields without addresses are a quotation in prose.
const FEWEST_FIELDS: usize = 5;

/// More than a busy server shows at once.
const MAX_SOCKETS: usize = 10_000;

/// Lines that a terminal breaks one socket's fields into.
const MAX_FIELD_LINES: usize = 8;

fn is_header(line: &str) -> bool {
    line.contains("Recv-Q") && line.contains("Send-Q") && line.contains("Address:Port")
}

fn socket(lines: &[&str]) -> Option<(Socket, usize)> {
    let mut words: Vec<&str> = lines.first()?.split_whitespace().collect();
    // With a filter of one state there is no column of states.
    let state = words.iter().take(2).position(|word| STATES.contains(word));
    let at = state.map_or(0, |at| at + 1);
    let [receive, send, local, peer] = *words.get(at..at + 4)? else { return None };
    (receive.parse::<u64>().is_ok() && send.parse::<u64>().is_ok()).then_some(())?;
    (local.contains(':') && peer.contains(':')).then_some(())?;
    let (local, peer) = (address(local), address(peer));
    let mut used = 1;
    words.drain(..at + 4);
    for line in lines[1..].iter().take(MAX_FIELD_LINES) {
        let more: Vec<&str> = line.split_whitespace().collect();
        let is_next = more.first().is_none_or(|word| STATES.contains(word) || word.parse::<u64>().is_ok());
        if is_next || is_header(line) || !(has_fields(&more) || are_fields(&more)) {
            break;
        }
        words.extend(more);
        used += 1;
    }
    has_fields(&words).then_some(())?;
    let mut socket = Socket { local, peer, ..Socket::default() };
    fields(&words, &mut socket);
    // A line of addresses alone says nothing of the transfer.
    (!socket.fields.is_empty()).then_some((socket, used))
}

const STATES: [&str; 10] = [
    "ESTAB",
    "FIN-WAIT-1",
    "FIN-WAIT-2",
    "CLOSE-WAIT",
    "LAST-ACK",
    "CLOSING",
    "SYN-SENT",
    "SYN-RECV",
    "TIME-WAIT",
    "LISTEN",
];

/// Fields that are no whole number.
const OTHERS: [&str; 6] = ["rtt", "minrtt", "wscale", "busy", "rwnd_limited", "sndbuf_limited"];

fn has_fields(words: &[&str]) -> bool {
    words.iter().any(|word| {
        word.split_once(':').is_some_and(|(key, value)| {
            (ONE_NUMBER.iter().any(|(known, _)| *known == key) || OTHERS.contains(&key))
                && value.starts_with(|first: char| first.is_ascii_digit())
        })
    }) || words.windows(2).any(|pair| pair[0] == "pacing_rate" && bytes_per_second(pair[1]).is_some())
}

/// Whether a line is a part of a socket's fields that a mail program has broken: each of its words is a field, an option or a rate.
fn are_fields(words: &[&str]) -> bool {
    let is_key = |key: &str| !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
    let is_field = |word: &&str| word.split_once(':').is_some_and(|(key, _)| is_key(key));
    let is_other = |word: &&str| {
        OPTIONS.contains(word) || RATES.contains(word) || bytes_per_second(word).is_some() || word.starts_with("bbr:(")
    };
    words.iter().any(is_field) && words.iter().all(|word| is_field(word) || is_other(word))
}

/// Words of a socket that have no colon.
const RATES: [&str; 4] = ["pacing_rate", "delivery_rate", "app_limited", "cubic"];

/// Without the zone of a link-local address and the prefix of a mapped one.
fn address(text: &str) -> String {
    text.replace("[::ffff:", "").replace("]:", if text.contains("[::ffff:") { ":" } else { "]:" })
}

/// Fields that are one whole number.
const ONE_NUMBER: [(&str, Field); 28] = [
    ("backoff", Field::Backoff),
    ("mss", Field::SndMss),
    ("pmtu", Field::Pmtu),
    ("rcvmss", Field::RcvMss),
    ("advmss", Field::Advmss),
    ("cwnd", Field::SndCwnd),
    ("ssthresh", Field::SndSsthresh),
    ("bytes_sent", Field::BytesSent),
    ("bytes_retrans", Field::BytesRetrans),
    ("bytes_acked", Field::BytesAcked),
    ("bytes_received", Field::BytesReceived),
    ("segs_out", Field::SegsOut),
    ("segs_in", Field::SegsIn),
    ("data_segs_out", Field::DataSegsOut),
    ("data_segs_in", Field::DataSegsIn),
    ("delivered", Field::Delivered),
    ("delivered_ce", Field::DeliveredCe),
    ("unacked", Field::Unacked),
    ("lost", Field::Lost),
    ("sacked", Field::Sacked),
    ("dsack_dups", Field::DsackDups),
    ("reordering", Field::Reordering),
    ("reord_seen", Field::ReordSeen),
    ("rcv_space", Field::RcvSpace),
    ("rcv_ssthresh", Field::RcvSsthresh),
    ("notsent", Field::Notsent),
    ("snd_wnd", Field::SndWnd),
    ("rcv_ooopack", Field::RcvOoopack),
];

fn fields(words: &[&str], socket: &mut Socket) {
    let mut add = |field: Field, value: Option<u64>| {
        if let Some(value) = value
            && socket.fields.iter().all(|known| known.field != field)
        {
            socket.fields.push(FieldValue { field, value });
        }
    };
    let millis_as_us = |text: &str| u64::try_from(milliseconds(text)?.as_micros()).ok();
    for (at, word) in words.iter().enumerate() {
        let Some((key, value)) = word.split_once(':') else {
            // `pacing_rate 3.17Gbps`: the rate is the next word.
            let rate = words.get(at + 1).and_then(|rate| bytes_per_second(rate));
            match *word {
                "pacing_rate" => add(Field::PacingRate, rate),
                "delivery_rate" => add(Field::DeliveryRate, rate),
                _ => {}
            }
            continue;
        };
        match key {
            "rtt" => {
                let (rtt, deviation) = value.split_once('/').unwrap_or((value, ""));
                add(Field::Rtt, millis_as_us(rtt));
                add(Field::Rttvar, millis_as_us(deviation));
            }
            "minrtt" => add(Field::MinRtt, millis_as_us(value)),
            "rcv_rtt" => add(Field::RcvRtt, millis_as_us(value)),
            "rto" => add(Field::Rto, millis_as_us(value)),
            "retrans" => {
                let (now, total) = value.split_once('/').unwrap_or(("", ""));
                add(Field::Retrans, now.parse().ok());
                add(Field::TotalRetrans, total.parse().ok());
            }
            "busy" => add(Field::BusyTime, limited_us(value)),
            "rwnd_limited" => add(Field::RwndLimited, limited_us(value)),
            "sndbuf_limited" => add(Field::SndbufLimited, limited_us(value)),
            _ => {
                if let Some((_, field)) = ONE_NUMBER.iter().find(|(known, _)| *known == key) {
                    add(*field, value.parse().ok());
                }
            }
        }
    }
    // Where the time was left out, what was a share of it has it.
    let part = |key: &str| words.iter().find_map(|word| busy_us(word.strip_prefix(key)?));
    add(Field::BusyTime, part("rwnd_limited:").or_else(|| part("sndbuf_limited:")));
    let has = |name: &str| words.contains(&name);
    let is_whole = (has("ts") || has("sack")) && words.iter().any(|word| word.starts_with("rto:"));
    // Options stand first, and the scale behind them (`tcp_stats_print`): only where they are printed is its lack known.
    socket.window_scaling = if words.iter().any(|word| word.starts_with("wscale:")) {
        Some(Switch::On)
    } else {
        is_whole.then_some(Switch::Off)
    };
    // The algorithm stands first, alone, behind the options `ts sack ecn`.
    let is_name = |word: &&&str| {
        word.len() <= 15
            && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
            && word.starts_with(|first: char| first.is_ascii_lowercase())
            && !OPTIONS.contains(word)
    };
    // Where people left these out, what stands behind the fields may be a remark.
    let is_timed = |word: &&&str| word.starts_with("rto:") || word.starts_with("rtt:");
    let has_times = words.iter().any(|word| is_timed(&word));
    let before_fields = words.iter().take_while(|word| if has_times { !is_timed(word) } else { !word.contains(':') });
    socket.congestion_control = before_fields.filter(is_name).last().map(|name| (*name).to_owned());
}

const OPTIONS: [&str; 7] = ["ts", "sack", "ecn", "ecnseen", "fastopen", "send", "accecn"];

/// `52ms`, `1204ms(12.3%)`.
fn limited_us(text: &str) -> Option<u64> {
    let time = text.split('(').next()?.strip_suffix("ms")?;
    u64::try_from(milliseconds(time)?.as_micros()).ok()
}

/// The whole of which `146880ms(95.7%)` is a part.
fn busy_us(text: &str) -> Option<u64> {
    let percent = text.split_once('(')?.1.strip_suffix("%)")?;
    let thousandths = decimal(percent)?.times(1_000).filter(|part| (FEWEST_THOUSANDTHS..=100_000).contains(part))?;
    limited_us(text)?.checked_mul(100_000)?.checked_div(thousandths)
}

/// Of less than a tenth the rounding of the percentage is much.
const FEWEST_THOUSANDTHS: u64 = 10_000;

/// `1586.4Mbps`, `12345bps`.
fn bytes_per_second(text: &str) -> Option<u64> {
    let end = text.find(|letter: char| letter.is_ascii_alphabetic())?;
    let (number, unit) = text.split_at(end);
    decimal(number)?;
    let unit = match unit {
        "bps" => "bits/sec",
        "Kbps" => "Kbits/sec",
        "Mbps" => "Mbits/sec",
        "Gbps" => "Gbits/sec",
        "Tbps" => "Tbits/sec",
        _ => return None,
    };
    iperf3_rate(number, unit).map(|rate| rate.bps() / 8)
}
