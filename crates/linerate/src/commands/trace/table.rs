//! `linerate trace FILE --parquet FLOWS.parquet`: a row for each transfer, and one for each event in a file beside it.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context;
use capture::Owner;
use capture::report::{ConnectionReport, EventReport, TraceDocument, TransferReport};
use parquet::basic::Compression;
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;

use super::super::{file, plot};
use crate::exit::{Complaint, Exit};

/// Finds out whether both tables can be written, before anybody waits for them.
pub fn check(path: &Path) -> anyhow::Result<()> {
    plot::check(path).and_then(|()| plot::check(&events_beside(path)))
}

/// Writes both tables.
pub fn write(path: &Path, documents: &[TraceDocument]) -> anyhow::Result<()> {
    let transfers: Vec<Transfer> = documents.iter().flat_map(transfers).collect();
    put(path, &transfer_columns(), &transfers)?;
    let events: Vec<Event> =
        transfers.iter().flat_map(|of| of.transfer.events.iter().map(|event| Event { of, event })).collect();
    put(&events_beside(path), &event_columns(), &events)
}

/// `slow.parquet` has its events in `slow-events.parquet`.
fn events_beside(path: &Path) -> PathBuf {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!("{stem}-events.parquet"))
}

struct Transfer<'a> {
    file: &'a str,
    connection: &'a ConnectionReport,
    transfer: &'a TransferReport,
}

struct Event<'a> {
    of: &'a Transfer<'a>,
    event: &'a EventReport,
}

fn transfers(document: &TraceDocument) -> impl Iterator<Item = Transfer<'_>> {
    let file = document.file.as_str();
    let of = move |connection| move |transfer| Transfer { file, connection, transfer };
    document.report.connections.iter().flat_map(move |connection| connection.transfers.iter().map(of(connection)))
}

/// A column of a table of `R`.
struct Column<R> {
    name: String,
    value: Box<dyn Fn(&R) -> Cell>,
    form: Form,
}

/// What all cells of a column are.
#[derive(Clone, Copy)]
enum Form {
    Whole,
    Real,
    Text,
}

/// A value, or none.
enum Cell {
    Nothing,
    Whole(i64),
    Real(f64),
    Text(String),
}

fn whole<R>(name: &str, value: impl Fn(&R) -> Option<u64> + 'static) -> Column<R> {
    let cell =
        move |row: &R| value(row).map_or(Cell::Nothing, |all| Cell::Whole(i64::try_from(all).unwrap_or(i64::MAX)));
    Column { name: name.to_owned(), value: Box::new(cell), form: Form::Whole }
}

fn signed<R>(name: &str, value: impl Fn(&R) -> Option<i64> + 'static) -> Column<R> {
    let cell = move |row: &R| value(row).map_or(Cell::Nothing, Cell::Whole);
    Column { name: name.to_owned(), value: Box::new(cell), form: Form::Whole }
}

fn real<R>(name: &str, value: impl Fn(&R) -> Option<f64> + 'static) -> Column<R> {
    let cell = move |row: &R| value(row).map_or(Cell::Nothing, Cell::Real);
    Column { name: name.to_owned(), value: Box::new(cell), form: Form::Real }
}

fn text<R>(name: &str, value: impl Fn(&R) -> Option<String> + 'static) -> Column<R> {
    let cell = move |row: &R| value(row).map_or(Cell::Nothing, Cell::Text);
    Column { name: name.to_owned(), value: Box::new(cell), form: Form::Text }
}

/// A name as JSON has it.
fn word(value: impl serde::Serialize) -> Option<String> {
    serde_json::to_value(value).ok()?.as_str().map(str::to_owned)
}

