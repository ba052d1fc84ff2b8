//! A request and its answer, without a socket: what the listener makes of bytes, and what tests make by themselves.

use std::fmt;
use std::net::IpAddr;
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::api::Problem;
use crate::api::routes::Target;
use crate::store::StoreError;
use crate::trust::digest::Fingerprint;

/// A request whose head and body have come.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// Where it comes from.
    pub from: Option<IpAddr>,
    /// `GET` or `POST`.
    pub method: String,
    /// Its path, without what stands behind `?`.
    pub path: String,
    /// What stands behind `?`, as it came.
    pub query: String,
    /// The SHA-256 of the certificate that was shown, which the authority has signed.
    pub certificate: Option<Fingerprint>,
    /// The token that was shown.
    pub token: Option<ShownToken>,
    /// The session that its cookie names.
    pub session: Option<ShownToken>,
    /// The sign-in by a provider that its cookie names.
    pub attempt: Option<ShownToken>,
    /// What a browser says of itself.
    pub browser: BrowserHeaders,
    /// The version of linerate that asks, where it said so.
    pub version: Option<String>,
    /// Body of the request, at most as long as its route permits.
    pub body: Vec<u8>,
    /// How long it has waited for something to happen.
    pub waited: Duration,
}

/// What a browser says of itself and of the page that asks.
#[derive(Debug, Clone, Default)]
pub struct BrowserHeaders {
    /// `Host`.
    pub host: Option<String>,
    /// `Origin`: the site whose page asks.
    pub origin: Option<String>,
    /// `Sec-Fetch-Site`: whether that is another one.
    pub fetch_site: Option<String>,
    /// `Sec-Fetch-Mode`.
    pub fetch_mode: Option<String>,
    /// `If-None-Match`.
    pub known: Option<String>,
    /// `Accept-Encoding`.
    pub encodings: Option<String>,
}

impl BrowserHeaders {
    /// Whether a browser asks, or what wants to be one.
    #[must_use]
    pub const fn is_browser(&self) -> bool {
        self.fetch_site.is_some() || self.origin.is_some()
    }

    /// Whether a page of this hub asks, as far as the browser says: each that is in use names the site in what it posts.
    #[must_use]
    pub fn is_own_page(&self) -> bool {
        match (&self.fetch_site, &self.origin, &self.host) {
            (Some(site), _, _) => site == "same-origin",
            (None, Some(origin), Some(host)) => origin.strip_prefix("https://").is_some_and(|name| name == host),
            _ => false,
        }
    }
}

/// The text behind `Authorization: Bearer` or of a cookie, never shown.
#[derive(Clone, PartialEq, Eq)]
pub struct ShownToken(pub String);

impl fmt::Debug for ShownToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ShownToken(..)")
    }
}

/// What the hub says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// A code of HTTP (RFC 9110).
    pub status: u16,
    /// What the body is.
    pub media: Media,
    /// Further headers.
    pub headers: Vec<(&'static str, String)>,
    /// Body of the answer, complete.
    pub body: Vec<u8>,
}

/// What a body is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Media {
    /// JSON.
    Json,
    /// Numbers for Prometheus.
    Metrics,
    /// Something else, by its media type.
    Other(&'static str),
}

/// Why a request is not answered as it wants.
#[derive(Debug, thiserror::Error)]
pub enum RequestError {
    /// There is nothing of that name.
    #[error("there is no {0}")]
    NotFound(String),
    /// Who asks has no right to.
    #[error("{0}")]
    Forbidden(String),
    /// Who asks has not signed in, or the session is over.
    #[error("sign in first")]
    SignIn,
    /// Too many wrong passwords, or too many at once.
    #[error("too many attempts: wait for {0} s")]
    TooOften(u64),
    /// The request is not understood.
    #[error("{0}")]
    NotUnderstood(String),
    /// The agent or its token is of another time.
    #[error("{0}")]
    Conflict(String),
    /// The request is larger than it may be.
    #[error("the request has more than {0} bytes")]
    TooLarge(usize),
    /// The request has not come in time.
    #[error("the request has not come within {0} s")]
    TooSlow(u64),
    /// The versions are too far apart.
    #[error("{0}")]
    Version(String),
    /// The database refuses: who asks should ask again later.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl RequestError {
    /// The code of HTTP for it (RFC 9110, section 15).
    #[must_use]
    pub const fn status(&self) -> u16 {
        match self {
            Self::NotUnderstood(_) => 400,
            Self::SignIn => 401,
            Self::Forbidden(_) => 403,
            Self::NotFound(_) => 404,
            Self::TooSlow(_) => 408,
            Self::Conflict(_) => 409,
            Self::TooLarge(_) => 413,
            Self::Version(_) => 426,
            Self::TooOften(_) => 429,
            Self::Store(_) => 503,
        }
    }
}

impl Request {
    /// What it names.
    #[must_use]
    pub fn target(&self) -> Target<'_> {
        Target { method: &self.method, path: &self.path }
    }

    /// A value behind `?` (RFC 3986, with `+` for a space), where it is there.
    #[must_use]
    pub fn value(&self, name: &str) -> Option<String> {
        let pairs = self.query.split('&').filter_map(|pair| pair.split_once('='));
        pairs.filter(|(key, _)| *key == name).map(|(_, value)| decoded(value)).next()
    }

    /// The body as JSON of this form.
    ///
    /// # Errors
    /// Where it is not.
    pub fn content<T: DeserializeOwned>(&self) -> Result<T, RequestError> {
        serde_json::from_slice(&self.body)
            .map_err(|error| RequestError::NotUnderstood(format!("the request is not understood: {error}")))
    }
}

impl Answer {
    /// JSON.
    ///
    /// # Errors
    /// Where it cannot be written, which is a fault of the hub.
    pub fn json(content: &impl Serialize) -> Result<Self, RequestError> {
        let body = serde_json::to_vec(content).map_err(StoreError::from)?;
        Ok(Self { status: 200, media: Media::Json, headers: fresh(), body })
    }

    /// JSON that was written before.
    #[must_use]
    pub fn written(json: &str) -> Self {
        Self { status: 200, media: Media::Json, headers: fresh(), body: json.as_bytes().to_vec() }
    }

    /// What is wrong.
    #[must_use]
    pub fn refusal(error: &RequestError) -> Self {
        let problem = Problem { error: error.to_string(), hint: None };
        let body = serde_json::to_vec(&problem).unwrap_or_default();
        Self { status: error.status(), media: Media::Json, headers: fresh(), body }
    }
}

/// What a browser is not to keep, and to take as what it is said to be.
fn fresh() -> Vec<(&'static str, String)> {
    vec![("cache-control", "no-store".to_owned()), ("x-content-type-options", "nosniff".to_owned())]
}

/// Without percent signs. What is no text afterwards names nothing.
fn decoded(value: &str) -> String {
    let mut bytes = Vec::with_capacity(value.len());
    let mut rest = value.bytes();
    while let Some(byte) = rest.next() {
        let digits = (byte == b'%').then(|| rest.clone().take(2).map(char::from).collect::<String>());
        match digits.and_then(|digits| u8::from_str_radix(&digits, 16).ok()) {
            Some(decoded) => {
                bytes.push(decoded);
                rest.nth(1);
            }
            None => bytes.push(if byte == b'+' { b' ' } else { byte }),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
