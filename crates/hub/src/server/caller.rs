//! Who asks, and whether that has the right to.

use super::request::{Request, RequestError, ShownToken};
use super::state::Hub;
use crate::api::routes::Right;
use crate::trust::digest::Fingerprint;
use crate::trust::role::AccountRole;
use crate::trust::token::{Purpose, Token};

/// Who asks, as far as it matters.
pub(super) enum Caller {
    Agent(String),
    /// With a token of this hash.
    Joining(Fingerprint),
    Person(Person),
}

/// A person or a script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Person {
    /// The account, or the token by the first letters of its hash.
    pub(super) name: String,
    /// What the account may do; [`None`] of a token.
    pub(super) role: Option<AccountRole>,
    /// The session that the request is of.
    pub(super) session: Option<Fingerprint>,
}

impl Person {
    fn nobody() -> Self {
        Self { name: String::new(), role: None, session: None }
    }
}

/// Who asks, if that has the right to.
pub(super) fn caller(hub: &Hub, request: &Request, right: Right) -> Result<Caller, RequestError> {
    let forbidden = |why: &str| Err(RequestError::Forbidden(why.to_owned()));
    match right {
        Right::Anyone => Ok(Caller::Person(signed_in(hub, request)?.unwrap_or_else(Person::nobody))),
        Right::Agent => {
            let Some(certificate) = request.certificate else {
                return forbidden("this is for agents that have joined");
            };
            match hub.store.agent_of(certificate)? {
                Some(agent) => Ok(Caller::Agent(agent)),
                None => forbidden("this certificate is of no agent of this hub: join again with a new token"),
            }
        }
        Right::Join => match shown(request) {
            Some(token) => Ok(Caller::Joining(token.secret.hash())),
            None => forbidden(NO_TOKEN),
        },
        Right::View | Right::Operate | Right::Admin | Right::Archive => person(hub, request, right).map(Caller::Person),
    }
}

/// The person that asks, if the account or the token has the right to.
pub(super) fn person(hub: &Hub, request: &Request, right: Right) -> Result<Person, RequestError> {
    let forbidden = |why: &str| Err(RequestError::Forbidden(why.to_owned()));
    if let Some(person) = signed_in(hub, request)? {
        let is_permitted = right != Right::Archive && person.role.is_some_and(|role| role >= least(right));
        return if is_permitted { Ok(person) } else { forbidden("this account does not open that") };
    }
    let Some(token) = shown(request) else {
        return if request.browser.is_browser() { Err(RequestError::SignIn) } else { forbidden(NO_TOKEN) };
    };
    let hash = token.secret.hash();
    match (hub.store.bearer(hash, hub.now())?, right) {
        (Some(Purpose::Operate), Right::View | Right::Operate)
        | (Some(Purpose::View), Right::View)
        | (Some(Purpose::Archive), Right::Archive) => {
            let letters: String = hash.short().chars().take(SHOWN_LETTERS).collect();
            Ok(Person { name: format!("token {letters}"), role: None, session: None })
        }
        (Some(_), _) => forbidden("this token does not open that"),
        (None, _) => forbidden("this token is not known, or has expired"),
    }
}

/// The account that has signed in with the browser that asks. What a page of another site asks in its name is refused.
fn signed_in(hub: &Hub, request: &Request) -> Result<Option<Person>, RequestError> {
    let secret = request.session.as_ref().and_then(|ShownToken(text)| text.parse::<Fingerprint>().ok());
    let Some(hash) = secret.map(|secret| Fingerprint::of(secret.bytes())) else { return Ok(None) };
    let Some(account) = hub.store.session(hash, hub.now())? else { return Ok(None) };
    if request.method == "POST" && !request.browser.is_own_page() {
        return Err(RequestError::Forbidden("another site asked for this".to_owned()));
    }
    Ok(Some(Person { name: account.name, role: Some(account.role), session: Some(hash) }))
}

fn shown(request: &Request) -> Option<Token> {
    request.token.as_ref().and_then(|shown| shown.0.parse().ok())
}

/// The least role that has a right.
const fn least(right: Right) -> AccountRole {
    match right {
        Right::Operate => AccountRole::Operator,
        Right::Admin | Right::Archive => AccountRole::Admin,
        Right::Anyone | Right::Join | Right::Agent | Right::View => AccountRole::Viewer,
    }
}

const NO_TOKEN: &str = "this needs a token: `linerate hub token DIR --for view` makes one on the hub's host";
/// Enough to tell tokens apart.
const SHOWN_LETTERS: usize = 8;
