//! Addresses of files.

use std::str::FromStr;

/// The address of a file on a server that speaks plain HTTP.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Url {
    /// The server's name or address, of IPv6 without brackets.
    pub host: String,
    /// TCP port, above 0; 80 where the URL has none (RFC 9110 §4.2.1).
    pub port: u16,
    /// What is asked of it, from the slash on.
    pub target: String,
}

impl Url {
    /// The host as the `Host` field wants it.
    #[must_use]
    pub fn authority(&self) -> String {
        let bracketed = if self.host.contains(':') { format!("[{}]", self.host) } else { self.host.clone() };
        if self.port == HTTP_PORT { bracketed } else { format!("{bracketed}:{}", self.port) }
    }
}

/// A text that is no address of a file here.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is no address of a file: {reason} (expected http://HOST:PORT/PATH)")]
pub struct UrlError {
    /// The text, as far as it is short.
    pub text: String,
    /// What is wrong with it.
    pub reason: &'static str,
}

impl FromStr for Url {
    type Err = UrlError;

    fn from_str(text: &str) -> Result<Self, UrlError> {
        let refuse = |reason| UrlError { text: text.chars().take(80).collect(), reason };
        if text.len() > MAX_URL_BYTES {
            return Err(refuse("it is too long"));
        }
        if text.bytes().any(|byte| !byte.is_ascii_graphic()) {
            return Err(refuse("it has white space, or letters that must be escaped"));
        }
        if text.starts_with("https://") {
            return Err(refuse("encrypted transfers are not measured here"));
        }
        let rest = text.strip_prefix("http://").ok_or_else(|| refuse("it does not start with http://"))?;
        let rest = rest.split('#').next().unwrap_or_default();
        let (authority, path) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
        if authority.contains('@') {
            return Err(refuse("it names a user"));
        }
        let (host, port) = split_port(authority).ok_or_else(|| refuse("its host or port is wrong"))?;
        let target = if path.starts_with('/') { path.to_owned() } else { format!("/{path}") };
        Ok(Self { host: host.to_owned(), port, target })
    }
}

fn split_port(authority: &str) -> Option<(&str, u16)> {
    let (host, port) = match authority.strip_prefix('[') {
        Some(rest) => {
            let (host, after) = rest.split_once(']')?;
            host.parse::<std::net::Ipv6Addr>().ok()?;
            (host, if after.is_empty() { None } else { Some(after.strip_prefix(':')?) })
        }
        None => match authority.split_once(':') {
            Some((host, port)) => (host, Some(port)),
            None => (authority, None),
        },
    };
    let port = match port {
        Some(port) if port.bytes().all(|byte| byte.is_ascii_digit()) => port.parse().ok().filter(|port| *port > 0)?,
        Some(_) => return None,
        None => HTTP_PORT,
    };
    (!host.is_empty()).then_some((host, port))
}

/// The port of HTTP (RFC 9110 §4.2.1).
const HTTP_PORT: u16 = 80;
/// Longest address that is read; RFC 9110 §4.1 asks for 8,000 at least.
const MAX_URL_BYTES: usize = 8192;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_taken_apart_and_put_together() {
        let cases = [
            ("http://a", "a", 80, "/", "a"),
            ("http://a:8080/100MB?x=1#top", "a", 8080, "/100MB?x=1", "a:8080"),
            ("http://[fd00::1]:81/", "fd00::1", 81, "/", "[fd00::1]:81"),
            ("http://10.0.0.1?q", "10.0.0.1", 80, "/?q", "10.0.0.1"),
        ];
        for (text, host, port, target, authority) in cases {
            let url: Url = text.parse().unwrap();
            assert_eq!((&*url.host, url.port, &*url.target), (host, port, target), "{text}");
            assert_eq!(url.authority(), authority);
        }
    }

    #[test]
    fn what_cannot_be_fetched_is_refused_with_its_reason() {
        let long = format!("http://a/{}", "b".repeat(9000));
        let wrong = [
            "https://a/",
            "ftp://a/",
            "a/b",
            "http:///b",
            "http://a:/",
            "http://a:0/",
            "http://a:+1/",
            "http://[a]/",
            "http://[::1]a/",
            "http://u@a/",
            "http://a/b\r\nX: y",
            &long,
        ];
        for text in wrong {
            assert!(text.parse::<Url>().is_err(), "{text}");
        }
        assert!("https://a/".parse::<Url>().unwrap_err().to_string().contains("encrypted"));
    }
}
