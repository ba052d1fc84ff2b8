//! All rows as one Parquet file, and back: a column for each parameter and each measure, and in the footer the experiment.

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

use crate::description::{Sweep, SweepError};
use crate::parameter::{ALL, Parameter};
use crate::row::{Measure, Row};
use crate::share::Share;
use crate::value::{QuantityKind, Value};

/// The rows of an experiment, or of a share of it, with what tells where they are from.
#[derive(Debug, Clone)]
pub struct Table {
    /// Experiment as its file described it when the rows were simulated.
    pub sweep: Sweep,
    /// Which of its transfers the rows are of.
    pub share: Share,
    /// The program that simulated them.
    pub program: String,
    /// The rows, by the number of their transfer.
    pub rows: Vec<Row>,
}

/// Why a table cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum TableError {
    /// It is no Parquet file, or cannot be read or written.
    #[error(transparent)]
    Parquet(#[from] ParquetError),
    /// It is a Parquet file, but not one of an experiment.
    #[error("its footer has no `{0}`, so it is not the result of a sweep")]
    Footer(&'static str),
    /// It has no such column.
    #[error("it has no column `{0}`, or one of another type")]
    Column(String),
    /// It was written by a program whose results have another form.
    #[error("it has format {0}, and this program reads format {FORMAT}")]
    Format(String),
    /// The experiment in its footer is none.
    #[error("the experiment in its footer cannot be read: {0}")]
    Sweep(#[from] SweepError),
    /// Rows and experiment do not fit together.
    #[error("{0}")]
    Rows(String),
}

/// The version of the columns.
const FORMAT: &str = "1";
/// What the footer has.
const KEYS: [&str; 5] = ["linerate.format", "linerate.sweep", "linerate.digest", "linerate.shard", "linerate.program"];
/// Rows that are in memory at once where a table is read by others.
const GROUP: usize = 65_536;

impl Table {
    /// Whether it has every transfer of its share.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        let expected = (0..self.sweep.experiment.len()).filter(|index| self.share.has(*index)).count();
        self.rows.len() == expected
    }

    /// Writes it.
    ///
    /// # Errors
    /// Those of the place where it goes.
    pub fn write(&self, to: impl Write + Send) -> Result<(), TableError> {
        let columns = columns();
        let fields: String =
            columns.iter().map(|column| format!("{} {};\n", column.form.field(), column.name)).collect();
        let schema = Arc::new(parse_message_type(&format!("message sweep {{ {} }}", named(&fields)))?);
        let footer =
            [FORMAT, &self.sweep.text, &self.sweep.experiment.digest(), &self.share.to_string(), &self.program];
        let pairs = KEYS.iter().zip(footer).map(|(key, value)| KeyValue::new((*key).to_owned(), value.to_owned()));
        let properties = WriterProperties::builder()
            .set_compression(Compression::UNCOMPRESSED)
            .set_created_by(self.program.clone())
            .set_key_value_metadata(Some(pairs.collect()))
            .build();
        let mut file = SerializedFileWriter::new(to, schema, Arc::new(properties))?;
        for rows in self.rows.chunks(GROUP) {
            self.write_group(&mut file, &columns, rows)?;
        }
        file.close()?;
        Ok(())
    }

    fn write_group<W: Write + Send>(
        &self,
        file: &mut SerializedFileWriter<W>,
        columns: &[Column],
        rows: &[Row],
    ) -> Result<(), TableError> {
        let mut group = file.next_row_group()?;
        for column in columns {
            let cells: Vec<Stored> = rows.iter().map(|row| self.stored(column, row)).collect();
            let Some(mut writer) = group.next_column()? else { break };
            let levels: Vec<i16> = cells.iter().map(|cell| i16::from(*cell != Stored::Nothing)).collect();
            let levels = Some(levels.as_slice()).filter(|_| column.form.is_optional);
            match column.form.stored {
                StoredAs::Whole => {
                    let values: Vec<i64> = cells.iter().filter_map(Stored::whole).collect();
                    writer.typed::<Int64Type>().write_batch(&values, levels, None)?;
                }
                StoredAs::Real => {
                    let values: Vec<f64> = cells.iter().filter_map(Stored::real).collect();
                    writer.typed::<DoubleType>().write_batch(&values, levels, None)?;
                }
                StoredAs::Text => {
                    let values: Vec<ByteArray> = cells.iter().filter_map(Stored::text).collect();
                    writer.typed::<ByteArrayType>().write_batch(&values, levels, None)?;
                }
            }
            writer.close()?;
        }
        group.close()?;
        Ok(())
    }

    fn stored(&self, column: &Column, row: &Row) -> Stored {
        let case = self.sweep.experiment.case(row.index);
        let cell = case.as_ref().and_then(|case| self.sweep.experiment.cells.get(case.cell));
        match column.of {
            Of::Index => Stored::Whole(signed(row.index)),
            Of::Repetition => Stored::Whole(case.map_or(0, |case| i64::from(case.repetition))),
            // Two's complement: the seed's 64 bits as they are.
            Of::Seed => Stored::Whole(case.map_or(0, |case| case.seed.0.cast_signed())),
            Of::Variant => cell.and_then(|cell| cell.variant.clone()).map_or(Stored::Nothing, Stored::Text),
            Of::Measure(place) => Stored::Whole(signed(row.numbers[place])),
            Of::Parameter(place) => cell.map_or(Stored::Nothing, |cell| Stored::of(&cell.settings.values()[place])),
        }
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
        let format = footer(KEYS[0])?;
        if format != FORMAT {
            return Err(TableError::Format(format));
        }
        let sweep = Sweep::read(&footer(KEYS[1])?)?;
        if footer(KEYS[2])? != sweep.experiment.digest() {
            return Err(TableError::Rows("the experiment in its footer is not the one its rows are of".to_owned()));
        }
        let share = footer(KEYS[3])?.parse().map_err(|_| TableError::Footer(KEYS[3]))?;
        let mut rows = Vec::new();
        for group in 0..file.num_row_groups() {
            rows.extend(read_group(&*file.get_row_group(group)?)?);
        }
        let table = Self { share, program: footer(KEYS[4])?, rows, sweep };
        table.check()?;
        Ok(table)
    }

    fn check(&self) -> Result<(), TableError> {
        let strange =
            self.rows.iter().find(|row| row.index >= self.sweep.experiment.len() || !self.share.has(row.index));
        if let Some(row) = strange {
            return Err(TableError::Rows(format!("it has transfer {}, which is not of its share", row.index)));
        }
        match self.rows.windows(2).find(|pair| pair[0].index >= pair[1].index) {
            Some(pair) => Err(TableError::Rows(format!("transfer {} is out of order or there twice", pair[1].index))),
            None => Ok(()),
        }
    }
}

/// Column of the file: what it holds of a row, and in which type.
struct Column {
    name: String,
    of: Of,
    form: Form,
}

#[derive(Clone, Copy)]
enum Of {
    Index,
    Repetition,
    Seed,
    Variant,
    Parameter(usize),
    Measure(usize),
}

#[derive(Clone, Copy)]
struct Form {
    stored: StoredAs,
    is_optional: bool,
}

#[derive(Clone, Copy)]
enum StoredAs {
    Whole,
    Real,
    Text,
}

impl Form {
    const fn field(self) -> &'static str {
        match (self.stored, self.is_optional) {
            (StoredAs::Whole, false) => "required int64",
            (StoredAs::Whole, true) => "optional int64",
            (StoredAs::Real, false) => "required double",
            (StoredAs::Real, true) => "optional double",
            (StoredAs::Text, false) => "required binary",
            (StoredAs::Text, true) => "optional binary",
        }
    }
}

