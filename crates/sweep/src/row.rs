//! What came of one transfer.

use sim::flow::Outcome;
use sim::sender::Limit;
use units::ByteCount;
use units::duration::micros;

use crate::case::{Case, CaseError, Struck, before_the_transfer};
use crate::parameter::Settings;
use crate::value::{QuantityKind, Value};

/// What a row holds of a transfer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Measure {
    /// The completion time, on the clock that was asked for.
    Took,
    /// How long the transfer took from when its connection stood.
    Transfer,
    /// Whether it came to its end before its patience was over.
    Finished,
    /// Whether it missed its deadline, or never came to its end.
    Missed,
    /// Whether it ran into the next window.
    Cascaded,
    /// Whether it was still there at the end of the next window.
    Covered,
    /// Segments sent for the first time.
    Sent,
    /// Segments sent again.
    Resent,
    /// Packets that the path dropped on the way there.
    Dropped,
    /// How often a loss began a recovery.
    Recoveries,
    /// How often a mark made the window shrink.
    MarkReductions,
    /// How often the retransmission timer fired.
    Timeouts,
    /// How often a tail was probed.
    Probes,
    /// How many reductions were taken back.
    Undone,
    /// The most that was out at once.
    MostOut,
    /// When the burst began, from when the connection was asked for.
    BurstBegan,
    /// How long the congestion window held it.
    HeldByWindow,
    /// How long the receiver's window did.
    HeldByReceiver,
    /// How long the send buffer did.
    HeldBySendBuffer,
    /// How long the application did.
    HeldByApplication,
    /// How long the processor or the adapter did.
    HeldByHost,
    /// How long pacing did.
    HeldByPacing,
}

impl Measure {
    /// All of them, in the order of a row.
    pub const ALL: [Self; 22] = [
        Self::Took,
        Self::Transfer,
        Self::Finished,
        Self::Missed,
        Self::Cascaded,
        Self::Covered,
        Self::Sent,
        Self::Resent,
        Self::Dropped,
        Self::Recoveries,
        Self::MarkReductions,
        Self::Timeouts,
        Self::Probes,
        Self::Undone,
        Self::MostOut,
        Self::BurstBegan,
        Self::HeldByWindow,
        Self::HeldByReceiver,
        Self::HeldBySendBuffer,
        Self::HeldByApplication,
        Self::HeldByHost,
        Self::HeldByPacing,
    ];

    /// Its name in files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Took => "took",
            Self::Transfer => "transfer",
            Self::Finished => "finished",
            Self::Missed => "missed",
            Self::Cascaded => "cascaded",
            Self::Covered => "covered",
            Self::Sent => "sent",
            Self::Resent => "resent",
            Self::Dropped => "dropped",
            Self::Recoveries => "recoveries",
            Self::MarkReductions => "mark-reductions",
            Self::Timeouts => "timeouts",
            Self::Probes => "probes",
            Self::Undone => "undone",
            Self::MostOut => "most-out",
            Self::BurstBegan => "burst-began",
            Self::HeldByWindow => "held-by-window",
            Self::HeldByReceiver => "held-by-receiver",
            Self::HeldBySendBuffer => "held-by-send-buffer",
            Self::HeldByApplication => "held-by-application",
            Self::HeldByHost => "held-by-host",
            Self::HeldByPacing => "held-by-pacing",
        }
    }

    /// The one of this name.
    #[must_use]
    pub fn find(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|measure| measure.name() == name)
    }

    /// What kind of quantity it is.
    #[must_use]
    pub const fn kind(self) -> QuantityKind {
        match self {
            Self::Took
            | Self::Transfer
            | Self::BurstBegan
            | Self::HeldByWindow
            | Self::HeldByReceiver
            | Self::HeldBySendBuffer
            | Self::HeldByApplication
            | Self::HeldByHost
            | Self::HeldByPacing => QuantityKind::Time,
            Self::Finished | Self::Missed | Self::Cascaded | Self::Covered => QuantityKind::Share,
            Self::MostOut => QuantityKind::Bytes,
            Self::Sent
            | Self::Resent
            | Self::Dropped
            | Self::Recoveries
            | Self::MarkReductions
            | Self::Timeouts
            | Self::Probes
            | Self::Undone => QuantityKind::Count,
        }
    }

    /// The name of its column.
    #[must_use]
    pub fn column(self) -> String {
        format!("{}{}", self.name().replace('-', "_"), self.kind().suffix())
    }
}

/// What came of one transfer: a whole number for each of [`Measure::ALL`], in microseconds, bytes, pieces, or 0 and 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// The number of the transfer.
    pub index: u64,
    /// The numbers, in the order of [`Measure::ALL`].
    pub numbers: [u64; Measure::ALL.len()],
}

/// The most that buffers were asked to hold or to grow to in any connection of a transfer. With `wmem` and `rmem` that are as large
/// or larger nothing of it changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BuffersAsked {
    /// What of the send buffer.
    pub send: ByteCount,
    /// What of the receive buffer.
    pub receive: ByteCount,
}

