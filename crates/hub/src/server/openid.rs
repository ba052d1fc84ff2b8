//! Signing in by a provider: the way there and the way back, which a browser walks by itself.

use std::time::Duration;

use web::exchange::Response;

use super::attempts::Attempt;
use super::people;
use super::request::{Answer, Media, Request, RequestError};
use super::state::Hub;
use crate::openid::OpenIdError;
use crate::openid::attempt::SignInAttempt;
use crate::openid::identity::Identity;
use crate::openid::provider::{Provider, Returned};
use crate::store::people::AccountRow;

/// Answers what is asked at [`BEGIN`] and [`END`]; [`None`] of every other path.
pub(super) fn answer(hub: &Hub, request: &Request) -> Option<Result<Answer, RequestError>> {
    if request.path != BEGIN && request.path != END {
        return None;
    }
    let Some(provider) = &hub.openid else {
        return Some(Err(RequestError::NotFound("provider to sign in by".to_owned())));
    };
    if request.method != "GET" {
        return Some(Err(RequestError::NotUnderstood("a browser goes here by itself".to_owned())));
    }
    Some(if request.path == BEGIN { begin(hub, provider, request) } else { end(hub, provider, request) })
}

/// Sends the browser to the provider, with a cookie by which it is known when it comes back.
fn begin(hub: &Hub, provider: &Provider, request: &Request) -> Result<Answer, RequestError> {
    let Some(_place) = hub.attempts.place() else { return Err(RequestError::TooOften(1)) };
    let begun = SignInAttempt::begin().and_then(|attempt| {
        let address = provider.sign_in_address(&attempt, &redirect_uri(hub, request))?;
        Ok((attempt, address))
    });
    match begun {
        Ok((attempt, address)) => {
            let cookie = attempt_cookie(&attempt.cookie(), ATTEMPT);
            let headers = vec![("location", address), ("set-cookie", cookie), ("cache-control", "no-store".to_owned())];
            Ok(Answer { status: 302, media: Media::Other("text/plain"), headers, body: Vec::new() })
        }
        Err(error) => refused(hub, request, &error),
    }
}

/// Takes what the browser brings back from the provider.
fn end(hub: &Hub, provider: &Provider, request: &Request) -> Result<Answer, RequestError> {
    let now = hub.now();
    let tried = Attempt { from: request.from, account: "openid:", at: now };
    if let Some(wait) = hub.attempts.wait(tried) {
        return Err(RequestError::TooOften(wait.as_secs().max(1)));
    }
    let Some(_place) = hub.attempts.place() else { return Err(RequestError::TooOften(1)) };
    let identity = match identity(hub, provider, request) {
        Ok(identity) => identity,
        Err(error) => {
            hub.attempts.failed(tried);
            return refused(hub, request, &error);
        }
    };
    let Identity { account: name, role, mark } = identity;
    let known = hub.store.accounts()?.into_iter().find(|account| account.name == name);
    match known {
        Some(account) if account.password != mark => {
            hub.attempts.failed(tried);
            let why = format!("{name} was somebody else at the provider until now: an admin removes the account first");
            return refused(hub, request, &OpenIdError::Claims(why));
        }
        Some(account) if account.role == role => {}
        // A role that changes ends the sessions that had the other one.
        _ => hub.store.set_account(AccountRow { name: name.clone(), role, password: mark, changed: now })?,
    }
    hub.attempts.succeeded(tried);
    let cookie = people::begin_session(hub, &name)?;
    people::note(hub, request, &name, &format!("signed in by {} as {}", provider.title(), role.name()))?;
    // The cookie of a session goes with requests of the hub's own pages alone, so one of them has to lead on.
    let mut answer = page(200, "", Leads::On);
    answer.headers.push(("set-cookie", cookie));
    answer.headers.push(("set-cookie", attempt_cookie("", Duration::ZERO)));
    Ok(answer)
}