/// Texts are marked as such.
fn named(fields: &str) -> String {
    let mark = |line: &str| if line.contains("binary") { line.replace(';', " (UTF8);") } else { line.to_owned() };
    fields.lines().map(mark).collect()
}

/// All columns, in order.
fn columns() -> Vec<Column> {
    let whole = Form { stored: StoredAs::Whole, is_optional: false };
    let own = |name: &str, of, form| Column { name: name.to_owned(), of, form };
    let mut columns = vec![
        own("index", Of::Index, whole),
        own("repetition", Of::Repetition, whole),
        own("seed", Of::Seed, whole),
        own("variant", Of::Variant, Form { stored: StoredAs::Text, is_optional: true }),
    ];
    let parameter = |(place, parameter): (usize, &Parameter)| {
        let stored = match parameter.kind {
            QuantityKind::Time
            | QuantityKind::Bytes
            | QuantityKind::Rate
            | QuantityKind::Count
            | QuantityKind::Flag => StoredAs::Whole,
            QuantityKind::Share => StoredAs::Real,
            QuantityKind::Word => StoredAs::Text,
        };
        let form = Form { stored, is_optional: parameter.may_be_none };
        Column { name: parameter.column(), of: Of::Parameter(place), form }
    };
    columns.extend(ALL.iter().enumerate().map(parameter));
    let measure =
        |(place, measure): (usize, Measure)| Column { name: measure.column(), of: Of::Measure(place), form: whole };
    columns.extend(Measure::ALL.into_iter().enumerate().map(measure));
    columns
}

