//! Where a hub is: `https://hub.example.net:8443`.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The address of a hub, as a person writes it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(try_from = "String", into = "String")]
#[cfg_attr(feature = "schema", schemars(with = "String"))]
pub struct HubUrl {
    /// A name or an address, without brackets.
    host: String,
    port: u16,
}

/// A text that is no address of a hub.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no address of a hub: write https://HOST or https://HOST:PORT")]
pub struct HubUrlError(String);

impl HubUrl {
    /// Its name or address.
    #[must_use]
    pub fn host(&self) -> &str {
        &self.host
    }

    /// Port of its listener, 8443 where the address has none.
    #[must_use]
    pub const fn port(&self) -> u16 {
        self.port
    }

    /// Host and port as a request names them (RFC 9110, section 7.2).
    #[must_use]
    pub fn authority(&self) -> String {
        if self.host.contains(':') {
            format!("[{}]:{}", self.host, self.port)
        } else {
            format!("{}:{}", self.host, self.port)
        }
    }
}

impl FromStr for HubUrl {
    type Err = HubUrlError;

    fn from_str(text: &str) -> Result<Self, HubUrlError> {
        let wrong = || HubUrlError(text.to_owned());
        let rest = text.strip_prefix("https://").ok_or_else(wrong)?;
        let rest = rest.strip_suffix('/').unwrap_or(rest);
        let (host, port) = match rest.strip_prefix('[') {
            Some(bracketed) => {
                let (host, port) = bracketed.split_once(']').ok_or_else(wrong)?;
                host.parse::<std::net::Ipv6Addr>().map_err(|_| wrong())?;
                (host, port.strip_prefix(':').or((port.is_empty()).then_some("")))
            }
            None => match rest.split_once(':') {
                Some((host, port)) => (host, Some(port)),
                None => (rest, Some("")),
            },
        };
        let port = match port.ok_or_else(wrong)? {
            "" => DEFAULT_PORT,
            port => port.parse().map_err(|_| wrong())?,
        };
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_' | b':');
        if host.is_empty() || !host.bytes().all(is_plain) {
            return Err(wrong());
        }
        Ok(Self { host: host.to_owned(), port })
    }
}

impl fmt::Display for HubUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "https://{}", self.authority())
    }
}

impl TryFrom<String> for HubUrl {
    type Error = HubUrlError;

    fn try_from(text: String) -> Result<Self, HubUrlError> {
        text.parse()
    }
}

impl From<HubUrl> for String {
    fn from(url: HubUrl) -> Self {
        url.to_string()
    }
}

/// Where a hub listens if nobody says otherwise.
pub const DEFAULT_PORT: u16 = 8443;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_as_people_write_them() {
        let shown = |text: &str| text.parse::<HubUrl>().map(|url| url.to_string());
        assert_eq!(shown("https://hub.example.net").unwrap(), "https://hub.example.net:8443");
        assert_eq!(shown("https://192.0.2.1:444/").unwrap(), "https://192.0.2.1:444");
        assert_eq!(shown("https://[2001:db8::1]").unwrap(), "https://[2001:db8::1]:8443");
        for wrong in
            ["http://hub", "https://", "https://hub:port", "https://hub/path", "https://[hub]", "hub", "https://[::1]x"]
        {
            assert!(shown(wrong).is_err(), "{wrong}");
        }
    }
}
