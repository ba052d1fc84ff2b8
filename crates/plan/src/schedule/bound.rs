//! What no schedule can be shorter than.

use std::collections::{BTreeMap, BTreeSet};

use super::job::Problem;

/// The busiest resource works all the time; and of an odd number of machines one has nobody to work with.
pub(super) fn least(problem: &Problem) -> u64 {
    let busiest = problem.loads().into_iter().max().unwrap_or(0);
    let all: Vec<usize> = (0..problem.machines).collect();
    let sets = problem.sets.iter().chain([&all]).map(|set| of_set(problem, set));
    sets.fold(busiest, u64::max).max(of_triples(problem))
}

/// Of any three resources, only one job at a time can have two.
fn of_triples(problem: &Problem) -> u64 {
    let loads = problem.loads();
    let mut busiest: Vec<usize> = (0..problem.resources).filter(|resource| loads[*resource] > 0).collect();
    busiest.sort_by_key(|resource| std::cmp::Reverse(loads[*resource]));
    busiest.truncate(MOST_LOOKED_AT);
    let mut number = vec![None; problem.resources];
    for (place, resource) in busiest.iter().enumerate() {
        number[*resource] = Some(place);
    }
    let count = busiest.len();
    let mut of_two = vec![vec![0_u64; count]; count];
    // What has all three of them would be counted for each two of them.
    let mut of_three: BTreeMap<[usize; 3], u64> = BTreeMap::new();
    for job in &problem.jobs {
        let mut needs: Vec<usize> = job.needs.iter().filter_map(|need| number[*need]).collect();
        needs.sort_unstable();
        for (at, &one) in needs.iter().enumerate() {
            for (then, &other) in needs.iter().enumerate().skip(at + 1) {
                of_two[one][other] += job.length;
                for &third in &needs[then + 1..] {
                    *of_three.entry([one, other, third]).or_default() += 2 * job.length;
                }
            }
        }
    }
    let mut most = 0;
    for one in 0..count {
        for other in one + 1..count {
            for third in other + 1..count {
                let work = of_two[one][other] + of_two[one][third] + of_two[other][third];
                let twice = of_three.get(&[one, other, third]).copied().unwrap_or(0);
                most = most.max(work - twice);
            }
        }
    }
    most
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

/// Three resources that have so much to do with each other are among the busiest.
const MOST_LOOKED_AT: usize = 60;
