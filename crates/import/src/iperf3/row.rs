//! Lines with numbers: `[  5]   0.00-1.00   sec  1.13 GBytes  9.73 Gbits/sec    7   1.75 MBytes`.

use std::time::Duration;

use model::measurement::{End, Heading};

use crate::parsed::{Datagrams, Label, PrintedAmount, Row};
use crate::proof::{Claim, half_digit};
use crate::quantity::{iperf3_bytes, iperf3_rate, milliseconds, seconds};
use crate::source::words;

/// What the columns after the rate mean, by the line of headings above.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Columns {
    /// No headings were seen: one number alone may be retransmits or datagrams.
    #[default]
    Unknown,
    /// None: a receiver of a stream.
    Rates,
    /// `Retr`.
    Segments,
    /// `Retr` and `Cwnd`, of which sums have the first.
    Windows,
    /// `Total Datagrams`, or `Jitter` and `Lost/Total Datagrams`.
    Datagrams,
    /// `Write/Err  Rtry  Cwnd/RTT …` of a client of iperf 2 with `-e`: the second is `Retr`.
    Enhanced,
    /// Others of iperf 2 with `-e`, of no use here.
    Ignored,
    /// `Jitter`, `Lost/Total`, and others behind, of iperf 2 with `-e`.
    DatagramsAndMore,
}

impl Columns {
    /// Reads the titles after `[ ID]`; `None` where they are not all there.
    pub(crate) fn of(titles: &[&str]) -> Option<Self> {
        let ["Interval", "Transfer", "Bandwidth" | "Bitrate", more @ ..] = titles else { return None };
        match more {
            [] => Some(Self::Rates),
            ["Retr"] => Some(Self::Segments),
            ["Retr", "Cwnd"] => Some(Self::Windows),
            // The title may be broken after `Jitter`.
            ["Total", "Datagrams"] | ["Jitter"] | ["Jitter", "Lost/Total", "Datagrams"] => Some(Self::Datagrams),
            // A terminal of 80 columns cut it.
            ["Total", cut] | ["Jitter", "Lost/Total", cut] if "Datagrams".starts_with(cut) => Some(Self::Datagrams),
            ["Write/Err", "Rtry", ..] => Some(Self::Enhanced),
            ["Jitter", "Lost/Total", "Latency", ..] => Some(Self::DatagramsAndMore),
            ["Write/Err", ..] | ["Reads=Dist", ..] | ["Burst", ..] => Some(Self::Ignored),
            _ => None,
        }
    }
}

/// A line with numbers, and whose count it is where it says so.
#[derive(Debug, Clone)]
pub(crate) struct Numbers {
    pub(crate) row: Row,
    pub(crate) end: Option<End>,
    /// Whether there was more after the rate, and it could not be read.
    pub(crate) cut: bool,
    /// Whether its times have one digit behind the point, as iperf 2 prints them and iperf3 never does.
    pub(crate) is_coarse: bool,
}

/// A line that begins with a label, in its words.
#[derive(Debug)]
pub(crate) struct Labelled<'a> {
    pub(crate) label: Label,
    pub(crate) heading: Option<Heading>,
    /// What stands behind the label and the direction.
    pub(crate) words: Vec<&'a str>,
}

impl<'a> Labelled<'a> {
    /// Splits `[  5][TX-C] words`.
    pub(crate) fn of(line: &'a str) -> Option<Self> {
        let (inside, rest) = line.strip_prefix('[')?.split_once(']')?;
        let label = match inside.trim() {
            "SUM" => Label::Sum,
            number => Label::Stream(number.parse().ok()?),
        };
        let words = |text: &'a str| {
            let mut words = words(text);
            // Bold letters of Markdown: `**1006 Mbits/sec**`.
            if text.contains("**") {
                words.iter_mut().for_each(|word| *word = word.trim_matches('*'));
            }
            words
        };
        let Some((role, after)) = rest.strip_prefix('[').and_then(|rest| rest.split_once(']')) else {
            return Some(Self { label, heading: None, words: words(rest) });
        };
        let heading = match role {
            "TX-C" | "TX-S" => Heading::Outbound,
            "RX-C" | "RX-S" => Heading::Inbound,
            _ => return None,
        };
        Some(Self { label, heading: Some(heading), words: words(after) })
    }

    /// Reads a line with numbers. Span, amount and rate must be there and agree with each other; columns after them that
    /// make no sense are left out, and the row is marked as cut.
    pub(crate) fn numbers(self, columns: Columns) -> Option<Numbers> {
        let row = split(self)?;
        row.claim.holds().then(|| row.numbers(columns))
    }
}

