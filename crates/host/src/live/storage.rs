//! Disks and the clock.

use std::fs;

use linux::clock::discipline;
use model::host::fact::{Fact, Missing, Source};
use model::host::storage::{BlockDevice, ClockState};

use super::file;

pub(super) fn disks() -> Fact<Vec<BlockDevice>> {
    let source = Source::file(DISKS);
    let entries = match fs::read_dir(DISKS) {
        Ok(entries) => entries,
        Err(error) => return Fact::missing(file::missing(&error), source),
    };
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    // What is in memory, or a file, is no disk.
    let mut names: Vec<String> =
        names.filter(|name| !["loop", "ram", "zram", "sr", "fd"].iter().any(|kind| name.starts_with(kind))).collect();
    names.sort_unstable();
    names.truncate(MOST_DISKS);
    Fact::known(names.into_iter().map(disk).collect(), source)
}

fn disk(name: String) -> BlockDevice {
    let of = |what: &str| file::optional(format!("{DISKS}/{name}/queue/{what}"));
    let kibibytes = of("read_ahead_kb").and_then(|text| text.parse::<u64>().ok());
    // The one in use stands in brackets: `none [mq-deadline] kyber`.
    let scheduler = of("scheduler").map(|all| {
        let chosen = all.split_whitespace().find_map(|word| word.strip_prefix('[')?.strip_suffix(']'));
        chosen.unwrap_or(&all).to_owned()
    });
    BlockDevice {
        read_ahead_bytes: kibibytes.map(|kibibytes| kibibytes.saturating_mul(1024)),
        scheduler,
        rotational: of("rotational").map(|text| text == "1"),
        name,
    }
}

pub(super) fn clock() -> Fact<ClockState> {
    let source = Source("adjtimex".to_owned());
    match discipline() {
        Ok(found) => {
            let max_error_us = u64::try_from(found.max_error.as_micros()).unwrap_or(u64::MAX);
            Fact::known(ClockState { synchronised: found.synchronised, max_error_us }, source)
        }
        Err(error) => Fact::missing(Missing::Failed { reason: error.to_string() }, source),
    }
}

const DISKS: &str = "/sys/block";

/// A storage server has some hundred.
const MOST_DISKS: usize = 1_024;
