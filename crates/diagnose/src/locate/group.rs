//! The sets of hosts that share something: each host alone, and all that have an attribute in common.

use std::collections::{BTreeMap, BTreeSet};

use model::round::Member;

use super::cell::Cell;
use super::element::Selector;

/// All hosts by number, and the sets in which each one is.
#[derive(Debug, Default)]
pub(super) struct Groups {
    pub(super) hosts: Vec<String>,
    pub(super) groups: Vec<Group>,
    /// For each host the groups that it is in, ascending; the first is itself alone.
    pub(super) of_host: Vec<Vec<u32>>,
    number: BTreeMap<String, u32>,
    /// Values of attributes that were left out because there were too many.
    pub(super) left_out: usize,
}

/// Some hosts, and every name by which they are this set.
#[derive(Debug)]
pub(super) struct Group {
    pub(super) names: Vec<Selector>,
}

impl Group {
    /// Whether its hosts stand on one other host.
    pub(super) fn is_machine(&self) -> bool {
        matches!(self.names.first(), Some(Selector::On { .. }))
    }

    pub(super) fn is_one_host(&self) -> bool {
        matches!(self.names.first(), Some(Selector::Host { .. }))
    }
}

impl Groups {
    pub(super) fn of(members: &[Member], cells: &[Cell]) -> Self {
        let tested: BTreeSet<&str> =
            cells.iter().flat_map(|cell| [cell.from.host.as_str(), cell.to.host.as_str()]).collect();
        let named = members.iter().map(|member| member.name.as_str());
        let hosts: Vec<String> =
            named.chain(tested.iter().copied()).collect::<BTreeSet<_>>().into_iter().map(str::to_owned).collect();
        let number: BTreeMap<String, u32> = (0..).zip(&hosts).map(|(index, host)| (host.clone(), index)).collect();
        let mut groups = Self { of_host: vec![Vec::new(); hosts.len()], hosts, number, ..Self::default() };
        let mut sets: Vec<(Selector, BTreeSet<u32>)> = groups.alone();
        sets.extend(groups.sharing(members));
        groups.add_distinct(sets, &tested);
        groups
    }

    /// The number of the host `name`.
    pub(super) fn number(&self, name: &str) -> Option<u32> {
        self.number.get(name).copied()
    }

    /// The groups that a host is in; none for one that nobody knows.
    pub(super) fn groups_of(&self, host: Option<u32>) -> &[u32] {
        host.and_then(|host| self.of_host.get(host as usize)).map_or(&[], Vec::as_slice)
    }

    fn alone(&self) -> Vec<(Selector, BTreeSet<u32>)> {
        (0..).zip(&self.hosts).map(|(index, host)| (Selector::Host { name: host.clone() }, [index].into())).collect()
    }

    fn sharing(&self, members: &[Member]) -> Vec<(Selector, BTreeSet<u32>)> {
        let mut sets: BTreeMap<Selector, BTreeSet<u32>> = BTreeMap::new();
        for member in members {
            let Some(own) = self.number(&member.name) else { continue };
            for (attribute, value) in &member.attributes {
                let attribute = attribute.clone();
                match self.number(value).filter(|host| *host != own) {
                    Some(machine) => {
                        sets.entry(Selector::On { attribute, host: value.clone() }).or_default().extend([own, machine]);
                    }
                    None => {
                        sets.entry(Selector::Having { attribute, value: value.clone() }).or_default().insert(own);
                    }
                }
            }
        }
        sets.into_iter().collect()
    }

    /// One group for each distinct set of tested hosts, named by the most natural selector first. What all of them have in
    /// common tells nothing.
    fn add_distinct(&mut self, sets: Vec<(Selector, BTreeSet<u32>)>, tested: &BTreeSet<&str>) {
        let mut known: BTreeMap<BTreeSet<u32>, usize> = BTreeMap::new();
        for (selector, mut set) in sets {
            set.retain(|host| tested.contains(self.hosts[*host as usize].as_str()));
            if let Some(group) = known.get(&set) {
                self.groups[*group].names.push(selector);
                continue;
            }
            let tells = set.len() == 1 || (1..tested.len()).contains(&set.len());
            if !tells || self.groups.len() >= MOST_GROUPS {
                self.left_out += usize::from(tells);
                continue;
            }
            let index = self.groups.len();
            for host in &set {
                self.of_host[*host as usize].push(u32::try_from(index).unwrap_or(u32::MAX));
            }
            self.groups.push(Group { names: vec![selector] });
            known.insert(set, index);
        }
    }
}

/// Groups beyond these are left out, and counted: pairs of them are a table of this many squared.
const MOST_GROUPS: usize = 1500;
