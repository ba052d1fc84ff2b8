//! What a test is in the words of a command line, and its answer.

use std::ffi::OsString;
use std::path::Path;

use archive::export::Export;
use model::plausible;
use model::played::Finding;
use model::probe::download::Download;
use model::run::Run;
use model::series::RunSamples;
use model::spec::Family;
use plan::task::{Flow, Http, Ping, Task};
use serde::de::DeserializeOwned;

use super::arguments;
use super::site::End;
use crate::program::Said;

/// A test as one end asks for it.
pub(super) struct Question<'a> {
    pub(super) task: &'a Task,
    /// The end that answers.
    pub(super) peer: &'a End<'a>,
    pub(super) family: Option<Family>,
    pub(super) archive: Option<&'a Path>,
    pub(super) ticket: Option<&'a Path>,
}

impl Question<'_> {
    /// What the program of the end that asks is told.
    pub(super) fn arguments(&self) -> Vec<OsString> {
        let address = self.peer.address;
        match self.task {
            Task::Tcp(flow) | Task::Udp(flow) => self.flow(flow),
            Task::Ping(ping) => self.probe(&["ping", address], &echoes(ping)),
            Task::Mtu => self.probe(&["mtu", address], &[]),
            Task::Hops => self.probe(&["hops", address], &[]),
            Task::Http(Http { file, count }) => {
                let url = url(address, self.peer.site.http_port, file);
                self.probe(&["http", &url], &["--count".to_owned(), count.to_string()])
            }
        }
    }

    fn flow(&self, flow: &Flow) -> Vec<OsString> {
        let port = self.peer.site.port.to_string();
        let mut words: Vec<OsString> =
            ["test", self.peer.address, "--json", "--wait", "0s", "--port", &port].map(OsString::from).into();
        words.extend(arguments(flow));
        words.extend(self.ticket.iter().flat_map(|ticket| [OsString::from("--ticket"), OsString::from(ticket)]));
        if flow.spec.family.is_none() {
            words.extend(self.family_option().map(OsString::from));
        }
        match self.archive {
            Some(archive) => words.extend([OsString::from("--archive"), archive.into()]),
            None => words.extend(["--no-archive", "--samples"].map(OsString::from)),
        }
        words
    }

    fn probe(&self, what: &[&str], how: &[String]) -> Vec<OsString> {
        let words = ["probe"].into_iter().chain(what.iter().copied()).chain(["--json"]).chain(self.family_option());
        words.map(OsString::from).chain(how.iter().map(OsString::from)).collect()
    }

    fn family_option(&self) -> Option<&'static str> {
        self.family.map(|family| match family {
            Family::Ipv4 => "--ipv4",
            Family::Ipv6 => "--ipv6",
        })
    }

    /// What the program has found; [`None`] where it has printed nothing that can be understood.
    pub(super) fn understood(&self, said: &Said) -> Option<(Finding, Option<Box<RunSamples>>)> {
        let probed = match self.task {
            Task::Tcp(_) | Task::Udp(_) if self.archive.is_some() => Finding::Run(read::<Box<Run>>(said)?),
            Task::Tcp(_) | Task::Udp(_) => {
                let Export { run, samples } = read(said)?;
                return Some((Finding::Run(Box::new(run)), Some(Box::new(samples))));
            }
            Task::Ping(_) => Finding::Echo(read(said)?),
            Task::Mtu => Finding::PathMtu(read(said)?),
            Task::Hops => Finding::Hops(read(said)?),
            Task::Http(_) => {
                let documents = serde_json::Deserializer::from_slice(&said.stdout).into_iter::<serde_json::Value>();
                let downloads: Vec<serde_json::Value> = documents.collect::<Result<_, _>>().ok()?;
                let downloads: Vec<Download> =
                    downloads.iter().map(plausible::of_value).collect::<Result<_, _>>().ok()?;
                if downloads.is_empty() {
                    return None;
                }
                Finding::Downloads(downloads)
            }
        };
        Some((probed, None))
    }
}

fn read<T: DeserializeOwned>(said: &Said) -> Option<T> {
    // A host that lies is one that says nothing that can be understood.
    plausible::read(&said.stdout).ok()
}

fn echoes(ping: &Ping) -> [String; 6] {
    let interval = format!("{}ns", ping.interval.as_nanos());
    let size = format!("{}B", ping.size.get());
    ["--count".to_owned(), ping.count.to_string(), "--interval".to_owned(), interval, "--size".to_owned(), size]
}

/// Colons are in brackets (RFC 3986 section 3.2.2).
fn url(address: &str, port: u16, file: &str) -> String {
    let file = file.trim_start_matches('/');
    if address.contains(':') {
        format!("http://[{address}]:{port}/{file}")
    } else {
        format!("http://{address}:{port}/{file}")
    }
}
