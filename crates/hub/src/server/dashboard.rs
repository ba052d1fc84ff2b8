//! The pages of people who have signed in. Pages themselves hold no data, so everybody may have those; what they show needs an account.

use web::exchange::{Request as PageRequest, Response};
use web::site;

use super::caller;
use super::request::{Answer, Media, Request, RequestError};
use super::state::Hub;
use crate::api::routes::Right;

/// Answers what is no request of the API: pages, their scripts and their data.
pub(super) fn answer(hub: &Hub, request: &Request) -> Result<Answer, RequestError> {
    if site::holds_data(&request.path) {
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
        encodings: browser.encodings.clone(),
    };
    let demonstration = hub.demonstrations.site(&hub.names);
    let response: Response = demonstration.as_deref().unwrap_or(&hub.site).answer(&asked);
    let headers = response.headers().into_iter().filter(|(name, _)| *name != "content-type").collect();
    Ok(Answer {
        status: response.status,
        media: Media::Other(response.media),
        headers,
        body: response.body.into_owned(),
    })
}
