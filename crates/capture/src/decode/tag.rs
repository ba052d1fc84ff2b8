//! What is around a packet, in words.

use std::fmt;

/// A tag or a tunnel around a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tag {
    /// IEEE 802.1Q and what came before it: the identifier.
    Vlan(u16),
    /// A label.
    Mpls(u32),
    /// A session.
    Pppoe(u16),
    /// A network identifier.
    Vxlan(u32),
    /// A network identifier.
    Geneve(u32),
    /// The key, where there is one.
    Gre(Option<u32>),
    /// A tunnel endpoint identifier.
    GtpU(u32),
    /// IP in IP.
    Ip,
}

impl fmt::Display for Tag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Vlan(id) => write!(f, "VLAN {id}"),
            Self::Mpls(label) => write!(f, "MPLS {label}"),
            Self::Pppoe(session) => write!(f, "PPPoE {session}"),
            Self::Vxlan(network) => write!(f, "VXLAN {network}"),
            Self::Geneve(network) => write!(f, "Geneve {network}"),
            Self::Gre(Some(key)) => write!(f, "GRE key {key}"),
            Self::Gre(None) => f.write_str("GRE"),
            Self::GtpU(endpoint) => write!(f, "GTP-U {endpoint:#x}"),
            Self::Ip => f.write_str("IP in IP"),
        }
    }
}
