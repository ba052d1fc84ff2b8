//! The samples of one run, out of its segment.

use hyper::body::Bytes;
use model::measurement::{End, Heading, Whose};
use model::series::{Column, ProbeSamples, RunSamples, StreamSamples};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{ByteArray, DataType};
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader as _, RowGroupReader, SerializedFileReader};

use super::columns::{self, RunRows, SampleColumn, WordColumn};

/// Why a segment cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum SegmentError {
    /// It is no Parquet file, or a damaged one.
    #[error(transparent)]
    Parquet(#[from] ParquetError),
    /// Its footer does not say which rows are of which run.
    #[error("its footer has no `{key}` that can be read", key = columns::RUNS_KEY)]
    Footer,
    /// A column is not there, or ends early.
    #[error("column `{0}` is missing, of another type or too short")]
    Column(&'static str),
}

/// The samples of the run of a record; [`None`] where the segment has none of it.
///
/// # Errors
/// Where the segment cannot be read.
pub fn samples(segment: Bytes, record: u64) -> Result<Option<RunSamples>, SegmentError> {
    let file = SerializedFileReader::new(segment)?;
    let pairs = file.metadata().file_metadata().key_value_metadata();
    let index = pairs.and_then(|pairs| pairs.iter().find(|pair| pair.key == columns::RUNS_KEY));
    let index = index.and_then(|pair| pair.value.as_deref()).ok_or(SegmentError::Footer)?;
    let index: Vec<RunRows> = serde_json::from_str(index).map_err(|_| SegmentError::Footer)?;
    let Some(rows) = index.into_iter().find(|run| run.record == record) else { return Ok(None) };
    if rows.rows == 0 {
        return Ok(Some(RunSamples::default()));
    }
    if rows.group >= file.num_row_groups() {
        return Err(SegmentError::Footer);
    }
    let group = file.get_row_group(rows.group)?;
    GroupRows { group: &*group, rows }.samples().map(Some)
}

/// Rows of one run.
struct GroupRows<'a> {
    group: &'a dyn RowGroupReader,
    rows: RunRows,
}

/// What rows of one block have in common.
#[derive(Debug, Clone, PartialEq)]
struct BlockName {
    stream: Option<i64>,
    words: [ByteArray; WordColumn::ALL.len()],
}

impl GroupRows<'_> {
    fn samples(&self) -> Result<RunSamples, SegmentError> {
        let words = WordColumn::ALL.map(|word| self.words(SampleColumn::Word(word)));
        let words = words.into_iter().collect::<Result<Vec<_>, _>>()?;
        let streams = self.numbers(SampleColumn::Stream)?;
        let times = self.numbers(SampleColumn::AtUs)?;
        let names: Vec<BlockName> = (0..self.rows.rows)
            .map(|row| BlockName { stream: streams[row], words: std::array::from_fn(|word| words[word][row].clone()) })
            .collect();
        let mut samples = RunSamples::default();
        let mut blocks = Vec::new();
        let mut first = 0;
        for block in names.chunk_by(|one, next| one == next) {
            let range = first..first + block.len();
            first = range.end;
            let at_us: Vec<i64> = times[range.clone()].iter().flatten().copied().collect();
            match block[0].stream() {
                Some(named) => {
                    blocks.push(range);
                    samples.streams.push(StreamSamples { at_us, ..named });
                }
                None => samples.probes = self.probes(at_us, range)?,
            }
        }
        for column in SampleColumn::all() {
            let (SampleColumn::Count(field) | SampleColumn::Rate(field)) = column else { continue };
            let values = self.numbers(column)?;
            for (stream, range) in samples.streams.iter_mut().zip(&blocks) {
                let own: Option<Vec<u64>> =
                    values[range.clone()].iter().map(|value| value.map(i64::cast_unsigned)).collect();
                stream.columns.extend(own.map(|values| Column { field, values }));
            }
        }
        Ok(samples)
    }

    fn probes(&self, sent_us: Vec<i64>, range: std::ops::Range<usize>) -> Result<ProbeSamples, SegmentError> {
        let rtt = self.numbers(SampleColumn::ProbeRtt)?;
        let there = self.numbers(SampleColumn::ProbeOneWay)?;
        Ok(ProbeSamples {
            sent_us,
            rtt_us: rtt[range.clone()].iter().map(|rtt| rtt.and_then(|rtt| u32::try_from(rtt).ok())).collect(),
            there_us: there[range].iter().map(|there| there.and_then(|there| i32::try_from(there).ok())).collect(),
        })
    }

    /// Integers of the run's rows; rates as the integers that they are.
    fn numbers(&self, column: SampleColumn) -> Result<Vec<Option<i64>>, SegmentError> {
        match self.reader(column)? {
            ColumnReader::Int64ColumnReader(reader) => self.cells(column, reader),
            ColumnReader::DoubleColumnReader(reader) => {
                #[expect(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "they were integers, and the cast saturates"
                )]
                let whole = |rate: f64| (rate as u64).cast_signed();
                Ok(self.cells(column, reader)?.into_iter().map(|cell| cell.map(whole)).collect())
            }
            _ => Err(SegmentError::Column(column.name())),
        }
    }

    fn words(&self, column: SampleColumn) -> Result<Vec<ByteArray>, SegmentError> {
        let ColumnReader::ByteArrayColumnReader(reader) = self.reader(column)? else {
            return Err(SegmentError::Column(column.name()));
        };
        let words: Option<Vec<ByteArray>> = self.cells(column, reader)?.into_iter().collect();
        words.ok_or(SegmentError::Column(column.name()))
    }

    fn reader(&self, column: SampleColumn) -> Result<ColumnReader, SegmentError> {
        let schema = self.group.metadata().schema_descr();
        let place = schema.columns().iter().position(|own| own.name() == column.name());
        Ok(self.group.get_column_reader(place.ok_or(SegmentError::Column(column.name()))?)?)
    }

    fn cells<T: DataType>(
        &self,
        column: SampleColumn,
        mut reader: ColumnReaderImpl<T>,
    ) -> Result<Vec<Option<T::T>>, SegmentError> {
        let RunRows { first, rows, .. } = self.rows;
        reader.skip_records(first)?;
        let (mut values, mut levels, mut read) = (Vec::new(), Vec::new(), 0);
        while read < rows {
            let (records, ..) = reader.read_records(rows - read, Some(&mut levels), None, &mut values)?;
            if records == 0 {
                return Err(SegmentError::Column(column.name()));
            }
            read += records;
        }
        // A column that is always there has no levels.
        if levels.is_empty() {
            levels.resize(rows, 1);
        }
        let mut values = values.into_iter();
        Ok(levels.into_iter().map(|level| if level == 0 { None } else { values.next() }).collect())
    }
}