/// Why a line that has the form of a row is none: its amount over its time is not its rate.
pub(crate) fn contradiction(line: &str) -> Option<String> {
    let claim = split(Labelled::of(line.trim())?)?.claim;
    let computed = claim.computed();
    (!claim.holds()).then(|| format!("a row whose amount over its time, {computed}, is its rate, not {}", claim.rate))
}

/// A line with numbers in its parts.
struct Split<'a> {
    row: Row,
    end: Option<End>,
    claim: Claim,
    is_coarse: bool,
    /// From the span on.
    words: Vec<&'a str>,
}

/// Words of a line from its span to its rate.
const BEFORE_TAIL: usize = 6;

fn split(line: Labelled<'_>) -> Option<Split<'_>> {
    let Labelled { label, heading, mut words } = line;
    let omitted = words.pop_if(|word| *word == "(omitted)").is_some();
    let end = match words.pop_if(|word| is_end(word)) {
        Some(word) if word.starts_with('s') => Some(End::Sender),
        Some(_) => Some(End::Receiver),
        None => None,
    };
    // iperf 2 sets both times to one width: ` 0.0- 2.0 sec`.
    let (from, to) = match words.as_slice() {
        [from, to, "sec", ..] => {
            let ends = (from.strip_suffix('-')?, *to);
            words.remove(0);
            ends
        }
        [span, ..] => span.split_once('-')?,
        [] => return None,
    };
    let [_, "sec", amount, unit, number, rate_unit, ..] = *words.as_slice() else { return None };
    let printed = iperf3_bytes(amount, unit)?;
    let rate = iperf3_rate(number, rate_unit)?;
    let mut row = Row::new(label, seconds(from)?, seconds(to)?, printed.bytes);
    (row.end >= row.start).then_some(())?;
    row.heading = heading;
    row.rate = Some(rate);
    row.omitted = omitted;
    let per_unit = iperf3_rate("1", rate_unit)?;
    #[expect(clippy::cast_precision_loss, reason = "a tolerance")]
    let claim = Claim {
        bytes: printed.bytes,
        bytes_within: printed.within as f64,
        elapsed: row.end.saturating_sub(row.start),
        elapsed_within: Duration::from_secs_f64(half_digit(from) + half_digit(to)),
        rate,
        rate_within: half_digit(number) * per_unit.bps() as f64,
    };
    let is_coarse = from.split_once('.').is_some_and(|(_, digits)| digits.len() == 1);
    Some(Split { row, end, claim, is_coarse, words })
}

/// `sender` or `receiver`, which may have lost letters where the text was cut.
fn is_end(word: &str) -> bool {
    !word.is_empty() && ["sender", "receiver"].iter().any(|end| end.starts_with(word))
}

impl Split<'_> {
    fn numbers(self, columns: Columns) -> Numbers {
        let Self { mut row, end, is_coarse, words, .. } = self;
        // A sender's summary has its retransmits there whatever stands above.
        let columns = match columns {
            Columns::Unknown | Columns::Windows if end == Some(End::Sender) => Columns::Segments,
            // The window follows, so that one number alone may have lost its last digits; a sum has no window.
            Columns::Windows if row.label == Label::Sum => Columns::Segments,
            columns => columns,
        };
        let cut = read_tail(words.get(BEFORE_TAIL..).unwrap_or_default(), columns, &mut row).is_none();
        Numbers { row, end, cut, is_coarse }
    }
}

