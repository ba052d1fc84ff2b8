//! Requests that wait for something to happen: an agent that asks for work waits until there is some.

use std::sync::Arc;
use std::time::Duration;

use tokio::task::spawn_blocking;
use tokio::time::{Instant, timeout};

use super::request::Request;
use super::state::Hub;
use super::work;
use crate::api::routes::{self, Action};
use crate::api::work::{LONGEST_WAIT, WorkRequest};

/// Holds a request for work until there is some; how long that was. Another hub may have made the work, so the database is
/// looked at as well.
pub(super) async fn wait(hub: &Arc<Hub>, request: &Request) -> Duration {
    let began = Instant::now();
    let is_work = routes::find(request.target()).is_some_and(|route| route.action == Action::Work);
    let (true, Some(certificate)) = (is_work, request.certificate) else { return Duration::ZERO };
    let looking = Arc::clone(hub);
    let agent = spawn_blocking(move || looking.store.agent_of(certificate)).await;
    // Whoever is not known is answered so at once.
    let Ok(Ok(Some(agent))) = agent else { return Duration::ZERO };
    let Ok(asked) = request.content::<WorkRequest>().map(Arc::new) else { return Duration::ZERO };
    let longest = asked.patience_ms.map_or(LONGEST_WAIT, |millis| LONGEST_WAIT.min(Duration::from_millis(millis)));
    let bell = hub.bells.of(&agent);
    while began.elapsed() < longest {
        let (looking, agent, asked) = (Arc::clone(hub), agent.clone(), Arc::clone(&asked));
        let due = spawn_blocking(move || work::is_due(&looking, &asked, &agent)).await;
        if !matches!(due, Ok(Ok(work::Due::Nothing))) {
            break;
        }
        let _ = timeout(LOOK.min(longest.saturating_sub(began.elapsed())), bell.notified()).await;
    }
    began.elapsed()
}

/// How often the database is looked at without a bell, such as for facts that another hub wants. For runs of other hubs the pulse rings.
const LOOK: Duration = Duration::from_secs(5);
