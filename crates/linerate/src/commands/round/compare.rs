//! `linerate round compare`.

use diagnose::proof::Proof;

use super::reading;
use crate::cli::Common;
use crate::cli::round::CompareArgs;
use crate::commands::print;
use crate::exit::{Complaint, Exit};
use crate::show;

pub fn run(common: &Common, args: &CompareArgs) -> anyhow::Result<Exit> {
    let [before, after] = [&args.before, &args.after].map(|name| reading::round(common, name));
    let proof = Proof::of(&before?, &after?, args.confidence);
    if proof.pairs.is_empty() {
        let complaint =
            Complaint::new(Exit::NotFound, "the two rounds have no pair in common of which both know a rate");
        return Err(complaint.hint("`linerate round show ROUND` says what a round has found").into());
    }
    if common.json {
        print(&show::json::document(&proof)?)?;
    } else {
        print(show::proof::text(&proof).as_bytes())?;
    }
    Ok(if proof.is_fixed() { Exit::Success } else { Exit::Found })
}
