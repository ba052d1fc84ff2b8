//! What is wrong with storage gateways behind a balancer: causes ranked by how well they explain what a status observed.
//!
//! A cause of the [catalogue](crate::causes) stands at each gateway that shows a symptom, or at the balancer. It is weighed by the
//! observations of its place as causes are by those of flows; the best one explains its symptoms, and what is left is weighed again.
//!
//! * [`diagnose`]: from a [`StatusReport`] to a [`Diagnosis`]
//! * `evidence`: observations as signs of the catalogue
//! * `weigh`: what speaks for and against a cause
//! * `verdict`: the answer in one sentence

mod evidence;
mod verdict;
mod weigh;

use ::gateways::status::report::StatusReport;

use crate::causes::Catalogue;
use crate::diagnosis::{Diagnosis, Symptom};
pub use evidence::EvidenceError;
use evidence::{Evidence, Observation};

/// Says what is wrong with gateways.
///
/// # Errors
/// Where the status names a sign that this program does not know, or has none at all.
pub fn diagnose(status: &StatusReport, catalogue: &Catalogue) -> Result<Diagnosis, EvidenceError> {
    let evidence = Evidence::of(status)?;
    let mut diagnosis = Diagnosis {
        verdict: String::new(),
        symptoms: evidence.symptoms().map(symptom).collect(),
        problems: weigh::problems(&evidence, catalogue),
        located: Vec::new(),
        judged: evidence.judged(),
        not_judged: Vec::new(),
        notes: evidence::notes(status, &evidence),
    };
    diagnosis.verdict = verdict::verdict(&diagnosis, status);
    Ok(diagnosis)
}

/// What clients meet at a gateway, or at all of them.
fn symptom(observation: &Observation) -> Symptom {
    Symptom {
        test: observation.label(),
        from: "clients".to_owned(),
        to: observation.gateway.clone().unwrap_or_else(|| ALL_GATEWAYS.to_owned()),
        says: observation.says.clone(),
        predicted: None,
        allowed: None,
        loss_allows: None,
    }
}

/// Where a symptom is of the balancer.
const ALL_GATEWAYS: &str = "all gateways";
