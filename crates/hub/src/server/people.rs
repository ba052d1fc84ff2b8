//! Accounts and sessions of people, and what they did.

use std::time::Duration;

use mesh::clock;

use super::attempts::Attempt;
use super::caller::Person;
use super::demonstrating;
use super::request::{Answer, Request, RequestError};
use super::state::Hub;
use crate::api::accounts::{AccountList, AccountWish, ActionList, SESSION_COOKIE, SessionInfo, SignIn};
use crate::api::demonstration::DemonstrationState;
use crate::openid::provider::Provider;
use crate::store::StoreError;
use crate::store::people::{AccountRow, ActionRow, SessionRow};
use crate::trust::digest::Fingerprint;
use crate::trust::password::{Password, PasswordHash};
use crate::trust::role::AccountRole;
use crate::trust::secret;
use crate::trust::token::Secret;

pub(super) fn session(hub: &Hub, person: &Person) -> Result<SessionInfo, StoreError> {
    let name = person.role.is_some().then(|| person.name.clone());
    let openid = hub.openid.as_ref().filter(|_| name.is_none()).map(Provider::title);
    let demonstration = person.role.map(|_| demonstrating::info(hub)).transpose()?;
    let demonstration = demonstration.filter(|found| found.state != DemonstrationState::Unavailable);
    Ok(SessionInfo { has_accounts: true, openid, name, role: person.role, demonstration })
}

/// Signs in: whoever has name and password gets a cookie that no script of a page reads.
pub(super) fn sign_in(hub: &Hub, request: &Request) -> Result<Answer, RequestError> {
    let SignIn { name, password } = request.content()?;
    if !request.browser.is_own_page() {
        return Err(RequestError::Forbidden("another site asked for this".to_owned()));
    }
    let password = Password::shown(password).map_err(not_understood)?;
    let now = hub.now();
    let attempt = Attempt { from: request.from, account: &name, at: now };
    if let Some(wait) = hub.attempts.wait(attempt) {
        return Err(RequestError::TooOften(wait.as_secs().max(1)));
    }
    let Some(_place) = hub.attempts.place() else { return Err(RequestError::TooOften(1)) };
    let account = hub.store.accounts()?.into_iter().find(|account| account.name == name);
    // Of a name that is not there a password is looked at as well: it takes as long as one of a name that is.
    let hash = account.as_ref().map_or_else(PasswordHash::of_nobody, |account| account.password.clone());
    let (true, Some(account)) = (hash.is_of(&password), account) else {
        hub.attempts.failed(attempt);
        let shown: String = name.chars().take(LONGEST_NAME).filter(|letter| is_of_name(*letter)).collect();
        note(hub, request, &shown, "signing in failed")?;
        return Err(RequestError::Forbidden("name or password is wrong".to_owned()));
    };
    hub.attempts.succeeded(attempt);
    let cookie = begin_session(hub, &name)?;
    note(hub, request, &name, "signed in")?;
    let mut answer =
        Answer::json(&SessionInfo { name: Some(name), role: Some(account.role), ..SessionInfo::of_nobody() })?;
    answer.headers.push(("set-cookie", cookie));
    Ok(answer)
}

/// Begins a session of an account; the cookie that a browser shows from then on.
pub(super) fn begin_session(hub: &Hub, account: &str) -> Result<String, StoreError> {
    let bytes: [u8; 32] = secret::random()?;
    let now = hub.now();
    let (hash, expires) = (Secret::new(bytes).hash(), clock::later(now, SESSION));
    hub.store.add_session(SessionRow { hash, account: account.to_owned(), expires }, now)?;
    Ok(cookie(&Fingerprint::from(bytes).to_string(), SESSION))
}

pub(super) fn sign_out(hub: &Hub, request: &Request, person: &Person) -> Result<Answer, RequestError> {
    if let Some(session) = person.session {
        hub.store.end_session(session)?;
        note(hub, request, &person.name, "signed out")?;
    }
    let mut answer = Answer::json(&SessionInfo::of_nobody())?;
    answer.headers.push(("set-cookie", cookie("", Duration::ZERO)));
    Ok(answer)
}

pub(super) fn accounts(hub: &Hub) -> Result<AccountList, RequestError> {
    Ok(AccountList::of(hub.store.accounts()?))
}

/// Adds, changes or removes an account. The last admin stays one: nobody could make another from a page.
pub(super) fn set_account(hub: &Hub, wish: AccountWish) -> Result<AccountList, RequestError> {
    let AccountWish { name, role, password } = wish;
    check_name(&name)?;
    let accounts = hub.store.accounts()?;
    let is_other_admin = |account: &AccountRow| account.role == AccountRole::Admin && account.name != name;
    if role != Some(AccountRole::Admin) && !accounts.iter().any(is_other_admin) {
        return Err(RequestError::Conflict("there would be no admin any more".to_owned()));
    }
    let known = accounts.iter().find(|account| account.name == name);
    let Some(role) = role else {
        return match hub.store.remove_account(&name)? {
            true => self::accounts(hub),
            false => Err(RequestError::NotFound(format!("account {name}"))),
        };
    };
    let password = match (password, known) {
        (Some(text), _) => {
            let Some(_place) = hub.attempts.place() else { return Err(RequestError::TooOften(1)) };
            PasswordHash::of(&Password::chosen(text).map_err(not_understood)?).map_err(StoreError::from)?
        }
        (None, Some(known)) => known.password.clone(),
        (None, None) => return Err(RequestError::NotUnderstood("a new account needs a `password`".to_owned())),
    };
    hub.store.set_account(AccountRow { name, role, password, changed: hub.now() })?;
    self::accounts(hub)
}

pub(super) fn actions(hub: &Hub) -> Result<ActionList, RequestError> {
    Ok(ActionList::of(hub.store.actions(MOST_ACTIONS)?))
}

/// Writes down what somebody did.
pub(super) fn note(hub: &Hub, request: &Request, who: &str, what: &str) -> Result<(), StoreError> {
    let origin = request.from.map_or_else(|| "here".to_owned(), |from| from.to_canonical().to_string());
    hub.store.log_action(ActionRow { at: hub.now(), who: who.to_owned(), origin, what: what.to_owned() })
}

/// Whether a text may name an account.
///
/// # Errors
/// Where it is empty, too long, or has letters that do not belong in a name.
pub fn check_name(name: &str) -> Result<(), RequestError> {
    if name.is_empty() || name.len() > LONGEST_NAME || !name.chars().all(is_of_name) {
        let why = format!("the name of an account has 1 to {LONGEST_NAME} letters, digits or `.-_@`");
        return Err(RequestError::NotUnderstood(why));
    }
    Ok(())
}

fn is_of_name(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || ".-_@".contains(letter)
}

/// A cookie of this host alone, over TLS alone, for no script and no other site (RFC 6265bis).
fn cookie(value: &str, counts: Duration) -> String {
    let seconds = counts.as_secs();
    format!("{SESSION_COOKIE}={value}; Path=/; Max-Age={seconds}; Secure; HttpOnly; SameSite=Strict")
}

fn not_understood(error: crate::trust::password::PasswordError) -> RequestError {
    RequestError::NotUnderstood(error.to_string())
}

/// A working day: after that somebody signs in again.
const SESSION: Duration = Duration::from_secs(12 * 3_600);
const LONGEST_NAME: usize = 100;
const MOST_ACTIONS: usize = 1_000;
