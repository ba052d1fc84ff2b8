//! Overlays: networks whose packets travel inside those of others.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use document::{DocumentError, Key};
use serde::Deserialize;
use units::Mtu;

use crate::diagnostics::Diagnostics;
use crate::error::Problem;

/// A network over the network.
#[derive(Debug, Clone)]
pub struct Overlay {
    /// How packets are wrapped.
    pub kind: OverlayKind,
    /// Its name. The hosts are known in it as `HOST.NAME`.
    pub name: String,
    /// The hosts that have an end of it.
    pub hosts: Vec<usize>,
    /// VXLAN network identifier, 24 bits.
    pub id: u32,
    /// The UDP port of VXLAN.
    pub port: u16,
    /// The largest packet inside.
    pub mtu: Mtu,
    /// The first address of its subnet of 256.
    pub subnet: Ipv4Addr,
}

/// How packets of an overlay are wrapped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OverlayKind {
    /// In UDP (RFC 7348).
    Vxlan,
    /// In Ethernet frames with a tag (IEEE 802.1Q).
    Vlan,
}

impl Overlay {
    /// The addresses of its end at a host, with the length of the prefix.
    #[must_use]
    pub fn addresses(&self, host: usize) -> [(IpAddr, u8); 2] {
        let position = self.hosts.iter().position(|other| *other == host).unwrap_or(0);
        let number = u8::try_from(position + 1).unwrap_or(u8::MAX);
        let [a, b, c, _] = self.subnet.octets();
        let subnet = u16::from_be_bytes([b, c]);
        [
            (Ipv4Addr::new(a, b, c, number).into(), 24),
            (Ipv6Addr::new(0xfd00, 0, 2, subnet, 0, 0, 0, u16::from(number)).into(), 64),
        ]
    }
}

/// `[[overlays]]`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct OverlayText {
    kind: OverlayKind,
    name: String,
    hosts: Vec<String>,
    id: u32,
    port: Option<u16>,
    mtu: Option<Mtu>,
    subnet: Option<String>,
}

impl OverlayText {
    pub(crate) fn settle(self, number: usize, diagnostics: &mut Diagnostics<'_>) -> Option<Overlay> {
        let key = Key::top("overlays").nth(number);
        let taken = std::mem::take(&mut diagnostics.overlays);
        diagnostics.name_is_good(&key.at("name"), "an overlay", &self.name, &taken);
        diagnostics.overlays = taken;
        diagnostics.overlays.push(self.name.clone());
        if self.name.len() > LONGEST_DEVICE || self.name.starts_with("to-") || self.name == "lo" {
            let why = "a device is called so: at most 15 characters, not `lo`, and not `to-` first";
            diagnostics
                .complain(&key.at("name"), DocumentError::Name { what: "an overlay", name: self.name.clone(), why });
        }
        let (most, what) = match self.kind {
            OverlayKind::Vxlan => (MOST_VNI, "VXLAN"),
            OverlayKind::Vlan => (MOST_VLAN, "VLAN"),
        };
        if self.id == 0 || self.id > most {
            diagnostics
                .complain(&key.at("id"), DocumentError::Range { value: self.id.into(), from: 1.0, to: most.into() });
        }
        if self.port.is_some() && self.kind == OverlayKind::Vlan {
            let known = ["kind", "name", "hosts", "id", "mtu", "subnet"].map(str::to_owned).to_vec();
            let of = format!("a {what}");
            diagnostics.complain(&key.at("port"), DocumentError::NotOfKind { of, key: "port".to_owned(), known });
        }
        let mut hosts = diagnostics.hosts(&key.at("hosts"), &self.hosts);
        let named = hosts.len();
        hosts.sort_unstable();
        hosts.dedup();
        if hosts.len() != named || named < 2 {
            diagnostics.complain(&key.at("hosts"), DocumentError::Keys("an overlay has at least two hosts, each once"));
        }
        let subnet = match self.subnet {
            Some(text) => subnet(&text, &key.at("subnet"), diagnostics)?,
            None => Ipv4Addr::new(10, 200, u8::try_from(number).unwrap_or(u8::MAX), 0),
        };
        let mtu = self.mtu.unwrap_or(INSIDE_ETHERNET);
        let port = self.port.unwrap_or(VXLAN_PORT);
        Some(Overlay { kind: self.kind, name: self.name, hosts, id: self.id, port, mtu, subnet })
    }
}

/// Reads `10.200.0.0/24`.
fn subnet(text: &str, key: &Key, diagnostics: &mut Diagnostics<'_>) -> Option<Ipv4Addr> {
    let address = text.strip_suffix("/24").and_then(|address| address.parse::<Ipv4Addr>().ok());
    let found = address.filter(|address| address.octets()[3] == 0 && address.is_private());
    if found.is_none() {
        let why = "an overlay has a private subnet of 256 addresses: `10.200.0.0/24`";
        diagnostics.complain(key, Problem::Address { what: format!("`{}`", text.escape_debug()), why });
    }
    found
}

/// Linux names no device longer (`IFNAMSIZ` is 16 with the zero at the end, include/uapi/linux/if.h).
const LONGEST_DEVICE: usize = 15;
/// 24 bits (RFC 7348 section 5).
const MOST_VNI: u32 = (1 << 24) - 1;
/// 12 bits, of which the last value is reserved (IEEE 802.1Q section 9.6).
const MOST_VLAN: u32 = 4_094;
/// RFC 7348 section 5.
const VXLAN_PORT: u16 = 4_789;
/// An Ethernet of 1,500 less the headers of Ethernet, VXLAN, UDP and IPv4 (RFC 7348 section 5).
const INSIDE_ETHERNET: Mtu = match Mtu::new(1_450) {
    Ok(mtu) => mtu,
    Err(_) => Mtu::MAX,
};
