//! Requests that change something: one message, and the kernel's word for it.

use std::io;

use netlink_packet_core::{NLM_F_ACK, NLM_F_REQUEST};

use super::{Asked, HEADER_LEN, NLMSG_ERROR, Netlink, NetlinkError, attributes, error_of, messages};

impl Netlink {
    /// Has the kernel say in words what it does not like about a request (`NETLINK_EXT_ACK`, since Linux 4.12), and
    /// not send the request back with that (`NETLINK_CAP_ACK`).
    pub(crate) fn explain_refusals(&mut self) -> Result<(), NetlinkError> {
        self.socket.set_ext_ack(true).map_err(NetlinkError::socket("have refusals explained"))?;
        self.socket.set_cap_ack(true).map_err(NetlinkError::socket("have refusals explained"))
    }

    /// Sends `request` and waits until it is done. The flags say whether it adds or replaces.
    pub(crate) fn change(&mut self, message_type: u16, flags: u16, request: &[u8]) -> Result<(), NetlinkError> {
        self.send(message_type, NLM_F_REQUEST | NLM_F_ACK | flags, request)?;
        loop {
            self.receive().map_err(NetlinkError::socket("receive an answer"))?;
            for message in messages(&self.buffer, Asked::one(self.sequence)) {
                let message = message?;
                if message.message_type() == NLMSG_ERROR {
                    return error_of(message.payload())?
                        .map_or(Ok(()), |source| Err(refusal(source, words(message.flags(), message.payload()))));
                }
            }
        }
    }
}

fn refusal(source: io::Error, words: Option<String>) -> NetlinkError {
    match words {
        Some(words) => NetlinkError::Explained { words, source },
        None => NetlinkError::Refused { source },
    }
}

/// What the kernel says in words, behind the status and the header of the request.
fn words(flags: u16, payload: &[u8]) -> Option<String> {
    if flags & NLM_F_ACK_TLVS == 0 {
        return None;
    }
    let said = attributes(payload, STATUS_LEN + HEADER_LEN).find_map(|attribute| {
        attribute.ok().filter(|attribute| attribute.kind == NLMSGERR_ATTR_MSG).map(|attribute| attribute.value)
    })?;
    let text = said.split(|&byte| byte == 0).next().unwrap_or_default();
    Some(String::from_utf8_lossy(text).into_owned()).filter(|text| !text.is_empty())
}

const STATUS_LEN: usize = 4;
const NLM_F_ACK_TLVS: u16 = 0x200; // include/uapi/linux/netlink.h
const NLMSGERR_ATTR_MSG: u16 = 1;

/// Make what is not there (include/uapi/linux/netlink.h).
pub(crate) const CREATE: u16 = 0x400;
/// Fail where it is there.
pub(crate) const EXCLUSIVE: u16 = 0x200;
/// Put it in the place of what is there.
pub(crate) const REPLACE: u16 = 0x100;
/// Put it behind what is there.
pub(crate) const APPEND: u16 = 0x800;
