//! The kernel's own sums against the table: they must agree.

use serde::{Deserialize, Serialize};

use crate::exact::fraction;

/// Parts of the run's time by the kernel's clocks and by the table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct KernelCheck {
    /// What the comparison says.
    pub verdict: CheckVerdict,
    /// Each clock that the kernel keeps.
    pub clocks: Vec<ClockCheck>,
    /// Why they differ, or why there is nothing to compare.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub because: Option<String>,
}

/// What a comparison says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum CheckVerdict {
    /// Every clock agrees within [`KernelCheck::TOLERANCE`].
    Agrees,
    /// One does not.
    Differs,
    /// The kernel keeps no such clocks, or nobody read them.
    NotKnown,
}

/// One clock of the kernel.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ClockCheck {
    /// Which.
    pub clock: KernelClock,
    /// Part of the streams' time by the kernel, 0 to 1.
    pub kernel: f64,
    /// Part of the streams' time that the table gives to what this clock can mean.
    pub table: f64,
}

/// What the kernel keeps time of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum KernelClock {
    /// Data was outstanding (`tcpi_busy_time`).
    Busy,
    /// Limited by the receiver's window (`tcpi_rwnd_limited`).
    ReceiveWindow,
    /// Limited by the send buffer (`tcpi_sndbuf_limited`).
    SendBuffer,
}

impl KernelCheck {
    /// Five points: two ticks of the kernel's timer in a step of 10 ms, and a gap in a hundred.
    pub const TOLERANCE: f64 = 0.05;

    pub(super) fn new(sums: &ClockSums) -> Self {
        if sums.total == 0 {
            let because = Some("the sender's kernel did not tell how long it was limited by what".to_owned());
            return Self { verdict: CheckVerdict::NotKnown, clocks: Vec::new(), because };
        }
        let clock = |clock, kernel: u64, table: u64| ClockCheck {
            clock,
            kernel: fraction(kernel, sums.total),
            table: fraction(table, sums.total),
        };
        let clocks = vec![
            clock(KernelClock::Busy, sums.kernel_busy, sums.table_busy),
            clock(KernelClock::ReceiveWindow, sums.kernel_window, sums.table_window),
            clock(KernelClock::SendBuffer, sums.kernel_buffer, sums.table_buffer),
        ];
        let agrees = clocks.iter().all(|clock| (clock.kernel - clock.table).abs() <= Self::TOLERANCE);
        let because = (!agrees).then(|| sums.difference().to_owned());
        Self { verdict: if agrees { CheckVerdict::Agrees } else { CheckVerdict::Differs }, clocks, because }
    }
}

/// Sums over all streams, in microseconds.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct ClockSums {
    pub(super) total: u64,
    pub(super) kernel_busy: u64,
    pub(super) kernel_window: u64,
    pub(super) kernel_buffer: u64,
    pub(super) table_busy: u64,
    pub(super) table_window: u64,
    pub(super) table_buffer: u64,
    /// Window and buffer time that the table gives to the path.
    pub(super) to_path: u64,
}

impl ClockSums {
    fn difference(&self) -> &'static str {
        let missing = self.kernel_window.saturating_add(self.kernel_buffer);
        if self.to_path.saturating_mul(2) > missing.saturating_sub(self.table_window + self.table_buffer) {
            return "windows and buffers were full because a queue stood on the path; larger ones only lengthen it, so \
                    their time is the path's";
        }
        "parts of the run fall between samples or outside the run"
    }
}
