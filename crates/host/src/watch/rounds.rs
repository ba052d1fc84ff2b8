//! When to read what: parts after events, everything from time to time.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use archive::Archive;
use archive::changes::watched::{Watched, WatchedHost};
use audit::settings::{Key, Settings};
use linux::monitor::FileEventDetail;
use linux::readiness::{Patience, Readiness};
use model::host::change::ChangeSource;
use model::host::namespace::Namespace;
use model::host::snapshot::Snapshot;
use units::WallTime;

use super::actors::Acts;
use super::besides::Besides;
use super::clock::{self, Clock};
use super::entries::Reading;
use super::events::Heard;
use super::journal::Journal;
use super::known::{Known, NewReading};
use super::listener::Listener;
use super::options::{Namespaces, Options};
use super::place::{Place, device_names};
use super::report::{WatchError, WatchEvent};
use super::restless::Restless;
use crate::files::Disk;
use crate::live::part::{Parts, refresh_processors, without_counters};
use crate::live::{self, Request, Which, namespaces};

/// A watcher at work.
pub(super) struct Rounds<'a> {
    options: &'a Options,
    told: &'a mut dyn FnMut(WatchEvent<'_>),
    journal: Journal<'a>,
    readiness: Readiness,
    listener: Listener,
    places: Vec<Place>,
    snapshot: Snapshot,
    known: Known,
    restless: Restless,
    /// When everything was last compared.
    checked: WallTime,
    clock: Clock,
    due: Due,
    /// What could not be watched when it was last tried.
    unmarked: Vec<String>,
}

/// When to do what.
struct Due {
    comparison: Instant,
    /// Looking whether namespaces are still there.
    look: Instant,
    /// Looking for new ones.
    scan: Instant,
    /// Reading what may have changed, where something was heard.
    reading: Option<Instant>,
    /// No reading before this: reading takes a small part of the time, however many events come.
    rested: Instant,
}

