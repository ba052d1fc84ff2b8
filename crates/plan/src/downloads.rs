//! A plan that has the same file fetched from each site, directly and through a proxy: where the two differ the proxy is slow, where one
//! site differs from the others its network is, and the history says since when.

use std::collections::BTreeSet;
use std::time::Duration;

use crate::operation::Trigger;
use crate::plan::{Group, Host, Plan, Shape, Test, Times, Ways};
use crate::task::{Http, Task};

/// What is fetched, by whom, from where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Downloads {
    /// The name of the file, as it stands behind the name of a server in its URL.
    pub file: String,
    /// Hosts that fetch it; each needs an agent.
    pub sites: Vec<FileHost>,
    /// Servers that have it.
    pub servers: Vec<FileHost>,
    /// Proxies that pass it on; there may be none.
    pub proxies: Vec<FileHost>,
    /// Time from one download to the next of the same pair.
    pub every: Duration,
}

/// A host that fetches or serves a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileHost {
    /// Its name or address.
    pub name: String,
    /// The port of its server of files; 80 where it is [`None`].
    pub port: Option<u16>,
}

/// A text that is no host.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no host: write HOST or HOST:PORT")]
pub struct NoHost(String);

impl std::str::FromStr for FileHost {
    type Err = NoHost;

    fn from_str(text: &str) -> Result<Self, NoHost> {
        let no_host = || NoHost(text.to_owned());
        // An address of IPv6 has colons of its own.
        let (name, port) = match text.rsplit_once(':') {
            Some((name, port)) if !name.contains(':') => (name, Some(port.parse().map_err(|_| no_host())?)),
            _ => (text, None),
        };
        let is_letter = |letter: char| letter.is_ascii_alphanumeric() || ".:_-".contains(letter);
        if name.is_empty() || name.starts_with('-') || !name.chars().all(is_letter) {
            return Err(no_host());
        }
        Ok(Self { name: name.to_owned(), port })
    }
}

impl Downloads {
    /// Plan of one test from servers and one through proxies, where there are any.
    #[must_use]
    pub fn plan(&self) -> Plan {
        let mut hosts: Vec<Host> = Vec::new();
        let sites = places(&mut hosts, &self.sites);
        let groups = [("direct", &self.servers), ("through-proxy", &self.proxies)];
        let groups = groups.into_iter().filter(|(_, to)| !to.is_empty()).map(|(name, to)| {
            let shape = Shape::Disjoint { a: sites.clone(), b: places(&mut hosts, to), ways: Ways::One };
            Group { name: name.to_owned(), shape, network: None, without: BTreeSet::new() }
        });
        let groups: Vec<Group> = groups.collect();
        let test = |(number, group): (usize, &Group)| Test {
            label: group.name.clone(),
            group: number,
            task: Task::Http(Http { file: self.file.clone(), count: DOWNLOADS }),
            family: None,
            expect: None,
            every: None,
            trigger: Trigger::Time,
        };
        let tests = groups.iter().enumerate().map(test).collect();
        Plan {
            title: format!("{} from {} sites", self.file, self.sites.len()),
            about: Some("The same file from each site, directly and through the proxy.".to_owned()),
            times: Times { every: Some(self.every), ..Times::default() },
            hosts,
            networks: Vec::new(),
            segments: Vec::new(),
            ways: Vec::new(),
            groups,
            tests,
            expectations: Vec::new(),
            maintenance: Vec::new(),
            budgets: Vec::new(),
        }
    }
}

/// The numbers of hosts in a plan, which get in where they are not yet.
fn places(hosts: &mut Vec<Host>, wanted: &[FileHost]) -> Vec<usize> {
    let mut places = Vec::new();
    for FileHost { name, port } in wanted {
        let is_it = |host: &Host| host.address.as_ref() == Some(name) && host.http_port == *port;
        let place = hosts.iter().position(is_it).unwrap_or(hosts.len());
        if place == hosts.len() {
            let is_taken = hosts.iter().any(|host| host.name == *name);
            let called = if is_taken { format!("{name}-{}", port.unwrap_or(80)) } else { name.clone() };
            hosts.push(Host { name: called, address: Some(name.clone()), http_port: *port, ..Host::default() });
        }
        if !places.contains(&place) {
            places.push(place);
        }
    }
    places
}

/// Of three, the median is no accident of one.
const DOWNLOADS: u32 = 3;

#[cfg(test)]
mod tests {
    use super::*;

    fn hosts(texts: &[&str]) -> Vec<FileHost> {
        texts.iter().map(|text| text.parse().unwrap()).collect()
    }

    #[test]
    fn each_site_fetches_from_each_server_and_proxy_and_the_plan_reads_back() {
        let downloads = Downloads {
            file: "/dataPortal/cube.fits".to_owned(),
            sites: hosts(&["arc-na", "arc-eu"]),
            servers: hosts(&["archive.example.org:8088"]),
            proxies: hosts(&["archive.example.org"]),
            every: Duration::from_secs(7 * 86_400),
        };
        let text = downloads.plan().to_toml();
        let plan = Plan::parse("weekly", &text).unwrap();
        let pairs: Vec<usize> = (0..plan.tests.len()).map(|test| plan.pairs(test).len()).collect();
        assert_eq!(pairs, [2, 2], "{text}");
        let names: Vec<&str> = plan.hosts.iter().map(|host| host.name.as_str()).collect();
        assert_eq!(names, ["arc-na", "arc-eu", "archive.example.org", "archive.example.org-80"]);
        assert_eq!(plan.period(0), Duration::from_secs(7 * 86_400));
    }

    #[test]
    fn options_are_no_hosts() {
        for text in ["", "-x", "a b", "a:b", ":80"] {
            assert!(text.parse::<FileHost>().is_err(), "{text}");
        }
        assert_eq!("2001:db8::1".parse::<FileHost>().unwrap().port, None);
    }
}
