//! The pages of people who have signed in. Pages themselves hold no data, so everybody may have those; what they show needs an account.

use web::exchange::{Request as PageRequest, Response};

use super::caller;
use super::reports;
use super::request::{Answer, Media, Request, RequestError};
use super::state::Hub;
use crate::api::routes::Right;

/// Answers what is no request of the API: pages, their scripts and their data.
pub(super) fn answer(hub: &Hub, request: &Request) -> Result<Answer, RequestError> {
    if let Some((id, form)) = document(&request.path) {
        caller::person(hub, request, Right::View)?;
        return match form {
            Form::Html => Ok(Answer {
                status: 200,
                media: Media::Other("text/html; charset=utf-8"),
                headers: vec![("content-security-policy", REPORT_POLICY.to_owned()), ("cache-control", "no-store".to_owned())],
                body: reports::page(hub, id)?.into_bytes(),
            }),
            Form::Markdown => Ok(Answer {
                status: 200,
                media: Media::Other("text/markdown; charset=utf-8"),
                headers: vec![("cache-control", "no-store".to_owned())],
                body: reports::of_incident(hub, id)?.text.into_bytes(),
            }),
        };
    }
    if request.path.starts_with(DATA) {
        caller::person(hub, request, Right::View)?;
    }
    let browser = &request.browser;
    let asked = PageRequest {
        method: request.method.clone(),
        path: request.path.clone(),
        query: request.query.clone(),
        host: browser.host.clone(),
        fetch_site: browser.fetch_site.clone(),
        fetch_mode: browser.fetch_mode.clone(),
        known: browser.known.clone(),
    };
    let response: Response = hub.site.answer(&asked);
    let headers = response.headers().into_iter().filter(|(name, _)| *name != "content-type").collect();
    Ok(Answer { status: response.status, media: Media::Other(response.media), headers, body: response.body.into_owned() })
}

/// A post-mortem as a document.
enum Form {
    Html,
    Markdown,
}

fn document(path: &str) -> Option<(&str, Form)> {
    let (id, file) = path.strip_prefix("/incident/")?.split_once('/')?;
    match file {
        "report.html" => Some((id, Form::Html)),
        "report.md" => Some((id, Form::Markdown)),
        _ => None,
    }
}

/// Where the data of pages are.
const DATA: &str = "/view/";
/// Its own style, and nothing else.
const REPORT_POLICY: &str =
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
