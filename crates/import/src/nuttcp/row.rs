//! Lines with numbers (nuttcp 8.2.2, the `PERF_FMT` family of formats): `92.3750 MB / 1.00 sec = 774.3069 Mbps 0 retrans`.

use std::time::Duration;

use super::numbers::{Numbers, list_sum, window};
use crate::parsed::Datagrams;
use crate::proof::{Claim, half_digit};
use crate::quantity::{decimal, megabits, milliseconds, nuttcp_megabytes, seconds};

/// Reads a line with numbers, all of it or nothing. A summary is a line with `%TX`.
pub(crate) fn read(line: &str) -> Option<Numbers> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let (mut numbers, mut rest) = performance(&words)?;
    while !rest.is_empty() {
        rest = tail(rest, &mut numbers)?;
    }
    Some(numbers)
}

/// `92.3750 MB / 1.00 sec = 774.3069 Mbps`.
fn performance<'a>(words: &'a [&'a str]) -> Option<(Numbers, &'a [&'a str])> {
    let [amount, "MB", "/", time, "sec", "=", rate, "Mbps", rest @ ..] = words else { return None };
    let numbers = Numbers {
        bytes: nuttcp_megabytes(amount)?,
        elapsed: seconds(time)?,
        rate: megabits(rate)?,
        ..Numbers::default()
    };
    claim(&numbers, [amount, time, rate]).holds().then_some((numbers, rest))
}

/// What the three numbers say of each other; `printed` are their texts.
fn claim(numbers: &Numbers, [amount, time, rate]: [&str; 3]) -> Claim {
    const MEGABYTE: f64 = 1_048_576.0;
    Claim {
        bytes: numbers.bytes,
        bytes_within: half_digit(amount) * MEGABYTE,
        elapsed: numbers.elapsed,
        elapsed_within: Duration::from_secs_f64(half_digit(time)),
        rate: numbers.rate,
        rate_within: half_digit(rate) * 1e6,
    }
}

/// Why a line that begins as a row is none: its amount over its time is not its rate.
pub(crate) fn contradiction(line: &str) -> Option<String> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let [amount, "MB", "/", time, "sec", "=", rate, "Mbps", ..] = *words.as_slice() else { return None };
    let numbers = Numbers {
        bytes: nuttcp_megabytes(amount)?,
        elapsed: seconds(time)?,
        rate: megabits(rate)?,
        ..Numbers::default()
    };
    let claim = claim(&numbers, [amount, time, rate]);
    let computed = claim.computed();
    (!claim.holds()).then(|| format!("a row whose amount over its time, {computed}, is its rate, not {}", claim.rate))
}

