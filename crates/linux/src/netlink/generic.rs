//! Generic netlink: families that have their number from the kernel (net/netlink/genetlink.c).

use super::{Attribute, Netlink, NetlinkError, Request, attributes};
use crate::Unavailable;

/// A socket that speaks to one family.
#[derive(Debug)]
pub(crate) struct GenericNetlink {
    netlink: Netlink,
    family: u16,
}

impl GenericNetlink {
    /// Asks for the number of the family called `name`.
    pub(crate) fn open(name: &'static str) -> Result<Self, Unavailable> {
        let open = || {
            let mut netlink = Netlink::open(netlink_sys::protocols::NETLINK_GENERIC)?;
            let mut request = Request::new(&[CTRL_CMD_GETFAMILY, VERSION, 0, 0]);
            request.put_text(CTRL_ATTR_FAMILY_NAME, name);
            let family = netlink.get(GENL_ID_CTRL, request.bytes(), |message| {
                let number = attributes(message, GENLMSGHDR_LEN).find_map(|attribute| {
                    attribute
                        .ok()
                        .filter(|attribute| attribute.kind == CTRL_ATTR_FAMILY_ID)?
                        .value
                        .first_chunk()
                        .copied()
                });
                Ok(number.map(u16::from_ne_bytes))
            })?;
            let unknown = || NetlinkError::Refused { source: std::io::Error::from_raw_os_error(libc::EOPNOTSUPP) };
            Ok::<_, NetlinkError>(Self { netlink, family: family.flatten().ok_or_else(unknown)? })
        };
        open().map_err(|error| error.unavailable(name))
    }

    /// Makes one request, whose attributes `write` adds, and reads the attributes of its answer.
    pub(crate) fn get<T>(
        &mut self,
        command: u8,
        write: impl FnOnce(&mut Request),
        read: impl Fn(&mut dyn Iterator<Item = Result<Attribute<'_>, NetlinkError>>) -> Result<T, NetlinkError>,
    ) -> Result<Option<T>, NetlinkError> {
        let mut request = Request::new(&[command, VERSION, 0, 0]);
        write(&mut request);
        self.netlink.get(self.family, request.bytes(), |message| read(&mut attributes(message, GENLMSGHDR_LEN)))
    }

    /// Makes one request that changes something, whose attributes `write` adds.
    pub(crate) fn change(&mut self, command: u8, write: impl FnOnce(&mut Request)) -> Result<(), NetlinkError> {
        let mut request = Request::new(&[command, VERSION, 0, 0]);
        write(&mut request);
        self.netlink.explain_refusals()?;
        self.netlink.change(self.family, 0, request.bytes())
    }

    /// Dumps a table, whose request has the attributes `asked`.
    pub(crate) fn dump<T>(
        &mut self,
        command: u8,
        asked: &[u8],
        read: impl Fn(&mut dyn Iterator<Item = Result<Attribute<'_>, NetlinkError>>) -> Result<T, NetlinkError>,
    ) -> Result<Vec<T>, NetlinkError> {
        let request = [&[command, VERSION, 0, 0], asked].concat();
        self.netlink.dump(self.family, &request, |message| read(&mut attributes(message, GENLMSGHDR_LEN)))
    }
}

// include/uapi/linux/genetlink.h of 6.18
const GENL_ID_CTRL: u16 = 0x10;
const GENLMSGHDR_LEN: usize = 4;
const CTRL_CMD_GETFAMILY: u8 = 3;
const CTRL_ATTR_FAMILY_ID: u16 = 1;
const CTRL_ATTR_FAMILY_NAME: u16 = 2;

/// All families used here are of version 1.
const VERSION: u8 = 1;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Reason;

    #[test]
    fn family_that_the_kernel_lacks_is_not_supported() {
        assert_eq!(GenericNetlink::open("nonesuch").unwrap_err().reason, Reason::Unsupported);
        assert!(GenericNetlink::open("nlctrl").unwrap().family == GENL_ID_CTRL);
    }
}
