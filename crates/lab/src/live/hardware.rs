//! Faults that hang on settings of hardware.
//!
//! A namespace has no adapter, so what a scenario says of one is in a file of the host, its recorded facts. To programs in
//! the host that file is the hardware: they read it, and who sets a feature or a ring writes it. What would come of it
//! in an adapter is done to the links here.
//!
//! Model: a driver that takes its link down to change a ring does not do so here.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::{fs, io};

use linux::monitor::FileMonitor;
use linux::readiness::{Patience, Readiness};
use measure::stop::Stop;
use path::Presence;

use super::LiveError;
use crate::blueprint::{Condition, Holds, Switch};
use crate::network::{Host, Network};
use crate::relay::{Becomes, Relay};

/// The faults of a network that can come and go, and what they hang on.
#[derive(Debug)]
pub(super) struct Hardware<'a> {
    network: &'a Network,
    relay: &'a Relay,
    switches: &'a [Switch],
    /// Which of them are there. Held from a look at the hardware until the relay has done what it asks for, so that of two
    /// who look at once the later has the last word.
    now: Mutex<Vec<Presence>>,
}

/// Wakes when a program in a host has set its hardware.
pub(super) struct Watch {
    readiness: Readiness,
    monitor: FileMonitor,
}

impl<'a> Hardware<'a> {
    pub(super) fn new(switches: &'a [Switch], network: &'a Network, relay: &'a Relay) -> Self {
        Self { network, relay, switches, now: Mutex::new(vec![Presence::There; switches.len()]) }
    }

    /// Has each fault be there or not as the hardware that it hangs on is set.
    pub(super) fn obey(&self) -> Result<(), LiveError> {
        let mut now = self.now();
        let mut outcome = Ok(());
        for (switch, now) in self.switches.iter().zip(&mut *now) {
            let Some(condition) = &switch.condition else { continue };
            let host = &self.network.hosts()[condition.host];
            match is_so(condition, host) {
                Ok(true) => self.put(switch, now, Presence::There),
                Ok(false) => self.put(switch, now, Presence::Away),
                Err(reason) => outcome = Err(LiveError::Hardware { host: host.name().to_owned(), reason }),
            }
        }
        outcome
    }

    /// Ends a fault that hangs on no hardware.
    pub(super) fn end_fault(&self, fault: &str) -> bool {
        let mut now = self.now();
        let mut all = self.switches.iter().zip(&mut *now);
        let found = all.find(|(switch, _)| switch.fault == fault && switch.condition.is_none());
        found.map(|(switch, now)| self.put(switch, now, Presence::Away)).is_some()
    }

    fn now(&self) -> MutexGuard<'_, Vec<Presence>> {
        self.now.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn put(&self, switch: &Switch, now: &mut Presence, presence: Presence) {
        if *now == presence {
            return;
        }
        for part in &switch.parts {
            let becomes = match &part.settings {
                None => Becomes::Presence(presence),
                Some([with, without]) => {
                    Becomes::Settings(if presence == Presence::There { with } else { without }.clone())
                }
            };
            self.relay.turn((part.cable, part.direction), part.place, &becomes);
        }
        *now = presence;
    }

    /// What tells that hardware was set; [`None`] where no fault hangs on any.
    pub(super) fn watch(&self) -> Result<Option<Watch>, LiveError> {
        let conditions = self.switches.iter().filter_map(|switch| switch.condition.as_ref());
        let hosts: BTreeSet<usize> = conditions.map(|condition| condition.host).collect();
        let hosts: Vec<&Host> = hosts.into_iter().map(|host| &self.network.hosts()[host]).collect();
        let Some(first) = hosts.first() else { return Ok(None) };
        let places: Vec<PathBuf> = hosts.iter().map(|host| host.own_files()).collect();
        let watch = Watch::of(&places);
        let failed =
            |error: io::Error| LiveError::Hardware { host: first.name().to_owned(), reason: error.to_string() };
        watch.map(Some).map_err(failed)
    }

    /// Obeys whatever is set, until it is to stop and the watch is woken.
    pub(super) fn keep(&self, watch: &Watch, stop: &Stop, hear: &dyn Fn(LiveError)) {
        while !stop.is_stopped() {
            let heard = watch.readiness.wait(Patience::Endless, |_| ()).and_then(|()| watch.monitor.read(|_| ()));
            // Without news of the hardware it is as it was seen last.
            if heard.is_err() {
                return;
            }
            if let Err(error) = self.obey() {
                hear(error);
            }
        }
    }
}

impl Watch {
    fn of(places: &[PathBuf]) -> io::Result<Self> {
        let monitor = FileMonitor::open_without_writers()?;
        monitor.watch(places)?;
        let readiness = Readiness::new()?;
        readiness.add(&monitor, 0)?;
        Ok(Self { readiness, monitor })
    }

    /// Wakes who waits for news.
    pub(super) fn wake(&self) {
        self.readiness.bell().ring();
    }
}

/// Whether a condition holds of the hardware as it is set now.
fn is_so(condition: &Condition, host: &Host) -> Result<bool, String> {
    let file = host.own_files().join(crate::network::FACTS);
    let text = fs::read_to_string(file).map_err(|error| error.to_string())?;
    let facts: toml::Table = toml::from_str(&text).map_err(|error| error.message().to_owned())?;
    let device = facts.get("interfaces").and_then(|all| all.get(&condition.device));
    let found = match &condition.holds {
        Holds::Feature(name) => {
            let active = device.and_then(|device| device.get("features")?.get(name)?.get("active")?.as_bool());
            active.or_else(|| device?.get("features")?.get(name).map(|_| false))
        }
        Holds::Ring(name, below) => {
            let entries = device.and_then(|device| device.get("rings")?.get(name)?.as_integer());
            entries.map(|entries| entries < i64::from(*below))
        }
    };
    found.ok_or_else(|| format!("nothing is recorded of {} that a fault hangs on", condition.device))
}
