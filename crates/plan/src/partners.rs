//! Lists of hosts that others publish, as partners of light tests: records of perfSONAR's lookup service, a psConfig template, or a
//! host a line.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use crate::psconfig::LONGEST_TEMPLATE;
use crate::read::names::MOST_HOSTS;

/// Hosts of a list, each once, in the order of their names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartnerList {
    /// Names or addresses.
    pub hosts: Vec<String>,
    /// Records that name no host, or hold what is none.
    pub left_out: usize,
}

/// Why a list cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PartnersError {
    /// It is longer than any list is.
    #[error("it has more than {LONGEST_TEMPLATE} bytes, which no list of hosts needs")]
    TooLarge,
    /// It names lookup services and not hosts (`activehosts.json`).
    #[error("it lists lookup services, not hosts: fetch the records of one, such as {0}")]
    Services(String),
    /// There is none in it.
    #[error("it names no host")]
    Nothing,
    /// More than a plan has room for.
    #[error("{0} hosts are too many: a plan has {MOST_HOSTS} at most")]
    TooMany(usize),
}

impl PartnerList {
    /// Reads a list of any of the three kinds.
    ///
    /// # Errors
    /// See [`PartnersError`].
    pub fn read(bytes: &[u8]) -> Result<Self, PartnersError> {
        if bytes.len() > LONGEST_TEMPLATE {
            return Err(PartnersError::TooLarge);
        }
        let found: Vec<Option<String>> = match serde_json::from_slice(bytes) {
            Ok(Value::Array(records)) => records.iter().filter_map(record).collect(),
            Ok(Value::Object(object)) => of_object(&object)?,
            _ => String::from_utf8_lossy(bytes).lines().filter_map(line).collect(),
        };
        let hosts: BTreeSet<String> = found.iter().flatten().cloned().collect();
        let left_out = found.iter().filter(|host| host.is_none()).count();
        match hosts.len() {
            0 => Err(PartnersError::Nothing),
            count if count >= MOST_HOSTS => Err(PartnersError::TooMany(count)),
            _ => Ok(Self { hosts: hosts.into_iter().collect(), left_out }),
        }
    }
}

/// The host of a record of the lookup service; nothing of records of other kinds (persons, interfaces, archives).
///
/// Keys as in esnet/simple-lookup-service and perfsonar/ls-registration-daemon 5.2: values are lists of texts, of old servers bare texts.
fn record(record: &Value) -> Option<Option<String>> {
    let text = |key: &str| first(record.get(key)?);
    let is_tester = match text("type")? {
        "service" => {
            matches!(text("service-type")?, "owamp" | "twamp" | "pscheduler" | "bwctl" | "ping" | "traceroute")
        }
        "host" => true,
        _ => false,
    };
    let by_locator = || text("service-locator").map(of_locator);
    is_tester.then(|| by_locator().or_else(|| text("host-name")).and_then(host))
}

fn first(value: &Value) -> Option<&str> {
    match value {
        Value::Array(values) => values.first().and_then(Value::as_str),
        other => other.as_str(),
    }
}

/// `https://HOST/pscheduler`, `tcp://HOST:861`, `HOST:861`, `[ADDRESS]:861`.
fn of_locator(locator: &str) -> &str {
    let rest = locator.split_once("://").map_or(locator, |(_, rest)| rest);
    let authority = rest.split('/').next().unwrap_or_default();
    if let Some((address, _)) = authority.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        return address;
    }
    match authority.rsplit_once(':') {
        Some((name, _)) if !name.contains(':') => name,
        _ => authority,
    }
}

/// A psConfig template names hosts in `addresses`; the start of a lookup service names services in `hosts`.
fn of_object(object: &Map<String, Value>) -> Result<Vec<Option<String>>, PartnersError> {
    if let Some(Value::Object(addresses)) = object.get("addresses") {
        return Ok(addresses.values().map(|each| first(each.get("address")?).and_then(host)).collect());
    }
    if let Some(Value::Array(services)) = object.get("hosts") {
        let alive = services.iter().filter_map(|each| first(each.get("locator")?)).next();
        return Err(alive.map_or(PartnersError::Nothing, |locator| PartnersError::Services(locator.to_owned())));
    }
    Err(PartnersError::Nothing)
}

/// A host a line; what follows a `#` is a comment.
fn line(line: &str) -> Option<Option<String>> {
    let text = line.split('#').next().unwrap_or_default().trim();
    (!text.is_empty()).then(|| host(text))
}

/// A name or an address that a plan may have: what a stranger wrote becomes no option of a program.
fn host(text: &str) -> Option<String> {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '.' | '-' | ':' | '_');
    let is_host = !text.starts_with('-') && text.len() <= LONGEST_NAME && text.chars().all(is_plain);
    (is_host && text.chars().any(|letter| letter.is_ascii_alphanumeric())).then(|| text.to_owned())
}

/// RFC 1035 section 2.3.4.
const LONGEST_NAME: usize = 255;

#[cfg(test)]
mod tests {
    use super::*;

    fn hosts(text: &str) -> Vec<String> {
        PartnerList::read(text.as_bytes()).unwrap().hosts
    }

    #[test]
    fn records_of_the_lookup_service_give_each_tester_once() {
        let records = r#"[
            {"type":["service"],"service-type":["owamp"],"service-locator":["tcp://ps1.example.org:861"]},
            {"type":["service"],"service-type":["pscheduler"],"service-locator":["https://ps1.example.org/pscheduler"]},
            {"type":"service","service-type":"twamp","service-locator":"[2001:db8::1]:862"},
            {"type":["host"],"host-name":["ps2.example.org","10.0.0.1"]},
            {"type":["service"],"service-type":["ma"],"service-locator":["https://archive.example.org/"]},
            {"type":["person"],"person-name":["somebody"]},
            {"type":["host"],"host-name":["-oProxyCommand=x"]}, 7]"#;
        let list = PartnerList::read(records.as_bytes()).unwrap();
        assert_eq!(list.hosts, ["2001:db8::1", "ps1.example.org", "ps2.example.org"]);
        assert_eq!(list.left_out, 1, "what begins with a hyphen would be an option");
    }

    #[test]
    fn a_template_and_lines_name_hosts_too() {
        let template =
            r#"{"addresses":{"a":{"address":"ps1.example.org"},"b":{"address":"198.51.100.7"}},"groups":{}}"#;
        assert_eq!(hosts(template), ["198.51.100.7", "ps1.example.org"]);
        assert_eq!(
            hosts("# partners\nps2.example.org # west\n\nps1.example.org\nps2.example.org\n"),
            ["ps1.example.org", "ps2.example.org"]
        );
    }

    #[test]
    fn what_names_no_host_is_refused_with_what_to_do() {
        let bootstrap = r#"{"hosts":[{"locator":"http://ls.example.org:8090/lookup/records","status":"alive"}]}"#;
        let error = PartnerList::read(bootstrap.as_bytes()).unwrap_err();
        assert_eq!(error, PartnersError::Services("http://ls.example.org:8090/lookup/records".to_owned()));
        for nothing in ["", "{}", "[]", "[[[]]]", "{\"addresses\":7}", "\u{0}\u{1}"] {
            assert_eq!(PartnerList::read(nothing.as_bytes()), Err(PartnersError::Nothing), "{nothing}");
        }
        let many: String = (0..1_000).map(|number| format!("host{number}\n")).collect();
        assert_eq!(PartnerList::read(many.as_bytes()), Err(PartnersError::TooMany(1_000)));
    }
}
