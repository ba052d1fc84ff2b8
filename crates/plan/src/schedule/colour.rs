//! Jobs of one length: the colouring of a graph whose edges are jobs. A colour is a stretch of time, and no resource has two
//! jobs of one colour.
//!
//! Jobs are coloured one after the other. Where no colour is free on all that a job needs, colours `a` and `b` change places
//! along a Kempe chain (Kempe 1879; Vizing 1964), which leaves all other jobs as right as before and may free one; where no
//! chain does, chains at random stir the colouring and the search goes on. There are as many colours as the bound says;
//! one more comes only if a job finds none.

use super::chance::Chance;

/// Colours jobs, given by what each needs; there are at least `least` colours.
pub(super) fn colours(jobs: &[&[usize]], resources: usize, least: usize) -> Vec<usize> {
    let mut colouring = Colouring::new(jobs, resources, least.max(1));
    let mut left: Vec<usize> = (0..jobs.len()).collect();
    loop {
        left.retain(|job| !colouring.colour_somehow(*job));
        if left.is_empty() {
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
    chance: Chance,
    /// Of each job, the search that saw it last.
    seen: Vec<u32>,
    search: u32,
    chain: Vec<usize>,
}

impl<'a> Colouring<'a> {
    fn new(jobs: &'a [&'a [usize]], resources: usize, count: usize) -> Self {
        Self {
            jobs,
            of: vec![NONE; jobs.len()],
            count,
            table: vec![vec![NONE; count]; resources],
            chance: Chance::new(),
            seen: vec![0; jobs.len()],
            search: 0,
            chain: Vec::new(),
        }
    }

    fn add_a_colour(&mut self) {
        self.count += 1;
        self.table.iter_mut().for_each(|colours| colours.push(NONE));
    }

    fn colour_somehow(&mut self, job: usize) -> bool {
        for _ in 0..STIRS {
            if self.colour_by_a_chain(job) {
                return true;
            }
            self.stir(job);
        }
        false
    }

    /// Gives a job the colour that the fewest of its resources have to give up, after chains have freed it there.
    fn colour_by_a_chain(&mut self, job: usize) -> bool {
        let first = self.chance.below(self.count);
        let mut once: Vec<(usize, usize)> = Vec::new();
        for colour in (0..self.count).map(|step| (first + step) % self.count) {
            let mut taken = self.jobs[job].iter().filter(|need| self.table[**need][colour] != NONE);
            match (taken.next(), taken.next()) {
                (None, _) => {
                    self.put(job, colour);
                    return true;
                }
                (Some(need), other) => {
                    let same = |other: &usize| self.table[*other][colour] == self.table[*need][colour];
                    if other.is_none_or(same) && taken.all(same_as(&self.table, colour, *need)) {
                        once.push((colour, *need));
                    }
                }
            }
        }
        for (colour, need) in once.into_iter().take(COLOURS_TRIED) {
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
                self.table[*need][self.of[job]] = NONE;
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

/// Whether another resource has the same job of a colour.
fn same_as<'t>(table: &'t [Vec<usize>], colour: usize, need: usize) -> impl FnMut(&usize) -> bool + 't {
    move |other| table[*other][colour] == table[need][colour]
}

/// How often a job is tried before there is one colour more.
const STIRS: usize = 400;
/// How many colours are tried on each side of a job.
const COLOURS_TRIED: usize = 8;
