//! Heavy tests as jobs that need resources: machines, and segments that are used in turn.

/// A job: what it needs, all of it from its start to its end, and for how long.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Job {
    /// By number, each once.
    pub(super) needs: Vec<usize>,
    /// In ticks, at least one.
    pub(super) length: u64,
}

impl Job {
    pub(super) fn new(mut needs: Vec<usize>, length: u64) -> Self {
        needs.sort_unstable();
        needs.dedup();
        Self { needs, length: length.max(1) }
    }
}

/// Jobs to be put on resources.
#[derive(Debug, Clone)]
pub(super) struct Problem {
    pub(super) jobs: Vec<Job>,
    /// How many resources there are.
    pub(super) resources: usize,
    /// The first so many of them are machines.
    pub(super) machines: usize,
    /// Sets of machines that may be busy among themselves.
    pub(super) sets: Vec<Vec<usize>>,
}

impl Problem {
    /// How long each resource is needed.
    pub(super) fn loads(&self) -> Vec<u64> {
        let mut loads = vec![0; self.resources];
        for job in &self.jobs {
            for need in &job.needs {
                loads[*need] += job.length;
            }
        }
        loads
    }

    /// When the last job ends, if they start so.
    pub(super) fn end(&self, starts: &[u64]) -> u64 {
        self.jobs.iter().zip(starts).map(|(job, start)| start + job.length).max().unwrap_or(0)
    }
}
