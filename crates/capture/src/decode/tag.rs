//! What is around a packet, in words.

use std::fmt;

/// A tag or a tunnel around a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tag {
    /// IEEE 802.1Q and what came before it: the identifier.
    Vlan(u16),
    /// The label, of 20 bits: each direction has its own (RFC 3032).
    Mpls(u32),
    /// The session that the access concentrator has given (RFC 2516).
    Pppoe(u16),
    /// The network identifier, of 24 bits (RFC 7348).
    Vxlan(u32),
    /// The network identifier, of 24 bits (RFC 8926).
    Geneve(u32),
    /// The key, where the header has one (RFC 2890).
    Gre(Option<u32>),
    /// The tunnel endpoint identifier, which the receiver of a direction has given (3GPP TS 29.281).
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