fn transfer_columns<'a>() -> Vec<Column<Transfer<'a>>> {
    let mut columns: Vec<Column<Transfer>> = vec![
        text("file", |row: &Transfer| Some(row.file.to_owned())),
        text("from_address", |row: &Transfer| Some(row.transfer.from.ip().to_string())),
        whole("from_port", |row: &Transfer| Some(row.transfer.from.port().into())),
        text("to_address", |row: &Transfer| Some(row.transfer.to.ip().to_string())),
        whole("to_port", |row: &Transfer| Some(row.transfer.to.port().into())),
        whole("outer", |row: &Transfer| Some(row.connection.outer.into())),
        text("tags", |row: &Transfer| row.connection.tags.clone()),
        text("captured_at", |row: &Transfer| word(row.transfer.captured_at)),
        signed("first_ns", |row: &Transfer| Some(row.transfer.first_ns)),
        signed("duration_ns", |row: &Transfer| Some(row.transfer.duration_ns)),
        whole("first_frame", |row: &Transfer| Some(row.connection.first_frame)),
        whole("delivered_bytes", |row: &Transfer| Some(row.transfer.delivered_bytes)),
        whole("goodput_bps", |row: &Transfer| row.transfer.goodput_bps()),
        whole("cost_bytes", |row: &Transfer| Some(row.transfer.cost_bytes())),
        text("cause", |row: &Transfer| row.transfer.verdicts.first().and_then(|first| word(first.cause))),
        real("cause_share", |row: &Transfer| row.transfer.verdicts.first()?.time_share),
        real("cause_confidence", |row: &Transfer| Some(row.transfer.verdicts.first()?.confidence)),
        signed("rtt_min_ns", |row: &Transfer| Some(row.transfer.rtt?.min_ns)),
        signed("rtt_median_ns", |row: &Transfer| Some(row.transfer.rtt?.median_ns)),
        signed("rtt_p95_ns", |row: &Transfer| Some(row.transfer.rtt?.p95_ns)),
        signed("rtt_max_ns", |row: &Transfer| Some(row.transfer.rtt?.max_ns)),
        whole("window_min_bytes", |row: &Transfer| Some(row.transfer.window.min_bytes)),
        whole("window_max_bytes", |row: &Transfer| Some(row.transfer.window.max_bytes)),
        whole("window_scale", |row: &Transfer| row.transfer.window.scale.map(u64::from)),
        whole("outstanding_mean_bytes", |row: &Transfer| Some(row.transfer.outstanding_mean_bytes)),
        whole("outstanding_max_bytes", |row: &Transfer| Some(row.transfer.outstanding_max_bytes)),
        whole("flight_max_bytes", |row: &Transfer| Some(row.transfer.flight_max_bytes)),
    ];
    columns.extend(count_columns());
    columns.extend(Owner::ALL.into_iter().map(|owner| {
        let name = format!("{}_ns", word(owner).unwrap_or_default().replace('-', "_"));
        signed(&name, move |row: &Transfer| {
            Some(row.transfer.budget.iter().filter(|share| share.owner == owner).map(|share| share.time_ns).sum())
        })
    }));
    columns
}

/// Each count by its name in JSON, so that no table lacks one that is new.
fn count_columns<'a>() -> Vec<Column<Transfer<'a>>> {
    let none = serde_json::to_value(capture::report::TransferCounts::default()).unwrap_or_default();
    let names: Vec<String> = none.as_object().into_iter().flatten().map(|(name, _)| name.clone()).collect();
    let column = |name: String| {
        let key = name.clone();
        whole(&name, move |row: &Transfer| serde_json::to_value(row.transfer.counts).ok()?.get(&key)?.as_u64())
    };
    names.into_iter().map(column).collect()
}

