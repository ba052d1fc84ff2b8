//! All rows as one Parquet file, and back.

use std::io::Write;
use std::sync::Arc;

use parquet::basic::Compression;
use parquet::column::reader::ColumnReader;
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::reader::{ChunkReader, FileReader, RowGroupReader, SerializedFileReader};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use sweep::Share;

use super::description::{Experiment, ExperimentError};
use super::row::{MEASURES, Row};

/// The rows of an experiment, or of a share of it.
#[derive(Debug, Clone)]
pub struct Table {
    /// What was run.
    pub experiment: Experiment,
    /// Which of its runs the rows are of.
    pub share: Share,
    /// The program that ran them, with its version.
    pub program: String,
    /// The rows, by their number.
    pub rows: Vec<Row>,
}

/// Why a result cannot be read, written or put together.
#[derive(Debug, thiserror::Error)]
pub enum TableError {
    /// It is no Parquet file, or cannot be written.
    #[error(transparent)]
    Parquet(#[from] ParquetError),
    /// It is the result of something else.
    #[error("its footer has no `{0}`, so it is not the result of `simulate gateways`")]
    Footer(&'static str),
    /// It lacks a column, or has another type there.
    #[error("it has no column `{0}` of the type that results have")]
    Column(&'static str),
    /// The experiment in the footer is none.
    #[error("the experiment in its footer cannot be read: {0}")]
    Experiment(#[from] ExperimentError),
    /// Rows and experiment do not fit together.
    #[error("{0}")]
    Rows(String),
}

const KEYS: [&str; 4] = ["linerate.gateways", "linerate.digest", "linerate.shard", "linerate.program"];

impl Table {
    /// Whether it has every run of its share.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        let expected = (0..self.experiment.len()).filter(|index| self.share.has(*index)).count();
        self.rows.len() == expected
    }

    /// Writes it.
    ///
    /// # Errors
    /// Those of the place where it goes.
    pub fn write(&self, to: impl Write + Send) -> Result<(), TableError> {
        let numbers: String = MEASURES.iter().map(|measure| format!("required double {};\n", measure.name)).collect();
        let fields = "required int64 index;\nrequired int64 repetition;\nrequired binary policy (UTF8);\n\
                      required binary settings (UTF8);\n";
        let schema = Arc::new(parse_message_type(&format!("message gateways {{ {fields}{numbers} }}"))?);
        let experiment = &self.experiment;
        let footer = [&experiment.text, &experiment.digest(), &self.share.to_string(), &self.program];
        let pairs = KEYS.iter().zip(footer).map(|(key, value)| KeyValue::new((*key).to_owned(), value.clone()));
        let properties = WriterProperties::builder()
            .set_compression(Compression::UNCOMPRESSED)
            .set_created_by(self.program.clone())
            .set_key_value_metadata(Some(pairs.collect()))
            .build();
        let mut file = SerializedFileWriter::new(to, schema, Arc::new(properties))?;
        let mut group = file.next_row_group()?;
        let cases = || self.rows.iter().filter_map(|row| experiment.case(row.index));
        let whole = [
            self.rows.iter().map(|row| row.index.cast_signed()).collect::<Vec<i64>>(),
            cases().map(|(_, repetition)| i64::from(repetition)).collect(),
        ];
        for values in &whole {
            let Some(mut column) = group.next_column()? else { break };
            column.typed::<Int64Type>().write_batch(values, None, None)?;
            column.close()?;
        }
        let texts: [Vec<ByteArray>; 2] = [
            cases().map(|(cell, _)| ByteArray::from(cell.policy)).collect(),
            cases().map(|(cell, _)| ByteArray::from(cell.label().as_str())).collect(),
        ];
        for values in &texts {
            let Some(mut column) = group.next_column()? else { break };
            column.typed::<ByteArrayType>().write_batch(values, None, None)?;
            column.close()?;
        }
        for at in 0..MEASURES.len() {
            let values: Vec<f64> = self.rows.iter().map(|row| row.numbers[at]).collect();
            let Some(mut column) = group.next_column()? else { break };
            column.typed::<DoubleType>().write_batch(&values, None, None)?;
            column.close()?;
        }
        group.close()?;
        file.close()?;
        Ok(())
    }

    /// Reads one.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn read<R: ChunkReader + 'static>(from: R) -> Result<Self, TableError> {
        let file = SerializedFileReader::new(from)?;
        let pairs = file.metadata().file_metadata().key_value_metadata();
        let footer = |key: &'static str| {
            let pair = pairs.and_then(|pairs| pairs.iter().find(|pair| pair.key == key));
            pair.and_then(|pair| pair.value.clone()).ok_or(TableError::Footer(key))
        };
        let experiment = Experiment::read(&footer(KEYS[0])?)?;
        if footer(KEYS[1])? != experiment.digest() {
            return Err(TableError::Rows(
                "the experiment in its footer is not the one that its rows are of".to_owned(),
            ));
        }
        let share: Share = footer(KEYS[2])?.parse().map_err(|_| TableError::Footer(KEYS[2]))?;
        let mut rows: Vec<Row> = Vec::new();
        for group in 0..file.num_row_groups() {
            rows.extend(read_group(&*file.get_row_group(group)?)?);
        }
        let is_strange = |row: &Row| row.index >= experiment.len() || !share.has(row.index);
        if rows.iter().any(is_strange) || rows.windows(2).any(|pair| pair[0].index >= pair[1].index) {
            return Err(TableError::Rows(
                "it has runs that are not of its share, out of order, or there twice".to_owned(),
            ));
        }
        Ok(Self { share, program: footer(KEYS[3])?, rows, experiment })
    }

    /// One table of all shares.
    ///
    /// # Errors
    /// Parts that are missing, there twice, incomplete, or of another experiment or program.
    pub fn merge(parts: Vec<Self>) -> Result<Self, TableError> {
        let wrong = |why: String| Err(TableError::Rows(why));
        let Some(first) = parts.first() else { return wrong("no part was given".to_owned()) };
        let (experiment, program, of) = (first.experiment.clone(), first.program.clone(), first.share.of());
        for part in &parts {
            if part.experiment.digest() != experiment.digest() || part.program != program || part.share.of() != of {
                return wrong(format!("share {} is of another experiment, program or number of shares", part.share));
            }
            if !part.is_whole() {
                return wrong(format!("share {} lacks some of its runs", part.share));
            }
        }
        let has = |number: &u32| parts.iter().filter(|part| part.share.number() == *number).count();
        if let Some(number) = (1..=of).find(|number| has(number) != 1) {
            return wrong(format!("share {number}/{of} is there {} times", has(&number)));
        }
        let mut rows: Vec<Row> = parts.into_iter().flat_map(|part| part.rows).collect();
        rows.sort_unstable_by_key(|row| row.index);
        Ok(Self { experiment, share: Share::WHOLE, program, rows })
    }
}

fn read_group(group: &dyn RowGroupReader) -> Result<Vec<Row>, TableError> {
    let count = usize::try_from(group.metadata().num_rows()).unwrap_or(0);
    let reader = |name: &'static str| {
        let schema = group.metadata().schema_descr();
        let place = schema.columns().iter().position(|column| column.name() == name);
        place.ok_or(TableError::Column(name)).and_then(|place| Ok(group.get_column_reader(place)?))
    };
    let ColumnReader::Int64ColumnReader(mut indexes) = reader("index")? else {
        return Err(TableError::Column("index"));
    };
    let mut index = Vec::new();
    while index.len() < count && indexes.read_records(count - index.len(), None, None, &mut index)?.0 > 0 {}
    let mut columns = Vec::new();
    for measure in &MEASURES {
        let ColumnReader::DoubleColumnReader(mut numbers) = reader(measure.name)? else {
            return Err(TableError::Column(measure.name));
        };
        let mut values = Vec::new();
        while values.len() < count && numbers.read_records(count - values.len(), None, None, &mut values)?.0 > 0 {}
        if values.len() != index.len() {
            return Err(TableError::Rows(format!("column `{}` ends early", measure.name)));
        }
        columns.push(values);
    }
    let row = |(at, index): (usize, &i64)| Row {
        index: index.cast_unsigned(),
        numbers: std::array::from_fn(|measure| columns[measure][at]),
    };
    Ok(index.iter().enumerate().map(row).collect())
}
