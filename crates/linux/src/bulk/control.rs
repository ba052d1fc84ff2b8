//! Control messages: what travels beside the data of `sendmsg` and `recvmsg` (cmsg(3)).

/// Room for the control messages of one datagram, aligned as the kernel wants it.
#[derive(Debug, Clone, Copy)]
#[repr(align(8))]
pub(crate) struct ControlBuffer(pub(crate) [u8; CONTROL_ROOM]);

impl ControlBuffer {
    pub(crate) const EMPTY: Self = Self([0; CONTROL_ROOM]);

    /// Writes one message and returns the length that `msg_controllen` takes.
    pub(crate) fn write(&mut self, kind: Kind, data: [u8; 2]) -> usize {
        let length = HEADER + data.len();
        self.0[..8].copy_from_slice(&length.to_ne_bytes());
        self.0[8..12].copy_from_slice(&kind.level.to_ne_bytes());
        self.0[12..HEADER].copy_from_slice(&kind.name.to_ne_bytes());
        self.0[HEADER..length].copy_from_slice(&data);
        length.next_multiple_of(ALIGNMENT)
    }
}

/// What a control message is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Kind {
    /// Protocol level, such as `SOL_UDP`.
    pub(crate) level: libc::c_int,
    /// Number within the level.
    pub(crate) name: libc::c_int,
}

/// The control messages in `bytes`. Ends at the first whose length cannot be.
pub(crate) fn messages(mut bytes: &[u8]) -> impl Iterator<Item = (Kind, &[u8])> {
    std::iter::from_fn(move || {
        let length = usize::from_ne_bytes(bytes.get(..8)?.try_into().ok()?);
        let level = libc::c_int::from_ne_bytes(bytes.get(8..12)?.try_into().ok()?);
        let name = libc::c_int::from_ne_bytes(bytes.get(12..HEADER)?.try_into().ok()?);
        let data = bytes.get(HEADER..length)?;
        bytes = bytes.get(length.next_multiple_of(ALIGNMENT)..).unwrap_or_default();
        Some((Kind { level, name }, data))
    })
}

/// A 32-bit word at `offset` of the data of a message.
pub(crate) fn word(data: &[u8], offset: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(data.get(offset..offset.checked_add(4)?)?.try_into().ok()?))
}

/// `size_of::<cmsghdr>()` on 64-bit machines: length, level and name.
const HEADER: usize = 16;
const ALIGNMENT: usize = 8;

/// Holds segment size, drop count and time stamp of a datagram, or an error with the address of its sender.
const CONTROL_ROOM: usize = 128;

const _: () =
    assert!(size_of::<libc::cmsghdr>() == HEADER, "control messages are read as 64-bit machines lay them out");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn written_message_is_read_back() {
        let mut buffer = ControlBuffer::EMPTY;
        let kind = Kind { level: 17, name: 103 };
        let length = buffer.write(kind, 1448u16.to_ne_bytes());
        assert_eq!(length, 24);
        let read: Vec<_> = messages(&buffer.0[..length]).collect();
        assert_eq!(read, [(kind, &1448u16.to_ne_bytes()[..])]);
    }

    #[test]
    fn messages_with_lying_lengths_end_the_list() {
        for length in [0usize, 1, 15, 25, usize::MAX] {
            let mut bytes = [0u8; 24];
            bytes[..8].copy_from_slice(&length.to_ne_bytes());
            assert_eq!(messages(&bytes).count(), 0, "length {length}");
        }
        assert_eq!(messages(&[0; 7]).count(), 0);
    }

    #[test]
    fn two_messages_follow_each_other_aligned() {
        let mut buffer = ControlBuffer::EMPTY;
        let kind = Kind { level: 1, name: 2 };
        let first = buffer.write(kind, [1, 2]);
        let copy = buffer.0;
        buffer.0[first..2 * first].copy_from_slice(&copy[..first]);
        assert_eq!(messages(&buffer.0[..2 * first]).count(), 2);
    }
}
