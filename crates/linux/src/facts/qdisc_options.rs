//! Options of queueing disciplines (`TCA_OPTIONS`), and what a kind counts besides (`TCA_STATS_APP`).
//!
//! Of kinds that are not here the options are kept as bytes only.

use std::collections::BTreeMap;

use crate::netlink::{attributes, value};

/// The options that are understood, named with their unit.
pub(super) fn read(kind: &str, bytes: &[u8]) -> BTreeMap<String, u64> {
    match kind {
        "fq" => listed(bytes, &FQ),
        "fq_codel" => listed(bytes, &FQ_CODEL),
        "codel" => listed(bytes, &CODEL),
        "tbf" => tbf(bytes),
        "htb" => htb(bytes),
        "pfifo" => fifo(bytes, "limit_packets"),
        "bfifo" => fifo(bytes, "limit_bytes"),
        _ => BTreeMap::new(),
    }
}

/// The options of a class.
pub(super) fn of_class(kind: &str, bytes: &[u8]) -> BTreeMap<String, u64> {
    match kind {
        "htb" => htb_class(bytes),
        "hfsc" => listed_curves(bytes),
        "drr" => listed(bytes, &[(1, "quantum_bytes", Form::Number)]),
        "qfq" => listed(bytes, &[(1, "weight", Form::Number), (2, "longest_packet_bytes", Form::Number)]),
        _ => BTreeMap::new(),
    }
}

/// What a kind counts besides.
pub(super) fn counters(kind: &str, bytes: &[u8]) -> BTreeMap<String, u64> {
    let found = |names: &[&str], width: usize, start: usize| {
        let read = |place: usize| match width {
            4 => value::word(bytes, start + place * 4).map(u64::from),
            _ => value::long(bytes, start + place * 8),
        };
        let values = names.iter().enumerate().filter_map(|(place, name)| Some(((*name).to_owned(), read(place)?)));
        values.collect()
    };
    match kind {
        "fq" => found(&["gc_flows", "highprio_packets", "tcp_retrans", "throttled", "flows_plimit"], 8, 0),
        // struct tc_fq_codel_xstats: which of two structures, then that of the discipline.
        "fq_codel" if value::word(bytes, 0) == Some(0) => {
            found(&["max_packet_bytes", "drop_overlimit", "ecn_mark", "new_flow_count"], 4, 4)
        }
        _ => BTreeMap::new(),
    }
}

/// The options as bytes without what is counted among them: the packets of HTB that no class took.
pub(super) fn without_counts(kind: &str, options: &[u8]) -> Vec<u8> {
    let mut bytes = options.to_vec();
    if kind != "htb" {
        return bytes;
    }
    let mut start = 0;
    while let Some(length) = length_at(&bytes, start) {
        let of_kind = bytes.get(start + 2..start + 4) == Some(TCA_HTB_INIT.to_ne_bytes().as_slice());
        let counted = start + HEADER + HTB_DIRECT_PACKETS;
        if of_kind && counted + 4 <= start + length {
            bytes[counted..counted + 4].fill(0);
        }
        start += length.next_multiple_of(HEADER);
    }
    bytes
}

/// The length of an attribute that lies within the bytes.
fn length_at(bytes: &[u8], start: usize) -> Option<usize> {
    let length = usize::from(u16::from_ne_bytes(bytes.get(start..start + 2)?.try_into().ok()?));
    (length >= HEADER && start + length <= bytes.len()).then_some(length)
}

/// Length and kind of an attribute (`struct nlattr`), and what attributes are aligned to.
const HEADER: usize = 4;
/// `struct tc_htb_glob` (include/uapi/linux/pkt_sched.h): version, rate2quantum, defcls, debug, direct_pkts.
const TCA_HTB_INIT: u16 = 2;
const HTB_DIRECT_PACKETS: usize = 16;

