//! The transaction: old values on disk, steps one after the other, all of them or none; and back again.

use std::collections::BTreeSet;
use std::path::Path;

use linux::clock;
use model::host::fix::captured::{Difference, NamespaceValues, differences};
use model::host::fix::journal::{Because, Entry, FixId, State};
use model::host::fix::names::NamespaceName;
use model::host::fix::talk::{LONGEST_REASON, MOST_STEPS, Order, Others};
use model::host::fix::{Step, captured::Captured};

use super::error::FixError;
use super::here::inside;
use super::journal::Journal;
use super::restore::{again, restore};
use super::{apply, capture};

/// Applies fixes and takes them back. There is one for each journal.
#[derive(Debug)]
pub struct Engine {
    journal: Journal,
    boot_id: String,
}

impl Engine {
    /// Opens the journal in `directory` and takes back what no helper has seen to its end: whatever is applied and not
    /// confirmed, by a helper that is no more, can be confirmed by nobody. Fixes of an earlier boot went with it.
    ///
    /// Returns the entries that this has changed, too.
    ///
    /// # Errors
    /// [`FixError::Locked`], [`FixError::Journal`]. That an old value cannot be written back is no error here but a state
    /// of its entry ([`State::Stuck`]).
    pub fn open(directory: &Path) -> Result<(Self, Vec<Entry>), FixError> {
        let unknown = |source| FixError::File { what: "boot_id".to_owned(), source };
        let boot_id = linux::host::boot_id().map_err(unknown)?;
        let mut engine = Self { journal: Journal::open(directory)?, boot_id };
        let left: Vec<Entry> = engine.journal.entries().filter(|entry| engine.needs_recovery(entry)).cloned().collect();
        let mut changed = Vec::new();
        for entry in left {
            let entry = if entry.boot_id == engine.boot_id {
                engine.take_back(entry, Because::HelperEnded)?
            } else {
                engine.store(entry, State::GoneWithBoot)?
            };
            changed.push(entry);
        }
        Ok((engine, changed))
    }

    /// What the steps would touch, as it is now. Nothing is changed.
    ///
    /// # Errors
    /// See [`FixError`].
    pub fn preview(&self, steps: &[Step]) -> Result<Vec<Difference>, FixError> {
        let steps = &checked(steps)?;
        let none = |place: &NamespaceValues| NamespaceValues { values: Vec::new(), ..place.clone() };
        let gone = |difference: Difference| Difference { old: difference.old, new: None, ..difference };
        let places = capture_all(steps)?;
        Ok(places.iter().flat_map(|place| differences(place, &none(place))).map(gone).collect())
    }

    /// Applies all steps, or none.
    ///
    /// # Errors
    /// See [`FixError`]; after [`FixError::Step`] everything is as it was.
    pub fn apply(&mut self, order: &Order, asked_by_uid: u32) -> Result<Entry, FixError> {
        let steps = checked(&order.steps)?;
        if let Some(unreadable) = self.journal.unreadable().first() {
            return Err(FixError::Unreadable { fix: unreadable.fix, what: unreadable.what.clone() });
        }
        if let Some(open) = self.journal.entries().find(|entry| entry.is_open()) {
            return Err(FixError::Open { fix: open.fix });
        }
        let before = capture_all(&steps)?;
        let now = clock::wall_now();
        let mut entry = Entry {
            format: Entry::FORMAT,
            fix: self.journal.next_id(),
            reason: order.reason.chars().filter(|letter| !letter.is_control()).take(LONGEST_REASON).collect(),
            asked_by_uid,
            boot_id: self.boot_id.clone(),
            begun: now,
            changed: now,
            confirm_within_s: order.confirm_within_s,
            state: State::Begun,
            steps: steps.clone(),
            before,
            after: Vec::new(),
        };
        self.journal.write(entry.clone())?;
        for (place, step) in steps.iter().enumerate() {
            let applied = inside(step.namespace.as_ref(), |here| apply::apply(&step.change, here));
            if let Err(error) = applied {
                return Err(self.give_up(entry, place, error)?);
            }
        }
        match again(&entry.before) {
            Ok(after) => entry.after = after,
            Err(error) => return Err(self.give_up(entry, steps.len().saturating_sub(1), error)?),
        }
        if entry.changes().is_empty() {
            // All was so before. What holds no change must not be listed as a fix that holds; and what the kernel made anew
            // all the same, such as the number of a qdisc, is as it was.
            return self.back_or_stuck(entry, Because::NothingChanged);
        }
        let state = if order.confirm_within_s.is_some() { State::Unconfirmed } else { State::Kept };
        match self.store(entry.clone(), state) {
            Ok(entry) => Ok(entry),
            // What is not on disk would not be taken back after a loss of power.
            Err(error) => Err(self.give_up(entry, steps.len().saturating_sub(1), error)?),
        }
    }

