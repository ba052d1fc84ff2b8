//! A path between two points, and the places on it.

use path::PathElement;
use units::Mtu;

/// Where on a path something is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Spot {
    /// In the queue of the device by which a host sends to a link.
    Queue { link: usize, direction: usize },
    /// On the link, at the element of this number in its chain.
    Link { link: usize, direction: usize, element: usize },
}

/// One direction of a path.
#[derive(Debug, Clone)]
pub(crate) struct Way {
    pub(crate) stages: Vec<PathElement>,
    /// Where each of the stages is.
    pub(crate) spots: Vec<Spot>,
    /// The links that packets pass as long as they take the first of several ways: number, direction.
    pub(crate) links: Vec<(usize, usize)>,
    /// The largest IP packet that is carried or refused with a report.
    pub(crate) told_mtu: Mtu,
    /// Whether a middlebox takes the window scale out of SYNs.
    pub(crate) strips_window_scale: bool,
}
