//! `linerate detect`.

use std::fs;

use anyhow::Context;
use baseline::analysis::{Analysis, Gate, Settings, analyse};
use baseline::csv::{self, Column};
use baseline::rules::Rule;
use baseline::screen::Screen;
use baseline::series::Scale;
use chart::Form;
use chart::detected::Subject;

use super::{file, print};
use crate::cli::Common;
use crate::cli::detect::{DetectArgs, RuleArg, ScaleArg};
use crate::exit::{Complaint, Exit};
use crate::show;

/// Finds changes in a file.
pub fn run(common: &Common, args: &DetectArgs) -> anyhow::Result<Exit> {
    let column = read(args)?;
    let rule = match args.rule {
        RuleArg::Linerate => Rule::Linerate,
        RuleArg::Wlcg => Rule::Wlcg,
        RuleArg::Slac => Rule::Slac,
    };
    let mut screen = Screen::default();
    if rule != Rule::Linerate {
        let alarms = rule.alarms(&column.samples, &mut screen);
        let text = if common.json {
            show::detect::alarms_json(rule, &column, &alarms)
        } else {
            show::detect::alarms(rule, &column, &alarms)?
        };
        print(text.as_bytes())?;
        return Ok(if alarms.is_empty() { Exit::Success } else { Exit::Found });
    }
    let scale = match args.scale {
        ScaleArg::Ratio => Scale::Ratio,
        ScaleArg::Difference => Scale::Difference,
    };
    let mut settings = Settings { scale, gate: Gate::Open, ..Settings::default() };
    if scale == Scale::Difference {
        // What is a small difference depends on the unit: the standard error alone decides.
        settings.strictness.least_shift = 0.0;
    }
    let mut found = analyse(&column.samples, &settings, &mut screen);
    if !column.has_times {
        // Rows without times have no time of day and no gaps.
        found.gaps.clear();
    }
    if let Some(path) = &args.plot {
        plot(args, &column, &found, path)?;
    }
    let text = if common.json {
        show::detect::changes_json(&column, &found)?
    } else {
        show::detect::changes(&column, &found)?
    };
    print(text.as_bytes())?;
    Ok(if found.changes.is_empty() { Exit::Success } else { Exit::Found })
}

fn read(args: &DetectArgs) -> anyhow::Result<Column> {
    let name = args.file.display();
    let unreadable = || Complaint::new(Exit::NotFound, format!("cannot read {name}"));
    let size = fs::metadata(&args.file).with_context(unreadable)?.len();
    if size > MOST_BYTES {
        return Err(unreadable().hint(format!("it has {size} bytes; {MOST_BYTES} are read at most")).into());
    }
    let text = fs::read_to_string(&args.file).with_context(unreadable)?;
    let column = csv::read(&text, args.value.as_deref(), args.time.as_deref());
    let mut column = column.with_context(|| {
        Complaint::new(Exit::Usage, format!("{name} is no series"))
            .hint("--value COLUMN and --time COLUMN name columns")
    })?;
    let excess = column.samples.len().saturating_sub(MOST_SAMPLES);
    if excess > 0 {
        column.samples.sort_by_key(|sample| sample.at_s);
        column.samples.drain(..excess);
        eprintln!("note: the latest {MOST_SAMPLES} of {} rows are analysed", excess + MOST_SAMPLES);
    }
    Ok(column)
}

fn plot(args: &DetectArgs, column: &Column, found: &Analysis, path: &std::path::Path) -> anyhow::Result<()> {
    let form = Form::of(path).unwrap_or(Form::Svg);
    let title = format!("{}: {}", args.file.display(), column.name);
    let made_by = format!("linerate {}", env!("CARGO_PKG_VERSION"));
    let is_rate = show::detect::is_rate(column);
    let subject = Subject { title: &title, made_by: &made_by, is_rate };
    file::write(path, &chart::detected::picture(&subject, &column.samples, found, form)?)
}

/// Files beyond this size are refused.
const MOST_BYTES: u64 = 256 << 20;
/// Longer series are cut: exact placement costs up to the square of their length.
const MOST_SAMPLES: usize = 10_000;
