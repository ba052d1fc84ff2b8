//! Devices, addresses, routes and queueing disciplines, made and changed (rtnetlink(7)).
//!
//! Everything happens in the network namespace in which the socket was opened, and takes `CAP_NET_ADMIN` over it.
//!
//! * [`Rtnetlink`]: the socket; devices and addresses
//! * [`route`]: routes and their metrics
//! * [`qdisc`]: queueing disciplines of devices
//! * [`device`]: kinds of devices that are made here

pub mod device;
pub(crate) mod metrics;
pub mod qdisc;
pub mod route;

use std::net::IpAddr;

use units::Mtu;

use crate::links;
use crate::netlink::change::{CREATE, EXCLUSIVE};
use crate::netlink::{Netlink, NetlinkError, Request};

/// A socket that changes devices, addresses and routes of one network namespace.
pub struct Rtnetlink {
    netlink: Netlink,
}

/// The number of a device in its namespace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Index(u32);

impl Index {
    /// Above 0; the kernel gives it (`ifi_index`).
    #[must_use]
    pub fn get(self) -> u32 {
        self.0
    }
}

impl std::fmt::Debug for Rtnetlink {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Rtnetlink").finish_non_exhaustive()
    }
}

impl Rtnetlink {
    /// For the network namespace of the calling thread.
    ///
    /// # Errors
    /// Why no socket could be had.
    pub fn open() -> Result<Self, NetlinkError> {
        let mut netlink = Netlink::open(netlink_sys::protocols::NETLINK_ROUTE)?;
        netlink.explain_refusals()?;
        Ok(Self { netlink })
    }

    /// The number of the device called `name`.
    ///
    /// # Errors
    /// `ENODEV` where there is none.
    pub fn index(&mut self, name: &str) -> Result<Index, NetlinkError> {
        let mut request = link_request(None, 0, 0);
        request.put_text(IFLA_IFNAME, name);
        let found = self.netlink.get(RTM_GETLINK, request.bytes(), links::index)?;
        found
            .map(Index)
            .ok_or_else(|| NetlinkError::Refused { source: std::io::Error::from_raw_os_error(libc::ENODEV) })
    }

    /// Brings a device up.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn set_up(&mut self, device: Index) -> Result<(), NetlinkError> {
        let request = link_request(Some(device), libc::IFF_UP.cast_unsigned(), libc::IFF_UP.cast_unsigned());
        self.netlink.change(RTM_NEWLINK, 0, request.bytes())
    }

    /// Sets the largest packet that a device sends.
    ///
    /// # Errors
    /// What the kernel says, such as that its driver sends no packets so large.
    pub fn set_mtu(&mut self, device: Index, mtu: Mtu) -> Result<(), NetlinkError> {
        let mut request = link_request(Some(device), 0, 0);
        request.put_u32(IFLA_MTU, mtu.get());
        self.netlink.change(RTM_NEWLINK, 0, request.bytes())
    }

    /// Gives a device another name. It may have to be down for that.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn rename(&mut self, device: Index, name: &str) -> Result<(), NetlinkError> {
        let mut request = link_request(Some(device), 0, 0);
        request.put_text(IFLA_IFNAME, name);
        self.netlink.change(RTM_NEWLINK, 0, request.bytes())
    }

    /// Adds an address, which may be used at once: nobody is asked whether they have it already (RFC 4862 section 5.4).
    ///
    /// # Errors
    /// What the kernel says.
    pub fn add_address(&mut self, device: Index, address: IpAddr, prefix: u8) -> Result<(), NetlinkError> {
        // struct ifaddrmsg, include/uapi/linux/if_addr.h
        let mut request = Request::new(&[family(address), prefix, IFA_F_NODAD, 0, 0, 0, 0, 0]);
        request.set_u32(4, device.0);
        let bytes = octets(address);
        request.put(IFA_LOCAL, &bytes).put(IFA_ADDRESS, &bytes);
        self.netlink.change(RTM_NEWADDR, CREATE | EXCLUSIVE, request.bytes())
    }
}

/// `struct ifinfomsg`, include/uapi/linux/rtnetlink.h.
fn link_request(device: Option<Index>, flags: u32, change: u32) -> Request {
    let mut request = Request::new(&[0; 16]);
    request.set_u32(4, device.map_or(0, |device| device.0)).set_u32(8, flags).set_u32(12, change);
    request
}

fn family(address: IpAddr) -> u8 {
    // Both numbers are below 256: include/linux/socket.h, AF_INET 2, AF_INET6 10.
    if address.is_ipv4() { 2 } else { 10 }
}

fn octets(address: IpAddr) -> Vec<u8> {
    match address {
        IpAddr::V4(v4) => v4.octets().to_vec(),
        IpAddr::V6(v6) => v6.octets().to_vec(),
    }
}

// include/uapi/linux/rtnetlink.h, if_link.h, if_addr.h of 6.18
const RTM_NEWLINK: u16 = 16;
const RTM_GETLINK: u16 = 18;
const RTM_NEWADDR: u16 = 20;
const IFLA_IFNAME: u16 = 3;
const IFLA_MTU: u16 = 4;
const IFA_ADDRESS: u16 = 1;
const IFA_LOCAL: u16 = 2;
const IFA_F_NODAD: u8 = 2;

#[cfg(test)]
mod tests;
