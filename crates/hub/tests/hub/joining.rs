//! Agents join with tokens that count once.

use hub::agent::connection::{Call, CallError};
use hub::agent::join::JoinError;
use hub::api::Nothing;
use hub::api::people::{AgentList, Health};
use hub::api::record::{Delivery, Receipt};
use hub::trust::token::{Purpose, Token};
use std::time::Duration;
use tempfile::TempDir;
use units::WallTime;

use crate::backing;
use crate::running::{Running, stranger};

const PATIENCE: Duration = Duration::from_secs(60);
const AGENTS: Call<'_> = Call { method: "GET", path: "/api/v1/agents", patience: PATIENCE };
const RECORDS: Call<'_> = Call { method: "POST", path: "/api/v1/agent/records", patience: PATIENCE };

fn status(error: &JoinError) -> u16 {
    match error {
        JoinError::Call(CallError::Refused { status, .. }) => *status,
        other => panic!("{other:?}"),
    }
}

#[test]
fn agent_joins_by_token_and_is_known_by_its_certificate_then() {
    let hub = Running::start();
    let home = TempDir::new().unwrap();
    hub.join(home.path(), "dtn-1", hub.token(Purpose::Join)).unwrap();
    let viewer = hub.token(Purpose::View);
    let list: AgentList = hub.person(&viewer).call(&AGENTS, &Nothing {}).unwrap();
    assert_eq!(list.agents.iter().map(|agent| agent.name.as_str()).collect::<Vec<_>>(), ["dtn-1"]);
    let receipt: Receipt = hub.agent(home.path()).call(&RECORDS, &Delivery::default()).unwrap();
    assert_eq!(receipt, Receipt::default());
    assert!(matches!(hub.join(home.path(), "dtn-1", hub.token(Purpose::Join)), Err(JoinError::Joined)));
    // Forgotten, its certificate opens nothing.
    assert!(hub.hub.store.remove_agent("dtn-1").unwrap());
    let refused = hub.agent(home.path()).call::<Receipt>(&RECORDS, &Delivery::default());
    assert!(matches!(refused, Err(CallError::Refused { status: 403, .. })), "{refused:?}");
}

#[test]
fn agent_is_known_after_the_hub_was_restarted() {
    let hub = Running::start();
    let home = TempDir::new().unwrap();
    hub.join(home.path(), "dtn-1", hub.token(Purpose::Join)).unwrap();
    let hub = Running::open(hub.stop());
    let receipt: Receipt = hub.agent(home.path()).call(&RECORDS, &Delivery::default()).unwrap();
    assert_eq!(receipt, Receipt::default());
    let health: Health =
        hub.agent(home.path()).call(&Call { method: "GET", path: "/health", patience: PATIENCE }, &Nothing {}).unwrap();
    assert_eq!(health.status, "ok");
}

#[test]
fn token_counts_once_and_until_its_time() {
    let hub = Running::start();
    let token = hub.token(Purpose::Join);
    let homes: Vec<TempDir> = (0..5).map(|_| TempDir::new().unwrap()).collect();
    hub.join(homes[0].path(), "first", token.clone()).unwrap();
    assert_eq!(status(&hub.join(homes[1].path(), "second", token.clone()).unwrap_err()), 403);
    let late = hub.token_until(Purpose::Join, WallTime::from_unix_nanos(1));
    assert_eq!(status(&hub.join(homes[2].path(), "late", late).unwrap_err()), 403);
    let reader = hub.token(Purpose::View);
    assert_eq!(status(&hub.join(homes[3].path(), "reader", reader).unwrap_err()), 403);
    // A name belongs to the key that had it first.
    assert_eq!(status(&hub.join(homes[4].path(), "first", hub.token(Purpose::Join)).unwrap_err()), 409);
    let log = hub.log();
    assert!(log.contains("was used by another agent") && log.contains("has expired"), "{log}");
    let clear: String = token.reveal().split('_').nth(2).unwrap().to_owned();
    assert!(!log.contains(&clear));
}

#[test]
fn interrupted_join_goes_on_with_the_same_token() {
    let hub = Running::start();
    let home = TempDir::new().unwrap();
    let token = hub.token(Purpose::Join);
    hub.join(home.path(), "dtn-1", token.clone()).unwrap();
    // As though the agent had been killed before it had written down what came back.
    std::fs::remove_file(home.path().join("agent.toml")).unwrap();
    std::fs::remove_file(home.path().join("agent.der")).unwrap();
    hub.join(home.path(), "dtn-1", token).unwrap();
    let receipt: Receipt = hub.agent(home.path()).call(&RECORDS, &Delivery::default()).unwrap();
    assert_eq!(receipt, Receipt::default());
}

#[test]
fn token_is_nowhere_in_clear_at_the_hub() {
    let hub = Running::start();
    let home = TempDir::new().unwrap();
    let tokens = [hub.token(Purpose::Join), hub.token(Purpose::Operate)];
    hub.join(home.path(), "dtn-1", tokens[0].clone()).unwrap();
    let _: AgentList = hub.person(&tokens[1]).call(&AGENTS, &Nothing {}).unwrap();
    let directory = hub.stop();
    let content = backing::kept(directory.path());
    for token in &tokens {
        let text = token.reveal();
        let secret = text.split('_').nth(2).unwrap();
        let raw: Vec<u8> =
            (0..32).map(|place| u8::from_str_radix(&secret[2 * place..2 * place + 2], 16).unwrap()).collect();
        assert!(!content.windows(64).any(|window| window == secret.as_bytes()));
        assert!(!content.windows(32).any(|window| window == raw));
    }
}

#[test]
fn hub_of_another_authority_is_not_spoken_to() {
    let hub = Running::start();
    let home = TempDir::new().unwrap();
    let token = Token { authority: stranger(), ..hub.token(Purpose::Join) };
    let error = hub.join(home.path(), "dtn-1", token).unwrap_err();
    assert!(matches!(error, JoinError::Call(CallError::Unreachable { .. })), "{error:?}");
    assert!(hub.hub.store.agents().unwrap().is_empty());
}
