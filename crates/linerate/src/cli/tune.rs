//! `linerate simulate tune`.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Arg, ArgMatches, Args, Command, FromArgMatches};
use sweep::parameter::{ALL, Parameter};
use sweep::value::QuantityKind;
use tune::search::LEAST_BUDGET;

use super::values;

/// A question about settings.
#[derive(Debug, Args)]
pub struct TuneArgs {
    /// Question file (docs/tuning.md), or a built-in one: amlight
    pub file: Option<PathBuf>,
    /// Setting to vary, with range or values: wmem, wmem=64MiB..1GiB, congestion=htcp,bbr
    #[arg(long, value_name = "SETTING[=VALUES]")]
    pub vary: Vec<String>,
    /// Settings to keep
    #[arg(long, value_name = "SETTINGS", value_delimiter = ',')]
    pub keep: Vec<String>,
    /// Budget: number of simulated flows, or time: 3000, 2min
    #[arg(long, value_name = "FLOWS|TIME", default_value = "3000", value_parser = budget)]
    pub budget: Budget,
    /// Random seed; equal seeds give equal answers [default: of the file, or 1]
    #[arg(long)]
    pub seed: Option<u64>,
    /// Parallel simulations [default: one per CPU]
    #[arg(long, value_name = "COUNT")]
    pub jobs: Option<NonZeroUsize>,
    /// Print candidates, number of flows and estimated time only
    #[arg(long)]
    pub dry_run: bool,
    /// Write plans for `linerate host fix` to this directory: sender.toml, receiver.toml
    #[arg(long, value_name = "FOLDER")]
    pub fixes: Option<PathBuf>,
    /// Route that initcwnd and initrwnd are set on
    #[arg(long, value_name = "PREFIX", default_value = "default")]
    pub route: String,
    /// Sender interface, for plans with pacing
    #[arg(long, value_name = "NAME")]
    pub device: Option<String>,
    /// Plot the missed deadlines as SVG or PNG
    #[arg(long, value_name = "FILE", value_parser = values::picture)]
    pub plot: Option<PathBuf>,
    #[command(flatten)]
    pub set: SetArgs,
}

/// How much may be spent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Budget {
    /// Transfers.
    Flows(u64),
    /// Time, on this machine.
    Time(Duration),
}

/// The most transfers of one search.
pub const MOST_BUDGET: u64 = 1_000_000;

fn budget(text: &str) -> Result<Budget, String> {
    let Ok(flows) = text.parse::<u64>() else {
        return values::span_above_zero(text)
            .map(Budget::Time)
            .map_err(|_| format!("`{text}` is neither a number of transfers nor a time; write 3000 or 2min"));
    };
    if (LEAST_BUDGET..=MOST_BUDGET).contains(&flows) {
        Ok(Budget::Flows(flows))
    } else {
        Err(format!("{LEAST_BUDGET} transfers are the least that say anything, and {MOST_BUDGET} the most"))
    }
}

/// Every parameter of an experiment as an option, in place of what a file says.
#[derive(Debug, Clone, Default)]
pub struct SetArgs(pub Vec<(&'static Parameter, String)>);

impl Args for SetArgs {
    fn augment_args(command: Command) -> Command {
        ALL.iter().fold(command, |command, parameter| {
            command.arg(
                Arg::new(parameter.name)
                    .long(parameter.name)
                    .value_name(value_name(parameter.kind))
                    .help(parameter.says)
                    .hide_short_help(true)
                    .help_heading("The path, and the settings as they are (docs/formats/sweep.md)"),
            )
        })
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for SetArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let typed = |parameter: &'static Parameter| {
            matches.get_one::<String>(parameter.name).map(|text| (parameter, text.clone()))
        };
        Ok(Self(ALL.iter().filter_map(typed).collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

const fn value_name(kind: QuantityKind) -> &'static str {
    match kind {
        QuantityKind::Time => "TIME",
        QuantityKind::Bytes => "BYTES",
        QuantityKind::Rate => "RATE",
        QuantityKind::Count => "COUNT",
        QuantityKind::Share => "SHARE",
        QuantityKind::Flag => "true|false",
        QuantityKind::Word => "NAME",
    }
}
