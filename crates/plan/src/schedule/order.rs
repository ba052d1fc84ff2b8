//! In which order jobs are put into gaps, and how to better it.

use std::collections::BTreeMap;

use super::job::{Job, Problem};
use super::rng::Rng;
use super::{bound, colour, insert};

/// When each job starts: the best that was found.
pub(super) fn best(problem: &Problem) -> Vec<u64> {
    let least = bound::least(problem);
    let in_phases = phases(problem);
    let is_good = |starts: &[u64]| problem.end(starts) <= least + least / GOOD_ENOUGH;
    if is_good(&in_phases) {
        return in_phases;
    }
    let in_colours = insert::starts(problem, &by_start(&in_phases));
    if is_good(&in_colours) {
        return in_colours;
    }
    let by_load = critical_first(problem);
    let found = if problem.end(&by_load) < problem.end(&in_colours) { by_load } else { in_colours };
    better(problem, found, least)
}

/// Jobs of one length at a time, the longest first.
fn phases(problem: &Problem) -> Vec<u64> {
    let mut by_length: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
    for (number, job) in problem.jobs.iter().enumerate() {
        by_length.entry(job.length).or_default().push(number);
    }
    let mut starts = vec![0; problem.jobs.len()];
    let mut begin = 0;
    for (length, members) in by_length.into_iter().rev() {
        let jobs: Vec<Job> = members.iter().map(|member| problem.jobs[*member].clone()).collect();
        let part = Problem { jobs, ..problem.clone() };
        let needs: Vec<&[usize]> = part.jobs.iter().map(|job| job.needs.as_slice()).collect();
        let least = usize::try_from(bound::least(&part) / length).unwrap_or(usize::MAX);
        let colours = colour::colours(&needs, part.resources, least);
        let mut last = 0;
        for (member, colour) in members.into_iter().zip(colours) {
            let colour = u64::try_from(colour).unwrap_or(u64::MAX);
            starts[member] = begin + colour * length;
            last = last.max(colour + 1);
        }
        begin += last * length;
    }
    starts
}

/// Whenever resources become free, the job starts whose resources have most left to do.
fn critical_first(problem: &Problem) -> Vec<u64> {
    let mut waiting: Vec<Vec<usize>> = vec![Vec::new(); problem.resources];
    for (number, job) in problem.jobs.iter().enumerate() {
        job.needs.iter().for_each(|need| waiting[*need].push(number));
    }
    let mut left = problem.loads();
    let mut starts = vec![u64::MAX; problem.jobs.len()];
    let mut free_at = vec![0_u64; problem.resources];
    let mut now = 0;
    loop {
        let mut freed: Vec<usize> = (0..problem.resources).filter(|resource| free_at[*resource] == now).collect();
        freed.sort_by_key(|resource| std::cmp::Reverse(left[*resource]));
        for resource in freed {
            if free_at[resource] > now {
                continue;
            }
            waiting[resource].retain(|job| starts[*job] == u64::MAX);
            let ready = waiting[resource].iter().filter(|job| {
                let needs = &problem.jobs[**job].needs;
                needs.iter().all(|need| free_at[*need] <= now)
            });
            let worth = |job: &usize| {
                let loads = problem.jobs[*job].needs.iter().filter(|need| **need != resource).map(|need| left[*need]);
                (loads.clone().max().unwrap_or(0), loads.sum::<u64>(), problem.jobs[*job].length)
            };
            if let Some(&job) = ready.max_by_key(|job| worth(job)) {
                starts[job] = now;
                for need in &problem.jobs[job].needs {
                    free_at[*need] = now + problem.jobs[job].length;
                    left[*need] -= problem.jobs[job].length;
                }
            }
        }
        match free_at.iter().copied().filter(|at| *at > now).min() {
            Some(next) => now = next,
            None => return starts,
        }
    }
}

/// Moves jobs that end late to earlier places in the order, and keeps what is no worse, until nothing is left to gain or
/// enough has been tried.
fn better(problem: &Problem, starts: Vec<u64>, least: u64) -> Vec<u64> {
    let count = problem.jobs.len();
    let mut chance = Rng::new();
    let mut best = starts;
    let mut order = by_start(&best);
    let mut cost = cost(problem, &best, least);
    // What putting all jobs into gaps costs: each looks at what is there already.
    let effort = count.max(1) * (2 * count / problem.resources.max(1)).max(1);
    for _ in 0..(EFFORT / effort).min(MOST_TRIALS) {
        if cost.0 <= least {
            break;
        }
        let mut tried = order.clone();
        let late: Vec<usize> =
            (0..count).filter(|at| best[tried[*at]] + problem.jobs[tried[*at]].length > least).collect();
        let from = match late.len() {
            0 => chance.below(count),
            late_ones if chance.below(4) > 0 => late[chance.below(late_ones)],
            _ => chance.below(count),
        };
        let job = tried.remove(from);
        tried.insert(chance.below(from + 1), job);
        let found = insert::starts(problem, &tried);
        let found_cost = self::cost(problem, &found, least);
        if found_cost <= cost {
            (best, cost) = (found, found_cost);
            order = by_start(&best);
        }
    }
    best
}

/// When all is over, and how much is done after the bound.
fn cost(problem: &Problem, starts: &[u64], least: u64) -> (u64, u64) {
    let late = problem.jobs.iter().zip(starts).map(|(job, start)| (start + job.length).saturating_sub(least));
    (problem.end(starts), late.sum())
}

fn by_start(starts: &[u64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..starts.len()).collect();
    order.sort_by_key(|job| (starts[*job], *job));
    order
}

/// One part in so many above the bound is worth nobody's wait: a hundred hosts are in it that way, ten are not.
const GOOD_ENOUGH: u64 = 50;
/// How much is tried while an order is bettered: a fraction of a second.
const EFFORT: usize = 10_000_000;
/// Small plans need no more.
const MOST_TRIALS: usize = 4_000;