/// Reads the columns after the rate into `row`, all or none of them.
fn read_tail(tail: &[&str], columns: Columns, row: &mut Row) -> Option<()> {
    match *tail {
        [] => {}
        _ if columns == Columns::Ignored => {}
        [writes, retransmits, ..] if columns == Columns::Enhanced && writes.contains('/') => {
            row.retransmits = Some(retransmits.parse().ok()?);
            if let Some((cwnd, rtt)) = tail.get(2).and_then(|state| enhanced([state, tail.get(3)?])) {
                (row.cwnd, row.rtt) = (Some(cwnd), Some(rtt));
            }
        }
        [jitter, "ms", counts, share, ..] if columns == Columns::DatagramsAndMore => {
            return read_tail(&[jitter, "ms", counts, share], Columns::Datagrams, row);
        }
        [count] if columns == Columns::Datagrams => {
            row.datagrams = Some(Datagrams { lost: None, total: count.parse().ok()? });
        }
        // What it counts is proved by the summary, or is left out.
        [count] if columns == Columns::Unknown => row.unnamed = Some(count.parse().ok()?),
        [count] if columns == Columns::Segments => row.retransmits = Some(count.parse().ok()?),
        [count, window, unit] if columns != Columns::Datagrams => {
            let (count, window) = (count.parse().ok()?, iperf3_bytes(window, unit)?);
            (row.retransmits, row.cwnd) = (Some(count), Some(window));
        }
        // `1007KBytes`.
        [count, window] if columns != Columns::Datagrams => {
            let (number, unit) = window.split_at(window.find(|letter: char| letter.is_ascii_alphabetic())?);
            (!number.is_empty()).then_some(())?;
            return read_tail(&[count, number, unit], columns, row);
        }
        // A total of 32 bits that is full, after which it counts no further.
        [jitter, "ms", counts, _] if counts.ends_with("/2147483647") => row.jitter = Some(milliseconds(jitter)?),
        // iperf 2 sets the total to a width of five: `149/ 4252 (3.5%)`.
        [jitter, "ms", lost, total, share] if lost.ends_with('/') => {
            return read_tail(&[jitter, "ms", &format!("{lost}{total}"), share], columns, row);
        }
        [jitter, "ms", counts, share] => {
            let (lost, total) = counts.split_once('/')?;
            let (jitter, lost, total) = (milliseconds(jitter)?, lost.parse().ok()?, total.parse().ok()?);
            let share = share.strip_prefix('(')?;
            let agrees = match share.strip_suffix("%)") {
                Some(share) => share_agrees(share, lost, total),
                // A terminal of 80 columns cut the share; the counts before it are whole.
                None => begins_share(share.trim_end_matches('%'), lost, total),
            };
            agrees.then_some(())?;
            row.jitter = Some(jitter);
            row.datagrams = Some(Datagrams { lost: Some(lost), total });
        }
        _ => return None,
    }
    Some(())
}

/// `1023K/47(9)` and `us`: congestion window and RTT.
fn enhanced([state, unit]: [&str; 2]) -> Option<(PrintedAmount, Duration)> {
    let (window, rtt) = state.split_once('/')?;
    let window = iperf3_bytes(window.strip_suffix('K')?, "KBytes")?;
    let micros = rtt.split('(').next()?.parse::<u64>().ok().filter(|micros| *micros > 0 && unit == "us")?;
    Some((window, Duration::from_micros(micros)))
}

/// Whether digits are the first ones of the share of the counts.
fn begins_share(digits: &str, lost: i64, total: u64) -> bool {
    let Some(percent) = u64::try_from(lost).ok().and_then(|lost| (lost * 100).checked_div(total)) else { return false };
    !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit()) && percent.to_string().starts_with(digits)
}

