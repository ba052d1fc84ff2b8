//! Samples of runs as one Parquet file, run by run: what is in memory is a row group and the file so far.

use model::measurement::{End, Heading, Whose};
use model::series::field::Field;
use model::series::{ProbeSamples, RunSamples, StreamSamples};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::writer::SerializedFileWriter;
use units::WallTime;

use super::columns::{self, RunRows, SampleColumn, WordColumn};
use crate::watching::PairTest;

/// A run with its samples.
#[derive(Debug)]
pub(super) struct SampledRun {
    /// Key of its record.
    pub(super) record: u64,
    pub(super) run: String,
    pub(super) pair: PairTest,
    /// The host that stores the run.
    pub(super) agent: String,
    /// When the test started: samples count from then.
    pub(super) started: WallTime,
    pub(super) samples: RunSamples,
}

/// A segment that is being written.
pub(super) struct SegmentWriter {
    file: SerializedFileWriter<Vec<u8>>,
    /// Runs of the row group that is being filled.
    group: Vec<SampledRun>,
    rows: usize,
    index: Vec<RunRows>,
}

impl SegmentWriter {
    pub(super) fn new() -> Result<Self, ParquetError> {
        let properties = columns::properties()?;
        let file = SerializedFileWriter::new(Vec::new(), columns::schema()?, properties.into())?;
        Ok(Self { file, group: Vec::new(), rows: 0, index: Vec::new() })
    }

    /// Adds a run.
    pub(super) fn add(&mut self, run: SampledRun) -> Result<(), ParquetError> {
        let rows = blocks(&run).map(|block| block.rows()).sum();
        self.index.push(RunRows {
            record: run.record,
            group: self.file.flushed_row_groups().len(),
            first: self.rows,
            rows,
        });
        self.rows += rows;
        self.group.push(run);
        if self.rows >= GROUP { self.flush() } else { Ok(()) }
    }

    /// The whole file.
    pub(super) fn finish(mut self) -> Result<Vec<u8>, ParquetError> {
        self.flush()?;
        let index = serde_json::to_string(&self.index).map_err(|error| ParquetError::External(Box::new(error)))?;
        self.file.append_key_value_metadata(KeyValue::new(columns::RUNS_KEY.to_owned(), index));
        self.file.into_inner()
    }

    fn flush(&mut self) -> Result<(), ParquetError> {
        if self.rows == 0 {
            self.group.clear();
            return Ok(());
        }
        let mut group = self.file.next_row_group()?;
        for column in SampleColumn::all() {
            let Some(mut writer) = group.next_column()? else { break };
            let blocks = self.group.iter().flat_map(blocks);
            match column {
                SampleColumn::Word(word) => {
                    let words = blocks.flat_map(|block| std::iter::repeat_n(block.word(word), block.rows()));
                    writer.typed::<ByteArrayType>().write_batch(&words.collect::<Vec<_>>(), None, None)?;
                }
                SampleColumn::At | SampleColumn::AtUs => {
                    let times: Vec<i64> = blocks.flat_map(|block| block.times(column)).collect();
                    writer.typed::<Int64Type>().write_batch(&times, None, None)?;
                }
                SampleColumn::Rate(_) => {
                    let mut cells = Cells::new(self.rows);
                    blocks.for_each(|block| block.numbers(column, &mut cells));
                    #[expect(clippy::cast_precision_loss, reason = "three digits, or the largest number for no limit")]
                    let rates: Vec<f64> = cells.values.iter().map(|value| value.cast_unsigned() as f64).collect();
                    writer.typed::<DoubleType>().write_batch(&rates, Some(&cells.levels), None)?;
                }
                SampleColumn::Stream | SampleColumn::Count(_) | SampleColumn::ProbeRtt | SampleColumn::ProbeOneWay => {
                    let mut cells = Cells::new(self.rows);
                    blocks.for_each(|block| block.numbers(column, &mut cells));
                    writer.typed::<Int64Type>().write_batch(&cells.values, Some(&cells.levels), None)?;
                }
            }
            writer.close()?;
        }
        group.close()?;
        self.group.clear();
        self.rows = 0;
        Ok(())
    }
}

/// Numbers of a column, and which rows have one.
struct Cells {
    values: Vec<i64>,
    levels: Vec<i16>,
}

impl Cells {
    fn new(rows: usize) -> Self {
        Self { values: Vec::new(), levels: Vec::with_capacity(rows) }
    }

    fn add(&mut self, values: impl Iterator<Item = i64>) {
        let before = self.values.len();
        self.values.extend(values);
        self.levels.resize(self.levels.len() + self.values.len() - before, 1);
    }

