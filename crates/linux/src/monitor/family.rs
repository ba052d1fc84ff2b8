//! The multicast groups of generic netlink families (net/netlink/genetlink.c).

use crate::Unavailable;
use crate::netlink::{Attribute, Netlink, NetlinkError, Request, attributes, value};

/// The numbers of a family and of one of its multicast groups.
pub(super) fn multicast_group(family: &'static str, group: &str) -> Result<(u16, u32), Unavailable> {
    let ask = || {
        let mut netlink = Netlink::open(netlink_sys::protocols::NETLINK_GENERIC)?;
        let mut request = Request::new(&[CTRL_CMD_GETFAMILY, VERSION, 0, 0]);
        request.put_text(CTRL_ATTR_FAMILY_NAME, family);
        let found = netlink.get(GENL_ID_CTRL, request.bytes(), |message| {
            let (mut number, mut groups) = (None, None);
            for attribute in attributes(message, GENLMSGHDR_LEN).filter_map(Result::ok) {
                match attribute.kind {
                    CTRL_ATTR_FAMILY_ID => number = value::u16(&attribute),
                    CTRL_ATTR_MCAST_GROUPS => groups = group_number(&attribute, group),
                    _ => {}
                }
            }
            Ok(number.zip(groups))
        })?;
        let unknown = || NetlinkError::Refused { source: std::io::Error::from_raw_os_error(libc::EOPNOTSUPP) };
        found.flatten().ok_or_else(unknown)
    };
    ask().map_err(|error| error.unavailable(family))
}

fn group_number(groups: &Attribute<'_>, wanted: &str) -> Option<u32> {
    groups.nested().filter_map(Result::ok).find_map(|group| {
        let of = |kind| group.nested().filter_map(Result::ok).find(move |part| part.kind == kind);
        let is_wanted = of(CTRL_ATTR_MCAST_GRP_NAME).is_some_and(|name| value::text(&name) == wanted);
        if is_wanted { value::u32(&of(CTRL_ATTR_MCAST_GRP_ID)?) } else { None }
    })
}

// include/uapi/linux/genetlink.h of 6.18
const GENL_ID_CTRL: u16 = 0x10;
const GENLMSGHDR_LEN: usize = 4;
const CTRL_CMD_GETFAMILY: u8 = 3;
const CTRL_ATTR_FAMILY_ID: u16 = 1;
const CTRL_ATTR_FAMILY_NAME: u16 = 2;
const CTRL_ATTR_MCAST_GROUPS: u16 = 7;
const CTRL_ATTR_MCAST_GRP_NAME: u16 = 1;
const CTRL_ATTR_MCAST_GRP_ID: u16 = 2;

/// The version of the family `nlctrl`.
const VERSION: u8 = 1;
