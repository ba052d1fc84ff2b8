//! Who may ask the helper.

use linux::sockets::Peer;
use model::host::fix::Step;
use model::host::fix::journal::Entry;
use model::host::fix::names::NamespaceName;

/// Who may ask: root and the user of the helper itself, and whoever is named here.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Policy {
    /// Members of this group may, in the helper's own network namespace.
    pub group: Option<u32>,
    /// Other network namespaces in which members may ask as well, by name.
    pub namespaces: Vec<String>,
}

/// A caller, as far as it matters to what they may ask.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Caller {
    /// Their user.
    pub uid: u32,
    /// What that user is to the helper.
    pub standing: Standing,
}

/// What a caller is to the helper.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// Root, or the helper's own user: whatever the helper reads, they may read.
    Owner,
    /// A member of the group: everything that they take from others has a budget.
    Member,
}

/// What one member may take: a member who takes more is refused, and everybody else is served.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget {
    /// Connections at one time.
    pub connections: usize,
    /// Bytes of one question.
    pub question_bytes: usize,
    /// Bytes of their entries in the journal; beyond, the oldest that are closed are forgotten.
    pub journal_bytes: u64,
    /// How long one of their fixes may wait, in seconds: meanwhile nobody else can apply one.
    pub wait_s: u32,
    /// How long a connection may be silent, in seconds.
    pub idle_s: u64,
}

/// What one member of the group may take.
pub const OF_A_MEMBER: Budget =
    Budget { connections: 4, question_bytes: 128 << 10, journal_bytes: 4 << 20, wait_s: 3_600, idle_s: 900 };

impl Caller {
    /// Who is at the other end of a socket, where the helper runs as `own`.
    #[must_use]
    pub fn of(peer: &Peer, own: u32) -> Self {
        let standing = if peer.uid == 0 || peer.uid == own { Standing::Owner } else { Standing::Member };
        Self { uid: peer.uid, standing }
    }
}

impl Policy {
    /// Whether a caller may ask about a network namespace: what is in one of another user, only that user may read.
    #[must_use]
    pub fn opens(&self, caller: Caller, namespace: Option<&NamespaceName>) -> bool {
        let is_named = |name: &NamespaceName| self.namespaces.iter().any(|known| known == name.as_str());
        caller.standing == Standing::Owner || namespace.is_none_or(is_named)
    }

    /// The first namespace of these steps that a caller may not ask about.
    #[must_use]
    pub fn closed<'a>(&self, caller: Caller, steps: &'a [Step]) -> Option<&'a NamespaceName> {
        let mut namespaces = steps.iter().filter_map(|step| step.namespace.as_ref());
        namespaces.find(|namespace| !self.opens(caller, Some(namespace)))
    }

    /// Whether a caller may see an entry of the journal, and decide about it.
    #[must_use]
    pub fn shows(&self, caller: Caller, entry: &Entry) -> bool {
        self.closed(caller, &entry.steps).is_none()
    }

    /// Whether `peer` may ask a helper that runs as `own`.
    #[must_use]
    pub fn admits(&self, peer: &Peer, own: u32) -> bool {
        let is_member = |group: u32| peer.gid == group || peer.groups.contains(&group);
        peer.uid == 0 || peer.uid == own || self.group.is_some_and(is_member)
    }
}

/// The number of a group in the text of `/etc/group`, by its name or number (group(5)).
#[must_use]
pub fn group_number(name: &str, groups: &str) -> Option<u32> {
    if let Ok(number) = name.parse() {
        return Some(number);
    }
    groups.lines().find_map(|line| {
        let mut fields = line.split(':');
        (fields.next() == Some(name)).then(|| fields.nth(1)?.parse().ok()).flatten()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn peer(uid: u32, gid: u32, groups: &[u32]) -> Peer {
        Peer { pid: 1, uid, gid, groups: groups.to_vec() }
    }

    #[test]
    fn nobody_else_may_ask() {
        let policy = Policy { group: Some(50), namespaces: Vec::new() };
        for (peer, admitted) in [
            (peer(0, 0, &[]), true),
            (peer(33, 33, &[]), true),
            (peer(1000, 50, &[]), true),
            (peer(1000, 1000, &[4, 50]), true),
            (peer(1000, 1000, &[4]), false),
            (peer(u32::MAX, u32::MAX, &[]), false),
        ] {
            assert_eq!(policy.admits(&peer, 33), admitted, "{peer:?}");
        }
        assert!(!Policy::default().admits(&peer(1000, 0, &[0]), 0), "group root is not root");
    }

    #[test]
    fn what_is_in_a_namespace_of_root_is_for_root() {
        let policy = Policy { group: Some(50), namespaces: vec!["dtn".to_owned()] };
        let [root, member] = [peer(0, 0, &[]), peer(1000, 50, &[])].map(|peer| Caller::of(&peer, 0));
        for (name, for_member) in [("dtn", true), ("secret", false), ("pid:1", false)] {
            let name = NamespaceName::new(name).unwrap();
            assert!(policy.opens(root, Some(&name)));
            assert_eq!(policy.opens(member, Some(&name)), for_member, "{name}");
        }
        assert!(policy.opens(member, None));
        assert_eq!(Caller::of(&peer(33, 33, &[]), 33).standing, Standing::Owner);
    }

    #[test]
    fn groups_are_known_by_name_and_number() {
        let groups = "root:x:0:\nlinerate:x:991:anna,ben\nbroken\n";
        assert_eq!(group_number("linerate", groups), Some(991));
        assert_eq!(group_number("42", groups), Some(42));
        assert_eq!(group_number("broken", groups), None);
    }
}