    fn add_nothing(&mut self, rows: usize) {
        self.levels.resize(self.levels.len() + rows, 0);
    }
}

/// Rows that belong together: samples of a stream at one end, or probes of a run.
#[derive(Clone, Copy)]
struct Block<'a> {
    run: &'a SampledRun,
    content: BlockContent<'a>,
}

#[derive(Clone, Copy)]
enum BlockContent<'a> {
    Stream(&'a StreamSamples),
    Probes(&'a ProbeSamples),
}

fn blocks(run: &SampledRun) -> impl Iterator<Item = Block<'_>> {
    let streams = run.samples.streams.iter().map(BlockContent::Stream);
    streams.chain([BlockContent::Probes(&run.samples.probes)]).map(move |content| Block { run, content })
}

impl<'a> Block<'a> {
    fn sampled(&self) -> &'a [i64] {
        match self.content {
            BlockContent::Stream(stream) => &stream.at_us,
            BlockContent::Probes(probes) => &probes.sent_us,
        }
    }

    fn rows(&self) -> usize {
        self.sampled().len()
    }

    /// Who sends and who receives the payload; of probes, who asks and who answers.
    fn ends(&self) -> [&'a str; 2] {
        let PairTest { from, to, .. } = &self.run.pair;
        let [here, there] = if self.run.agent == *to { [to, from] } else { [from, to] };
        match self.content {
            BlockContent::Stream(StreamSamples { heading: Heading::Inbound, .. }) => [there, here],
            BlockContent::Stream(_) | BlockContent::Probes(_) => [here, there],
        }
    }

    fn word(&self, column: WordColumn) -> ByteArray {
        let [from, to] = self.ends();
        let stream = match self.content {
            BlockContent::Stream(stream) => Some(stream),
            BlockContent::Probes(_) => None,
        };
        let is_peers = stream.is_some_and(|stream| stream.whose == Whose::Peer);
        let is_outbound = stream.is_none_or(|stream| stream.heading == Heading::Outbound);
        let word = match column {
            WordColumn::Run => &self.run.run,
            WordColumn::Test => &self.run.pair.test,
            WordColumn::Agent => &self.run.agent,
            WordColumn::FromHost => from,
            WordColumn::ToHost => to,
            WordColumn::Host if is_outbound != is_peers => from,
            WordColumn::Host => to,
            WordColumn::Side if stream.is_some_and(|stream| stream.end == End::Receiver) => columns::RECEIVER,
            WordColumn::Side => columns::SENDER,
            WordColumn::Kind if stream.is_some() => columns::STREAM,
            WordColumn::Kind => columns::PROBE,
        };
        word.into()
    }

    fn times(&self, column: SampleColumn) -> impl Iterator<Item = i64> + use<'a> {
        let started = i64::try_from(self.run.started.unix_nanos() / 1_000).unwrap_or(i64::MAX);
        let since = if column == SampleColumn::At { started } else { 0 };
        self.sampled().iter().map(move |at| at.saturating_add(since))
    }

    fn numbers(&self, column: SampleColumn, cells: &mut Cells) {
        match (self.content, column) {
            (BlockContent::Stream(stream), SampleColumn::Stream) => {
                cells.add(std::iter::repeat_n(i64::from(stream.stream), self.rows()));
            }
            (BlockContent::Stream(stream), SampleColumn::Count(field) | SampleColumn::Rate(field)) => {
                match column_of(stream, field) {
                    Some(values) => cells.add(values.iter().map(|value| value.cast_signed())),
                    None => cells.add_nothing(self.rows()),
                }
            }
            (BlockContent::Probes(probes), SampleColumn::ProbeRtt) => {
                probes.rtt_us.iter().for_each(|rtt| match rtt {
                    Some(rtt) => cells.add([i64::from(*rtt)].into_iter()),
                    None => cells.add_nothing(1),
                });
            }
            (BlockContent::Probes(probes), SampleColumn::ProbeOneWay) => {
                probes.there_us.iter().for_each(|there| match there {
                    Some(there) => cells.add([i64::from(*there)].into_iter()),
                    None => cells.add_nothing(1),
                });
            }
            _ => cells.add_nothing(self.rows()),
        }
    }
}

/// A column that has a value for each time, as all do that were unpacked.
fn column_of(stream: &StreamSamples, field: Field) -> Option<&[u64]> {
    stream.column(field).filter(|values| values.len() == stream.at_us.len())
}

/// Rows of a group: large enough to pack well, small enough to be in memory unpacked.
const GROUP: usize = 32_768;
