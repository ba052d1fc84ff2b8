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

use std::process::ExitCode;

use clap::Parser;

use crate::exit::Exit;

fn main() -> ExitCode {
    let (words, own) = cli::habits::translated(std::env::args_os().collect());
    if let Some(own) = own {
        eprintln!("linerate: running `{own}`");
    }
    let cli = cli::Cli::parse_from(words);
    let exit = match commands::run(cli) {
        Ok(exit) => exit,
        Err(error) => {
            show::error::print(&error);
            Exit::of_error(&error)
        }
    };
    exit.into()
}
