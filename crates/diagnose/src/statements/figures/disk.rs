//! A disk that takes as much as a copy has, beside a network that carries more.

use import::figures::{Figure, FigureValue};

use crate::statements::statement::Statement;

/// The first such copy.
pub(super) fn of(all: &[&Figure]) -> Option<Statement> {
    let disks = all
        .iter()
        .filter_map(|one| if let FigureValue::Disk(rate) = one.value { Some((rate, one.line)) } else { None });
    let reached = || all.iter().filter_map(|one| Some((one.reached()?, one.line)));
    disks.into_iter().find_map(|(disk, at)| {
        let is_same = |rate: &units::DataRate| rate.share_of(disk).is_some_and(|part| (LEAST..=MOST).contains(&part));
        let (copy, copied_at) = reached().find(|(rate, _)| is_same(rate))?;
        let (network, line) = reached().filter(|(rate, _)| rate.share_of(disk).is_some_and(|part| part >= MORE)).max()?;
        Some(Statement::fault(format!(
            "the disk does {disk} (line {at}), which is what the copy has ({copy}, line {copied_at}), while the network carries {network} (line {line}): \
             the disk is the limit, and not the network"
        )))
    })
}

/// Programs round, and say MB for MiB.
const LEAST: f64 = 0.85;
const MOST: f64 = 1.15;
/// What the network carries has to be more, by as much as two measurements differ.
const MORE: f64 = 1.3;
