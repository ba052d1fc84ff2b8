//! A demonstration that a hub without a plan shows in place of its own pages, which have nothing to show yet.
//!
//! Who carries it out is the program's to say ([`Demonstrator`]): a hub knows nothing of networks of namespaces.

use std::fmt::Debug;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use web::site::Site;
use web::source::Source;

use crate::api::demonstration::{DemonstrationInfo, DemonstrationKind, DemonstrationState};

/// Who can carry out demonstrations.
pub trait Demonstrator: Debug + Send + Sync {
    /// Begins one, which ends when what is returned is dropped.
    ///
    /// # Errors
    /// Where it cannot even be begun.
    fn begin(&self, kind: DemonstrationKind) -> io::Result<Box<dyn Performance>>;
}

/// A demonstration under way.
pub trait Performance: Debug + Send {
    /// What there is to see of it, once there is something; pages are made of it from then on.
    fn source(&mut self) -> Option<Box<dyn Source>>;

    /// What it has said last, the latest line last.
    fn lines(&self) -> Vec<String>;

    /// Why it has ended, if it has before there was something to see.
    fn failure(&self) -> Option<String>;
}

/// The demonstration of a hub.
#[derive(Debug, Default)]
pub struct Demonstrations {
    demonstrator: OnceLock<Box<dyn Demonstrator>>,
    current: Mutex<Option<Current>>,
}

#[derive(Debug)]
struct Current {
    kind: DemonstrationKind,
    performance: Box<dyn Performance>,
    site: Option<Arc<Site>>,
    /// Why it is not live, where somebody wanted that.
    reason: Option<String>,
}

impl Demonstrations {
    /// Offers demonstrations from now on.
    pub fn offer(&self, demonstrator: Box<dyn Demonstrator>) {
        // Whoever carries them out does so for as long as the hub runs.
        let _ = self.demonstrator.set(demonstrator);
    }

    /// Begins one, in place of one that is there.
    ///
    /// # Errors
    /// Where nobody carries out demonstrations here, or it cannot be begun.
    pub fn begin(&self, kind: DemonstrationKind) -> io::Result<()> {
        let demonstrator = self.demonstrator.get().ok_or(io::ErrorKind::Unsupported)?;
        let mut current = self.current();
        // What is there holds names that the next one needs.
        *current = None;
        let performance = demonstrator.begin(kind)?;
        *current = Some(Current { kind, performance, site: None, reason: None });
        Ok(())
    }

    /// The hub's own pages again.
    pub fn end(&self) {
        *self.current() = None;
    }

    /// Pages of a demonstration, where there is one to see. `names` are those of the hub.
    #[must_use]
    pub fn site(&self, names: &[String]) -> Option<Arc<Site>> {
        let mut current = self.current();
        let current = current.as_mut()?;
        if current.site.is_none() {
            let source = current.performance.source()?;
            current.site = Some(Arc::new(Site::new(source, names.to_vec())));
        }
        current.site.clone()
    }

    /// How it is. One that cannot be live goes on in virtual time.
    #[must_use]
    pub fn info(&self, names: &[String]) -> DemonstrationInfo {
        let is_shown = self.site(names).is_some();
        let mut guard = self.current();
        let Some(current) = guard.as_mut() else {
            let state = match self.demonstrator.get() {
                Some(_) => DemonstrationState::Offered,
                None => DemonstrationState::Unavailable,
            };
            return DemonstrationInfo { state, ..DemonstrationInfo::default() };
        };
        let failure = if is_shown { None } else { current.performance.failure() };
        if let (Some(why), DemonstrationKind::Live, Some(demonstrator)) =
            (&failure, current.kind, self.demonstrator.get())
            && let Ok(performance) = demonstrator.begin(DemonstrationKind::Virtual)
        {
            let kind = DemonstrationKind::Virtual;
            *current = Current { kind, performance, site: None, reason: Some(why.clone()) };
            return current.info(DemonstrationState::Preparing);
        }
        match failure {
            Some(why) => DemonstrationInfo { reason: Some(why), ..current.info(DemonstrationState::Failed) },
            None if is_shown => current.info(DemonstrationState::Shown),
            None => current.info(DemonstrationState::Preparing),
        }
    }

    fn current(&self) -> MutexGuard<'_, Option<Current>> {
        self.current.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Current {
    fn info(&self, state: DemonstrationState) -> DemonstrationInfo {
        DemonstrationInfo { state, kind: Some(self.kind), reason: self.reason.clone(), lines: self.performance.lines() }
    }
}
