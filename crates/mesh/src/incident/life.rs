//! The steps of an incident.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use units::WallTime;

use super::record::{
    ConfigurationChange, Event, EventKind, Explanation, Incident, IncidentId, Occurrence, Status, Symptom,
    TimelineEntry,
};
use crate::clock;

/// How the time line of an incident says that it is a part of another one.
const IT_IS: &str = "it is ";
const ONE_CAUSE: &str = ": one cause at one place";

/// What a person, or a program for them, does about an incident.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "action")]
pub enum Action {
    /// They know.
    Acknowledge {
        /// Who.
        by: String,
    },
    /// They, or the diagnosis, name the cause.
    Explain {
        /// It.
        explanation: Explanation,
    },
    /// Something was done; measurements will say whether it helped.
    Fix {
        /// By whom.
        by: String,
        /// What.
        text: String,
    },
    /// The hub has asked for the test that separates what may be the cause.
    NextTest {
        /// Name of the run, by which its result is known.
        run: String,
        /// What its result will say.
        text: String,
    },
    /// Words.
    Note {
        /// Whose.
        by: String,
        /// At most some lines.
        text: String,
    },
    /// Nobody is notified until then.
    Silence {
        /// By whom.
        by: String,
        /// Until when.
        until: WallTime,
    },
    /// The present level is the new normal: a slower circuit was meant. It is closed, and its series learn anew.
    Accept {
        /// By whom.
        by: String,
        /// Why.
        text: String,
    },
    /// It is no fault, or nobody will do anything about it.
    Close {
        /// By whom.
        by: String,
        /// Why.
        text: String,
    },
}

/// Why nothing was done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// There is no such incident.
    #[error("there is no such incident")]
    Unknown,
    /// It is over.
    #[error("the incident is closed: only notes can be added")]
    Closed,
    /// Results are as before already.
    #[error("results are as before already: there is nothing to fix")]
    Verified,
}

impl Incident {
    pub(super) fn act(&mut self, action: Action, now: WallTime) -> Result<Event, Refused> {
        if self.status == Status::Closed && !matches!(action, Action::Note { .. }) {
            return Err(Refused::Closed);
        }
        let occurrence = match action {
            Action::Acknowledge { by } => {
                self.status = self.status.max(Status::Acknowledged);
                Occurrence::Acknowledged { by }
            }
            Action::Explain { explanation } => {
                self.status = self.status.max(Status::Explained);
                self.explanation = Some(explanation.clone());
                Occurrence::Explained { explanation }
            }
            Action::Fix { .. } if self.status == Status::Verified => return Err(Refused::Verified),
            Action::Fix { by, text } => {
                self.status = Status::Fixed;
                Occurrence::Fixed { by, text }
            }
            Action::NextTest { run, text } => Occurrence::NextTest { run, text },
            Action::Note { by, text } => Occurrence::Note { by, text },
            Action::Silence { by, until } => {
                self.silent_until = Some(until);
                Occurrence::Silenced { by, until }
            }
            Action::Accept { by, text } => return Ok(self.close(Occurrence::Accepted { by, text }, now)),
            Action::Close { by, text } => return Ok(self.close(Occurrence::Closed { by: Some(by), text }, now)),
        };
        self.enter(now, occurrence);
        Ok(self.event(EventKind::Stepped))
    }

    /// All that was worse is as before.
    pub(super) fn verify(&mut self, now: WallTime) -> Event {
        self.status = Status::Verified;
        self.verified = Some(now);
        self.enter(now, Occurrence::Verified);
        self.event(EventKind::Verified)
    }

    /// Something more is worse, or something again.
    pub(super) fn add(&mut self, symptom: Symptom, now: WallTime) -> Event {
        let text = format!("{}: {symptom}", symptom.subject);
        let was_verified = self.status == Status::Verified;
        self.symptoms.push(symptom);
        if was_verified {
            self.status = if self.explanation.is_some() { Status::Explained } else { Status::Open };
            self.verified = None;
            self.enter(now, Occurrence::Reopened);
        }
        self.enter(now, Occurrence::Symptom { text });
        self.event(if was_verified { EventKind::Reopened } else { EventKind::Grown })
    }

    /// A setting of one of its hosts was changed, near its beginning or later.
    pub(super) fn saw_change(&mut self, change: &ConfigurationChange) -> Option<Event> {
        let is_known = self.timeline.iter().any(
            |entry| matches!(&entry.occurrence, Occurrence::Configuration { change: known, .. } if known == change),
        );
        if is_known {
            return None;
        }
        let lead_s = super::seconds(self.since) - super::seconds(change.at);
        self.enter(change.at, Occurrence::Configuration { change: change.clone(), lead_s });
        Some(self.event(EventKind::ConfigurationSeen))
    }

    /// A verified one that stayed so is closed.
    pub(super) fn tick(&mut self, now: WallTime, watched_for: Duration) -> Option<Event> {
        let is_over = self.status == Status::Verified
            && self.verified.is_some_and(|verified| clock::later(verified, watched_for) <= now);
        let text = "results stayed as before".to_owned();
        is_over.then(|| self.close(Occurrence::Closed { by: None, text }, now))
    }

    /// It is another one, which has its symptoms from now on.
    pub(super) fn fold(&mut self, into: &IncidentId, now: WallTime) -> Event {
        let text = format!("{IT_IS}{into}{ONE_CAUSE}");
        self.close(Occurrence::Closed { by: None, text }, now)
    }

    /// Whether it turned out to be a part of another incident, which has its symptoms: no further one, and no recurrence.
    #[must_use]
    pub fn is_part_of_another(&self) -> bool {
        let is_folded = |entry: &TimelineEntry| {
            let Occurrence::Closed { by: None, text } = &entry.occurrence else { return false };
            let into = text.strip_prefix(IT_IS).and_then(|rest| rest.strip_suffix(ONE_CAUSE));
            into.is_some_and(|id| !id.is_empty())
        };
        self.timeline.iter().any(is_folded)
    }

    /// Whether somebody has taken its level as the new normal.
    pub(super) fn is_accepted(&self) -> bool {
        self.timeline.iter().any(|entry| matches!(entry.occurrence, Occurrence::Accepted { .. }))
    }

    fn close(&mut self, occurrence: Occurrence, now: WallTime) -> Event {
        self.status = Status::Closed;
        self.closed = Some(now);
        self.enter(now, occurrence);
        self.event(EventKind::Closed)
    }

    /// Puts an occurrence into its place in time.
    pub(super) fn enter(&mut self, at: WallTime, occurrence: Occurrence) {
        let place = self.timeline.partition_point(|entry| entry.at <= at);
        self.timeline.insert(place, TimelineEntry { at, occurrence });
    }

    pub(super) fn event(&self, kind: EventKind) -> Event {
        Event { incident: self.id.clone(), kind }
    }
}
