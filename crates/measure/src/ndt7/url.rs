//! Whom to test with, as people type it.

use std::str::FromStr;

use model::spec::Direction;

use super::{DOWNLOAD, UPLOAD};
use crate::http::url::{Url, UrlError};

/// A server of NDT7, and which of the two tests an address names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ndt7Url {
    url: Url,
    security: Security,
}

/// Whether a test is encrypted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Security {
    /// `ws`.
    Plain,
    /// `wss`.
    Tls,
}

impl Ndt7Url {
    /// Name or address of the server.
    #[must_use]
    pub fn host(&self) -> &str {
        &self.url.host
    }

    /// Its port.
    #[must_use]
    pub const fn port(&self) -> u16 {
        self.url.port
    }

    /// Whether it is `ws` or `wss`.
    #[must_use]
    pub const fn security(&self) -> Security {
        self.security
    }

    /// As the `Host` field of a request wants it.
    #[must_use]
    pub fn authority(&self) -> String {
        let host = if self.url.host.contains(':') { format!("[{}]", self.url.host) } else { self.url.host.clone() };
        if self.url.port == self.security.port() { host } else { format!("{host}:{}", self.url.port) }
    }

    /// The only direction that this address stands for, of one that names a test (as those of M-Lab's Locate do, which
    /// carry an access token in their query).
    #[must_use]
    pub fn direction(&self) -> Option<Direction> {
        match self.path() {
            DOWNLOAD => Some(Direction::Reverse),
            UPLOAD => Some(Direction::Forward),
            _ => None,
        }
    }

    /// What is asked of the server for a test in this direction.
    #[must_use]
    pub fn target(&self, direction: Direction) -> String {
        let path = if direction == Direction::Reverse { DOWNLOAD } else { UPLOAD };
        match self.url.target.split_once('?') {
            Some((_, query)) => format!("{path}?{query}"),
            None => path.to_owned(),
        }
    }

    fn path(&self) -> &str {
        self.url.target.split('?').next().unwrap_or_default()
    }
}

impl Security {
    /// The port of an address that names none.
    const fn port(self) -> u16 {
        match self {
            Self::Plain => 80,
            Self::Tls => 443,
        }
    }
}

impl FromStr for Ndt7Url {
    type Err = UrlError;

    fn from_str(text: &str) -> Result<Self, UrlError> {
        let refuse = |reason| UrlError { text: text.chars().take(80).collect(), reason };
        let schemes = [("wss://", Security::Tls), ("https://", Security::Tls), ("ws://", Security::Plain)];
        let known = schemes.into_iter().chain([("http://", Security::Plain)]);
        let named = known.filter_map(|(scheme, security)| Some((text.strip_prefix(scheme)?, security))).next();
        let (rest, security) = named.unwrap_or((text, Security::Plain));
        let mut url = format!("http://{rest}").parse::<Url>().map_err(|error| refuse(error.reason))?;
        let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
        let has_port = authority.rsplit_once(':').is_some_and(|(_, port)| !port.ends_with(']'));
        if !has_port {
            url.port = security.port();
        }
        let parsed = Self { url, security };
        if parsed.direction().is_none() && parsed.path() != "/" {
            return Err(refuse("its path is neither /ndt/v7/download nor /ndt/v7/upload"));
        }
        Ok(parsed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_is_a_name_a_port_or_an_address_of_one_test() {
        let url: Ndt7Url = "ndt.example.org".parse().unwrap();
        assert_eq!((url.host(), url.port(), url.direction()), ("ndt.example.org", 80, None));
        let url: Ndt7Url = "ws://[::1]:8080/".parse().unwrap();
        assert_eq!((url.host(), url.port(), url.authority().as_str()), ("::1", 8080, "[::1]:8080"));
        let url: Ndt7Url = "wss://ndt.example.org/ndt/v7/download?access_token=x".parse().unwrap();
        assert_eq!((url.port(), url.security(), url.authority().as_str()), (443, Security::Tls, "ndt.example.org"));
        let url: Ndt7Url = "https://[::1]".parse().unwrap();
        assert_eq!((url.host(), url.port(), url.authority().as_str()), ("::1", 443, "[::1]"));
        let url: Ndt7Url = "wss://a:80/".parse().unwrap();
        assert_eq!((url.port(), url.authority().as_str()), (80, "a:80"));
        let url: Ndt7Url = "ws://a:81/ndt/v7/upload?access_token=x".parse().unwrap();
        assert_eq!(url.direction(), Some(Direction::Forward));
        assert_eq!(url.target(Direction::Forward), "/ndt/v7/upload?access_token=x");
        assert_eq!(url.target(Direction::Reverse), "/ndt/v7/download?access_token=x");
    }

    #[test]
    fn what_is_no_server_is_refused_with_its_reason() {
        for (text, reason) in [
            ("wss://a/other", "neither"),
            ("ftp://a/", "host or port"),
            ("ws://a/other", "neither"),
            ("ws://", "host or port"),
            ("a:b", "host or port"),
            ("a b", "white space"),
        ] {
            let error = text.parse::<Ndt7Url>().unwrap_err().to_string();
            assert!(error.contains(reason), "{text}: {error}");
        }
    }
}