impl Case<'_> {
    /// Reckons what comes of it.
    ///
    /// # Errors
    /// Settings that cannot be.
    pub fn run(&self) -> Result<Row, CaseError> {
        self.run_with_buffers().map(|(row, _)| row)
    }

    /// The same, with what its buffers were asked for.
    ///
    /// # Errors
    /// Settings that cannot be.
    pub fn run_with_buffers(&self) -> Result<(Row, BuffersAsked), CaseError> {
        let burst = Struck::new(self.settings, self.seed);
        let streams = self.streams(&burst)?.run()?;
        let most = |of: fn(&Outcome) -> ByteCount| streams.iter().map(of).max().unwrap_or(ByteCount::ZERO);
        let asked = BuffersAsked {
            send: most(|stream| stream.send_buffer_asked),
            receive: most(|stream| stream.receive_buffer_asked),
        };
        Ok((Row::new(self, &burst, &streams), asked))
    }
}

impl Row {
    /// What is kept of a transfer over one or several connections: it ends with the last of them.
    #[must_use]
    pub fn new(case: &Case<'_>, struck: &Struck, streams: &[Outcome]) -> Self {
        let before = before_the_transfer(case.settings).unwrap_or_default();
        let last = streams.iter().max_by_key(|stream| stream.duration);
        let transfer = last.map(|stream| stream.duration).unwrap_or_default();
        let finished = streams.iter().all(|stream| stream.finished);
        let took = before + transfer;
        let later_than = |name: &str| is_later(case.settings, name, took);
        let sum = |of: fn(&Outcome) -> u64| streams.iter().map(of).sum();
        // What held the one that ended last is what held the transfer.
        let held = |limit: Limit| {
            let limits = last.map(|stream| stream.limits.as_slice()).unwrap_or_default();
            limits.iter().find(|(held_by, _)| *held_by == limit).map_or(0, |(_, time)| micros(*time))
        };
        let number = |measure| match measure {
            Measure::Took => micros(took),
            Measure::Transfer => micros(transfer),
            Measure::Finished => u64::from(finished),
            Measure::Missed => u64::from(!finished || later_than("deadline")),
            Measure::Cascaded => u64::from(later_than("next-start")),
            Measure::Covered => u64::from(later_than("next-end")),
            Measure::Sent => sum(|stream| stream.sent.get()),
            Measure::Resent => sum(|stream| stream.retransmits.get()),
            Measure::Dropped => sum(|stream| stream.drops.iter().map(|(_, _, packets)| packets.get()).sum()),
            Measure::Recoveries => sum(|stream| u64::from(stream.recoveries)),
            Measure::MarkReductions => sum(|stream| u64::from(stream.mark_reductions)),
            Measure::Timeouts => sum(|stream| u64::from(stream.timeouts)),
            Measure::Probes => sum(|stream| u64::from(stream.probes)),
            Measure::Undone => sum(|stream| u64::from(stream.undone)),
            Measure::MostOut => sum(|stream| stream.max_outstanding.get()),
            Measure::BurstBegan => struck.burst.map_or(0, |(_, begins, _)| micros(begins)),
            Measure::HeldByWindow => held(Limit::Window),
            Measure::HeldByReceiver => held(Limit::ReceiveWindow),
            Measure::HeldBySendBuffer => held(Limit::SendBuffer),
            Measure::HeldByApplication => held(Limit::Application),
            Measure::HeldByHost => held(Limit::Host),
            Measure::HeldByPacing => held(Limit::Pacing),
        };
        Self { index: case.index, numbers: Measure::ALL.map(number) }
    }

    /// One of the numbers.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "microseconds, bytes and pieces of one transfer are below 2^53")]
    pub fn get(&self, measure: Measure) -> f64 {
        Measure::ALL.iter().zip(self.numbers).find(|(of, _)| **of == measure).map_or(0.0, |(_, number)| number as f64)
    }

    /// A line of numbers, for a file that grows while an experiment goes on.
    #[must_use]
    pub fn line(&self) -> String {
        let numbers = self.numbers.iter().map(u64::to_string).collect::<Vec<_>>().join(" ");
        format!("{} {numbers}\n", self.index)
    }

    /// Reads [`Row::line`]; [`None`] of anything else, such as the half of a line.
    #[must_use]
    pub fn of_line(line: &str) -> Option<Self> {
        let mut words = line.strip_suffix('\n')?.split(' ').map(|word| word.parse::<u64>().ok());
        let index = words.next()??;
        let mut numbers = [0; Measure::ALL.len()];
        for number in &mut numbers {
            *number = words.next()??;
        }
        words.next().is_none().then_some(Self { index, numbers })
    }
}

fn is_later(settings: &Settings, limit: &str, took: std::time::Duration) -> bool {
    matches!(settings.get(limit), Value::Time(limit) if took > *limit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_read_as_it_was_written_and_no_half_of_it() {
        let row = Row { index: 7, numbers: std::array::from_fn(|place| place as u64 * 11) };
        let line = row.line();
        assert_eq!(Row::of_line(&line), Some(row));
        for half in 0..line.len() {
            assert_eq!(Row::of_line(&line[..half]), None);
        }
        assert_eq!(Row::of_line(&format!("1 {line}")), None);
    }

    #[test]
    fn no_two_measures_or_parameters_share_a_column() {
        let parameters = crate::parameter::ALL.iter().map(crate::parameter::Parameter::column);
        let mut columns: Vec<String> = Measure::ALL.iter().map(|measure| measure.column()).chain(parameters).collect();
        let all = columns.len();
        columns.sort_unstable();
        columns.dedup();
        assert_eq!(columns.len(), all);
    }
}
