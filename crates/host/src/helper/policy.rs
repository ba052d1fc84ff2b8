//! Who may ask the helper.

use linux::sockets::Peer;

/// Who may ask: root and the user of the helper itself, and whoever is named here.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Policy {
    /// Members of this group may.
    pub group: Option<u32>,
}

impl Policy {
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
        let policy = Policy { group: Some(50) };
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
    fn groups_are_known_by_name_and_number() {
        let groups = "root:x:0:\nlinerate:x:991:anna,ben\nbroken\n";
        assert_eq!(group_number("linerate", groups), Some(991));
        assert_eq!(group_number("42", groups), Some(42));
        assert_eq!(group_number("broken", groups), None);
    }
}
