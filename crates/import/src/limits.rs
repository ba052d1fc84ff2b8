//! How much of a file is read.

use units::DataRate;

/// The largest file: an hour of `iperf3 -J` with 128 streams and an interval a second is 60 MB.
pub const MAX_BYTES: usize = 64 << 20;

/// The longest line of text; longer ones are anomalies.
pub const MAX_LINE_BYTES: usize = 4 << 10;

/// The most tests of one file; later ones are left out.
pub const MAX_TESTS: usize = 10_000;

/// The most anomalies that are kept one by one; the others are counted.
pub const MAX_ANOMALIES: usize = 100;

/// The highest rate that is taken for one, 100 Tbit/s: `model::plausible` has it of what hosts say.
pub const MAX_RATE: DataRate = DataRate::from_bps(100_000_000_000_000);

/// The most lines that a command may be broken into.
pub const MAX_COMMAND_LINES: usize = 8;

/// The most lines that one line of output may be broken into.
pub const MAX_BROKEN_LINES: usize = 4;

/// The longest time that is taken for one: a year.
pub const MAX_SECONDS: u64 = 366 * 86_400;

/// The most characters of a line that an anomaly quotes.
pub const MAX_QUOTED_CHARS: usize = 80;

/// The most streams of one test; iperf3 has at most 128 in each direction (`MAX_STREAMS`, src/iperf.h, 3.21).
pub const MAX_STREAMS: usize = 1024;

/// The most broken objects of one file that are passed over to look for the next one.
pub const MAX_BROKEN_OBJECTS: usize = 100;

/// The most different congestion windows that a segment size is looked for in: more do not make it surer.
pub const MAX_WINDOWS: usize = 256;

/// The most RTTs that are taken from the text around logs.
pub const MAX_STATED_RTTS: usize = 1_000;

/// The most rates that are taken from the text around logs.
pub const MAX_STATED_RATES: usize = 100;

/// The most lines around logs in which numbers are looked for.
pub const MAX_PROSE_LINES: usize = 2_000;

/// The most letters of such a line.
pub const MAX_PROSE_CHARS: usize = 1_000;

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::MAX_RATE;

    #[test]
    fn the_highest_rate_is_that_of_a_hosts_document() {
        let is_taken = |bps: u64| model::plausible::check(&json!({ "rate_bps": bps })).is_ok();
        assert!(is_taken(MAX_RATE.bps()) && !is_taken(MAX_RATE.bps() + 1));
    }
}