fn event_columns<'a>() -> Vec<Column<Event<'a>>> {
    vec![
        text("file", |row: &Event| Some(row.of.file.to_owned())),
        text("from_address", |row: &Event| Some(row.of.transfer.from.ip().to_string())),
        whole("from_port", |row: &Event| Some(row.of.transfer.from.port().into())),
        text("to_address", |row: &Event| Some(row.of.transfer.to.ip().to_string())),
        whole("to_port", |row: &Event| Some(row.of.transfer.to.port().into())),
        signed("transfer_first_ns", |row: &Event| Some(row.of.transfer.first_ns)),
        whole("number", |row: &Event| Some(row.event.number as u64)),
        text("event", |row: &Event| word(row.event.event)),
        signed("from_ns", |row: &Event| Some(row.event.from_ns)),
        signed("to_ns", |row: &Event| Some(row.event.to_ns)),
        whole("first_frame", |row: &Event| Some(row.event.first_frame)),
        whole("last_frame", |row: &Event| Some(row.event.last_frame)),
        whole("retransmits", |row: &Event| Some(row.event.retransmits)),
        whole("spurious", |row: &Event| Some(row.event.spurious)),
        whole("flight_bytes", |row: &Event| Some(row.event.flight_bytes)),
        whole("cost_bytes", |row: &Event| Some(row.event.cost_bytes)),
        signed("cost_ns", |row: &Event| Some(row.event.cost_ns)),
    ]
}

/// Rows that are in memory at once where a table is read by others.
const GROUP: usize = 65_536;

fn put<R>(path: &Path, columns: &[Column<R>], rows: &[R]) -> anyhow::Result<()> {
    let mut bytes = Vec::new();
    encode(&mut bytes, columns, rows)
        .with_context(|| Complaint::new(Exit::Local, format!("{} cannot be put into a table", path.display())))?;
    file::write(path, &bytes)
}

fn encode<R>(to: impl Write + Send, columns: &[Column<R>], rows: &[R]) -> anyhow::Result<()> {
    let field = |column: &Column<R>| match column.form {
        Form::Whole => format!("optional int64 {};", column.name),
        Form::Real => format!("optional double {};", column.name),
        Form::Text => format!("optional binary {} (UTF8);", column.name),
    };
    let fields: String = columns.iter().map(field).collect();
    let schema = Arc::new(parse_message_type(&format!("message trace {{ {fields} }}"))?);
    let program = format!("linerate {}", env!("CARGO_PKG_VERSION"));
    let format = KeyValue::new("linerate.format".to_owned(), "1".to_owned());
    let properties = WriterProperties::builder()
        .set_compression(Compression::UNCOMPRESSED)
        .set_created_by(program)
        .set_key_value_metadata(Some(vec![format]))
        .build();
    let mut file = SerializedFileWriter::new(to, schema, Arc::new(properties))?;
    for rows in rows.chunks(GROUP) {
        let mut group = file.next_row_group()?;
        for column in columns {
            let Some(mut writer) = group.next_column()? else { break };
            let cells: Vec<Cell> = rows.iter().map(|row| (column.value)(row)).collect();
            let levels: Vec<i16> = cells.iter().map(|cell| i16::from(!matches!(cell, Cell::Nothing))).collect();
            match column.form {
                Form::Whole => writer.typed::<Int64Type>().write_batch(&wholes(&cells), Some(&levels), None)?,
                Form::Real => writer.typed::<DoubleType>().write_batch(&reals(&cells), Some(&levels), None)?,
                Form::Text => writer.typed::<ByteArrayType>().write_batch(&texts(&cells), Some(&levels), None)?,
            };
            writer.close()?;
        }
        group.close()?;
    }
    file.close()?;
    Ok(())
}

fn wholes(cells: &[Cell]) -> Vec<i64> {
    cells.iter().filter_map(|cell| if let Cell::Whole(value) = cell { Some(*value) } else { None }).collect()
}

fn reals(cells: &[Cell]) -> Vec<f64> {
    cells.iter().filter_map(|cell| if let Cell::Real(value) = cell { Some(*value) } else { None }).collect()
}

fn texts(cells: &[Cell]) -> Vec<ByteArray> {
    cells
        .iter()
        .filter_map(|cell| if let Cell::Text(value) = cell { Some(value.as_str().into()) } else { None })
        .collect()
}
