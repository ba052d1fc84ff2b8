//! The `linerate` command: measures bulk data paths and says what it found.
//!
//! * [`cli`]: what a person may type; parsing records and does nothing
//! * [`commands`]: what each command does
//! * [`show`]: how results look to people, scripts and monitoring systems
//! * [`exit`]: the one table of exit codes

#![allow(unreachable_pub, reason = "a binary has no outside; `pub` says what the other files use")]

/// Says something on standard error. One that is closed, as behind `2>&1 | head -1`, is no failure: the standard macro of
/// this name would end the program.
macro_rules! eprintln {
    ($($text:tt)*) => {
        $crate::show::error::say(format_args!($($text)*))
    };
}

mod cli;
mod commands;
mod exit;
mod show;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches, Parser};

use crate::exit::Exit;

fn main() -> ExitCode {
    let (words, own) = cli::habits::translated(std::env::args_os().collect());
    if let Some(own) = own {
        eprintln!("linerate: running `{own}`");
    }
    let monitored = is_for_monitoring(&words);
    let exit = match parsed(words) {
        Ok(cli) => commands::run(cli).unwrap_or_else(|error| {
            show::error::print(&error);
            if monitored { nothing_known(&format!("{error:#}")) } else { Exit::of_error(&error) }
        }),
        Err(error) if monitored && error.use_stderr() => {
            let _ = error.print();
            let what = error.to_string();
            nothing_known(what.lines().next().unwrap_or_default().trim_start_matches("error: "))
        }
        Err(error) => error.exit(),
    };
    exit.into()
}

/// What was typed. Help is laid out for the terminal, where there is one.
fn parsed(words: Vec<OsString>) -> Result<cli::Cli, clap::Error> {
    let asks_for_help = words.iter().any(|word| word == "--help" || word == "-h" || word == "help");
    let Some(width) = show::wrap::terminal_width().filter(|_| asks_for_help) else {
        return cli::Cli::try_parse_from(words);
    };
    let mut command = cli::examples::fitted(cli::Cli::command(), width);
    let matches = command.try_get_matches_from_mut(words)?;
    cli::Cli::from_arg_matches(&matches).map_err(|error| error.format(&mut command))
}

/// Whether a monitoring system reads the end of this: a code of ours would be an alarm, or none of its own.
fn is_for_monitoring(words: &[OsString]) -> bool {
    words.iter().skip(1).take_while(|word| *word != "--").any(|word| word == "--nagios")
        || words.get(1).is_some_and(|word| word == "check")
}

/// The line and the code of a plugin that could not look.
fn nothing_known(why: &str) -> Exit {
    use std::io::Write;
    let (line, code) = show::nagios::unknown(why);
    // A reader that is gone reads the code.
    let _ = std::io::stdout().lock().write_all(line.as_bytes());
    Exit::Nagios(code)
}