/// Whether the printed share is that of the counts: `%.2g`, and `nan` without datagrams.
fn share_agrees(share: &str, lost: i64, total: u64) -> bool {
    let Ok(printed) = share.replace(',', ".").parse::<f64>() else { return false };
    // A 32-bit iperf3 3.14 prints more lost than there were (its issue 1554).
    if u64::try_from(lost).is_ok_and(|lost| lost > total) {
        return false;
    }
    if !printed.is_finite() || total == 0 || lost <= 0 {
        return true;
    }
    #[expect(clippy::cast_precision_loss, reason = "two digits are compared")]
    let computed = lost as f64 * 100.0 / total as f64;
    (printed - computed).abs() <= 0.06 * computed.max(printed)
}

#[cfg(test)]
mod tests {
    use units::{ByteCount, DataRate};

    use super::*;

    fn read(line: &str, columns: Columns) -> Option<Numbers> {
        Labelled::of(line)?.numbers(columns)
    }

    #[test]
    fn a_senders_interval_has_retransmissions_and_a_window() {
        let line = "[  4]   0.00-10.00  sec  2.28 MBytes  1.91 Mbits/sec   12   35.0 KBytes";
        let Numbers { row, end, .. } = read(line, Columns::Segments).unwrap();
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
        let Numbers { row, end, .. } = read(line, Columns::Datagrams).unwrap();
        assert_eq!(row.datagrams, Some(Datagrams { lost: Some(-3), total: 77 }));
        assert_eq!((end, row.jitter), (Some(End::Receiver), Some(Duration::from_micros(8))));
    }

    #[test]
    fn a_share_that_is_cut_leaves_the_counts() {
        let line = "[  5]   0.00-5.15   sec  46.4 MBytes  75.6 Mbits/sec  0.148 ms  18132/51766 (35";
        let row = read(line, Columns::Datagrams).unwrap().row;
        assert_eq!(row.datagrams, Some(Datagrams { lost: Some(18_132), total: 51_766 }));
        let other = read(&line.replace("(35", "(47"), Columns::Datagrams).unwrap();
        assert!(other.cut && other.row.datagrams.is_none(), "not the share of these counts");
    }

    #[test]
    fn columns_that_are_cut_are_left_out_and_marked() {
        for line in [
            "[  5]   0.00-1.00   sec  2.41 MBytes  20.2 Mbits/sec  7 of 9",
            "[  5]   0.00-1.00   sec  2.41 MBytes  20.2 Mbits/sec  7   35.0 KByte",
            "[  5]   0.00-1.00   sec  2.41 MBytes  20.2 Mbits/sec  0.008 ms  3/7700 (nan%",
            "[  5]   0.00-1.00   sec  2.41 MBytes  20.2 Mbits/sec  0.008 ms  3000/7700 (3.9%)",
        ] {
            let Numbers { row, cut, .. } = read(line, Columns::Segments).unwrap();
            assert!(cut && row.retransmits.is_none() && row.datagrams.is_none(), "{line}");
        }
    }

    #[test]
    fn a_row_that_contradicts_itself_is_none_and_says_so() {
        let line = "[  5]   0.00-10.00  sec  2.41 MBytes  20.2 Mbits/sec    7   35.0 KBytes";
        assert!(read(line, Columns::Segments).is_none());
        let why = contradiction(line).unwrap();
        assert_eq!(why, "a row whose amount over its time, 2.02 Mbit/s, is its rate, not 20.2 Mbit/s");
    }

    #[test]
    fn anything_else_is_no_row() {
        for line in [
            "",
            "[",
            "[  5]",
            "[ ID] Interval           Transfer     Bitrate",
            "[  5]   0.00-1.00   sec  2.41 MB  20.2 Mbits/sec",
            "[  5][MX-C]   0.00-1.00   sec  2.41 MBytes  20.2 Mbits/sec",
            "[  5]   1.00   sec  2.41 MBytes  20.2 Mbits/sec",
        ] {
            assert!(read(line, Columns::Segments).is_none(), "{line}");
        }
    }
}
