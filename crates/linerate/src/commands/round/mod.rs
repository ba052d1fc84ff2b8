//! `linerate round`.
//!
//! * [`reading`]: plans and rounds from files
//! * [`show`], [`convert`], [`grid`]: the commands

mod convert;
mod grid;
mod reading;
mod show;

use crate::cli::Common;
use crate::cli::round::RoundAction;
use crate::exit::Exit;

/// Does what was asked for.
pub fn run(common: &Common, action: &RoundAction) -> anyhow::Result<Exit> {
    match action {
        RoundAction::Show(args) => show::run(common, args),
        RoundAction::Convert(args) => convert::run(common, args),
        RoundAction::Grid(args) => grid::run(common, args),
    }
}
