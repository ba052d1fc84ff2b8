//! Which runs may begin.

use std::collections::BTreeSet;

use units::WallTime;

use super::Board;
use super::request::{AgentRequest, Present};
use crate::clock;
use crate::run::{Obstacle, Priority, Resource, RunId, RunRow, RunState};

impl Board {
    /// The runs that an agent may begin now, at most as many as it would begin: those asked for first, then those whose window ends first.
    pub(super) fn choose(&self, request: &AgentRequest, present: &Present<'_>, now: WallTime) -> Vec<RunId> {
        // Of other agents' runs only those count that somebody has asked for.
        let others = self.runs.on_demand().filter(|run| run.agent != request.agent);
        let own = self.runs.begun_of(&request.agent, now);
        let mut due: Vec<&RunRow> = own.chain(others).filter(|run| is_due(run, now)).collect();
        due.sort_by_key(|run| (run.priority, run.deadline, run.not_before, &run.id));
        let mut taken: BTreeSet<&Resource> = BTreeSet::new();
        let mut chosen = Vec::new();
        for run in due {
            if chosen.len() == request.room {
                break;
            }
            let is_free = !run.needs.iter().any(|need| taken.contains(need) || self.runs.is_used(need));
            let may = is_free && self.allows(run, now) && present.has_both(run);
            if may && run.agent == request.agent {
                taken.extend(&run.needs);
                chosen.push(run.id.clone());
            } else if run.priority == Priority::OnDemand && present.has_both(run) && self.allows(run, now) {
                // Somebody waits for it: what it needs is given to no other run before it.
                taken.extend(&run.needs);
            }
        }
        chosen
    }

    /// The agents that could begin a run now, had they room: whose requests are worth an answer.
    #[must_use]
    pub fn wanted(&self, present: &Present<'_>, now: WallTime) -> BTreeSet<String> {
        let may = |run: &&RunRow| {
            let is_free = !run.needs.iter().any(|need| self.runs.is_used(need));
            is_due(run, now) && is_free && self.allows(run, now) && present.has_both(run)
        };
        self.runs.begun(now).filter(may).map(|run| run.agent.clone()).collect()
    }

    /// What keeps a run from beginning at a moment, as far as the board knows.
    pub(super) fn obstacle(&self, run: &RunRow, now: WallTime) -> Option<Obstacle> {
        if self.rules.is_in_maintenance(run, now) {
            return Some(Obstacle::Maintenance);
        }
        if let Some(resource) = self.spent(run, now) {
            return Some(Obstacle::BudgetSpent(resource.clone()));
        }
        run.needs.iter().find(|need| self.runs.is_used(need)).cloned().map(Obstacle::Busy)
    }

    fn allows(&self, run: &RunRow, now: WallTime) -> bool {
        self.spent(run, now).is_none() && !self.rules.is_in_maintenance(run, now)
    }

    /// A resource whose budget of the day a run would exceed.
    fn spent<'a>(&self, run: &'a RunRow, now: WallTime) -> Option<&'a Resource> {
        let day = clock::day(now);
        let more = run.bytes.map_or(0, units::ByteCount::get);
        run.passes.iter().find(|resource| {
            let spent = self.usage.get(&((*resource).clone(), day)).copied().unwrap_or(0);
            let budget = self.rules.budgets.get(resource).copied().unwrap_or(u64::MAX);
            // What is not known before is let in while anything is left.
            spent.saturating_add(more.max(1)) > budget
        })
    }
}

fn is_due(run: &RunRow, now: WallTime) -> bool {
    run.state == RunState::Waiting && run.not_before <= now && now < run.deadline
}