/// One item after the rate.
fn tail<'a>(words: &'a [&'a str], numbers: &mut Numbers) -> Option<&'a [&'a str]> {
    match words {
        [tx, "%TX", rx, "%RX", rest @ ..] => {
            numbers.shares = Some((tx.parse().ok()?, rx.parse().ok()?));
            Some(rest)
        }
        [drops, "/", packets, "drop/pkt" | "~drop/pkt", rest @ ..] => {
            numbers.datagrams = Some(Datagrams { lost: Some(drops.parse().ok()?), total: packets.parse().ok()? });
            Some(rest)
        }
        // The share is computed from the counts.
        [share, "%loss" | "~%loss", rest @ ..] => {
            decimal(share.trim_start_matches('-'))?;
            Some(rest)
        }
        [count, "retrans" | "host-retrans", rest @ ..] => {
            numbers.retransmits = Some(list_sum(count)?);
            Some(rest)
        }
        [_, "=", counts, "retrans" | "host-retrans", rest @ ..] => {
            numbers.retransmits = Some(list_sum(counts)?);
            Some(rest)
        }
        [size, "KB-cwnd", rest @ ..] | [_, "=", size, "KB-cwnd", rest @ ..] => {
            numbers.cwnd = window(list_sum(size)?);
            Some(rest)
        }
        [time, "msRTT", rest @ ..] => {
            numbers.rtt = Some(milliseconds(time)?);
            Some(rest)
        }
        [time, what, rest @ ..] if JITTERS.contains(what) => {
            let time = milliseconds(time)?;
            if *what == "msAvgJitter" {
                numbers.jitter = Some(time);
            }
            Some(rest)
        }
        // One-way delay needs synchronous clocks, and so it may be negative.
        [time, "msMinOWD" | "msAvgOWD" | "msMaxOWD", rest @ ..] => {
            decimal(time.trim_start_matches('-'))?;
            Some(rest)
        }
        ["Trans:", amount, "MB", rest @ ..] => {
            numbers.sent = Some(nuttcp_megabytes(amount)?);
            Some(rest)
        }
        ["Tot:", amount, "MB"] => nuttcp_megabytes(amount).map(|_| &[][..]),
        // The same from the start, which the intervals add up to.
        ["Tot:", rest @ ..] => running_total(rest),
        _ => None,
    }
}

fn running_total<'a>(words: &'a [&'a str]) -> Option<&'a [&'a str]> {
    let (mut so_far, mut rest) = performance(words)?;
    while !rest.is_empty() && rest.first() != Some(&"Trans:") {
        rest = tail(rest, &mut so_far)?;
    }
    Some(rest)
}

const JITTERS: [&str; 3] = ["msMinJitter", "msAvgJitter", "msMaxJitter"];

#[cfg(test)]
mod tests {
    use units::{ByteCount, DataRate};

    use super::*;

    #[test]
    fn a_summary_of_tcp() {
        let numbers = read(" 1107.9867 MB /  10.13 sec =  917.2914 Mbps 13 %TX 11 %RX 0 retrans 8.38 msRTT").unwrap();
        assert_eq!(numbers.bytes, ByteCount::new(1_161_808_262));
        assert_eq!(numbers.rate, DataRate::from_bps(917_291_400));
        assert_eq!((numbers.shares, numbers.retransmits), (Some((13, 11)), Some(0)));
        assert_eq!(numbers.rtt, Some(Duration::from_micros(8_380)));
    }

    #[test]
    fn any_item_may_be_missing_and_streams_come_as_lists() {
        let numbers = read("1.0 MB / 1.00 sec = 8.4 Mbps 1 %TX 2 %RX 12 = 5+0+7 retrans 30 = 10+20 KB-cwnd").unwrap();
        assert_eq!((numbers.retransmits, numbers.cwnd.unwrap().bytes.get()), (Some(12), 30_720));
        assert_eq!(read("1.0 MB / 1.00 sec = 8.4 Mbps").unwrap().retransmits, None);
    }

    #[test]
    fn drops_may_be_negative_and_totals_are_told_apart() {
        let line = "2.3828 MB / 1.00 sec = 19.9869 Mbps -2 / 305 ~drop/pkt -0.65 ~%loss 0.0023 msAvgJitter \
                    Tot: 4.7 MB / 2.00 sec = 19.9 Mbps 0 / 610 ~drop/pkt 0.00 ~%loss Trans: 2.5 MB Tot: 5.0 MB";
        let numbers = read(line).unwrap();
        assert_eq!(numbers.datagrams, Some(Datagrams { lost: Some(-2), total: 305 }));
        assert_eq!(numbers.sent, Some(ByteCount::new(2_621_440)));
        assert_eq!(numbers.jitter, Some(Duration::from_nanos(2_300)));
    }

    #[test]
    fn strange_words_are_refused() {
        for line in [
            "1.0 MB / 1.00 sec",
            "1.0 MB / 1.00 sec = 8.4 Mbps 3",
            "1.0 MB / 1.00 sec = 8.4 Mbps 3 rexmit",
            "1.0 GB / 1.00 sec = 8.4 Mbps",
            "x MB / 1.00 sec = 8.4 Mbps",
        ] {
            assert_eq!(read(line), None, "{line}");
        }
    }
}