fn identity(hub: &Hub, provider: &Provider, request: &Request) -> Result<Identity, OpenIdError> {
    let attempt = request.attempt.as_ref().and_then(|shown| SignInAttempt::of_cookie(&shown.0));
    let attempt = attempt.ok_or(OpenIdError::NotBegun)?;
    if !request.value("state").is_some_and(|state| attempt.is_answered_by(&state)) {
        return Err(OpenIdError::NotBegun);
    }
    if let Some(error) = request.value("error") {
        let description = request.value("error_description").map_or_else(String::new, |text| format!(": {text}"));
        let text = format!("{error}{description}");
        return Err(OpenIdError::Refused(text.chars().filter(|letter| !letter.is_control()).take(200).collect()));
    }
    let code = request.value("code").ok_or_else(|| OpenIdError::Refused("it gave no code".to_owned()))?;
    provider.identity(&attempt, &Returned { code: &code, redirect_uri: &redirect_uri(hub, request) })
}

/// The address of [`END`] by the name that the browser knows the hub by, which has to be one of its names.
fn redirect_uri(hub: &Hub, request: &Request) -> String {
    let asked = request.browser.host.as_deref().unwrap_or_default();
    let bare = if asked.starts_with('[') { asked.split_inclusive(']').next() } else { asked.split(':').next() };
    let bare = bare.unwrap_or_default().trim_matches(['[', ']']);
    let is_ours = hub.names.iter().any(|name| name.eq_ignore_ascii_case(bare));
    let first = hub.names.first().map_or("localhost", String::as_str);
    format!("https://{}{END}", if is_ours { asked } else { first })
}

fn refused(hub: &Hub, request: &Request, error: &OpenIdError) -> Result<Answer, RequestError> {
    let why = error.to_string();
    people::note(hub, request, "", &format!("signing in by a provider failed: {why}"))?;
    hub.log.say(hub.now(), format_args!("signing in by a provider failed: {why}"));
    let status = match error {
        OpenIdError::Provider { .. } | OpenIdError::Random(_) => 502,
        OpenIdError::NotBegun => 400,
        OpenIdError::Refused(_) | OpenIdError::Token(_) | OpenIdError::Claims(_) => 403,
    };
    let mut answer = page(status, &format!("{why}. What to do: {}.", error.hint()), Leads::Back);
    answer.headers.push(("set-cookie", attempt_cookie("", Duration::ZERO)));
    Ok(answer)
}

/// What a page does once it is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Leads {
    On,
    Back,
}

fn page(status: u16, text: &str, leads: Leads) -> Answer {
    let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let (title, refresh, link) = match leads {
        Leads::On => ("Signed in", "<meta http-equiv=\"refresh\" content=\"0;url=/\">", "Go on"),
        Leads::Back => ("Not signed in", "", "Back to the hub"),
    };
    let page = format!(
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" \
         content=\"width=device-width,initial-scale=1\"><meta name=\"color-scheme\" content=\"light dark\">{refresh}\
         <title>{title} - linerate</title><style>body{{font:16px/1.5 system-ui,sans-serif;max-width:40rem;margin:2rem \
         auto;padding:0 1rem;overflow-wrap:anywhere}}</style></head><body><main><h1>{title}</h1><p>{text}</p>\
         <p><a href=\"/\">{link}</a></p></main></body></html>"
    );
    let response = Response::document("text/html; charset=utf-8", page);
    let headers = response.headers().into_iter().filter(|(name, _)| *name != "content-type").collect();
    Answer { status, media: Media::Other(response.media), headers, body: response.body.into_owned() }
}

/// It has to come back with a browser that another site has sent here, so it is `Lax`.
fn attempt_cookie(value: &str, counts: Duration) -> String {
    format!("{ATTEMPT_COOKIE}={value}; Path=/; Max-Age={}; Secure; HttpOnly; SameSite=Lax", counts.as_secs())
}

/// Where a sign-in begins.
pub const BEGIN: &str = "/sign-in/openid";
/// Where the provider sends the browser to.
pub const END: &str = "/sign-in/openid/return";
/// The cookie of a sign-in that has begun.
pub(super) const ATTEMPT_COOKIE: &str = "__Host-linerate-openid";
/// How long somebody may take at the provider.
const ATTEMPT: Duration = Duration::from_secs(600);
