//! What no schedule can be shorter than.

use std::collections::BTreeSet;

use super::job::Problem;

/// The busiest resource works all the time; and of an odd number of machines one has nobody to work with.
pub(super) fn least(problem: &Problem) -> u64 {
    let busiest = problem.loads().into_iter().max().unwrap_or(0);
    let all: Vec<usize> = (0..problem.machines).collect();
    let sets = problem.sets.iter().chain([&all]).map(|set| of_set(problem, set));
    sets.fold(busiest, u64::max)
}

/// Of the machines of a set that have work among themselves, half can work at once (Edmonds's odd sets, as in Goldberg's
/// and Seymour's bound on the chromatic index of a multigraph).
fn of_set(problem: &Problem, set: &[usize]) -> u64 {
    let set: BTreeSet<usize> = set.iter().copied().collect();
    let mut at_work: BTreeSet<usize> = BTreeSet::new();
    let (mut work, mut shortest) = (0_u64, u64::MAX);
    for job in &problem.jobs {
        let mut machines = job.needs.iter().filter(|need| **need < problem.machines);
        if let (Some(one), Some(other)) = (machines.next(), machines.next())
            && set.contains(one)
            && set.contains(other)
        {
            at_work.extend([*one, *other]);
            work += job.length;
            shortest = shortest.min(job.length);
        }
    }
    let at_once = u64::try_from(at_work.len() / 2).unwrap_or(u64::MAX);
    if at_once == 0 {
        return 0;
    }
    // Jobs of one length begin together.
    let of_one_length = problem.jobs.iter().all(|job| job.length == shortest);
    if of_one_length { (work / shortest).div_ceil(at_once) * shortest } else { work.div_ceil(at_once) }
}
