//! `linerate demo`.

use crate::cli::Common;
use crate::exit::Exit;

pub fn run(_common: &Common) -> anyhow::Result<Exit> {
    Ok(Exit::Success)
}
