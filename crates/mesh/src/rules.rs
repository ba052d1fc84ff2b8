//! What a plan allows: budgets and maintenance, by the names of resources.

use std::collections::BTreeMap;

use plan::Plan;
use plan::operation::{Scope, Window};
use units::WallTime;

use crate::run::{Resource, RunRow};

/// What a plan allows.
#[derive(Debug, Clone, Default)]
pub struct Rules {
    /// The least budget of each resource, in bytes a day.
    pub budgets: BTreeMap<Resource, u64>,
    /// Windows, each with its resources; none of them for the whole mesh.
    pub maintenance: Vec<(Vec<Resource>, Window)>,
}

impl Rules {
    /// The rules of a plan.
    #[must_use]
    pub fn of(plan: &Plan) -> Self {
        let mut budgets = BTreeMap::new();
        for budget in &plan.budgets {
            for resource in resources(plan, &budget.scope) {
                let least = budgets.entry(resource).or_insert(u64::MAX);
                *least = budget.bytes_a_day.get().min(*least);
            }
        }
        let windows = plan.maintenance.iter().map(|one| (resources(plan, &one.scope), one.window));
        Self { budgets, maintenance: windows.collect() }
    }

    /// Whether maintenance is where and when a run would be, were it to begin now.
    #[must_use]
    pub fn is_in_maintenance(&self, run: &RunRow, now: WallTime) -> bool {
        let until = crate::clock::later(now, run.keep);
        let concerns = |places: &[Resource]| places.is_empty() || places.iter().any(|one| run.passes.contains(one));
        self.maintenance.iter().any(|(places, window)| concerns(places) && window.touches(now, until))
    }

    /// Whether anything is maintained now where a host or segment is concerned.
    #[must_use]
    pub fn is_maintained(&self, resource: &Resource, now: WallTime) -> bool {
        let concerns = |places: &[Resource]| places.is_empty() || places.contains(resource);
        let moment = WallTime::from_unix_nanos(now.unix_nanos() + 1);
        self.maintenance.iter().any(|(places, window)| concerns(places) && window.touches(now, moment))
    }
}

fn resources(plan: &Plan, scope: &Scope) -> Vec<Resource> {
    let hosts = scope.hosts.iter().map(|host| Resource::Host(plan.hosts[*host].name.clone()));
    let segments = scope.segments.iter().map(|segment| Resource::Segment(plan.segments[*segment].name.clone()));
    hosts.chain(segments).collect()
}
