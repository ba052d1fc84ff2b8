//! What the cluster is asked for: files of FTS links in a closed loop, by day and by night.

use std::collections::VecDeque;
use std::f64::consts::TAU;

use path::Seed;
use path::random::SeededRng;

use super::bounds::{bytes_per_second, small};
use super::gateway::{File, Step};
use super::settings::{Settings, Transfers};

/// Random numbers of shapes that load has.
#[derive(Debug, Clone)]
pub struct Draws(SeededRng);

impl Draws {
    /// From a seed.
    #[must_use]
    pub fn new(seed: Seed) -> Self {
        Self(SeededRng::new(seed))
    }

    /// A standard normal number (Box and Muller 1958).
    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.0.unit()).ln()).sqrt();
        radius * (TAU * self.0.unit()).cos()
    }

    /// A logarithmic normal number of median 1.
    pub fn lognormal(&mut self, sigma: f64) -> f64 {
        (sigma * self.normal()).exp()
    }

    /// How often something happens that is expected `mean` times.
    pub fn poisson(&mut self, mean: f64) -> u32 {
        // Knuth's products, in parts, since exp(-mean) vanishes for large means.
        let (mut left, mut count) = (mean, 0);
        while left > 0.0 {
            let part = left.min(30.0);
            left -= part;
            let limit = (-part).exp();
            let mut product = self.0.unit();
            while product > limit {
                count += 1;
                product *= self.0.unit();
            }
        }
        count
    }

    /// Evenly below `end`.
    pub fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.0.below(u64::try_from(end).unwrap_or(u64::MAX))).unwrap_or(0)
    }

    /// Evenly from 0 to below 1.
    pub fn unit(&mut self) -> f64 {
        self.0.unit()
    }
}

/// The queues of all links.
#[derive(Debug, Clone)]
pub struct Links {
    settings: Transfers,
    starts_at_hour: f64,
    draws: Draws,
    links: Vec<Link>,
    /// Failed ones, in the order in which they are due.
    failed_ones: VecDeque<(f64, File)>,
    /// What happened to them.
    pub counts: LinkCounts,
}

/// What links count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LinkCounts {
    /// Files that were wanted.
    pub wanted: u64,
    /// Transfers that failed and are tried again.
    pub retried: u64,
    /// Files that were tried as often as is allowed, and failed.
    pub lost: u64,
    /// Files for which no queue had room.
    pub not_queued: u64,
}

#[derive(Debug, Clone, Default)]
struct Link {
    queue: VecDeque<File>,
    active: usize,
}

/// What files are like at an hour.
#[derive(Clone, Copy)]
struct Mean {
    bytes: f64,
    cap_factor: f64,
}

/// Files that wait on one link at most.
const LONGEST_QUEUE: usize = 20_000;

impl Links {
    /// Links without files.
    #[must_use]
    pub fn new(settings: &Settings, seed: Seed) -> Self {
        Self {
            settings: settings.transfers.clone(),
            starts_at_hour: settings.starts_at_hour,
            draws: Draws::new(seed),
            links: vec![Link::default(); settings.transfers.links],
            failed_ones: VecDeque::new(),
            counts: LinkCounts::default(),
        }
    }

    /// Files that come in a step, and failed ones that are due again.
    pub fn arrive(&mut self, step: Step) {
        let Step { at_s, for_s } = step;
        let hour = self.starts_at_hour + at_s / 3600.0;
        let day = (TAU * (hour - NOON_OF_LOAD) / 24.0).cos();
        let night = 0.5 - 0.5 * day;
        let mean = self.settings.mean_size_gb * 1e9;
        let size_factor = 1.0 + (self.settings.night_size - 1.0) * night;
        let cap_factor = 1.0 + (self.settings.night_cap - 1.0) * night;
        let offered = bytes_per_second(self.settings.offered_gbit_s) * (1.0 + self.settings.day_swing * day);
        // Larger files at night are fewer: what is offered in bytes is set by `day_swing` alone.
        let count = self.draws.poisson(offered * for_s / (mean * size_factor));
        for _ in 0..count {
            let file = self.file(Mean { bytes: mean * size_factor, cap_factor });
            self.counts.wanted += 1;
            self.queue(file);
        }
        while self.failed_ones.front().is_some_and(|(due, _)| *due <= at_s) {
            if let Some((_, file)) = self.failed_ones.pop_front() {
                self.queue(file);
            }
        }
    }

    fn file(&mut self, mean: Mean) -> File {
        let Mean { bytes: mean, cap_factor } = mean;
        let settings = &self.settings;
        let sigma = settings.size_sigma;
        // exp(-sigma^2 / 2) makes the mean of a logarithmic normal number 1.
        let bytes = mean * (-sigma * sigma / 2.0).exp() * self.draws.lognormal(sigma);
        let cap = bytes_per_second(settings.median_cap_mbit_s / 1000.0) * self.draws.lognormal(settings.cap_sigma);
        let link = u32::try_from(self.draws.below(settings.links)).unwrap_or(0);
        File {
            link,
            tried: 0,
            bytes: bytes.clamp(1.0, settings.largest_gb * 1e9),
            cap: (cap * cap_factor).max(SLOWEST),
        }
    }

