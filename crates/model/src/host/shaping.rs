//! How fast an interface sends at the most by its own queueing disciplines.

use units::DataRate;

use super::qdisc::Qdisc;

/// What was read of a discipline does not have its classes, and these have the rates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnknownClasses;

/// The rate above which nothing leaves the interface that has these disciplines, [`None`] where no shaper holds it: that of the slowest
/// `tbf` or `cake` on the way, and of `htb` the greatest ceiling among its classes, because which class takes the traffic is not known.
///
/// # Errors
/// The rates of the classes of a `htb` are not known.
pub fn ceiling(tree: &[&Qdisc]) -> Result<Option<DataRate>, UnknownClasses> {
    let mut least: Option<u64> = None;
    for qdisc in tree {
        let rate = match qdisc.kind.as_str() {
            // One of several leaves holds back only its own share.
            "tbf" | "cake" if qdisc.is_root() || tree.len() == 1 => qdisc.options.get("rate_bps").copied(),
            "htb" if qdisc.is_root() && qdisc.classes.is_empty() => return Err(UnknownClasses),
            "htb" if qdisc.is_root() => {
                qdisc.classes.iter().filter_map(|class| class.options.get("ceil_bps")).max().copied()
            }
            _ => None,
        };
        least = [least, rate.filter(|rate| *rate > 0)].into_iter().flatten().min();
    }
    Ok(least.map(DataRate::from_bps))
}

/// The rate above which no single flow leaves (`fq maxrate`), [`None`] where there is no such limit.
#[must_use]
pub fn flow_ceiling<'q>(tree: impl IntoIterator<Item = &'q Qdisc>) -> Option<DataRate> {
    let fq = tree.into_iter().filter(|qdisc| qdisc.kind == "fq");
    let rates = fq.filter_map(|qdisc| qdisc.options.get("maxrate_bps").copied());
    rates.filter(|rate| is_limit(*rate)).min().map(DataRate::from_bps)
}

/// Whether a `maxrate` is one: fq says "no limit" as the largest rate of 32 bits in bytes, or of 64 bits (`~0`, net/sched/sch_fq.c).
#[must_use]
pub fn is_limit(maxrate_bps: u64) -> bool {
    !UNLIMITED.contains(&maxrate_bps)
}

const UNLIMITED: [u64; 2] = [u32::MAX as u64 * 8, u64::MAX];
