//! `linerate round grid`.

use chart::Form;

use super::reading;
use crate::cli::Common;
use crate::cli::round::GridArgs;
use crate::commands::{file, print, print_as_it_is};
use crate::exit::{Complaint, Exit};
use crate::show::grid;
use crate::show::json;

pub fn run(common: &Common, args: &GridArgs) -> anyhow::Result<Exit> {
    let round = reading::round(common, &args.round)?;
    let grids = diagnose::grid::grids(&round);
    if grids.grids.is_empty() {
        let what = format!("nothing that has a grid was measured in {}", args.round.display());
        return Err(Complaint::new(Exit::NotFound, what).into());
    }
    if let Some(path) = &args.svg {
        // The argument parser has let only names of known forms pass.
        let form = Form::of(path).unwrap_or(Form::Svg);
        file::write(path, &chart::grid::picture(&grids, &grid::captions(&grids), form)?)?;
    }
    if common.json {
        return print(&json::document(&grids)?);
    }
    if args.csv {
        return print(grid::csv::text(&grids).as_bytes());
    }
    if args.svg.is_some() {
        return Ok(Exit::Success);
    }
    print_as_it_is(grid::text::text(&grids, grid::text::Colour::of_standard_output()).as_bytes())
}
