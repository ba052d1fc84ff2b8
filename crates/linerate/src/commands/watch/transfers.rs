//! `linerate watch transfers`.

use anyhow::Context;
use archive::transfers::TransferFilter;

use crate::cli::Common;
use crate::cli::watch::transfers::TransfersArgs;
use crate::commands::{archive as kept, print};
use crate::exit::{Complaint, Exit};
use crate::show;

pub fn run(common: &Common, args: &TransfersArgs) -> anyhow::Result<Exit> {
    let archive = kept::open_to_read(common)?;
    let filter = TransferFilter { since: args.since, peer: args.peer, least: args.least, limit: Some(args.limit) };
    let unreadable = || Complaint::new(Exit::Local, "the transfers cannot be read from the archive");
    let transfers = archive.transfers(&filter).with_context(unreadable)?;
    if !common.json {
        return print(show::watch::transfers::list(&transfers, archive.path()).as_bytes());
    }
    for transfer in &transfers {
        print(&show::json::document(transfer)?)?;
    }
    Ok(Exit::Success)
}
