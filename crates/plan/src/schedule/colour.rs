//! Jobs of one length: the colouring of a graph whose edges are jobs. A colour is a stretch of time, and no resource has two
//! jobs of one colour.
//!
//! Jobs are coloured one after the other. Where no colour is free on all that a job needs, colours `a` and `b` change places
//! along a Kempe chain (Kempe 1879; Vizing 1964), which leaves all other jobs as right as before and may free one; where no
//! chain does, chains at random stir the colouring and the search goes on. There are as many colours as the bound says;
//! one more comes only if a job finds none.

use super::rng::Rng;

/// Colours jobs, given by what each needs; there are at least `least` colours.
pub(super) fn colours(jobs: &[&[usize]], resources: usize, least: usize) -> Vec<usize> {
    let mut colouring = Colouring::new(jobs, resources, least.max(1));
    let mut left: Vec<usize> = (0..jobs.len()).collect();
    loop {
        left.retain(|job| !colouring.colour_somehow(*job));
        if left.is_empty() {
            return colouring.of;
        }
        if colouring.stirs_left == 0 {
            left.iter().for_each(|job| colouring.colour_at_any_price(*job));
            return colouring.of;
        }
        colouring.add_a_colour();
    }
}

const NONE: usize = usize::MAX;

struct Colouring<'a> {
    jobs: &'a [&'a [usize]],
    /// The colour of each job.
    of: Vec<usize>,
    count: usize,
    /// By resource and colour, the job that it has.
    table: Vec<Vec<usize>>,
    /// By resource, a bit for each colour that is taken.
    taken: Vec<Vec<u64>>,
    chance: Rng,
    /// Of each job, the search that saw it last.
    seen: Vec<u32>,
    search: u32,
    chain: Vec<usize>,
    stirs_left: usize,
}

