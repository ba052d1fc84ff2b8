//! Samples as tables of signed numbers, which is what is encoded.

use super::layout::{id, kind};
use super::{digits, predict, residual};
use crate::measurement::{End, Heading, Whose};
use crate::series::field::Field;
use crate::series::{ProbeSamples, StreamSamples};

/// Columns of equal length, the time first.
pub(super) struct Table {
    /// Its first bytes: what the rows are.
    pub(super) head: Vec<u8>,
    /// The columns, as they are written.
    pub(super) columns: Vec<Column>,
}

/// The values of a column before they are encoded.
pub(super) struct Column {
    pub(super) id: u16,
    pub(super) values: Vec<i64>,
    pub(super) three_digits: bool,
}

impl Table {
    /// The samples of a stream, rates rounded.
    pub(super) fn of_stream(samples: &StreamSamples) -> Self {
        let heading = match samples.heading {
            Heading::Outbound => 0,
            Heading::Inbound => 1,
        };
        let end = match samples.end {
            End::Sender => 0,
            End::Receiver => 1,
        };
        let whose = match samples.whose {
            Whose::Local => 0,
            Whose::Peer => 1,
        };
        let mut head = vec![kind::STREAM];
        head.extend(samples.stream.to_le_bytes());
        head.extend([heading, end, whose]);
        let whole = samples.columns.iter().filter(|column| column.values.len() == samples.at_us.len());
        let fields = whole.map(|column| {
            let three_digits = matches!(column.field, Field::PacingRate | Field::DeliveryRate);
            let values = column.values.iter();
            let values = if three_digits {
                values.map(|value| digits::decode(digits::encode(*value)).cast_signed()).collect()
            } else {
                values.map(|value| value.cast_signed()).collect()
            };
            Column { id: predict::of(column.field), values, three_digits }
        });
        let time = Column { id: id::TIME, values: samples.at_us.clone(), three_digits: false };
        Self { head, columns: std::iter::once(time).chain(fields).collect() }
    }

    /// The latency probes.
    pub(super) fn of_probes(probes: &ProbeSamples) -> Self {
        let rows = probes.sent_us.len().min(probes.rtt_us.len()).min(probes.there_us.len());
        let rtt = probes.rtt_us[..rows].iter().map(|rtt| rtt.map_or(0, |rtt| i64::from(rtt) + 1)).collect();
        let there = probes.there_us[..rows].iter().map(|there| there.map_or(0, present)).collect();
        let column = |id, values| Column { id, values, three_digits: false };
        let time = column(id::TIME, probes.sent_us[..rows].to_vec());
        Self {
            head: vec![kind::PROBES],
            columns: vec![time, column(id::PROBE_RTT, rtt), column(id::PROBE_THERE, there)],
        }
    }

    /// The number of rows.
    pub(super) fn rows(&self) -> usize {
        self.columns.first().map_or(0, |time| time.values.len())
    }

    /// The first column with this id, which is the one that a reader takes.
    pub(super) fn column(&self, id: u16) -> Option<&[i64]> {
        self.columns.iter().find(|column| column.id == id).map(|column| column.values.as_slice())
    }
}

/// Zero stands for what is absent, so what is present starts at one.
fn present(value: i32) -> i64 {
    residual::zigzag(i64::from(value)).cast_signed() + 1
}
