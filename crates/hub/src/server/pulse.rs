//! What a hub does by itself: plans runs, judges what has come, explains incidents, tells people.

use std::sync::Arc;
use std::time::Duration;

use linux::clock;
use tokio::sync::watch;

use super::state::Hub;
use crate::store::rows::JudgingClaim;
use crate::watching::{Judges, More};

/// Goes on until `stop` is true.
pub(super) fn beat(hub: &Arc<Hub>, stop: &watch::Receiver<bool>) {
    let mut troubles = Troubles::default();
    while !*stop.borrow() {
        troubles.note(hub, "the plan", hub.refresh_plan());
        let now = hub.now();
        troubles.note(hub, "the schedule", hub.schedule.tick(hub.store.as_ref(), now, clock::now()));
        hub.schedule.wanted(now).iter().for_each(|agent| hub.bells.ring(agent));
        let planned = hub.schedule.planned();
        if let Some(planned) = &planned {
            troubles.note(hub, "the plan", hub.watching.follow_plan(hub.store.as_ref(), planned));
        }
        let claimed = hub.watching.claim(hub.store.as_ref(), JudgingClaim::IfFree);
        let judges = *claimed.as_ref().unwrap_or(&Judges::Elsewhere);
        troubles.note(hub, "judging", claimed);
        if judges == Judges::Elsewhere {
            hub.watching.wait(BEAT);
            continue;
        }
        let judged = hub.watching.judge(hub.store.as_ref(), planned.as_ref(), now);
        let more = judged.as_ref().map_or(More::Nothing, |judged| judged.more);
        for run in judged.iter().flat_map(|judged| &judged.unreadable) {
            hub.log.say(hub.now(), format_args!("{run}: its result cannot be read, and is not judged"));
        }
        troubles.note(hub, "judging", judged);
        if more == More::Waits {
            continue;
        }
        troubles.note(hub, "incidents", hub.watching.tick(hub.store.as_ref(), now));
        if let Some(planned) = &planned {
            let asked = hub.watching.ask_next(hub.store.as_ref(), &hub.schedule, planned, now);
            troubles.note(hub, "the next test", asked);
            troubles.note(hub, "the diagnosis", hub.watching.explain(hub.store.as_ref(), planned, now));
        }
        let due = hub.watching.messages(hub.store.as_ref(), &hub.routes, now);
        match due {
            Ok(due) => hub.notifier.send(due),
            Err(error) => troubles.note::<(), _>(hub, "notifications", Err(error)),
        }
        hub.watching.wait(BEAT);
    }
}

/// What went wrong last, so that it is said once and not at each beat.
#[derive(Default)]
struct Troubles(std::collections::BTreeMap<&'static str, String>);

impl Troubles {
    fn note<T, E: std::error::Error>(&mut self, hub: &Hub, what: &'static str, outcome: Result<T, E>) {
        match outcome {
            Ok(_) => {
                self.0.remove(what);
            }
            Err(error) => {
                let why = super::answer::shown(&error);
                if self.0.get(what) != Some(&why) {
                    hub.log.say(hub.now(), format_args!("{what}: {why}"));
                    self.0.insert(what, why);
                }
            }
        }
    }
}

/// From one look to the next where nothing comes.
const BEAT: Duration = Duration::from_millis(500);
