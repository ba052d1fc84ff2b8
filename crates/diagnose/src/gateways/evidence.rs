//! What a status observed, as signs of the catalogue.

use std::collections::BTreeSet;

use ::gateways::status::observed::{self, Observed, TRANSFER_RATE, TRANSFERS};
use ::gateways::status::report::StatusReport;

use crate::signs::SignState;

/// Everything that was observed.
#[derive(Debug)]
pub(super) struct Evidence {
    pub(super) observations: Vec<Observation>,
}

/// An answer about a gateway, or about all of them.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Observation {
    pub(super) gateway: Option<String>,
    pub(super) seen: SignState,
    pub(super) says: String,
    /// Whether a client notices it, so that it is to be explained.
    pub(super) is_symptom: bool,
}

/// Why a status cannot be weighed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum EvidenceError {
    /// Another version wrote it.
    #[error("no sign `{sign}` has a state `{state}`: a newer linerate wrote this")]
    Sign {
        /// The sign that it names.
        sign: String,
        /// The state that this version of the sign does not have.
        state: String,
    },
    /// More than any status has.
    #[error("{0} observations: a status has at most {MOST_OBSERVATIONS}")]
    Many(usize),
}

/// Eight questions of each of as many gateways as a status keeps, and some of all.
const MOST_OBSERVATIONS: usize = 256 * 8 + 8;

impl Evidence {
    pub(super) fn of(status: &StatusReport) -> Result<Self, EvidenceError> {
        let all = &status.observations;
        if all.len() > MOST_OBSERVATIONS {
            return Err(EvidenceError::Many(all.len()));
        }
        let believed = all.iter().filter(|one| one.gateway.as_deref().is_none_or(|name| is_believed(status, name)));
        let observations = believed.map(|one| Observation::of(one, all)).collect::<Result<_, _>>()?;
        Ok(Self { observations })
    }

    /// What is to be explained.
    pub(super) fn symptoms(&self) -> impl Iterator<Item = &Observation> {
        self.observations.iter().filter(|one| one.is_symptom)
    }

    /// How many gateways something was seen of.
    pub(super) fn judged(&self) -> usize {
        self.observations.iter().filter_map(|one| one.gateway.as_deref()).collect::<BTreeSet<_>>().len()
    }
}

impl Observation {
    fn of(observed: &Observed, all: &[Observed]) -> Result<Self, EvidenceError> {
        let seen = SignState::named(&observed.sign, &observed.state)
            .ok_or_else(|| EvidenceError::Sign { sign: observed.sign.clone(), state: observed.state.clone() })?;
        Ok(Self {
            gateway: observed.gateway.clone(),
            seen,
            says: observed.says.clone(),
            is_symptom: is_symptom(observed, all),
        })
    }

    /// What names it among all.
    pub(super) fn label(&self) -> String {
        let sign = self.seen.sign().name;
        self.gateway.as_ref().map_or_else(|| sign.to_owned(), |gateway| format!("{gateway} {sign}"))
    }
}

/// A gateway that contradicts itself is named, and its numbers are not weighed.
fn is_believed(status: &StatusReport, name: &str) -> bool {
    status.gateways.iter().filter(|one| one.gateway == name).all(|one| one.contradictions.is_empty())
}

/// Load and shares are what causes show; a client notices what they lead to. A gateway that was given less on purpose may be
/// slow without anybody's harm.
fn is_symptom(one: &Observed, all: &[Observed]) -> bool {
    let is_spared = || all.iter().any(|other| other.gateway == one.gateway && other.is_of(TRANSFERS, "less"));
    match one.state.as_str() {
        "one-at-a-time" | "nearly-all" | "near-limit" | "restarted" | "slow" => true,
        "slower" => one.sign == TRANSFER_RATE.name && !is_spared(),
        _ => false,
    }
}

/// What limits the answer: gateways that are not believed or silent, and questions that nobody's report answers.
pub(super) fn notes(status: &StatusReport, evidence: &Evidence) -> Vec<String> {
    let mut notes: Vec<String> = Vec::new();
    for one in &status.gateways {
        notes.extend(one.excluded.as_ref().map(|why| format!("{}: {why}", one.gateway)));
    }
    let is_answered =
        |sign: &observed::GatewaySign| evidence.observations.iter().any(|one| one.seen.sign().name == sign.name);
    let open: Vec<&str> = observed::ALL.iter().filter(|sign| !is_answered(sign)).map(|sign| sign.name).collect();
    if !open.is_empty() {
        notes.push(format!("no report answers: {} (docs/causes.md#signs)", open.join(", ")));
    }
    notes.extend(status.anomalies.iter().cloned());
    notes
}
