//! The catalogue of causes by which is judged: the one that the program was built with, or one that was learnt since.

use std::fs;
use std::path::Path;

use anyhow::Context;
use diagnose::causes::Catalogue;
use diagnose::causes::weights::Weights;

use crate::exit::{Complaint, Exit};

/// With the files that `linerate lab learn` wrote into a folder, where there is one.
pub fn catalogue(folder: Option<&Path>) -> anyhow::Result<Catalogue> {
    let Some(folder) = folder else { return Ok(Catalogue::built_in().clone()) };
    let text = |name: &str| {
        let path = folder.join(name);
        let missing = || {
            Complaint::new(Exit::NotFound, format!("cannot read {}", path.display()))
                .hint("`linerate lab learn -o FOLDER` writes learnt.toml and weights.toml")
        };
        fs::read_to_string(&path).with_context(missing)
    };
    let refused = || Complaint::new(Exit::Usage, format!("{} is not what was learnt", folder.display()));
    let learnt = Catalogue::by_hand().with_learnt(&text("learnt.toml")?).with_context(refused)?;
    Ok(learnt.with_weights(Weights::read(&text("weights.toml")?).with_context(refused)?))
}
