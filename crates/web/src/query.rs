//! Names and numbers in addresses.

use std::collections::BTreeMap;

/// The parameters of an address; of one that comes twice, the last.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Query(BTreeMap<String, String>);

impl Query {
    pub(crate) fn parse(text: &str) -> Self {
        let pairs = text.split('&').filter(|pair| !pair.is_empty()).take(MOST);
        Self(
            pairs
                .map(|pair| pair.split_once('=').unwrap_or((pair, "")))
                .map(|(name, value)| (decode(name), decode(value)))
                .collect(),
        )
    }

    /// A parameter that is there and not empty.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str).filter(|text| !text.is_empty())
    }

    /// A whole number.
    pub(crate) fn number<N: std::str::FromStr>(&self, name: &str) -> Option<N> {
        self.text(name)?.parse().ok()
    }
}

/// Percent-encoding (WHATWG URL, application/x-www-form-urlencoded); what is no encoding stays as it is.
fn decode(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, tail)) = rest.split_first() {
        let code = tail.get(..2).filter(|_| *first == b'%');
        let code = code.and_then(|code| std::str::from_utf8(code).ok());
        let code = code.filter(|code| code.bytes().all(|digit| digit.is_ascii_hexdigit()));
        match code.and_then(|code| u8::from_str_radix(code, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &tail[2..];
            }
            None => {
                bytes.push(if *first == b'+' { b' ' } else { *first });
                rest = tail;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// No page has more.
const MOST: usize = 32;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_hosts_survive_an_address() {
        let query = Query::parse("from=a%3Cscript%3E&to=caf%C3%A9+x&n=12&bad=%zz%4&empty=");
        assert_eq!(query.text("from"), Some("a<script>"));
        assert_eq!(query.text("to"), Some("café x"));
        assert_eq!(query.number::<u32>("n"), Some(12));
        assert_eq!(query.text("bad"), Some("%zz%4"));
        assert_eq!(query.text("empty"), None);
        assert_eq!(query.text("none"), None);
    }
}
