//! Results of sweeps: read, written and shown.

use std::fs::File;
use std::path::Path;

use anyhow::Context;
use sweep::parameter::Parameter;
use sweep::selection::Rows;
use sweep::summary::Variants;
use sweep::table::Table;
use sweep::{Report, Sweep};

use super::super::{file, print};
use super::sweep::load;
use crate::cli::Common;
use crate::cli::sweep::{ReadingArgs, ShowArgs};
use crate::exit::{Complaint, Exit};
use crate::show;

/// What a result's lines are told apart by.
pub struct By {
    parameters: Vec<&'static Parameter>,
    variants: Variants,
}

pub fn run(common: &Common, args: &ShowArgs) -> anyhow::Result<Exit> {
    let mut table = read(&args.result).with_context(|| unreadable(&args.result))?;
    if let Some(with) = &args.with {
        let sweep = load(with)?;
        if sweep.experiment.digest() != table.sweep.experiment.digest() {
            return Err(Complaint::new(
                Exit::Usage,
                format!("{} is of another experiment than {}", args.result.display(), with.display()),
            )
            .hint("settings, repetitions or seed differ: simulate it anew")
            .into());
        }
        table.sweep = sweep;
    }
    let by = by(&args.reading, &table.sweep)?;
    check_plots(&args.reading)?;
    show(common, &args.reading, &table, &by)
}

/// A complaint about a result.
pub fn unreadable(path: &Path) -> Complaint {
    Complaint::new(Exit::NotFound, format!("{} cannot be read as the result of a sweep", path.display()))
        .hint("`linerate simulate sweep` writes results; what ends in .partial is not one yet")
}

/// Reads a result.
pub fn read(path: &Path) -> anyhow::Result<Table> {
    Ok(Table::read(File::open(path)?)?)
}

/// Writes a result, whole or not at all.
pub fn write(path: &Path, table: &Table) -> anyhow::Result<()> {
    let mut bytes = Vec::new();
    table.write(&mut bytes).context("the result cannot be put into a table")?;
    file::write(path, &bytes)
}

/// The program as results name it.
pub fn program() -> String {
    format!("linerate {}", env!("CARGO_PKG_VERSION"))
}

/// What the lines are to be told apart by.
pub fn by(args: &ReadingArgs, sweep: &Sweep) -> anyhow::Result<By> {
    let varied: Vec<&'static Parameter> =
        sweep.experiment.varied().into_iter().map(|(parameter, _)| parameter).collect();
    let Some(names) = &args.by else { return Ok(By { parameters: varied, variants: Variants::Apart }) };
    let mut by = By { parameters: Vec::new(), variants: Variants::Together };
    for name in names {
        if name == "variant" {
            by.variants = Variants::Apart;
            continue;
        }
        let (_, parameter) = Parameter::find(name).ok_or_else(|| {
            let known = varied.iter().map(|parameter| parameter.name).collect::<Vec<_>>().join(", ");
            Complaint::new(Exit::Usage, format!("`{name}` is no parameter"))
                .hint(format!("in this experiment vary: {known}"))
        })?;
        by.parameters.push(parameter);
    }
    Ok(by)
}

/// Finds out whether figures can be drawn, before anybody waits for them.
pub fn check_plots(args: &ReadingArgs) -> anyhow::Result<()> {
    let Some(folder) = &args.plots else { return Ok(()) };
    std::fs::create_dir_all(folder)
        .with_context(|| Complaint::new(Exit::Local, format!("cannot write to {}", folder.display())))
}

/// Shows a result, and draws it where that is asked for.
pub fn show(common: &Common, args: &ReadingArgs, table: &Table, by: &By) -> anyhow::Result<Exit> {
    if let Some(folder) = &args.plots {
        let rows = Rows::new(&table.sweep.experiment, &table.rows);
        for figure in &table.sweep.figures {
            let picture = chart::swept::picture(figure, &rows)?;
            file::write(&folder.join(format!("{}.svg", figure.name)), &picture)?;
        }
    }
    let report = Report::new(table, &by.parameters, by.variants);
    if common.json {
        return print(&show::json::document(&report)?);
    }
    print(show::sweep::text(&report, &by.parameters, table).as_bytes())
}