    fn queue(&mut self, file: File) {
        let Some(link) = self.links.get_mut(file.link as usize) else { return };
        if link.queue.len() < LONGEST_QUEUE {
            link.queue.push_back(file);
        } else {
            self.counts.not_queued += 1;
        }
    }

    /// The next file that FTS starts, round the links from `from`; its slot is taken.
    pub fn start(&mut self, from: usize) -> Option<File> {
        let count = self.links.len();
        for at in 0..count {
            let link = &mut self.links[(from + at) % count];
            if link.active < self.settings.active_per_link
                && let Some(file) = link.queue.pop_front()
            {
                link.active += 1;
                return Some(file);
            }
        }
        None
    }

    /// A transfer has ended well: its slot is free.
    pub fn finished(&mut self, file: File) {
        self.free(file);
    }

    /// A transfer has failed: its slot is free, and it is tried again later unless it was tried often enough.
    pub fn failed(&mut self, mut file: File, at_s: f64) {
        self.free(file);
        file.tried += 1;
        if file.tried >= self.settings.tries {
            self.counts.lost += 1;
        } else {
            self.counts.retried += 1;
            self.failed_ones.push_back((at_s + self.settings.retry_s, file));
        }
    }

    fn free(&mut self, file: File) {
        if let Some(link) = self.links.get_mut(file.link as usize) {
            link.active = link.active.saturating_sub(1);
        }
    }

    /// Files that wait.
    #[must_use]
    pub fn backlog(&self) -> usize {
        self.links.iter().map(|link| link.queue.len()).sum::<usize>() + self.failed_ones.len()
    }

    /// Seconds of offered load that wait.
    #[must_use]
    pub fn backlog_s(&self) -> f64 {
        let files_per_s = bytes_per_second(self.settings.offered_gbit_s) / (self.settings.mean_size_gb * 1e9);
        if files_per_s > 0.0 { small(self.backlog()) / files_per_s } else { 0.0 }
    }
}

/// The hour of the day at which most is offered.
const NOON_OF_LOAD: f64 = 15.0;
/// Nothing is slower than 1 Mbit/s: FTS ends such transfers. Bytes per second.
const SLOWEST: f64 = 125_000.0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_come_at_the_offered_rate_with_the_mean_size() {
        let settings = Settings::default();
        let mut links = Links::new(&settings, Seed(3));
        for at in 0..3600 {
            links.arrive(Step { at_s: f64::from(at), for_s: 1.0 });
        }
        let bytes: f64 = links.links.iter().flat_map(|link| &link.queue).map(|file| file.bytes).sum();
        let offered = bytes_per_second(settings.transfers.offered_gbit_s) * 3600.0;
        // 26,400 files of relative deviation 1.3: five standard errors are 4 %; the largest size cuts 1 % away.
        assert!((bytes / offered - 1.0).abs() < 0.05, "{}", bytes / offered);
    }

    #[test]
    fn a_link_keeps_no_more_than_its_limit_active_and_a_retry_comes_later() {
        let mut settings = Settings::default();
        settings.transfers.links = 1;
        settings.transfers.active_per_link = 3;
        settings.transfers.tries = 2;
        let mut links = Links::new(&settings, Seed(3));
        links.arrive(Step { at_s: 0.0, for_s: 10.0 });
        let started: Vec<File> = std::iter::from_fn(|| links.start(0)).collect();
        assert_eq!(started.len(), 3);
        links.finished(started[0]);
        let again = links.start(0).unwrap();
        links.failed(again, 10.0);
        assert_eq!((links.counts.retried, links.failed_ones.len()), (1, 1));
        let waiting = links.backlog();
        links.arrive(Step { at_s: 69.0, for_s: 0.0 });
        assert_eq!(links.failed_ones.len(), 1, "a retry waits a minute");
        links.arrive(Step { at_s: 70.0, for_s: 0.0 });
        assert_eq!((links.failed_ones.len(), links.backlog()), (0, waiting));
        links.failed(File { tried: 1, ..started[1] }, 80.0);
        assert_eq!(links.counts.lost, 1);
    }

    #[test]
    fn nights_have_fewer_longer_and_slower_transfers() {
        let mut settings = Settings::default();
        settings.transfers.night_size = 2.0;
        settings.transfers.night_cap = 0.5;
        let means = |hour: f64| {
            let mut links = Links::new(&Settings { starts_at_hour: hour, ..settings.clone() }, Seed(3));
            links.arrive(Step { at_s: 0.0, for_s: 1800.0 });
            let files: Vec<File> = links.links.iter().flat_map(|link| link.queue.iter().copied()).collect();
            let count = small(files.len());
            (
                count,
                files.iter().map(|file| file.bytes).sum::<f64>() / count,
                files.iter().map(|file| file.cap).sum::<f64>() / count,
            )
        };
        let (day, night) = (means(15.0), means(3.0));
        assert!(night.0 < day.0 * 0.6 && night.1 > day.1 * 1.7 && night.2 < day.2 * 0.6, "{day:?} {night:?}");
    }
}
