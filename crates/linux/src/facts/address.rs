//! Addresses of devices (`RTM_GETADDR`).

use model::host::route::Address;

use super::{Names, route_socket};
use crate::Unavailable;
use crate::netlink::{NetlinkError, attributes, value};

/// All addresses in the namespace. `names` are those of its devices.
///
/// # Errors
/// Why they cannot be read.
pub fn read(names: &Names) -> Result<Vec<Address>, Unavailable> {
    let dump = route_socket(SOURCE)?.dump(RTM_GETADDR, &[0; IFADDRMSG_LEN], |message| parse(message, names));
    let addresses = dump.map_err(|error| error.unavailable(SOURCE))?;
    Ok(addresses.into_iter().flatten().collect())
}

/// How these facts are read.
pub const SOURCE: &str = "RTM_GETADDR";

/// `None` for an address of a family that is not IP, and of a device that came since.
fn parse(message: &[u8], names: &Names) -> Result<Option<Address>, NetlinkError> {
    let index = crate::links::index(message)?;
    let mut found = None;
    for attribute in attributes(message, IFADDRMSG_LEN) {
        let attribute = attribute?;
        // On a point-to-point link IFA_ADDRESS is the peer's, and comes before our own.
        if matches!(attribute.kind, IFA_ADDRESS | IFA_LOCAL) {
            found = value::ip(attribute.value).or(found);
        }
    }
    let (prefix, scope) = (message.get(1).copied().unwrap_or_default(), message.get(3).copied().unwrap_or_default());
    Ok(found.zip(names.get(&index)).map(|(address, name)| Address {
        interface: name.clone(),
        address,
        prefix,
        scope: scope_name(scope),
    }))
}

/// Names as ip-address(8).
pub(super) fn scope_name(scope: u8) -> String {
    match scope {
        0 => "global".to_owned(),
        200 => "site".to_owned(),
        253 => "link".to_owned(),
        254 => "host".to_owned(),
        255 => "nowhere".to_owned(),
        other => other.to_string(),
    }
}

// include/uapi/linux/rtnetlink.h, if_addr.h of 6.18
const RTM_GETADDR: u16 = 22;
const IFADDRMSG_LEN: usize = 8;
const IFA_ADDRESS: u16 = 1;
const IFA_LOCAL: u16 = 2;
