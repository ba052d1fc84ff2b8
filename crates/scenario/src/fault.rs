//! Faults: what goes wrong, where, from when until when.

use std::collections::BTreeMap;
use std::time::Duration;

use document::{DocumentError, Key};
use path::ElementSpec;
use serde::Deserialize;
use units::Mtu;

use crate::condition::{ConditionText, FaultCondition};
use crate::diagnostics::Diagnostics;
use crate::error::Problem;
use crate::host::Host;
use crate::link::{Link, check_element};
use crate::route::{Route, RouteText};
use crate::settings::{CONGESTION_CONTROL, QdiscText, Settings, SettingsText};

/// Something that goes wrong.
#[derive(Debug, Clone)]
pub struct Fault {
    /// Name of the fault, unique in the file.
    pub id: String,
    /// From when, by the clock of the network.
    pub from: Duration,
    /// Until when; to the end where it is [`None`].
    pub until: Option<Duration>,
    /// A setting of hardware without which it is not there.
    pub condition: Option<FaultCondition>,
    /// What.
    pub what: FaultKind,
}

/// What goes wrong.
#[derive(Debug, Clone)]
pub enum FaultKind {
    /// An element is put into chains of a link.
    Added {
        /// Link, by its place in the file.
        link: usize,
        /// Its directions: 0 from end 0 to end 1, 1 back.
        directions: Vec<usize>,
        /// Path element that is put in.
        element: ElementSpec,
        /// Where in the chain.
        at: Position,
    },
    /// An element of chains of a link goes on with other settings.
    Set {
        /// Link, by its place in the file.
        link: usize,
        /// The directions, each with the number of the element in its chain.
        places: Vec<(usize, usize)>,
        /// Path element with the settings that it gets.
        element: ElementSpec,
    },
    /// A host is set differently.
    Host {
        /// Host, by its place in the file.
        host: usize,
        /// The device on this link only; every device where it is [`None`].
        link: Option<usize>,
        /// Settings that the host gets.
        settings: Box<Settings>,
        /// Another route.
        route: Option<Route>,
    },
}

/// Where an element is put.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Position {
    /// Before all others.
    First,
    /// Behind all others.
    #[default]
    Last,
}

/// `[[faults]]`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct FaultText {
    id: String,
    #[serde(default, deserialize_with = "units::duration::text::read_some")]
    from: Option<Duration>,
    #[serde(default, deserialize_with = "units::duration::text::read_some")]
    until: Option<Duration>,
    link: Option<String>,
    towards: Option<String>,
    add: Option<ElementSpec>,
    at: Option<Position>,
    set: Option<ElementSpec>,
    nth: Option<usize>,
    host: Option<String>,
    #[serde(default)]
    sysctl: toml::Table,
    congestion_control: Option<String>,
    #[serde(default)]
    offloads: BTreeMap<String, bool>,
    mtu: Option<Mtu>,
    qdisc: Option<QdiscText>,
    cpu_share: Option<f64>,
    route: Option<RouteText>,
    #[serde(rename = "while")]
    condition: Option<ConditionText>,
}

const OF_LINK: [&str; 10] = ["id", "from", "until", "link", "towards", "add", "at", "set", "nth", "while"];
const OF_HOST: [&str; 12] = [
    "id",
    "from",
    "until",
    "link",
    "host",
    "sysctl",
    "congestion-control",
    "offloads",
    "mtu",
    "qdisc",
    "cpu-share",
    "route",
];

impl FaultText {
    pub(crate) fn settle(
        self,
        number: usize,
        hosts: &[Host],
        links: &[Link],
        earlier: &[Fault],
        diagnostics: &mut Diagnostics<'_>,
    ) -> Option<Fault> {
        let key = Key::top("faults").nth(number);
        if earlier.iter().any(|fault| fault.id == self.id) {
            diagnostics.complain(&key.at("id"), DocumentError::Twice { what: "fault", name: self.id.clone() });
        }
        let (id, from, until) = (self.id.clone(), self.from.unwrap_or_default(), self.until);
        if until.is_some_and(|until| until <= from) {
            diagnostics.complain(&key.at("until"), Problem::EndsFirst);
        }
        let condition = self.condition.clone().and_then(|text| text.settle(&key.at("while"), hosts, diagnostics));
        if condition.is_some() && (self.from.is_some() || until.is_some()) {
            diagnostics.complain(
                &key.at("while"),
                DocumentError::Keys("a fault has its time either by `from` and `until` or by `while`"),
            );
        }
        let what = match (&self.host, &self.link) {
            (Some(_), _) => self.of_host(&key, hosts, diagnostics),
            (None, Some(_)) => self.of_link(&key, links, diagnostics),
            (None, None) => {
                diagnostics.complain(&key, DocumentError::Keys("a fault is on a `host` or on a `link`"));
                None
            }
        };
        Some(Fault { id, from, until, condition, what: what? })
    }