impl<'a> Colouring<'a> {
    fn new(jobs: &'a [&'a [usize]], resources: usize, count: usize) -> Self {
        Self {
            jobs,
            of: vec![NONE; jobs.len()],
            count,
            table: vec![vec![NONE; count]; resources],
            taken: vec![vec![0; count.div_ceil(64)]; resources],
            chance: Rng::new(),
            seen: vec![0; jobs.len()],
            search: 0,
            chain: Vec::new(),
            // Where there are many colours, one more costs little, and each stir much.
            stirs_left: MOST_STIRS / count.max(8),
        }
    }

    fn add_a_colour(&mut self) {
        self.count += 1;
        self.table.iter_mut().for_each(|colours| colours.push(NONE));
        self.taken.iter_mut().for_each(|colours| colours.resize(self.count.div_ceil(64), 0));
    }

    /// A colour that is free on all that a job needs.
    fn free(&mut self, job: usize) -> Option<usize> {
        let words = self.count.div_ceil(64);
        let first = self.chance.below(words);
        (0..words).map(|step| (first + step) % words).find_map(|word| {
            let taken = self.jobs[job].iter().fold(0, |taken, need| taken | self.taken[*need][word]);
            let colour = word * 64 + taken.trailing_ones() as usize;
            (taken != u64::MAX && colour < self.count).then_some(colour)
        })
    }

    /// Colours that a job could have if one other job gave up its own, and a resource that the two share.
    fn nearly_free(&mut self, job: usize) -> Vec<(usize, usize)> {
        let first = self.chance.below(self.count);
        let with = |colour: usize| {
            let mut in_the_way = self.jobs[job].iter().filter(|need| self.table[**need][colour] != NONE);
            let need = *in_the_way.next()?;
            in_the_way.all(|other| self.table[*other][colour] == self.table[need][colour]).then_some((colour, need))
        };
        (0..self.count).map(|step| (first + step) % self.count).filter_map(with).take(COLOURS_TRIED).collect()
    }

    fn colour_somehow(&mut self, job: usize) -> bool {
        for _ in 0..STIRS.min(STIRS * 20 / self.count.max(20)) {
            if self.colour_by_a_chain(job) {
                return true;
            }
            if self.stirs_left == 0 {
                return false;
            }
            self.stirs_left -= 1;
            self.stir(job);
        }
        false
    }

    /// Gives a job the first colour that is free, which may be a new one.
    fn colour_at_any_price(&mut self, job: usize) {
        let colour = self.free(job).unwrap_or_else(|| {
            self.add_a_colour();
            self.count - 1
        });
        self.put(job, colour);
    }

    /// Gives a job the colour that the fewest of its resources have to give up, after chains have freed it there.
    fn colour_by_a_chain(&mut self, job: usize) -> bool {
        if let Some(colour) = self.free(job) {
            self.put(job, colour);
            return true;
        }
        for (colour, need) in self.nearly_free(job) {
            let start = self.chance.below(self.count);
            let others = (0..self.count).map(|step| (start + step) % self.count);
            let free: Vec<usize> = others
                .filter(|other| *other != colour && self.table[need][*other] == NONE)
                .take(COLOURS_TRIED)
                .collect();
            for other in free {
                self.follow(self.table[need][colour], colour, other);
                if self.frees(job, colour, other) {
                    self.swap(colour, other);
                    self.put(job, colour);
                    return true;
                }
            }
        }
        false
    }

    /// All jobs that must change if `job` does from one colour to the other.
    fn follow(&mut self, job: usize, one: usize, other: usize) {
        self.search += 1;
        self.chain.clear();
        self.chain.push(job);
        self.seen[job] = self.search;
        let mut next = 0;
        while let Some(&job) = self.chain.get(next) {
            next += 1;
            let opposite = if self.of[job] == one { other } else { one };
            for need in self.jobs[job] {
                let neighbour = self.table[*need][opposite];
                if neighbour != NONE && self.seen[neighbour] != self.search {
                    self.seen[neighbour] = self.search;
                    self.chain.push(neighbour);
                }
            }
        }
    }

    /// Whether `colour` is free for a job once the chain has changed.
    fn frees(&self, job: usize, colour: usize, other: usize) -> bool {
        self.jobs[job].iter().all(|need| {
            let (has, gets) = (self.table[*need][colour], self.table[*need][other]);
            let stays = has != NONE && self.seen[has] != self.search;
            let comes = gets != NONE && self.seen[gets] == self.search;
            !stays && !comes
        })
    }

    fn swap(&mut self, one: usize, other: usize) {
        for &job in &self.chain {
            for need in self.jobs[job] {
                let colour = self.of[job];
                self.table[*need][colour] = NONE;
                self.taken[*need][colour / 64] &= !(1 << (colour % 64));
            }
        }
        for index in 0..self.chain.len() {
            let job = self.chain[index];
            let colour = if self.of[job] == one { other } else { one };
            self.put(job, colour);
        }
    }

    fn put(&mut self, job: usize, colour: usize) {
        self.of[job] = colour;
        for need in self.jobs[job] {
            self.table[*need][colour] = job;
            self.taken[*need][colour / 64] |= 1 << (colour % 64);
        }
    }

    /// Changes two colours along a chain at one of the resources of a job, so that others are free there.
    fn stir(&mut self, job: usize) {
        let needs = self.jobs[job];
        let need = needs[self.chance.below(needs.len())];
        let (one, other) = (self.chance.below(self.count), self.chance.below(self.count));
        let at = [one, other].into_iter().map(|colour| self.table[need][colour]).find(|job| *job != NONE);
        if let (Some(start), true) = (at, one != other) {
            self.follow(start, one, other);
            self.swap(one, other);
        }
    }
}

/// How often a job is tried before there is one colour more.
const STIRS: usize = 400;
/// How often all jobs together are, times the number of colours: a fraction of a second, where the bound is lower than what
/// can be.
const MOST_STIRS: usize = 400_000;
/// How many colours are tried on each side of a job.
const COLOURS_TRIED: usize = 8;
