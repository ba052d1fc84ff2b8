//! Socket addresses as the kernel writes them.

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6};

/// Room for an IPv4 or IPv6 address, aligned as the kernel wants it.
#[derive(Debug, Clone, Copy)]
#[repr(align(8))]
pub(crate) struct AddressBuffer(pub(crate) [u8; ADDRESS_ROOM]);

impl AddressBuffer {
    pub(crate) const EMPTY: Self = Self([0; ADDRESS_ROOM]);

    /// Writes an address as `struct sockaddr_in` or `sockaddr_in6` and returns its length.
    pub(crate) fn write(&mut self, address: &SocketAddr) -> libc::socklen_t {
        self.0 = [0; ADDRESS_ROOM];
        self.0[2..4].copy_from_slice(&address.port().to_be_bytes());
        match address {
            SocketAddr::V4(v4) => {
                self.0[..2].copy_from_slice(&AF_INET.to_ne_bytes());
                self.0[4..8].copy_from_slice(&v4.ip().octets());
                SOCKADDR_IN
            }
            SocketAddr::V6(v6) => {
                self.0[..2].copy_from_slice(&AF_INET6.to_ne_bytes());
                self.0[4..8].copy_from_slice(&v6.flowinfo().to_be_bytes());
                self.0[8..24].copy_from_slice(&v6.ip().octets());
                self.0[24..28].copy_from_slice(&v6.scope_id().to_ne_bytes());
                SOCKADDR_IN6
            }
        }
    }

    /// The address in the first `length` bytes, `None` where it is neither IPv4 nor IPv6.
    pub(crate) fn read(&self, length: usize) -> Option<SocketAddr> {
        let bytes = self.0.get(..length)?;
        let family = u16::from_ne_bytes(bytes.get(..2)?.try_into().ok()?);
        let port = u16::from_be_bytes(bytes.get(2..4)?.try_into().ok()?);
        match family {
            AF_INET => {
                let octets: [u8; 4] = bytes.get(4..8)?.try_into().ok()?;
                Some(SocketAddrV4::new(Ipv4Addr::from(octets), port).into())
            }
            AF_INET6 => {
                let flow = u32::from_be_bytes(bytes.get(4..8)?.try_into().ok()?);
                let octets: [u8; 16] = bytes.get(8..24)?.try_into().ok()?;
                let scope = u32::from_ne_bytes(bytes.get(24..28)?.try_into().ok()?);
                Some(SocketAddrV6::new(Ipv6Addr::from(octets), port, flow, scope).into())
            }
            _ => None,
        }
    }
}

const AF_INET: u16 = 2; // include/linux/socket.h
const AF_INET6: u16 = 10; // include/linux/socket.h
const SOCKADDR_IN: libc::socklen_t = 16; // struct sockaddr_in, include/uapi/linux/in.h
const SOCKADDR_IN6: libc::socklen_t = 28; // struct sockaddr_in6, include/uapi/linux/in6.h

/// Room for the larger of the two, rounded up.
const ADDRESS_ROOM: usize = 32;

/// The same as system calls take it.
pub(crate) const ADDRESS_ROOM_LEN: libc::socklen_t = 32;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_both_families_survive() {
        for text in ["192.0.2.1:5201", "[2001:db8::7]:9"] {
            let address: SocketAddr = text.parse().unwrap();
            let mut buffer = AddressBuffer::EMPTY;
            let length = buffer.write(&address) as usize;
            assert_eq!(buffer.read(length), Some(address));
            assert_eq!(buffer.read(length - 9), None, "cut short");
        }
        assert_eq!(AddressBuffer::EMPTY.read(28), None);
        assert_eq!(AddressBuffer::EMPTY.read(0), None);
    }

    #[test]
    fn scope_of_a_link_local_address_survives() {
        let address = SocketAddrV6::new("fe80::1".parse().unwrap(), 7, 3, 2).into();
        let mut buffer = AddressBuffer::EMPTY;
        assert_eq!(buffer.write(&address), 28);
        assert_eq!(buffer.read(28), Some(address));
    }
}
