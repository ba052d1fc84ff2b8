//! All that requests share.

use std::sync::Arc;
use std::time::Duration;

use linux::clock;
use measure::serve::ndt7::upgrade::Ndt7Upgrades;
use mesh::notify::Route;
use units::WallTime;
use web::site::Site;

use super::attempts::Attempts;
use super::bells::Bells;
use super::counters::Counters;
use super::directory::Opened;
use super::log::Log;
use super::newest_facts::NewestFacts;
use crate::demonstration::Demonstrations;
use crate::openid::provider::Provider;
use crate::pages::HubSource;
use crate::schedule::Schedule;
use crate::segments::Segments;
use crate::segments::error::TargetError;
use crate::store::{Store, StoreError};
use crate::trust::authority::Authority;
use crate::trust::pin::Identity;
use crate::trust::ticket::TicketKey;
use crate::watching::Watching;
use crate::watching::notify::Notifier;

/// A hub, without its sockets.
#[derive(Debug)]
pub struct Hub {
    /// Authority that signs certificates of agents.
    pub authority: Authority,
    /// The key that signs tickets.
    pub ticket_key: TicketKey,
    /// What it keeps.
    pub store: Arc<dyn Store>,
    /// What people see of it in a browser.
    pub site: Site,
    /// What people see in place of that where it has no plan, if they want to.
    pub demonstrations: Demonstrations,
    /// By which names and addresses it is reached.
    pub names: Vec<String>,
    /// The provider by which people sign in beside local accounts.
    pub openid: Option<Provider>,
    /// Tests from browsers, where the settings permit them.
    pub browser_tests: Option<Ndt7Upgrades>,
    /// Wrong passwords of late.
    pub attempts: Attempts,
    /// What has happened since its start.
    pub counters: Counters,
    /// Which agent runs what.
    pub schedule: Schedule,
    /// What was measured, and what of it is worse.
    pub watching: Watching,
    /// What wakes requests that wait.
    pub bells: Bells,
    /// When agents delivered the facts of their hosts last.
    pub newest_facts: NewestFacts,
    /// Where raw samples go, if they do.
    pub segments: Option<Segments>,
    /// How often agents deliver what transfers of their hosts reached, if they do.
    pub transfers_every: Option<Duration>,
    /// Who is told of incidents.
    pub routes: Vec<Route>,
    /// By what they are told.
    pub notifier: Notifier,
    /// Where it says what a person should see.
    pub log: Log,
    /// The calendar, which tests may set.
    pub calendar: fn() -> WallTime,
}

/// Why a hub does not start.
#[derive(Debug, thiserror::Error)]
pub enum HubError {
    /// The database refuses.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Its segments have no place.
    #[error(transparent)]
    Segments(#[from] TargetError),
}

impl Hub {
    /// A hub of what is in a directory and a database; the identity is what its listener shows.
    ///
    /// # Errors
    /// Where the database refuses, or the address of segments is none.
    pub fn new(opened: Opened, store: Box<dyn Store>, log: Log) -> Result<(Arc<Self>, Identity), HubError> {
        let Opened { authority, identity, ticket_key, settings, openid, mailer } = opened;
        let store: Arc<dyn Store> = Arc::from(store);
        let own = authority.fingerprint();
        if let Some(found) = store.authority(Some(own))?.filter(|found| *found != own) {
            return Err(StoreError::OtherAuthority { found, own }.into());
        }
        let name = settings.names.first().map_or_else(|| "hub".to_owned(), |name| format!("hub {name}"));
        let segments = settings.segments.as_ref().map(|segments| Segments::new(segments, own)).transpose()?;
        let target = segments.as_ref().map(|segments| Arc::clone(segments.target()));
        let source = HubSource::new(name, Arc::clone(&store), target).read_ahead();
        let browser_tests = settings.browser_tests.then(Ndt7Upgrades::new).transpose();
        let said = log.clone();
        let complain = move |error: &StoreError| {
            said.say(clock::wall_now(), format_args!("what was measured cannot be read yet: {error}"));
        };
        let hub = Self {
            authority,
            ticket_key,
            schedule: Schedule::load(store.as_ref())?,
            watching: Watching::load_meanwhile(&store, &settings, complain)?,
            site: Site::new(Box::new(source), settings.names.clone()),
            demonstrations: Demonstrations::default(),
            names: settings.names.clone(),
            openid,
            browser_tests: browser_tests.map_err(StoreError::from)?,
            attempts: Attempts::default(),
            store,
            segments,
            transfers_every: settings.incidents.transfers(),
            routes: settings.notify.clone(),
            notifier: Notifier::start(log.clone(), mailer).map_err(StoreError::from)?,
            counters: Counters::default(),
            bells: Bells::default(),
            newest_facts: NewestFacts::default(),
            log,
            calendar: clock::wall_now,
        };
        Ok((Arc::new(hub), identity))
    }

    /// Now.
    #[must_use]
    pub fn now(&self) -> WallTime {
        (self.calendar)()
    }
}
