//! Jobs of any length, one after the other into the earliest gap.

use super::job::Problem;

/// What each resource does when.
pub(super) struct Board<'a> {
    problem: &'a Problem,
    /// Of each resource, when it is busy: from and until, in order.
    busy: Vec<Vec<(u64, u64)>>,
}

impl<'a> Board<'a> {
    pub(super) fn new(problem: &'a Problem) -> Self {
        Self { problem, busy: vec![Vec::new(); problem.resources] }
    }

    /// Puts a job into the earliest gap that begins no sooner than `from`, and says when it begins.
    pub(super) fn put(&mut self, job: usize, from: u64) -> u64 {
        let length = self.problem.jobs[job].length;
        let mut start = from;
        loop {
            let needs = self.problem.jobs[job].needs.iter();
            let later = needs.filter_map(|need| free_from(&self.busy[*need], start, length)).max();
            match later {
                None => break,
                Some(later) => start = later,
            }
        }
        self.occupy(job, start);
        start
    }

    /// Puts a job where it is.
    pub(super) fn occupy(&mut self, job: usize, start: u64) {
        let job = &self.problem.jobs[job];
        for need in &job.needs {
            let busy = &mut self.busy[*need];
            let place = busy.partition_point(|(from, _)| *from < start);
            busy.insert(place, (start, start + job.length));
        }
    }
}

/// Where a job of this length does not fit at `start`, a time after which it may.
fn free_from(busy: &[(u64, u64)], start: u64, length: u64) -> Option<u64> {
    let next = busy.partition_point(|(_, until)| *until <= start);
    let (from, until) = *busy.get(next)?;
    (from < start + length).then_some(until)
}

/// When each job starts, if they are put in this order.
pub(super) fn starts(problem: &Problem, order: &[usize]) -> Vec<u64> {
    let mut board = Board::new(problem);
    let mut starts = vec![0; problem.jobs.len()];
    for &job in order {
        starts[job] = board.put(job, 0);
    }
    starts
}