    /// Makes room in the journal for the fixes of one user; see [`Journal::keep_within`].
    pub(crate) fn keep_within(&mut self, uid: u32, most: u64) {
        self.journal.keep_within(uid, most);
    }

    /// Keeps a fix that waits for it.
    ///
    /// # Errors
    /// [`FixError::NoSuchFix`], [`FixError::State`] where it does not wait.
    pub fn confirm(&mut self, fix: FixId) -> Result<Entry, FixError> {
        let entry = self.get(fix)?;
        match entry.state {
            State::Unconfirmed => self.store(entry, State::Kept),
            state => Err(FixError::State { fix, how: format!("does not wait to be confirmed: it {}", words(&state)) }),
        }
    }

    /// Takes a fix back: `fix`, or the last that holds.
    ///
    /// # Errors
    /// [`FixError::Changed`] where somebody else has changed since what the fix had set, unless that is to be
    /// overwritten; [`FixError::Stuck`] where not all old values could be written.
    pub fn undo(&mut self, fix: Option<FixId>, others: Others) -> Result<Entry, FixError> {
        let holds = |entry: &&Entry| matches!(entry.state, State::Kept | State::Unconfirmed | State::Stuck { .. });
        let last = || self.journal.entries().rev().find(holds).map(|entry| entry.fix);
        let meant = fix.or_else(last);
        // The last that holds may be the one that cannot be read.
        let unreadable = self.journal.unreadable().iter().find(|unreadable| match fix {
            Some(fix) => unreadable.fix == fix,
            None => meant.is_none_or(|meant| unreadable.fix > meant),
        });
        if let Some(unreadable) = unreadable {
            return Err(FixError::Unreadable { fix: unreadable.fix, what: unreadable.what.clone() });
        }
        let entry = self.get(meant.ok_or(FixError::NoSuchFix { fix })?)?;
        let fix = entry.fix;
        if !holds(&&entry) {
            return Err(FixError::State { fix, how: words(&entry.state) });
        }
        if entry.boot_id != self.boot_id {
            self.store(entry, State::GoneWithBoot)?;
            return Err(FixError::State { fix, how: words(&State::GoneWithBoot) });
        }
        if others == Others::Keep && !matches!(entry.state, State::Stuck { .. }) {
            let changed = changed_by_others(&entry)?;
            if !changed.is_empty() {
                return Err(FixError::Changed { fix, what: changed });
            }
        }
        self.back_or_stuck(entry, Because::Asked)
    }

    /// Takes back a fix that nobody has confirmed in time; nothing where it has been decided meanwhile.
    ///
    /// # Errors
    /// [`FixError::Stuck`], [`FixError::Journal`].
    pub fn expire(&mut self, fix: FixId) -> Result<Option<Entry>, FixError> {
        let entry = self.get(fix)?;
        if entry.state != State::Unconfirmed {
            return Ok(None);
        }
        self.back_or_stuck(entry, Because::NotConfirmed).map(Some)
    }

    /// All fixes of this host, open and closed ones, as they are on disk.
    #[must_use]
    pub fn journal(&self) -> &Journal {
        &self.journal
    }

    fn needs_recovery(&self, entry: &Entry) -> bool {
        let is_stuck = matches!(entry.state, State::Stuck { .. });
        entry.is_open() || is_stuck || entry.state == State::Kept && entry.boot_id != self.boot_id
    }

    fn get(&self, fix: FixId) -> Result<Entry, FixError> {
        self.journal.get(fix).cloned().ok_or(FixError::NoSuchFix { fix: Some(fix) })
    }

