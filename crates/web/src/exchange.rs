//! Requests and responses, without a socket.

use std::borrow::Cow;
use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;
use serde::Serialize;

/// A request, as far as pages depend on it. None has a body.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// `GET`.
    pub method: String,
    /// The path, percent-encoded.
    pub path: String,
    /// What follows the question mark.
    pub query: String,
    /// The header `Host`.
    pub host: Option<String>,
    /// The header `Sec-Fetch-Site`: whether a page of another site has caused the request.
    pub fetch_site: Option<String>,
    /// The header `Sec-Fetch-Mode`.
    pub fetch_mode: Option<String>,
    /// The header `If-None-Match`.
    pub known: Option<String>,
    /// The header `Accept-Encoding`.
    pub encodings: Option<String>,
}

impl Request {
    /// Whether a body may come compressed by gzip (RFC 9110, section 12.5.3).
    #[must_use]
    pub fn takes_gzip(&self) -> bool {
        let mut encodings = self.encodings.iter().flat_map(|list| list.split(','));
        encodings.any(|encoding| {
            let (name, weight) = encoding.split_once(';').unwrap_or((encoding, "q=1"));
            name.trim().eq_ignore_ascii_case("gzip") && !matches!(weight.trim(), "q=0" | "q=0.0" | "q=0.00" | "q=0.000")
        })
    }

    /// `GET` of an address of this machine.
    #[must_use]
    pub fn get(address: &str) -> Self {
        let (path, query) = address.split_once('?').unwrap_or((address, ""));
        Self {
            method: "GET".to_owned(),
            path: path.to_owned(),
            query: query.to_owned(),
            host: Some("localhost".to_owned()),
            ..Self::default()
        }
    }
}

/// What is answered.
#[derive(Debug, Clone)]
pub struct Response {
    /// The status of HTTP.
    pub status: u16,
    /// The media type.
    pub media: &'static str,
    /// Bytes of the document; none of an answer that only says that nothing is new.
    pub body: Cow<'static, [u8]>,
    /// What the body can be recognised by, where a browser may keep it.
    pub tag: Option<String>,
    /// How the body is compressed.
    pub coding: Coding,
    /// What a browser may do with it.
    pub policy: Policy,
}

/// How a body is compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Coding {
    /// It is as it is.
    #[default]
    Identity,
    /// By gzip.
    Gzip,
}

/// What a browser may do with a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Policy {
    /// Run the scripts of this site, and ask it for data.
    Page,
    /// Show it with the style that it has, and nothing else.
    Document,
}

/// An answer that is no success.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// What is wrong, in a sentence.
    pub error: String,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

impl Response {
    /// An answer of status 200 with a document that no browser may keep.
    #[must_use]
    pub fn json(value: &impl Serialize) -> Self {
        match serde_json::to_vec(value) {
            Ok(body) => Self {
                status: 200,
                media: JSON,
                body: Cow::Owned(body),
                tag: None,
                coding: Coding::Identity,
                policy: Policy::Page,
            },
            Err(error) => {
                Self::refusal(500, &Problem { error: format!("this has no form as JSON: {error}"), hint: None })
            }
        }
    }

    /// An answer of another status, with what is wrong.
    #[must_use]
    pub fn refusal(status: u16, problem: &Problem) -> Self {
        let body = serde_json::to_vec(problem).unwrap_or_default();
        Self { status, media: JSON, body: Cow::Owned(body), tag: None, coding: Coding::Identity, policy: Policy::Page }
    }

    /// A document of its own, that no browser may keep: to print, or to send.
    #[must_use]
    pub fn document(media: &'static str, text: String) -> Self {
        Self {
            status: 200,
            media,
            body: Cow::Owned(text.into_bytes()),
            tag: None,
            coding: Coding::Identity,
            policy: Policy::Document,
        }
    }

    /// The same with its body compressed, where that is worth it.
    #[must_use]
    pub fn compressed(self) -> Self {
        if self.coding != Coding::Identity || self.body.len() < LEAST_COMPRESSED {
            return self;
        }
        let body = gzip(&self.body, Compression::fast());
        Self { body: Cow::Owned(body), coding: Coding::Gzip, ..self }
    }

    /// The headers: what a browser may do with the page is as little as the page needs.
    #[must_use]
    pub fn headers(&self) -> Vec<(&'static str, String)> {
        let cache = if self.tag.is_some() { "no-cache" } else { "no-store" };
        let mut headers: Vec<(&'static str, String)> = vec![
            ("content-type", self.media.to_owned()),
            ("content-security-policy", self.policy.text().to_owned()),
            ("x-content-type-options", "nosniff".to_owned()),
            ("referrer-policy", "no-referrer".to_owned()),
            ("cross-origin-opener-policy", "same-origin".to_owned()),
            ("cross-origin-resource-policy", "same-origin".to_owned()),
            ("cache-control", cache.to_owned()),
        ];
        headers.push(("vary", "accept-encoding".to_owned()));
        if self.coding == Coding::Gzip {
            headers.push(("content-encoding", "gzip".to_owned()));
        }
        headers.extend(self.tag.iter().map(|tag| ("etag", tag.clone())));
        headers
    }
}

/// A body compressed by gzip (RFC 1952).
pub(crate) fn gzip(body: &[u8], level: Compression) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::with_capacity(body.len() / 4), level);
    // A vector takes all that is written to it.
    let written = encoder.write_all(body).and_then(|()| encoder.finish());
    written.unwrap_or_default()
}

/// The bytes of a packet or less are sent as they are.
const LEAST_COMPRESSED: usize = 1_400;
/// The media type of documents.
pub const JSON: &str = "application/json";

impl Policy {
    const fn text(self) -> &'static str {
        match self {
            // Scripts, styles and data of this site and nothing else: no inline script, no frame, no form, no other host.
            Self::Page => {
                "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
                 base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
            }
            Self::Document => {
                "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; \
                 frame-ancestors 'none'"
            }
        }
    }
}
