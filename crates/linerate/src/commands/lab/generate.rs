//! `linerate lab generate`: incidents that nobody wrote, as scenario files.

use std::fs;

use anyhow::Context;
use twin::generate::incident;

use crate::cli::score::GenerateArgs;
use crate::commands::{file, print};
use crate::exit::{Complaint, Exit};

/// Writes the incidents of the seeds: each as a file of its own, or the only one to stdout.
pub fn run(args: &GenerateArgs) -> anyhow::Result<Exit> {
    let range = args.seeds;
    let drawn =
        |seed| incident(seed).with_context(|| Complaint::new(Exit::Local, format!("seed {seed} draws no scenario")));
    let Some(folder) = &args.output else {
        let mut text = String::new();
        for seed in range.from..=range.to {
            text.push_str(&drawn(seed)?.text);
        }
        return print(text.as_bytes());
    };
    fs::create_dir_all(folder)
        .with_context(|| Complaint::new(Exit::Local, format!("cannot make {}", folder.display())))?;
    for seed in range.from..=range.to {
        file::write(&folder.join(format!("incident-{seed}.toml")), drawn(seed)?.text.as_bytes())?;
    }
    Ok(Exit::Success)
}
