//! A plan as a file: TOML or JSON, or the report of an audit as `linerate host audit --json` prints it.

use model::host::snapshot::HostIdentity;

use super::{FixPlan, PlannedStep};
use crate::report::Report;

/// Why a file is no plan.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    /// It is not TOML.
    #[error("it is no TOML")]
    Toml(#[source] toml::de::Error),
    /// It is not JSON.
    #[error("it is no JSON")]
    Json(#[source] serde_json::Error),
    /// It is neither a plan nor a report.
    #[error("it has neither `steps`, as a plan has, nor `findings`, as the report of an audit has")]
    Neither,
    /// It has no step.
    #[error("it has no step")]
    Empty,
    /// It has too many steps.
    #[error("it has {steps} steps; {MOST_STEPS} are the most")]
    TooMany {
        /// How many.
        steps: usize,
    },
}

/// What `--dry-run --json` prints, as far as it is read: the commands stand beside the plan.
#[derive(serde::Deserialize)]
struct DryRun {
    plan: FixPlan,
}

/// What a file proposes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ReadPlan {
    /// The host and network namespace that it was worked out for; absent where it is for any.
    pub made_for: Option<HostIdentity>,
    /// Steps in the order in which they are applied.
    pub steps: Vec<PlannedStep>,
}

impl From<FixPlan> for ReadPlan {
    fn from(plan: FixPlan) -> Self {
        Self { made_for: plan.made_for, steps: plan.steps }
    }
}

impl FixPlan {
    /// What a file proposes. JSON begins with a brace, TOML does not.
    ///
    /// # Errors
    /// Why it is no plan, with line and column where the text is at fault.
    pub fn read(text: &str) -> Result<ReadPlan, PlanError> {
        let plan = if text.trim_start().starts_with('{') { Self::of_json(text)? } else { Self::of_toml(text)? };
        match plan.steps.len() {
            0 => Err(PlanError::Empty),
            many if many > MOST_STEPS => Err(PlanError::TooMany { steps: many }),
            _ => Ok(plan),
        }
    }

    fn of_toml(text: &str) -> Result<ReadPlan, PlanError> {
        toml::from_str::<Self>(text).map(ReadPlan::from).map_err(PlanError::Toml)
    }

    /// What says where it is at fault is the reader of the whole type, so the kind of the document is asked first.
    fn of_json(text: &str) -> Result<ReadPlan, PlanError> {
        let kind: serde_json::Map<String, serde_json::Value> = serde_json::from_str(text).map_err(PlanError::Json)?;
        if kind.contains_key("steps") {
            return serde_json::from_str::<Self>(text).map(ReadPlan::from).map_err(PlanError::Json);
        }
        if kind.contains_key("plan") {
            return serde_json::from_str::<DryRun>(text).map(|run| ReadPlan::from(run.plan)).map_err(PlanError::Json);
        }
        if !kind.contains_key("findings") {
            return Err(PlanError::Neither);
        }
        let report: Report = serde_json::from_str(text).map_err(PlanError::Json)?;
        Ok(ReadPlan { steps: Self::proposed_by(&report.findings), made_for: report.made_for })
    }
}

/// Most steps of one plan; every rule on every device of a large host is less.
const MOST_STEPS: usize = 4_096;
