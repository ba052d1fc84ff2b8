//! `linerate simulate merge`: one result from those of all shares.

use std::path::Path;

use anyhow::Context;
use sweep::merge::{MergeError, merge};

use super::result;
use crate::cli::Common;
use crate::cli::sweep::MergeArgs;
use crate::exit::{Complaint, Exit};

pub fn run(common: &Common, args: &MergeArgs) -> anyhow::Result<Exit> {
    if args.output.exists() {
        return Err(Complaint::new(Exit::Local, format!("{} is there already", args.output.display()))
            .hint("--output names another file; or remove this one")
            .into());
    }
    let read = |part: &std::path::PathBuf| {
        let table = result::read(part).with_context(|| result::unreadable(part))?;
        Ok((part.display().to_string(), table))
    };
    let parts = args.parts.iter().map(read).collect::<anyhow::Result<Vec<_>>>()?;
    let table = merge(parts).map_err(|error| complaint(&error, &args.output))?;
    let by = result::by(&args.reading, &table.sweep)?;
    result::check_plots(&args.reading)?;
    result::write(&args.output, &table)?;
    if !common.quiet {
        eprintln!("{} transfers are in {}", table.rows.len(), args.output.display());
    }
    result::show(common, &args.reading, &table, &by)
}

fn complaint(error: &MergeError, output: &Path) -> anyhow::Error {
    let complaint = Complaint::new(Exit::Usage, format!("these are not the shares of one sweep: {error}"));
    let complaint = match error {
        MergeError::Missing { missing, of } => {
            let first = missing.first().copied().unwrap_or(1);
            complaint.hint(format!("`linerate simulate sweep FILE --shard {first}/{of}` makes what is missing"))
        }
        MergeError::Twice { .. } => complaint.hint("leave one of the two out"),
        MergeError::Incomplete { .. } => complaint.hint("simulate that share again"),
        _ => complaint.hint("give only parts of one sweep, made by one version of this program"),
    };
    complaint.hint(format!("{} was not written", output.display())).into()
}
