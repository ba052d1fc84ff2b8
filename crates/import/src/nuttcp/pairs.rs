//! Lines of `-fparse` (nuttcp 8.2.2, the `P_PERF_FMT` family of formats): `megabytes=… real_seconds=… rate_Mbps=…`.

use super::numbers::{Numbers, list_sum, window};
use crate::parsed::Datagrams;
use crate::quantity::{decimal, megabits, milliseconds, nuttcp_megabytes, seconds};

/// Reads a line of pairs, all of it or nothing.
pub(crate) fn read(line: &str) -> Option<Numbers> {
    let mut numbers = Numbers::default();
    let (mut drops, mut packets, mut tx, mut running) = (None, None, None, false);
    let mut needed = 0;
    for word in line.split_whitespace() {
        let (key, value) = word.split_once('=')?;
        match key {
            "megabytes" => {
                numbers.bytes = nuttcp_megabytes(value)?;
                needed += 1;
            }
            "real_sec" | "real_seconds" => {
                numbers.elapsed = seconds(value)?;
                needed += 1;
            }
            "rate_Mbps" => {
                numbers.rate = megabits(value)?;
                needed += 1;
            }
            "tx_cpu" => tx = Some(value.parse().ok()?),
            "rx_cpu" => numbers.shares = Some((tx?, value.parse().ok()?)),
            "retrans" | "host-retrans" => numbers.retransmits = Some(list_sum(value)?),
            "cwnd" => numbers.cwnd = window(list_sum(value)?),
            "rtt_ms" => numbers.rtt = Some(milliseconds(value)?),
            // What follows is from the start, which the intervals add up to.
            "total_megabytes" => running = true,
            "drop" if !running => drops = Some(value.parse().ok()?),
            "pkt" if !running => packets = Some(value.parse().ok()?),
            "tx_megabytes" => numbers.sent = Some(nuttcp_megabytes(value)?),
            "msavgjitter" => numbers.jitter = Some(milliseconds(value)?),
            _ if KNOWN.contains(&key) => {
                value.split('+').try_for_each(|part| decimal(part.trim_start_matches('-')).map(|_| ()))?;
            }
            _ => return None,
        }
    }
    numbers.datagrams = packets.map(|total| Datagrams { lost: drops, total });
    (needed == 3).then_some(numbers)
}

const KNOWN: [&str; 15] = [
    "drop",
    "pkt",
    "data_loss",
    "total_real_sec",
    "total_rate_Mbps",
    "tx_total_megabytes",
    "retrans_by_stream",
    "cwnd_by_stream",
    "msminjitter",
    "msmaxjitter",
    "msminOWD",
    "msavgOWD",
    "msmaxOWD",
    "cpu_sec",
    "calls",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_follows_a_running_total_is_not_the_intervals() {
        let line = "megabytes=1.1953 real_sec=0.50 rate_Mbps=20.0553 drop=-1 pkt=153 data_loss=0.00000 \
                    total_megabytes=2.3906 total_real_sec=1.00 total_rate_Mbps=20.0532 drop=9 pkt=306 data_loss=0.00000 \
                    tx_megabytes=1.1953 tx_total_megabytes=2.3906";
        let numbers = read(line).unwrap();
        assert_eq!(numbers.datagrams, Some(Datagrams { lost: Some(-1), total: 153 }));
        assert_eq!(numbers.shares, None);
    }

    #[test]
    fn unknown_keys_and_missing_ones_are_refused() {
        assert!(read("megabytes=1.0 real_sec=1.00 rate_Mbps=8.0 speed=9").is_none());
        assert!(read("megabytes=1.0 real_sec=1.00").is_none());
        assert!(read("megabytes=1.0 real_sec=1.00 rate_Mbps=8.0 retrans=3 retrans_by_stream=1+2 cwnd=30").is_some());
    }
}
