//! Numbers of a text wherever they stand (sentences, `key: value`, cells of a table), with what the words beside them say that they are,
//! and of what: which direction, how many streams, with or without a tunnel, before or after a change.
//!
//! * `amount`: a number with its unit
//! * `meaning`: which quantity it is, by the words beside it
//! * `aspects`: what it is of
//! * `counted`: counters that went up
//! * `changes`: commands that change something between two measurements
//! * `ladder`: what datagrams lose at which rate
//! * `layout`: lines as clauses and cells, with the headings that they stand below
//! * `gather`: those of a whole file, together with what its tests and transfers measured
//!
//! A number whose unit or quantity is not certain is none.

mod amount;
mod aspects;
mod changes;
mod counted;
mod gather;
mod ladder;
mod layout;
mod meaning;
mod things;

use std::time::Duration;

use units::{ByteCount, DataRate};

pub use aspects::{Aspects, Distance, Moment, Towards};
pub use counted::CountedKind;
pub(crate) use gather::gather;
pub(crate) use layout::ProseLine;
pub use meaning::{CpuWork, LostKind, WindowOf};
pub use things::{Mark, Thing};

/// A number of a text that says something of a path, a host or a transfer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Figure {
    /// The line, from 1.
    pub line: usize,
    /// What was found.
    pub value: FigureValue,
    /// What it is of.
    pub of: Aspects,
    /// Who says it.
    pub source: FigureSource,
}

/// A quantity with its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FigureValue {
    /// A rate that a transfer had.
    Reached(DataRate),
    /// A rate that is expected of transfers, or that a link carries.
    Expected(DataRate),
    /// An RTT.
    Rtt(Duration),
    /// Bytes that may be under way.
    Window(WindowOf, ByteCount),
    /// A part of packets that was lost or retransmitted, in parts of a million.
    Lost(LostKind, u32),
    /// A part of a CPU's time, in hundredths of a percent.
    Cpu(CpuWork, u32),
    /// What a disk takes or gives.
    Disk(DataRate),
    /// A counter that went up, and by how much.
    Counted(CountedKind, u64),
    /// A command that changes something: its name says which.
    Changed,
}

/// Who says a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FigureSource {
    /// The text: a person, or a tool that no reader knows.
    Text,
    /// A test, an echo or a transfer that was read as a whole.
    Output,
}

impl Figure {
    /// The rate that a transfer had.
    #[must_use]
    pub fn reached(&self) -> Option<DataRate> {
        match self.value {
            FigureValue::Reached(rate) => Some(rate),
            _ => None,
        }
    }
}
