//! What runs on hosts, for tests to talk to.

use std::collections::BTreeMap;

use document::{DocumentError, Entry, Key};
use serde::Deserialize;
use units::ByteCount;

use crate::diagnostics::Diagnostics;
use crate::host::Host;
use crate::test::{Test, TestKind};

/// A program that answers.
#[derive(Debug, Clone)]
pub struct Service {
    /// Where it runs.
    pub host: usize,
    /// Its TCP port.
    pub port: u16,
    /// What it does.
    pub kind: ServiceKind,
}

/// What a service does.
#[derive(Debug, Clone)]
pub enum ServiceKind {
    /// A test partner: `linerate serve`.
    Serve,
    /// An HTTP server with files of these sizes, by name.
    Files(BTreeMap<String, ByteCount>),
    /// An HTTP proxy that deals its requests out in turn.
    Proxy(Proxy),
}

/// How a proxy deals out requests.
#[derive(Debug, Clone)]
pub struct Proxy {
    /// The hosts that get requests, in this order.
    pub over: Vec<usize>,
    /// The host from whose file server they fetch what is asked for.
    pub origin: usize,
    /// The share of requests that reach a host which has to pass them on to the next of `over`, 0 to 1.
    pub rerouted: f64,
    /// The overlay over which they are passed on; the network itself where it is [`None`].
    pub overlay: Option<usize>,
}

/// `[[services]]`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct ServiceText {
    kind: KindText,
    host: String,
    port: Option<u16>,
    #[serde(default)]
    files: BTreeMap<String, SizeText>,
    #[serde(default)]
    over: Vec<String>,
    origin: Option<String>,
    rerouted: Option<f64>,
    overlay: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum KindText {
    Serve,
    Files,
    Proxy,
}

/// A size with its unit.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(transparent)]
struct SizeText(#[serde(deserialize_with = "units::text::read")] ByteCount);

impl ServiceText {
    pub(crate) fn settle(self, number: usize, diagnostics: &mut Diagnostics<'_>) -> Option<Service> {
        let key = Key::top("services").nth(number);
        let host = diagnostics.host(&key.at("host"), &self.host);
        let (of, keys): (&str, &[&str]) = match self.kind {
            KindText::Serve => ("a `serve`", &["kind", "host", "port"]),
            KindText::Files => ("a `files`", &["kind", "host", "port", "files"]),
            KindText::Proxy => ("a `proxy`", &["kind", "host", "port", "over", "origin", "rerouted", "overlay"]),
        };
        diagnostics.only_keys(&key, of, keys);
        let (kind, usual_port) = match self.kind {
            KindText::Serve => (ServiceKind::Serve, SERVE_PORT),
            KindText::Files if self.files.is_empty() => {
                diagnostics.complain(&key, DocumentError::Needs { of: of.to_owned(), key: "files" });
                return None;
            }
            KindText::Files => {
                let files = self.files.into_iter().map(|(name, SizeText(size))| (name, size)).collect();
                (ServiceKind::Files(files), HTTP_PORT)
            }
            KindText::Proxy => (ServiceKind::Proxy(self.proxy(&key, of, diagnostics)?), HTTP_PORT),
        };
        Some(Service { host: host?, port: self.port.unwrap_or(usual_port), kind })
    }

    fn proxy(&self, key: &Key, of: &str, diagnostics: &mut Diagnostics<'_>) -> Option<Proxy> {
        let over = diagnostics.hosts(&key.at("over"), &self.over);
        if self.over.is_empty() {
            diagnostics.complain(key, DocumentError::Needs { of: of.to_owned(), key: "over" });
        }
        let rerouted = self.rerouted.unwrap_or(0.0);
        if !(0.0..=1.0).contains(&rerouted) {
            diagnostics.complain(&key.at("rerouted"), DocumentError::Range { value: rerouted, from: 0.0, to: 1.0 });
        }
        let overlay = match &self.overlay {
            Some(name) => Some(diagnostics.overlay(&key.at("overlay"), name)?),
            None => None,
        };
        let origin = diagnostics.needed(key, of, Entry { key: "origin", value: self.origin.clone() })?;
        let origin = diagnostics.host(&key.at("origin"), &origin)?;
        Some(Proxy { over, origin, rerouted, overlay })
    }
}

/// The services of the file, and a test partner on each host that does not forward or that a test goes to.
pub(crate) fn with_partners(mut services: Vec<Service>, hosts: &[Host], tests: &[Test]) -> Vec<Service> {
    for (number, host) in hosts.iter().enumerate() {
        let is_peer = |test: &Test| test.to.host == number && matches!(test.kind, TestKind::Tcp(_) | TestKind::Udp(_));
        let has_one = |service: &Service| service.host == number && matches!(service.kind, ServiceKind::Serve);
        if (!host.forwards || tests.iter().any(is_peer)) && !services.iter().any(has_one) {
            services.push(Service { host: number, port: SERVE_PORT, kind: ServiceKind::Serve });
        }
    }
    services
}

/// Complains about a proxy whose origin has no files, and about two services of one port.
pub(crate) fn check_all(services: &[Service], diagnostics: &mut Diagnostics<'_>) {
    for (number, service) in services.iter().enumerate() {
        let key = Key::top("services").nth(number);
        if let ServiceKind::Proxy(proxy) = &service.kind {
            let has_files = |other: &Service| other.host == proxy.origin && matches!(other.kind, ServiceKind::Files(_));
            if !services.iter().any(has_files) {
                diagnostics.complain(&key.at("origin"), DocumentError::Keys("no `files` service runs on this host"));
            }
        }
        let same = |other: &Service| other.host == service.host && other.port == service.port;
        if services[..number].iter().any(same) {
            diagnostics.complain(&key, DocumentError::Keys("another service of this host has the same port"));
        }
    }
}

/// The port of iperf3, and so of `linerate serve`.
const SERVE_PORT: u16 = 5_201;
/// The port of HTTP for servers without privilege.
const HTTP_PORT: u16 = 8_080;
