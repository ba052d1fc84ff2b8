//! Lines with numbers: `[  5]   0.00-1.00   sec  1.13 GBytes  9.73 Gbits/sec    7   1.75 MBytes`.

use model::measurement::{End, Heading};

use crate::foreign::quantity::{iperf3_bytes, iperf3_rate, milliseconds, seconds};
use crate::foreign::told::{Datagrams, Label, Row};

/// What the columns after the rate mean, by the line of headings above.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Columns {
    /// `Retr` and `Cwnd`.
    #[default]
    Segments,
    /// `Total Datagrams`, or `Jitter` and `Lost/Total Datagrams`.
    Datagrams,
}

/// A line with numbers, and whose count it is where it says so.
#[derive(Debug, Clone)]
pub(crate) struct Numbers {
    pub(crate) row: Row,
    pub(crate) end: Option<End>,
}

/// Splits `[  5][TX-C] rest` into label, direction and rest.
pub(crate) fn label(line: &str) -> Option<(Label, Option<Heading>, &str)> {
    let (inside, rest) = line.strip_prefix('[')?.split_once(']')?;
    let label = match inside.trim() {
        "SUM" => Label::Sum,
        number => Label::Stream(number.parse().ok()?),
    };
    let Some((role, after)) = rest.strip_prefix('[').and_then(|rest| rest.split_once(']')) else {
        return Some((label, None, rest));
    };
    let heading = match role {
        "TX-C" | "TX-S" => Heading::Outbound,
        "RX-C" | "RX-S" => Heading::Inbound,
        _ => return None,
    };
    Some((label, Some(heading), after))
}

/// Reads a line with numbers, all of it or nothing.
pub(crate) fn read(line: &str, columns: Columns) -> Option<Numbers> {
    let (label, heading, rest) = label(line)?;
    let mut words: Vec<&str> = rest.split_whitespace().collect();
    let omitted = words.pop_if(|word| *word == "(omitted)").is_some();
    let end = match words.pop_if(|word| matches!(*word, "sender" | "receiver")) {
        Some("sender") => Some(End::Sender),
        Some(_) => Some(End::Receiver),
        None => None,
    };
    let [span, "sec", amount, unit, rate, rate_unit, tail @ ..] = words.as_slice() else { return None };
    let (from, to) = span.split_once('-')?;
    let mut row = Row::new(label, seconds(from)?, seconds(to)?, iperf3_bytes(amount, unit)?.bytes);
    row.heading = heading;
    row.rate = Some(iperf3_rate(rate, rate_unit)?);
    row.omitted = omitted;
    match *tail {
        [] => {}
        [count] if columns == Columns::Datagrams => {
            row.datagrams = Some(Datagrams { lost: None, total: count.parse().ok()? });
        }
        [count] => row.retransmits = Some(count.parse().ok()?),
        [count, window, unit] if columns == Columns::Segments => {
            row.retransmits = Some(count.parse().ok()?);
            row.cwnd = Some(iperf3_bytes(window, unit)?);
        }
        [jitter, "ms", counts, share] => {
            let (lost, total) = counts.split_once('/')?;
            // The share is computed from the counts, and is `(nan%)` without datagrams.
            share.strip_prefix('(')?.strip_suffix("%)")?;
            row.jitter = Some(milliseconds(jitter)?);
            row.datagrams = Some(Datagrams { lost: Some(lost.parse().ok()?), total: total.parse().ok()? });
        }
        _ => return None,
    }
    Some(Numbers { row, end })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use units::{ByteCount, DataRate};

    use super::*;

    #[test]
    fn a_senders_interval_has_retransmissions_and_a_window() {
        let line = "[  4]   0.00-10.00  sec  2.28 MBytes  1.91 Mbits/sec   12   35.0 KBytes";
        let Numbers { row, end } = read(line, Columns::Segments).unwrap();
        assert_eq!((row.label, end, row.retransmits), (Label::Stream(4), None, Some(12)));
        assert_eq!(row.end, Duration::from_secs(10));
        assert_eq!(row.rate, Some(DataRate::from_bps(1_910_000)));
        assert_eq!(row.cwnd.unwrap().bytes, ByteCount::new(35_840));
    }

    #[test]
    fn one_number_is_retransmissions_or_datagrams_by_the_headings() {
        let line = "[SUM][TX-C]   0.00-1.00   sec  1.53 GBytes  13.1 Gbits/sec    1             ";
        let row = read(line, Columns::Segments).unwrap().row;
        assert_eq!((row.label, row.heading, row.retransmits), (Label::Sum, Some(Heading::Outbound), Some(1)));
        assert_eq!(read(line, Columns::Datagrams).unwrap().row.datagrams.unwrap().total, 1);
    }

    #[test]
    fn a_receivers_datagrams_may_be_fewer_than_none_lost() {
        let line = "[  5]   0.00-1.00   sec  2.41 MBytes  20.2 Mbits/sec  0.008 ms  -3/77 (nan%)  receiver";
        let Numbers { row, end } = read(line, Columns::Datagrams).unwrap();
        assert_eq!(row.datagrams, Some(Datagrams { lost: Some(-3), total: 77 }));
        assert_eq!((end, row.jitter), (Some(End::Receiver), Some(Duration::from_micros(8))));
    }

    #[test]
    fn anything_else_is_no_row() {
        for line in [
            "",
            "[",
            "[  5]",
            "[ ID] Interval           Transfer     Bitrate",
            "[  5]   0.00-1.00   sec  2.41 MB  20.2 Mbits/sec",
            "[  5]   0.00-1.00   sec  2.41 MBytes  20.2 Mbits/sec  7 of 9",
            "[  5][MX-C]   0.00-1.00   sec  2.41 MBytes  20.2 Mbits/sec",
            "[  5]   1.00   sec  2.41 MBytes  20.2 Mbits/sec",
        ] {
            assert!(read(line, Columns::Segments).is_none(), "{line}");
        }
    }
}