impl BlockName {
    /// The stream that its words describe; [`None`] for probes.
    fn stream(&self) -> Option<StreamSamples> {
        let word = |column: WordColumn| self.words[column as usize].as_utf8().unwrap_or_default();
        if word(WordColumn::Kind) != columns::STREAM {
            return None;
        }
        let is_outbound = word(WordColumn::Agent) == word(WordColumn::FromHost);
        let is_local = word(WordColumn::Agent) == word(WordColumn::Host);
        Some(StreamSamples {
            stream: self.stream.and_then(|number| u32::try_from(number).ok()).unwrap_or_default(),
            heading: if is_outbound { Heading::Outbound } else { Heading::Inbound },
            end: if word(WordColumn::Side) == columns::SENDER { End::Sender } else { End::Receiver },
            whose: if is_local { Whose::Local } else { Whose::Peer },
            at_us: Vec::new(),
            columns: Vec::new(),
        })
    }
}

#[cfg(test)]
mod tests {
    use model::series::field::Field;
    use units::WallTime;

    use super::super::encode::{SampledRun, SegmentWriter};
    use super::*;
    use crate::watching::PairTest;

    fn stream(number: u32, whose: Whose, rows: u64) -> StreamSamples {
        let end = if whose == Whose::Local { End::Sender } else { End::Receiver };
        let values = |factor: u64| (0..rows).map(|row| row * factor).collect();
        let all_ones = Column { field: Field::MaxPacingRate, values: vec![u64::MAX; usize::try_from(rows).unwrap()] };
        StreamSamples {
            stream: number,
            heading: Heading::Outbound,
            end,
            whose,
            at_us: (0..i64::try_from(rows).unwrap()).map(|row| row * 1_000).collect(),
            columns: vec![
                Column { field: Field::AppBytes, values: values(1_448_000) },
                Column { field: Field::PacingRate, values: values(1_230_000_000) },
                all_ones,
            ],
        }
    }

    fn run(record: u64, agent: &str, rows: u64) -> SampledRun {
        let mut streams = vec![stream(1, Whose::Local, rows), stream(1, Whose::Peer, rows / 2)];
        streams.retain(|stream| !stream.at_us.is_empty());
        streams.iter_mut().for_each(|stream| {
            stream.columns.sort_by_key(|column| Field::ALL.iter().position(|field| *field == column.field));
        });
        let [test, group, from, to] = ["tcp", "all", "a", "b"].map(str::to_owned);
        SampledRun {
            record,
            run: format!("tcp@all/a/b/{record}"),
            pair: PairTest { test, group, from, to },
            agent: agent.to_owned(),
            started: WallTime::from_unix_nanos(1_798_000_000_000_000_000),
            samples: RunSamples {
                streams,
                probes: ProbeSamples {
                    sent_us: vec![-5, 10, 20],
                    rtt_us: vec![Some(40), None, Some(41)],
                    there_us: vec![Some(-3), None, None],
                },
            },
        }
    }

    #[test]
    fn samples_of_each_run_come_out_as_they_went_in_also_of_other_row_groups_and_none_of_a_strange_run() {
        let mut writer = SegmentWriter::new().unwrap();
        let runs = [run(7, "a", 200), run(8, "b", 40_000), run(11, "a", 0), run(12, "b", 3)];
        let expected: Vec<RunSamples> = runs.iter().map(|run| run.samples.clone()).collect();
        let records: Vec<u64> = runs.iter().map(|run| run.record).collect();
        runs.into_iter().for_each(|run| writer.add(run).unwrap());
        let file = Bytes::from(writer.finish().unwrap());
        for (record, expected) in records.into_iter().zip(expected) {
            let found = samples(file.clone(), record).unwrap().unwrap();
            assert!(found == expected, "{record}: {} streams", found.streams.len());
        }
        assert_eq!(samples(file, 9).unwrap(), None);
    }

    #[test]
    fn same_runs_give_the_same_bytes_and_damaged_ones_are_refused() {
        let file = || {
            let mut writer = SegmentWriter::new().unwrap();
            writer.add(run(7, "a", 200)).unwrap();
            writer.finish().unwrap()
        };
        assert_eq!(file(), file());
        let mut bytes = file();
        bytes.truncate(bytes.len() / 2);
        assert!(samples(Bytes::from(bytes), 7).is_err());
        assert!(samples(Bytes::from_static(b"PAR1"), 7).is_err());
    }
}
