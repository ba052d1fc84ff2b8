//! A row for each sample: its columns. `docs/segments.md` describes them for readers.

use std::sync::Arc;

use model::series::field::Field;
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{WriterProperties, WriterPropertiesBuilder};
use parquet::schema::parser::parse_message_type;
use parquet::schema::types::{ColumnPath, Type, TypePtr};
use serde::{Deserialize, Serialize};

/// Whose rows a run has, in the footer of its segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct RunRows {
    /// Key of the record in the hub's database.
    pub(super) record: u64,
    /// Row group that has all of them.
    pub(super) group: usize,
    /// The first of them there.
    pub(super) first: usize,
    pub(super) rows: usize,
}

/// Column of the rows, by what its values are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SampleColumn {
    Word(WordColumn),
    /// Number of the stream; none for a probe.
    Stream,
    /// When, in microseconds since 1970.
    At,
    /// When, from the start of the test.
    AtUs,
    Count(Field),
    /// A rate to three significant digits.
    Rate(Field),
    ProbeRtt,
    ProbeOneWay,
}

/// What has few values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WordColumn {
    Run,
    Test,
    Agent,
    FromHost,
    ToHost,
    Host,
    Side,
    Kind,
}

impl WordColumn {
    pub(super) const ALL: [Self; 8] =
        [Self::Run, Self::Test, Self::Agent, Self::FromHost, Self::ToHost, Self::Host, Self::Side, Self::Kind];

    const fn name(self) -> &'static str {
        match self {
            Self::Run => "run",
            Self::Test => "test",
            Self::Agent => "agent",
            Self::FromHost => "from_host",
            Self::ToHost => "to_host",
            Self::Host => "host",
            Self::Side => "side",
            Self::Kind => "kind",
        }
    }
}

impl SampleColumn {
    /// All columns, in their order.
    pub(super) fn all() -> impl Iterator<Item = Self> {
        let words = WordColumn::ALL.into_iter().map(Self::Word);
        let fields = Field::ALL.iter().map(|field| match field {
            Field::PacingRate | Field::MaxPacingRate | Field::DeliveryRate => Self::Rate(*field),
            field => Self::Count(*field),
        });
        words.chain([Self::Stream, Self::At, Self::AtUs]).chain(fields).chain([Self::ProbeRtt, Self::ProbeOneWay])
    }

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Word(word) => word.name(),
            Self::Stream => "stream",
            Self::At => "at",
            Self::AtUs => "at_us",
            Self::Count(field) | Self::Rate(field) => field.name(),
            Self::ProbeRtt => "probe_rtt_us",
            Self::ProbeOneWay => "probe_one_way_us",
        }
    }

    fn declared(self) -> String {
        let name = self.name();
        match self {
            Self::Word(_) => format!("required binary {name} (UTF8);"),
            Self::At => format!("required int64 {name} (TIMESTAMP(MICROS,true));"),
            Self::AtUs => format!("required int64 {name};"),
            Self::Rate(_) => format!("optional double {name};"),
            Self::Stream | Self::Count(_) | Self::ProbeRtt | Self::ProbeOneWay => format!("optional int64 {name};"),
        }
    }

    /// Counters grow in small steps, rates have few digits that change: each has the encoding that packs it best. Words have a dictionary.
    fn encoding(self) -> Option<Encoding> {
        match self {
            Self::Word(_) => None,
            Self::Rate(_) => Some(Encoding::BYTE_STREAM_SPLIT),
            _ => Some(Encoding::DELTA_BINARY_PACKED),
        }
    }
}

/// The columns as Parquet declares them.
pub(super) fn schema() -> Result<TypePtr, ParquetError> {
    let fields: String = SampleColumn::all().map(SampleColumn::declared).collect();
    let parsed: Type = parse_message_type(&format!("message samples {{ {fields} }}"))?;
    Ok(Arc::new(parsed))
}

/// How they are packed.
pub(super) fn properties() -> Result<WriterProperties, ParquetError> {
    let format = KeyValue::new(FORMAT_KEY.to_owned(), FORMAT.to_owned());
    let builder = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(LEVEL)?))
        .set_created_by(format!("linerate {}", env!("CARGO_PKG_VERSION")))
        .set_key_value_metadata(Some(vec![format]));
    let encoded = |builder: WriterPropertiesBuilder, column: SampleColumn| match column.encoding() {
        None => builder,
        Some(encoding) => {
            let path = ColumnPath::from(column.name());
            builder.set_column_encoding(path.clone(), encoding).set_column_dictionary_enabled(path, false)
        }
    };
    Ok(SampleColumn::all().fold(builder, encoded).build())
}

/// Footers of segments have the version of their columns, and which rows are of which run.
const FORMAT_KEY: &str = "linerate.format";
const FORMAT: &str = "1";
pub(super) const RUNS_KEY: &str = "linerate.runs";
/// As the archive compresses samples.
const LEVEL: i32 = 3;

/// Kinds of rows.
pub(super) const STREAM: &str = "stream";
pub(super) const PROBE: &str = "probe";
pub(super) const SENDER: &str = "sender";
pub(super) const RECEIVER: &str = "receiver";
