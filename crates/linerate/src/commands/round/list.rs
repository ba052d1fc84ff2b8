//! `linerate round list`.

use crate::cli::Common;
use crate::cli::round::ListArgs;
use crate::commands::{archive as kept, print};
use crate::exit::Exit;
use crate::show;

pub fn run(common: &Common, args: &ListArgs) -> anyhow::Result<Exit> {
    let archive = kept::open_to_read(common)?;
    let rounds = archive.rounds(args.limit)?;
    if common.json {
        let lines = rounds.iter().map(show::json::document).collect::<anyhow::Result<Vec<_>>>()?;
        return print(&lines.concat());
    }
    print(show::round::list(&rounds, archive.path()).as_bytes())
}