impl<'a> Rounds<'a> {
    /// Begins to listen, and enters what changed since the last watcher, or the last snapshot.
    pub(super) fn begin(
        archive: &'a mut Archive,
        options: &'a Options,
        told: &'a mut dyn FnMut(WatchEvent<'_>),
    ) -> Result<Self, WatchError> {
        let host = WatchedHost { name: linux::host::hostname(), boot: linux::host::boot_id().ok() };
        let before = archive.watched(&host.name)?;
        let readiness = Readiness::new()?;
        let listener = Listener::start(readiness.bell())?;
        let now = Instant::now();
        let due = Due { comparison: now, look: now, scan: now, reading: None, rested: now };
        let mut rounds = Self {
            options,
            told,
            journal: Journal::new(archive, host),
            readiness,
            listener,
            places: Vec::new(),
            snapshot: read(options)?,
            known: Known::default(),
            restless: Restless::default(),
            checked: WallTime::default(),
            clock: Clock::new(),
            due,
            unmarked: Vec::new(),
        };
        without_counters(&mut rounds.snapshot);
        rounds.attach();
        rounds.mark();
        rounds.start_from(before)?;
        (rounds.told)(WatchEvent::Began {
            namespaces: rounds.places.len(),
            settings: rounds.known.len(),
            knows_writers: rounds.places.iter().all(|place| place.tells() == Some(FileEventDetail::FileAndWriter)),
        });
        rounds.journal.flush(rounds.told);
        Ok(rounds)
    }

    /// What was known before, and what changed while nobody watched.
    fn start_from(&mut self, before: Option<Watched>) -> Result<(), WatchError> {
        let since = before.or_else(|| self.last_snapshot());
        let boot = since.as_ref().and_then(|since| since.boot.clone());
        let Some(since) = since else {
            // Nothing to compare with: what is there is where it begins.
            self.known = Known::of(&Settings::of(&self.snapshot));
            self.journal.put(Vec::new(), self.known.all_steps());
            self.compare_all(None, "nobody watched")?;
            return Ok(());
        };
        let is_new = self.journal.archive().watched(&self.journal.host().name)?.is_none();
        self.known = Known::kept(since.settings);
        if is_new {
            self.journal.put(Vec::new(), self.known.all_steps());
        }
        self.checked = since.checked;
        let old_kernel = self.known.value(&Key::host(KERNEL)).cloned();
        if boot.is_some() && boot != self.journal.host().boot {
            self.enter_boot(old_kernel);
        }
        self.compare_all(Some(since.checked), "nobody watched")?;
        Ok(())
    }

    /// Settings of the last snapshot of this host that somebody kept.
    fn last_snapshot(&self) -> Option<Watched> {
        let wanted = archive::snapshots::find::Wanted::Latest { host: self.journal.host().name.clone() };
        let found = self.journal.archive().find_snapshot(&wanted).ok()?;
        let snapshot = self.journal.archive().snapshot(found.id).ok()?;
        let settings = Known::of(&Settings::of(&snapshot)).all_steps();
        let settings = settings.into_iter().filter_map(|(key, value)| Some((key, value?))).collect();
        Some(Watched { checked: snapshot.taken, boot: snapshot.machine.boot_id.value().cloned(), settings })
    }

    fn enter_boot(&mut self, old_kernel: Option<String>) {
        let now = linux::clock::wall_now();
        let up = i128::try_from(linux::clock::since_boot().as_nanos()).unwrap_or_default();
        let time = clock::moved(now, -up);
        let host = self.journal.host().clone();
        let reading = Reading {
            host: &host,
            time,
            after: None,
            source: ChangeSource::Boot,
            acts: BTreeMap::new(),
            why: "the host started anew",
        };
        let mut entry = reading.note("boot");
        entry.old = old_kernel;
        entry.new = self.snapshot.machine.kernel_release.value().cloned();
        self.journal.put(vec![entry], Vec::new());
    }

    /// Goes on until `stop` is set.
    pub(super) fn run(&mut self, stop: &AtomicBool) -> Result<(), WatchError> {
        set_code_aside();
        while !stop.load(Ordering::Acquire) {
            let wait = self.next().saturating_duration_since(Instant::now()).min(TICK);
            self.readiness.wait(Patience::For(wait), |_| ())?;
            self.look_at_clock();
            if self.listener.has_heard() && self.due.reading.is_none() {
                // One command makes several changes, and each of them several events.
                self.due.reading = Some((Instant::now() + SETTLING).max(self.due.rested));
            }
            let now = Instant::now();
            if self.due.reading.is_some_and(|due| due <= now) {
                self.after_events()?;
            }
            if self.options.reach == Namespaces::All && self.due.look <= now {
                self.look_at_namespaces()?;
            }
            if self.due.comparison <= now || (self.journal.is_behind() && self.catch_up()) {
                self.compare_all(Some(self.checked), "no event came")?;
                set_code_aside();
            }
            self.journal.flush(self.told);
        }
        Ok(())
    }

    fn next(&self) -> Instant {
        let look = (self.options.reach == Namespaces::All).then_some(self.due.look);
        let others = [self.due.reading, self.journal.due(), look];
        others.into_iter().flatten().fold(self.due.comparison, Instant::min)
    }

    /// Reads what may have changed.
    fn after_events(&mut self) -> Result<(), WatchError> {
        self.due.reading = None;
        let began = Instant::now();
        let heard = self.listener.take();
        if heard.values().any(|heard| heard.lost) {
            return self.after_loss(heard);
        }
        let before = self.names();
        self.refresh(|place| heard.get(&place.number).map(|heard| heard.parts.clone()));
        if heard.values().any(|heard| heard.parts.processors) {
            refresh_processors(&mut self.snapshot);
        }
        if heard.values().any(|heard| heard.parts.links) {
            // Of files that were not watched yet somebody may have written one since it was read.
            let new = self.mark();
            self.refresh(|place| new.contains(&place.inode).then(Parts::of_files));
        }
        let first = heard.values().filter_map(|heard| heard.first).min().unwrap_or_else(linux::clock::wall_now);
        let settings = Settings::of(&self.snapshot);
        let besides = self.besides(|place| heard.get(&place.number).is_some_and(|heard| heard.besides));
        let restless = &mut self.restless;
        let difference = self
            .known
            .take(&NewReading { settings: &settings, besides: &besides, reach: self.options.reach }, |change| {
                restless.is_too_often(&change.key, began)
            });
        let host = self.journal.host().clone();
        let reading = Reading {
            host: &host,
            time: first,
            after: None,
            source: ChangeSource::Watch,
            acts: self.acts(heard, &before),
            why: "came with something else",
        };
        let entries = reading.entries(&difference.changes);
        self.journal.put(entries, difference.settings);
        self.due.rested = Instant::now() + began.elapsed() * REST;
        Ok(())
    }

    /// Reads everything, since the kernel could not tell everything.
    fn after_loss(&mut self, heard: BTreeMap<u32, Heard>) -> Result<(), WatchError> {
        let host = self.journal.host().clone();
        let why = "too much at once";
        let reading = Reading {
            host: &host,
            time: heard.values().filter_map(|heard| heard.first).min().unwrap_or_else(linux::clock::wall_now),
            after: None,
            source: ChangeSource::Watch,
            acts: BTreeMap::new(),
            why,
        };
        let mut entry = reading.note("watch.events-lost");
        entry.new = Some("everything was read again".to_owned());
        self.journal.put(vec![entry], Vec::new());
        self.compare(Some(self.checked), why, heard)
    }

    /// Reads everything and enters what is not as it was known.
    fn compare_all(&mut self, after: Option<WallTime>, why: &str) -> Result<(), WatchError> {
        let heard = self.listener.take();
        self.compare(after, why, heard)
    }

    fn compare(&mut self, after: Option<WallTime>, why: &str, heard: BTreeMap<u32, Heard>) -> Result<(), WatchError> {
        let began = Instant::now();
        let before = self.names();
        let time = linux::clock::wall_now();
        self.snapshot = read(self.options)?;
        without_counters(&mut self.snapshot);
        self.attach();
        let new = self.mark();
        self.refresh(|place| new.contains(&place.inode).then(Parts::of_files));
        let besides = self.besides(|_| true).with_packages(&Disk::below("/"));
        let settings = Settings::of(&self.snapshot);
        let new = NewReading { settings: &settings, besides: &besides, reach: self.options.reach };
        let difference = self.known.take(&new, |_| false);
        let host = self.journal.host().clone();
        let acts = self.acts(heard, &before);
        let reading = Reading { host: &host, time, after, source: ChangeSource::Comparison, acts, why };
        let entries = reading.entries(&difference.changes);
        self.journal.put(entries, difference.settings);
        self.journal.checked(time);
        self.checked = time;
        self.due.comparison = Instant::now() + self.options.interval;
        self.due.rested = Instant::now() + began.elapsed() * REST;
        Ok(())
    }

    /// What is known comes from the archive again, where it can be read.
    fn catch_up(&mut self) -> bool {
        if self.journal.due().is_some_and(|due| due > Instant::now()) {
            return false;
        }
        let Ok(Some(kept)) = self.journal.archive().watched(&self.journal.host().name) else { return false };
        self.known = Known::kept(kept.settings);
        self.checked = kept.checked;
        self.journal.caught_up();
        true
    }

    fn look_at_clock(&mut self) {
        let Some(step) = self.clock.step() else { return };
        self.checked = clock::moved(self.checked, step);
        let host = self.journal.host().clone();
        let reading = Reading {
            host: &host,
            time: linux::clock::wall_now(),
            after: None,
            source: ChangeSource::Watch,
            acts: BTreeMap::new(),
            why: "the clock does not tell who",
        };
        let mut entry = reading.note("clock.step");
        entry.new = Some(clock::words(step));
        self.journal.put(vec![entry], Vec::new());
    }

    /// Whether namespaces went, and from time to time whether others came.
    fn look_at_namespaces(&mut self) -> Result<(), WatchError> {
        let now = Instant::now();
        self.due.look = now + LOOK;
        let known: Vec<u64> = self.places.iter().map(|place| place.inode).collect();
        let mut changed = false;
        self.places.retain(|place| {
            let gone = place.is_gone();
            if gone {
                self.listener.remove(place.number);
            }
            changed |= gone;
            !gone
        });
        // One that was found by a process may have got a name since.
        let is_known = |named: &linux::netns::NamedNetns| {
            let mut namespaces = self.snapshot.namespaces.iter().skip(1);
            let own = Some(named.inode) == self.snapshot.own().and_then(|own| own.inode);
            let has_name = |name: &String| !name.starts_with("pid:");
            own || namespaces.any(|each| each.inode == Some(named.inode) && each.name.as_ref().is_some_and(has_name))
        };
        let named = linux::netns::list().iter().any(|named| !is_known(named) && !self.is_closed(named.inode));
        changed |= named;
        if self.due.scan <= now {
            self.due.scan = now + SCAN;
            let found = |other: &namespaces::Other| !known.contains(&other.inode) && !self.is_closed(other.inode);
            changed |= namespaces::others(linux::netns::current_inode().ok()).iter().any(found);
        }
        if changed { self.compare_all(Some(self.checked), "came or went with its namespace") } else { Ok(()) }
    }

    fn is_closed(&self, inode: u64) -> bool {
        self.snapshot.closed_namespaces.iter().any(|closed| closed.inode == Some(inode))
    }

    /// Listens in every namespace that was read and is not listened to yet.
    fn attach(&mut self) {
        let own = linux::netns::current_inode().ok();
        let mut wanted: Vec<_> = own.map(|inode| (None, inode)).into_iter().collect();
        if self.options.reach == Namespaces::All {
            wanted.extend(namespaces::others(own).into_iter().map(|other| (Some(other.reference), other.inode)));
        }
        for (reference, inode) in wanted {
            let place = self.places.iter_mut().find(|place| place.inode == inode);
            let is_new = place.is_none();
            if let (Some(place), Some(reference)) = (place, &reference) {
                place.is_now_called(reference);
            }
            let was_read = self.snapshot.namespaces.iter().any(|namespace| namespace.inode == Some(inode));
            if !is_new || !was_read {
                continue;
            }
            let name = reference.as_ref().map_or_else(|| "this namespace".to_owned(), ToString::to_string);
            match Place::open(&mut self.listener, reference, inode, self.options.queue_bytes) {
                Ok((place, deaf)) => {
                    self.places.push(place);
                    deaf.0.into_iter().for_each(|words| (self.told)(WatchEvent::Warning(format!("{name}: {words}"))));
                }
                Err(words) => (self.told)(WatchEvent::Warning(format!("{name} is compared only: {words}"))),
            }
        }
    }

    /// Watches the files of all settings that there are. Tells in which namespaces there are new ones.
    fn mark(&mut self) -> Vec<u64> {
        let (mut new, mut problems) = (Vec::new(), Vec::new());
        for place in &self.places {
            match place.mark(&self.snapshot) {
                Ok(0) => {}
                Ok(_) => new.push(place.inode),
                Err(words) => problems.push(words),
            }
        }
        // What cannot be watched now could not be watched before either; it is said once.
        if problems != self.unmarked {
            problems.iter().for_each(|words| (self.told)(WatchEvent::Warning(words.clone())));
            self.unmarked = problems;
        }
        new
    }

    /// Reads parts of namespaces again.
    fn refresh(&mut self, parts: impl Fn(&Place) -> Option<Parts>) {
        for place in &self.places {
            let Some(parts) = parts(place) else { continue };
            let mut namespaces = self.snapshot.namespaces.iter_mut();
            if let Some(namespace) = namespaces.find(|namespace| namespace.inode == Some(place.inode)) {
                // A namespace that cannot be entered any more is going; the next look finds that.
                let _ = place.refresh(namespace, &parts);
            }
        }
    }

    /// What is watched besides settings, of these namespaces.
    fn besides(&self, which: impl Fn(&Place) -> bool) -> Besides {
        let mut besides = Besides::default();
        for place in self.places.iter().filter(|place| which(place)) {
            let Some((name, namespace)) = self.namespace_of(place) else { continue };
            let Some(state) = place.network_state() else { continue };
            besides = besides.with_network(&name, state.with_carriers(namespace));
        }
        besides
    }

    /// The namespace of a place, by the name that settings have for it.
    fn namespace_of(&self, place: &Place) -> Option<(String, &Namespace)> {
        let mut namespaces = self.snapshot.namespaces.iter().enumerate();
        let (index, namespace) = namespaces.find(|(_, each)| each.inode == Some(place.inode))?;
        Some((namespace.name.clone().filter(|_| index > 0).unwrap_or_default(), namespace))
    }

    /// The devices of each namespace by their numbers.
    fn names(&self) -> BTreeMap<u64, BTreeMap<u32, String>> {
        let namespaces = self.snapshot.namespaces.iter();
        namespaces.filter_map(|namespace| Some((namespace.inode?, device_names(namespace)))).collect()
    }

    /// Who acted, by the name that settings have for the namespace.
    fn acts(
        &self,
        mut heard: BTreeMap<u32, Heard>,
        before: &BTreeMap<u64, BTreeMap<u32, String>>,
    ) -> BTreeMap<String, Acts> {
        let mut all = BTreeMap::new();
        for place in &self.places {
            let Some(heard) = heard.remove(&place.number) else { continue };
            let Some((name, namespace)) = self.namespace_of(place) else { continue };
            let mut devices = before.get(&place.inode).cloned().unwrap_or_default();
            devices.extend(device_names(namespace));
            all.insert(name, Acts { acts: heard.acts, devices, tells: place.tells() });
        }
        all
    }
}

fn read(options: &Options) -> Result<Snapshot, WatchError> {
    let which = if options.reach == Namespaces::All { Which::All } else { Which::Own };
    Ok(live::read(&Request { which, ..Request::default() })?)
}

/// What reads everything is long and rests for the whole interval.
fn set_code_aside() {
    // Where it cannot be, a few megabytes stay in memory, and nothing else is different.
    let _ = linux::memory::set_code_aside();
}

/// The setting that says which kernel runs.
const KERNEL: &str = "machine.kernel";

/// How long a change may take to be complete.
const SETTLING: Duration = Duration::from_millis(30);

/// After a reading, so many times as long nothing is read.
const REST: u32 = 20;

/// How soon a stop is noticed.
const TICK: Duration = Duration::from_secs(1);

/// How often namespaces are looked at: one that ends stays as long as somebody listens in it.
const LOOK: Duration = Duration::from_secs(1);
const SCAN: Duration = Duration::from_secs(10);