type Names = [(u16, &'static str, Form)];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Number,
    /// Bytes a second, or all ones for no limit.
    Rate,
}

fn listed(bytes: &[u8], names: &Names) -> BTreeMap<String, u64> {
    let mut options = BTreeMap::new();
    for attribute in attributes(bytes, 0).filter_map(Result::ok) {
        let known = names.iter().find(|(kind, ..)| *kind == attribute.kind);
        let Some(((_, name, form), number)) = known.zip(value::wide(&attribute)) else { continue };
        match form {
            Form::Number => options.insert((*name).to_owned(), number),
            Form::Rate if number == u64::from(u32::MAX) => None,
            Form::Rate => options.insert((*name).to_owned(), number.saturating_mul(8)),
        };
    }
    options
}

fn fifo(bytes: &[u8], name: &str) -> BTreeMap<String, u64> {
    value::word(bytes, 0).map(|limit| (name.to_owned(), limit.into())).into_iter().collect()
}

/// `struct tc_tbf_qopt`: two of `struct tc_ratespec` of 12 bytes, limit, buffer, mtu.
fn tbf(bytes: &[u8]) -> BTreeMap<String, u64> {
    let (mut rate, mut peak, mut settings) = (None, None, None);
    for attribute in attributes(bytes, 0).filter_map(Result::ok) {
        match attribute.kind {
            TCA_TBF_PARMS => settings = Some(attribute.value.to_vec()),
            TCA_TBF_RATE64 => rate = value::wide(&attribute),
            TCA_TBF_PRATE64 => peak = value::wide(&attribute),
            _ => {}
        }
    }
    let settings = settings.unwrap_or_default();
    let word = |offset| value::word(&settings, offset).map(u64::from);
    let rate = rate.or_else(|| word(8));
    let peak = peak.or_else(|| word(20)).filter(|&peak| peak != 0);
    named([
        ("rate_bps", rate.map(|rate| rate.saturating_mul(8))),
        ("peak_rate_bps", peak.map(|peak| peak.saturating_mul(8))),
        ("limit_bytes", word(24)),
        ("burst_bytes", burst(rate, word(28))),
    ])
}

/// The kernel keeps a burst as the time it takes, in units of 64 ns (include/net/pkt_sched.h, PSCHED_SHIFT).
fn burst(bytes_a_second: Option<u64>, ticks: Option<u64>) -> Option<u64> {
    let bytes = u128::from(bytes_a_second?) * u128::from(ticks?) * 64 / 1_000_000_000;
    Some(u64::try_from(bytes).unwrap_or(u64::MAX))
}

fn named<const N: usize>(options: [(&str, Option<u64>); N]) -> BTreeMap<String, u64> {
    options.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
}

/// The class that takes what no filter sorts (`struct tc_htb_glob`, `defcls`).
fn htb(bytes: &[u8]) -> BTreeMap<String, u64> {
    let settings = attributes(bytes, 0).filter_map(Result::ok).find(|part| part.kind == TCA_HTB_INIT);
    named([("default_class", settings.and_then(|part| value::word(part.value, 8)).map(u64::from))])
}

/// `struct tc_htb_opt`: two of `struct tc_ratespec` of 12 bytes, buffer, cbuffer, quantum, level, prio.
fn htb_class(bytes: &[u8]) -> BTreeMap<String, u64> {
    let (mut rate, mut ceil, mut settings) = (None, None, None);
    for attribute in attributes(bytes, 0).filter_map(Result::ok) {
        match attribute.kind {
            TCA_HTB_PARMS => settings = Some(attribute.value.to_vec()),
            TCA_HTB_RATE64 => rate = value::wide(&attribute),
            TCA_HTB_CEIL64 => ceil = value::wide(&attribute),
            _ => {}
        }
    }
    let settings = settings.unwrap_or_default();
    let word = |offset| value::word(&settings, offset).map(u64::from);
    let (rate, ceil) = (rate.or_else(|| word(8)), ceil.or_else(|| word(20)));
    named([
        ("rate_bps", rate.map(|rate| rate.saturating_mul(8))),
        ("ceil_bps", ceil.map(|ceil| ceil.saturating_mul(8))),
        ("burst_bytes", burst(rate, word(24))),
        ("ceil_burst_bytes", burst(ceil, word(28))),
        ("quantum_bytes", word(32)),
        ("priority", word(40)),
    ])
}

/// Curves of `hfsc` (`struct tc_service_curve`: m1, d, m2): the rate that each has after its beginning.
fn listed_curves(bytes: &[u8]) -> BTreeMap<String, u64> {
    let curves = attributes(bytes, 0).filter_map(Result::ok).filter_map(|curve| {
        let (_, name) = HFSC.iter().find(|(kind, _)| *kind == curve.kind)?;
        Some(((*name).to_owned(), u64::from(value::word(curve.value, 8)?).saturating_mul(8)))
    });
    curves.collect()
}

// include/uapi/linux/pkt_sched.h of 6.18
const FQ: [(u16, &str, Form); 11] = [
    (1, "limit_packets", Form::Number),
    (2, "flow_limit_packets", Form::Number),
    (3, "quantum_bytes", Form::Number),
    (4, "initial_quantum_bytes", Form::Number),
    (5, "pacing", Form::Number),
    (7, "maxrate_bps", Form::Rate),
    (8, "buckets_log", Form::Number),
    (9, "refill_delay_us", Form::Number),
    (11, "low_rate_threshold_bps", Form::Rate),
    (12, "ce_threshold_us", Form::Number),
    (14, "horizon_us", Form::Number),
];
const FQ_CODEL: [(u16, &str, Form); 9] = [
    (1, "target_us", Form::Number),
    (2, "limit_packets", Form::Number),
    (3, "interval_us", Form::Number),
    (4, "ecn", Form::Number),
    (5, "flows", Form::Number),
    (6, "quantum_bytes", Form::Number),
    (7, "ce_threshold_us", Form::Number),
    (8, "drop_batch_packets", Form::Number),
    (9, "memory_limit_bytes", Form::Number),
];
const CODEL: [(u16, &str, Form); 5] = [
    (1, "target_us", Form::Number),
    (2, "limit_packets", Form::Number),
    (3, "interval_us", Form::Number),
    (4, "ecn", Form::Number),
    (5, "ce_threshold_us", Form::Number),
];
const HFSC: [(u16, &str); 3] = [(1, "real_time_bps"), (2, "share_bps"), (3, "ceil_bps")];
const TCA_HTB_PARMS: u16 = 1;
const TCA_HTB_RATE64: u16 = 6;
const TCA_HTB_CEIL64: u16 = 7;
const TCA_TBF_PARMS: u16 = 1;
const TCA_TBF_RATE64: u16 = 4;
const TCA_TBF_PRATE64: u16 = 5;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::netlink::Request;

    /// This kernel has no `fq`, so its options are written here as net/sched/sch_fq.c, fq_dump, writes them.
    #[test]
    fn rates_of_fq_are_bits_and_no_limit_is_no_option() {
        let mut request = Request::new(&[]);
        request.put_u32(1, 10_000).put_u32(7, 250_000_000).put_u32(11, u32::MAX);
        let options = read("fq", request.bytes());
        assert_eq!(options["maxrate_bps"], 2_000_000_000);
        assert_eq!(options["limit_packets"], 10_000);
        assert!(!options.contains_key("low_rate_threshold_bps"));
        let counted = counters("fq", &[0u64, 1, 2, 3, 4].map(u64::to_ne_bytes).concat());
        assert_eq!((counted["throttled"], counted["flows_plimit"]), (3, 4));
    }

    #[test]
    fn packets_that_no_class_of_htb_took_are_no_option() {
        let mut request = Request::new(&[]);
        let glob = [0x0003_0011u32, 10, 0x12, 0, 7].map(u32::to_ne_bytes).concat();
        request.put(TCA_HTB_INIT, &glob).put_u32(5, 1000);
        let (seen, mut bare) = (without_counts("htb", request.bytes()), request.bytes().to_vec());
        bare[20..24].fill(0);
        assert_eq!(seen, bare);
        assert_eq!(without_counts("tbf", request.bytes()), request.bytes());
        assert_eq!(without_counts("htb", &[24, 0, 2, 0, 1]), [24, 0, 2, 0, 1]);
    }

    #[test]
    fn unknown_kind_and_short_options_give_nothing() {
        assert!(read("warp", &[1, 2, 3]).is_empty());
        assert!(read("pfifo", &[1]).is_empty());
        assert!(read("tbf", &[8, 0, 1, 0, 1, 1, 1, 1]).is_empty());
        assert!(counters("fq_codel", &[]).is_empty());
    }
}
