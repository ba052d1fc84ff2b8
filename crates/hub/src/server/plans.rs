//! The plan of the hub, given and shown.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use mesh::check::Checked;
use mesh::run::Priority;
use mesh::timetable::{HostPair, OrderKey, Wish};
use path::Seed;
use units::WallTime;

use super::request::{Request, RequestError};
use super::state::Hub;
use crate::api::mesh::{AskedRuns, PlanInfo, PlanText, RunWish};
use crate::schedule::planned::{PlanRefusal, Planned};
use crate::store::StoreError;

/// Why a plan does not become the hub's.
#[derive(Debug, thiserror::Error)]
pub enum SetPlanError {
    /// It is refused.
    #[error(transparent)]
    Refused(#[from] PlanRefusal),
    /// It cannot be kept.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Hub {
    /// Takes a plan. It is on disk when this returns.
    ///
    /// # Errors
    /// Where it is wrong, does not fit, or cannot be kept.
    pub fn set_plan(&self, text: String) -> Result<Arc<Planned>, SetPlanError> {
        let planned = Arc::new(Planned::new(text, &self.joined()?)?);
        self.schedule.set_plan(self.store.as_ref(), Arc::clone(&planned))?;
        self.watching.set_plan(self.store.as_ref(), &planned)?;
        self.watching.ring();
        Ok(planned)
    }

    /// Takes the plan that is kept, and the agents that there are now, where either is new.
    ///
    /// # Errors
    /// Where the database refuses, or the plan that is kept is not taken any more.
    pub fn refresh_plan(&self) -> Result<(), SetPlanError> {
        let joined = self.joined()?;
        let Some(planned) = self.schedule.planned() else {
            if let Some(text) = self.store.mesh()?.plan {
                self.schedule.adopt(Arc::new(Planned::new(text, &joined)?));
            }
            return Ok(());
        };
        let has_agent = |name: &&String| joined.contains(*name);
        let hosts: BTreeSet<&String> = planned.plan().hosts.iter().map(|host| &host.name).filter(has_agent).collect();
        if hosts != planned.agents().iter().collect() {
            let planned = Planned::new(planned.text().to_owned(), &joined)?;
            self.schedule.adopt(Arc::new(planned));
        }
        Ok(())
    }

    fn joined(&self) -> Result<BTreeSet<String>, StoreError> {
        Ok(self.store.agents()?.into_iter().map(|agent| agent.name).collect())
    }
}

pub(super) fn plan(hub: &Hub) -> Result<PlanInfo, RequestError> {
    hub.schedule.look(hub.store.as_ref())?;
    let planned = hub.schedule.planned();
    planned.map(|planned| info(&planned, hub.now())).ok_or_else(|| RequestError::NotFound("plan".to_owned()))
}

pub(super) fn set(hub: &Hub, plan: PlanText) -> Result<PlanInfo, RequestError> {
    let planned = hub.set_plan(plan.text).map_err(|error| match error {
        SetPlanError::Refused(refusal) => RequestError::NotUnderstood(refusal.to_string()),
        SetPlanError::Store(error) => RequestError::Store(error),
    })?;
    Ok(info(&planned, hub.now()))
}

/// What would be said to a plan, of which nothing is kept.
pub(super) fn check(hub: &Hub, request: &Request) -> Result<PlanInfo, RequestError> {
    let PlanText { text } = request.content()?;
    let planned = Planned::new(text, &hub.joined()?).map_err(|error| RequestError::NotUnderstood(error.to_string()))?;
    Ok(info(&planned, hub.now()))
}

/// Asks for a heavy run out of turn: of the test in all groups that have the pair.
pub(super) fn ask(hub: &Hub, wish: RunWish) -> Result<AskedRuns, RequestError> {
    let RunWish { test, from, to } = wish;
    hub.schedule.look(hub.store.as_ref())?;
    let planned = hub.schedule.planned().ok_or_else(|| RequestError::NotFound("plan".to_owned()))?;
    let now = hub.now();
    let pair = HostPair { from, to };
    let order = |group: &plan::plan::Group| Wish {
        order: OrderKey { test: test.clone(), group: group.name.clone(), pair: pair.clone() },
        priority: Priority::OnDemand,
    };
    let wishes = planned.plan().groups.iter().map(order);
    let runs: Vec<_> = wishes.filter_map(|wish| planned.timetable().out_of_turn(&wish, now)).collect();
    if runs.is_empty() {
        return Err(RequestError::NotFound(format!("heavy test {test} from {} to {}", pair.from, pair.to)));
    }
    let names = runs.iter().map(|run| run.id.0.clone()).collect();
    hub.schedule.ask(hub.store.as_ref(), runs)?;
    hub.watching.ring();
    Ok(AskedRuns { runs: names })
}

fn info(planned: &Planned, now: WallTime) -> PlanInfo {
    let hosts = planned.plan().hosts.iter().map(|host| host.name.clone());
    let (agents, others) = hosts.partition(|host| planned.agents().contains(host));
    let checked = Checked::new(planned.plan(), Seed(0), now, DAY);
    PlanInfo { text: planned.text().to_owned(), checked, agents, others }
}

const DAY: Duration = Duration::from_secs(86_400);