/// The names of all columns, in order, for documentation and tests.
#[must_use]
pub fn column_names() -> Vec<String> {
    columns().into_iter().map(|column| column.name).collect()
}

/// A value as it is stored.
#[derive(Debug, PartialEq)]
enum Stored {
    Nothing,
    Whole(i64),
    Real(f64),
    Text(String),
}

impl Stored {
    fn of(value: &Value) -> Self {
        match value {
            Value::None => Self::Nothing,
            Value::Time(time) => Self::Whole(i64::try_from(time.as_micros()).unwrap_or(i64::MAX)),
            Value::Bytes(bytes) => Self::Whole(signed(bytes.get())),
            Value::Rate(rate) => Self::Whole(signed(rate.bps())),
            Value::Count(count) => Self::Whole(signed(*count)),
            Value::Flag(flag) => Self::Whole(i64::from(*flag)),
            Value::Share(share) => Self::Real(*share),
            Value::Word(word) => Self::Text(word.clone()),
        }
    }

    fn whole(&self) -> Option<i64> {
        if let Self::Whole(number) = self { Some(*number) } else { None }
    }

    fn real(&self) -> Option<f64> {
        if let Self::Real(number) = self { Some(*number) } else { None }
    }

    fn text(&self) -> Option<ByteArray> {
        if let Self::Text(text) = self { Some(text.as_str().into()) } else { None }
    }
}

fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

fn read_group(group: &dyn RowGroupReader) -> Result<Vec<Row>, TableError> {
    let count = usize::try_from(group.metadata().num_rows()).unwrap_or(0);
    let column = |name: &str| -> Result<Vec<u64>, TableError> {
        let schema = group.metadata().schema_descr();
        let lacking = || TableError::Column(name.to_owned());
        let place = schema.columns().iter().position(|column| column.name() == name).ok_or_else(lacking)?;
        let ColumnReader::Int64ColumnReader(mut reader) = group.get_column_reader(place)? else {
            return Err(lacking());
        };
        let mut numbers = Vec::new();
        while numbers.len() < count {
            let (records, ..) = reader.read_records(count - numbers.len(), None, None, &mut numbers)?;
            if records == 0 {
                return Err(TableError::Rows(format!("column `{name}` ends early")));
            }
        }
        Ok(numbers.into_iter().map(|number| u64::try_from(number).unwrap_or(0)).collect())
    };
    let indexes = column("index")?;
    let measures = Measure::ALL.iter().map(|measure| column(&measure.column())).collect::<Result<Vec<_>, _>>()?;
    let row =
        |(place, index): (usize, &u64)| Row { index: *index, numbers: std::array::from_fn(|of| measures[of][place]) };
    Ok(indexes.iter().enumerate().map(row).collect())
}