    fn store(&mut self, mut entry: Entry, state: State) -> Result<Entry, FixError> {
        entry.state = state;
        entry.changed = clock::wall_now();
        self.journal.write(entry.clone())?;
        Ok(entry)
    }

    /// Takes back what was done of a fix whose step failed. Returns the error that its caller gets.
    fn give_up(&mut self, entry: Entry, step: usize, error: FixError) -> Result<FixError, FixError> {
        let because = Because::StepFailed { step, reason: error.to_string() };
        let entry = self.take_back(entry, because)?;
        Ok(match entry.state {
            State::Stuck { left } => FixError::Stuck { fix: entry.fix, left },
            _ => FixError::Step { step: step + 1, source: Box::new(error) },
        })
    }

    fn back_or_stuck(&mut self, entry: Entry, because: Because) -> Result<Entry, FixError> {
        let entry = self.take_back(entry, because)?;
        match &entry.state {
            State::Stuck { left } => Err(FixError::Stuck { fix: entry.fix, left: left.clone() }),
            _ => Ok(entry),
        }
    }

    fn take_back(&mut self, entry: Entry, because: Because) -> Result<Entry, FixError> {
        let left = restore(&entry.before);
        let state = if left.is_empty() { State::Undone { because } } else { State::Stuck { left } };
        self.store(entry, state)
    }
}

/// The steps as they are tried and kept.
fn checked(steps: &[Step]) -> Result<Vec<Step>, FixError> {
    if steps.is_empty() || steps.len() > MOST_STEPS {
        return Err(FixError::Count { most: MOST_STEPS, found: steps.len() });
    }
    let one =
        |(place, step): (usize, &Step)| step.canonical().map_err(|source| FixError::Unfit { step: place + 1, source });
    steps.iter().enumerate().map(one).collect()
}

/// The values before, of everything that any of the steps can touch, by namespace.
fn capture_all(steps: &[Step]) -> Result<Vec<NamespaceValues>, FixError> {
    let namespaces: BTreeSet<Option<&NamespaceName>> = steps.iter().map(|step| step.namespace.as_ref()).collect();
    let one = |namespace: Option<&NamespaceName>| {
        inside(namespace, |here| {
            let mut values: Vec<Captured> = Vec::new();
            for step in steps.iter().filter(|step| step.namespace.as_ref() == namespace) {
                capture::add(&mut values, capture::of(&step.change, here)?);
            }
            let names: BTreeSet<&str> = values.iter().filter_map(|value| Some(value.device()?.as_str())).collect();
            let mut devices = here.indices()?;
            devices.retain(|name, _| names.contains(name.as_str()));
            Ok(NamespaceValues { namespace: namespace.cloned(), inode: here.inode()?, devices, values })
        })
    };
    namespaces.into_iter().map(one).collect()
}

/// What the fix has set and is another value by now.
fn changed_by_others(entry: &Entry) -> Result<Vec<String>, FixError> {
    let set: BTreeSet<String> = entry.changes().into_iter().map(|change| change.key).collect();
    let now = again(&entry.after)?;
    let since = entry.after.iter().zip(&now).flat_map(|(after, now)| differences(after, now));
    let text = |value: Option<String>| value.unwrap_or_else(|| "nothing".to_owned());
    Ok(since
        .filter(|change| set.contains(&change.key))
        .map(|change| format!("{} is {}, not {}", change.key, text(change.new), text(change.old)))
        .collect())
}

fn words(state: &State) -> String {
    match state {
        State::Begun => "is being applied".to_owned(),
        State::Unconfirmed => "waits to be confirmed".to_owned(),
        State::Kept => "holds already".to_owned(),
        State::Undone { because } => match because {
            Because::StepFailed { .. } => "was undone because a step failed".to_owned(),
            Because::NotConfirmed => "was undone because nobody confirmed it in time".to_owned(),
            Because::HelperEnded => "was undone because the helper had ended before it was confirmed".to_owned(),
            Because::Asked => "was undone".to_owned(),
            Because::NothingChanged => "changed nothing".to_owned(),
        },
        State::Stuck { .. } => "is not undone in whole".to_owned(),
        State::GoneWithBoot => "went with an earlier boot of this host: its settings are not there any more".to_owned(),
    }
}
