//! `linerate round`.
//!
//! * [`lead`]: running a plan
//! * [`ready`]: what every command needs that runs one
//! * [`init`]: a first plan
//! * [`reading`]: plans and rounds, from files and the archive
//! * [`show`], [`list`], [`convert`], [`grid`], [`compare`]: the other commands

mod compare;
mod convert;
mod grid;
mod init;
mod lead;
mod list;
pub mod reading;
pub mod ready;
mod show;

use crate::cli::Common;
use crate::cli::round::{RoundAction, RoundArgs};
use crate::exit::Exit;

/// Does what was asked for.
pub fn run(common: &Common, args: &RoundArgs) -> anyhow::Result<Exit> {
    match &args.action {
        None => lead::run(common, &args.run),
        Some(RoundAction::Init(args)) => init::run(args),
        Some(RoundAction::Show(args)) => show::run(common, args),
        Some(RoundAction::List(args)) => list::run(common, args),
        Some(RoundAction::Convert(args)) => convert::run(common, args),
        Some(RoundAction::Grid(args)) => grid::run(common, args),
        Some(RoundAction::Compare(args)) => compare::run(common, args),
    }
}