    fn of_link(self, key: &Key, links: &[Link], diagnostics: &mut Diagnostics<'_>) -> Option<FaultKind> {
        diagnostics.only_keys(key, "a fault on a link", &OF_LINK);
        let link = diagnostics.link(&key.at("link"), self.link.as_deref()?)?;
        let directions = match &self.towards {
            Some(host) => vec![diagnostics.direction_towards(&key.at("towards"), link, host)?],
            None => vec![0, 1],
        };
        match (self.add, self.set) {
            (Some(element), None) => {
                check_element(&element, &key.at("add"), diagnostics);
                if self.nth.is_some() {
                    diagnostics
                        .complain(&key.at("nth"), DocumentError::Keys("`nth` says which element is `set`; use `at`"));
                }
                Some(FaultKind::Added { link, directions, element, at: self.at.unwrap_or_default() })
            }
            (None, Some(element)) => {
                check_element(&element, &key.at("set"), diagnostics);
                if self.at.is_some() {
                    diagnostics
                        .complain(&key.at("at"), DocumentError::Keys("`at` says where an element is put; use `nth`"));
                }
                let places = directions
                    .into_iter()
                    .filter_map(|direction| {
                        let place = place_of(&element, &links[link], direction, self.nth);
                        let place = place.map_err(|problem| diagnostics.complain(&key.at("set"), problem)).ok()?;
                        Some((direction, place))
                    })
                    .collect();
                Some(FaultKind::Set { link, places, element })
            }
            _ => {
                diagnostics.complain(
                    key,
                    DocumentError::Keys("a fault on a link either adds (`add`) or sets (`set`) an element"),
                );
                None
            }
        }
    }

    fn of_host(self, key: &Key, hosts: &[Host], diagnostics: &mut Diagnostics<'_>) -> Option<FaultKind> {
        diagnostics.only_keys(key, "a fault on a host", &OF_HOST);
        let host = diagnostics.host(&key.at("host"), self.host.as_deref()?)?;
        let link = match &self.link {
            Some(name) => {
                let link = diagnostics.link(&key.at("link"), name)?;
                diagnostics.end(&key.at("link"), link, host)?;
                Some(link)
            }
            None => None,
        };
        let text = SettingsText {
            sysctl: self.sysctl,
            congestion_control: self.congestion_control,
            offloads: self.offloads,
            mtu: self.mtu,
            qdisc: self.qdisc,
            cpu_share: self.cpu_share,
        };
        let settings = text.settle(key, diagnostics);
        let route = match self.route {
            Some(route) => Some(route.settle_for(host, &key.at("route"), diagnostics)?),
            None => None,
        };
        if settings.is_empty() && route.is_none() {
            diagnostics.complain(key, DocumentError::Keys("a fault on a host changes a setting or a route"));
        }
        if self.until.is_some() {
            check_way_back(&settings, &hosts[host], key, diagnostics);
        }
        Some(FaultKind::Host { host, link, settings: Box::new(settings), route })
    }
}

/// The number of the element of this kind in the chain.
fn place_of(element: &ElementSpec, link: &Link, direction: usize, nth: Option<usize>) -> Result<usize, Problem> {
    let kind = element.kind();
    let places: Vec<usize> = link.chains[direction]
        .iter()
        .enumerate()
        .filter(|(_, other)| other.kind() == kind)
        .map(|(place, _)| place)
        .collect();
    let which = match (nth, places.len()) {
        (Some(nth), _) => places.get(nth),
        (None, 1) => places.first(),
        (None, _) => None,
    };
    let count = if nth.is_some() { 0 } else { places.len() };
    which.copied().ok_or(Problem::WhichElement { link: link.name.clone(), kind, count })
}

/// Complains about settings that a fault changes for a time and that the host does not have, so that nobody knows what
/// they are afterwards.
fn check_way_back(settings: &Settings, host: &Host, key: &Key, diagnostics: &mut Diagnostics<'_>) {
    let usual = &host.settings;
    for setting in settings.sysctls.keys().filter(|setting| !usual.sysctls.contains_key(*setting)) {
        diagnostics.complain(&key.at("sysctl"), Problem::NoWayBack { setting: setting.clone() });
    }
    for feature in settings.offloads.keys() {
        let elsewhere = host.devices.values().all(|device| device.offloads.contains_key(feature));
        if !usual.offloads.contains_key(feature) && (host.devices.is_empty() || !elsewhere) {
            diagnostics.complain(&key.at("offloads"), Problem::NoWayBack { setting: feature.clone() });
        }
    }
    if settings.congestion_control.is_some() && usual.congestion_control.is_none() {
        let setting = CONGESTION_CONTROL.to_owned();
        diagnostics.complain(&key.at("congestion-control"), Problem::NoWayBack { setting });
    }
}
