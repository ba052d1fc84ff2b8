//! Kinds of devices that are made by a message.

use std::net::IpAddr;

use units::Mtu;

use super::{IFLA_IFNAME, IFLA_MTU, RTM_NEWLINK, Rtnetlink, family, link_request, octets};
use crate::netlink::change::{APPEND, CREATE, EXCLUSIVE};
use crate::netlink::{NetlinkError, Request};

/// One end of an overlay (RFC 7348).
#[derive(Debug, Clone, Copy)]
pub struct Vxlan<'a> {
    /// Interface name of the device that is made (`IFLA_IFNAME`).
    pub name: &'a str,
    /// The network identifier.
    pub vni: u32,
    /// The UDP port of all ends.
    pub port: u16,
    /// The address of this end.
    pub local: IpAddr,
    /// The addresses of the other ends. What goes to all, and what goes to an address of which it is not known where
    /// it is, goes to each of them.
    pub remotes: &'a [IpAddr],
    /// The largest packet it sends.
    pub mtu: Mtu,
}

impl Rtnetlink {
    /// Makes one end of an overlay.
    ///
    /// # Errors
    /// What the kernel says; `EOPNOTSUPP` where it has no VXLAN.
    pub fn add_vxlan(&mut self, vxlan: &Vxlan<'_>) -> Result<(), NetlinkError> {
        let mut request = link_request(None, 0, 0);
        request.put_text(IFLA_IFNAME, vxlan.name).put_u32(IFLA_MTU, vxlan.mtu.get());
        request.nest(IFLA_LINKINFO, |info| {
            info.put_text(IFLA_INFO_KIND, "vxlan");
            info.nest(IFLA_INFO_DATA, |data| {
                let local = if vxlan.local.is_ipv4() { IFLA_VXLAN_LOCAL } else { IFLA_VXLAN_LOCAL6 };
                data.put_u32(IFLA_VXLAN_ID, vxlan.vni);
                data.put(local, &octets(vxlan.local));
                data.put(IFLA_VXLAN_PORT, &vxlan.port.to_be_bytes());
            });
        });
        self.netlink.change(RTM_NEWLINK, CREATE | EXCLUSIVE, request.bytes())?;
        let device = self.index(vxlan.name)?;
        for remote in vxlan.remotes {
            // struct ndmsg, include/uapi/linux/neighbour.h; the zero address is the entry for all others.
            let mut request = Request::new(&[0; 12]);
            request.set_u32(0, u32::from(AF_BRIDGE)).set_u32(4, device.get());
            request.set_u32(8, u32::from_ne_bytes([NUD_PERMANENT, 0, NTF_SELF, 0]));
            request.put(NDA_LLADDR, &[0; 6]).put(NDA_DST, &octets(*remote));
            debug_assert_eq!(family(*remote), family(vxlan.local), "both ends are of one family");
            self.netlink.change(RTM_NEWNEIGH, CREATE | APPEND, request.bytes())?;
        }
        Ok(())
    }

    /// Makes a device of a kind that takes no settings, such as `dummy`.
    ///
    /// # Errors
    /// What the kernel says; `EOPNOTSUPP` where it has no such kind.
    pub fn add_plain(&mut self, kind: &str, name: &str) -> Result<(), NetlinkError> {
        let mut request = link_request(None, 0, 0);
        request.put_text(IFLA_IFNAME, name);
        request.nest(IFLA_LINKINFO, |info| {
            info.put_text(IFLA_INFO_KIND, kind);
        });
        self.netlink.change(RTM_NEWLINK, CREATE | EXCLUSIVE, request.bytes())
    }

    /// Makes a device for one VLAN of another device (IEEE 802.1Q).
    ///
    /// # Errors
    /// What the kernel says; `EOPNOTSUPP` where it has no VLAN devices.
    pub fn add_vlan(&mut self, over: super::Index, name: &str, number: u16) -> Result<(), NetlinkError> {
        let mut request = link_request(None, 0, 0);
        request.put_text(IFLA_IFNAME, name).put_u32(IFLA_LINK, over.get());
        request.nest(IFLA_LINKINFO, |info| {
            info.put_text(IFLA_INFO_KIND, "vlan");
            info.nest(IFLA_INFO_DATA, |data| {
                data.put(IFLA_VLAN_ID, &number.to_ne_bytes());
            });
        });
        self.netlink.change(RTM_NEWLINK, CREATE | EXCLUSIVE, request.bytes())
    }
}

// include/uapi/linux/rtnetlink.h, if_link.h, neighbour.h of 6.18
const RTM_NEWNEIGH: u16 = 28;
const IFLA_LINK: u16 = 5;
const IFLA_LINKINFO: u16 = 18;
const IFLA_INFO_KIND: u16 = 1;
const IFLA_INFO_DATA: u16 = 2;
const IFLA_VXLAN_ID: u16 = 1;
const IFLA_VXLAN_LOCAL: u16 = 4;
const IFLA_VXLAN_PORT: u16 = 15;
const IFLA_VXLAN_LOCAL6: u16 = 17;
const IFLA_VLAN_ID: u16 = 1;
const AF_BRIDGE: u8 = 7;
const NUD_PERMANENT: u8 = 0x80;
const NTF_SELF: u8 = 2;
const NDA_DST: u16 = 1;
const NDA_LLADDR: u16 = 2;
