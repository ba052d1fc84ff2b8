//! Links: what lies between two hosts.

use document::{DocumentError, Key};
use path::ElementSpec;
use serde::Deserialize;
use units::{DataRate, Mtu};

use crate::diagnostics::Diagnostics;
use crate::error::Problem;

/// A link between two hosts.
#[derive(Debug, Clone)]
pub struct Link {
    /// Name, unique in the file.
    pub name: String,
    /// The hosts at its two ends.
    pub ends: [usize; 2],
    /// Largest packet of the devices at its ends.
    pub mtu: Mtu,
    /// The speed that the devices at its ends say they have.
    pub speed: Option<DataRate>,
    /// What it counts for where the shortest path is looked for.
    pub cost: u32,
    /// What happens to packets from end 0 to end 1, and back.
    pub chains: [Vec<ElementSpec>; 2],
}

/// `[[links]]`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct LinkText {
    name: String,
    between: [String; 2],
    mtu: Option<Mtu>,
    #[serde(default, deserialize_with = "units::text::read_some")]
    speed: Option<DataRate>,
    cost: Option<u32>,
    both: Option<Vec<ElementSpec>>,
    there: Option<Vec<ElementSpec>>,
    back: Option<Vec<ElementSpec>>,
}

impl LinkText {
    /// Enters name and ends, so that others can name the link.
    pub(crate) fn enter(&self, number: usize, diagnostics: &mut Diagnostics<'_>) {
        let key = Key::top("links").nth(number);
        let taken: Vec<String> = diagnostics.links.iter().map(|(name, _)| name.clone()).collect();
        diagnostics.name_is_good(&key.at("name"), "a link", &self.name, &taken);
        let between = key.at("between");
        let ends = [0, 1].map(|end| diagnostics.host(&between.nth(end), &self.between[end]));
        if self.between[0] == self.between[1] {
            diagnostics.complain(&between, Problem::Loop { host: self.between[0].clone() });
        }
        // A link with an unknown end is entered all the same, so that no more complaints come of it.
        diagnostics.links.push((self.name.clone(), ends.map(|end| end.unwrap_or(0))));
    }

    pub(crate) fn settle(self, number: usize, diagnostics: &mut Diagnostics<'_>) -> Link {
        let key = Key::top("links").nth(number);
        if self.both.is_some() && (self.there.is_some() || self.back.is_some()) {
            diagnostics.complain(&key.at("both"), DocumentError::Keys("`both` leaves nothing for `there` and `back`"));
        }
        for (name, chain) in [("both", &self.both), ("there", &self.there), ("back", &self.back)] {
            for (place, element) in chain.iter().flatten().enumerate() {
                check_element(element, &key.at(name).nth(place), diagnostics);
            }
        }
        if self.cost == Some(0) {
            diagnostics.complain(&key.at("cost"), DocumentError::Keys("a link costs at least 1"));
        }
        let both = self.both.unwrap_or_default();
        Link {
            name: self.name,
            ends: diagnostics.links[number].1,
            mtu: self.mtu.unwrap_or(ETHERNET),
            speed: self.speed,
            cost: self.cost.unwrap_or(1).max(1),
            chains: [self.there.unwrap_or_else(|| both.clone()), self.back.unwrap_or(both)],
        }
    }
}

/// Complains about a setting of an element that no element can have.
pub(crate) fn check_element(element: &ElementSpec, key: &Key, diagnostics: &mut Diagnostics<'_>) {
    if let Err(error) = element.check() {
        diagnostics.complain(&key.at(element.kind()), Problem::Element(error));
    }
}

/// What Ethernet carries (IEEE 802.3).
const ETHERNET: Mtu = match Mtu::new(1_500) {
    Ok(mtu) => mtu,
    Err(_) => Mtu::MAX,
};

/// Complains about hosts at the end of no link, and about more links than there are addresses for.
pub(crate) fn check_all(diagnostics: &mut Diagnostics<'_>) {
    let count = diagnostics.links.len();
    if count > MOST_LINKS {
        diagnostics.complain(&Key::top("links"), DocumentError::TooMany { what: "links", count, limit: MOST_LINKS });
    }
    if diagnostics.hosts.len() < 2 {
        return;
    }
    for (number, host) in diagnostics.hosts.clone().into_iter().enumerate() {
        if !diagnostics.links.iter().any(|(_, ends)| ends.contains(&number)) {
            diagnostics.complain(&Key::top("hosts").at(&host), Problem::Unlinked { host });
        }
    }
}

/// Each is two devices and a place of the relay.
const MOST_LINKS: usize = 1_000;
