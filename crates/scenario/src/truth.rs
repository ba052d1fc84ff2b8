//! The truth: what is wrong in a network, which a diagnosis is judged by.

use std::time::Duration;

use document::{DocumentError, Key};
use serde::Deserialize;

use crate::causes;
use crate::diagnostics::Diagnostics;
use crate::fault::Fault;

/// What is wrong, and what is not.
#[derive(Debug, Clone, Default)]
pub struct Truth {
    /// What is wrong, the worst first; nothing in a healthy network.
    pub causes: Vec<Cause>,
    /// What looks as if it were to blame, and must not be blamed.
    pub innocent: Vec<Where>,
}

impl Truth {
    /// Whether nothing is wrong.
    #[must_use]
    pub fn is_healthy(&self) -> bool {
        self.causes.is_empty()
    }
}

/// One thing that is wrong.
#[derive(Debug, Clone)]
pub struct Cause {
    /// Which of the [catalogue](causes).
    pub id: &'static str,
    /// Where.
    pub place: Where,
    /// Since when, by the clock of the network.
    pub since: Duration,
    /// The fault that brings it, by number; it is in the network itself where it is [`None`].
    pub fault: Option<usize>,
}

/// A host or a link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Where {
    /// A host, by its place in the file.
    Host(usize),
    /// A link or one direction of it.
    Link {
        /// Which.
        link: usize,
        /// In which direction: 0 from end 0 to end 1, 1 back; in both where it is [`None`].
        direction: Option<usize>,
    },
}

/// `[truth]`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct TruthText {
    #[serde(default)]
    healthy: bool,
    #[serde(default)]
    causes: Vec<CauseText>,
    #[serde(default)]
    innocent: Vec<WhereText>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct CauseText {
    id: String,
    host: Option<String>,
    link: Option<String>,
    towards: Option<String>,
    #[serde(default, deserialize_with = "units::duration::text::read_some")]
    since: Option<Duration>,
    fault: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct WhereText {
    host: Option<String>,
    link: Option<String>,
    towards: Option<String>,
}

impl TruthText {
    pub(crate) fn settle(self, faults: &[Fault], diagnostics: &mut Diagnostics<'_>) -> Truth {
        let key = Key::top("truth");
        if self.healthy != self.causes.is_empty() {
            let problem = DocumentError::Keys("a network is either `healthy = true` or has [[truth.causes]]");
            diagnostics.complain(&key, problem);
        }
        let list = key.at("causes");
        let causes = self.causes.into_iter().enumerate();
        let causes =
            causes.filter_map(|(number, cause)| cause.settle(&list.nth(number), faults, diagnostics)).collect();
        let list = key.at("innocent");
        let innocent = self.innocent.iter().enumerate();
        let innocent = innocent.filter_map(|(number, place)| place.settle(&list.nth(number), diagnostics)).collect();
        Truth { causes, innocent }
    }
}

impl CauseText {
    fn settle(self, key: &Key, faults: &[Fault], diagnostics: &mut Diagnostics<'_>) -> Option<Cause> {
        let id = causes::find(&self.id);
        if id.is_none() {
            let problem = DocumentError::Undefined { what: "cause", name: self.id.clone(), known: Vec::new() };
            diagnostics.complain(&key.at("id"), problem);
        }
        let fault = match &self.fault {
            Some(name) => {
                let found = faults.iter().position(|fault| fault.id == *name);
                if found.is_none() {
                    let known = faults.iter().map(|fault| fault.id.clone()).collect();
                    diagnostics.complain(
                        &key.at("fault"),
                        DocumentError::Undefined { what: "fault", name: name.clone(), known },
                    );
                }
                found
            }
            None => None,
        };
        let begins = fault.map_or(Duration::ZERO, |fault| faults[fault].from);
        let place = WhereText { host: self.host, link: self.link, towards: self.towards };
        let place = place.settle(key, diagnostics)?;
        Some(Cause { id: id?, place, since: self.since.unwrap_or(begins), fault })
    }
}

impl WhereText {
    fn settle(&self, key: &Key, diagnostics: &mut Diagnostics<'_>) -> Option<Where> {
        match (&self.host, &self.link) {
            (Some(host), None) if self.towards.is_none() => Some(Where::Host(diagnostics.host(&key.at("host"), host)?)),
            (None, Some(link)) => {
                let link = diagnostics.link(&key.at("link"), link)?;
                let direction = match &self.towards {
                    Some(host) => Some(diagnostics.direction_towards(&key.at("towards"), link, host)?),
                    None => None,
                };
                Some(Where::Link { link, direction })
            }
            _ => {
                diagnostics
                    .complain(key, DocumentError::Keys("a place is a `host`, or a `link` with or without `towards`"));
                None
            }
        }
    }
}
