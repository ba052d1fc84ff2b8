//! Integers at a place in bytes. A place outside has none.

/// Which byte of an integer comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum ByteOrder {
    /// The least significant.
    #[default]
    Little,
    /// The most significant.
    Big,
}

impl ByteOrder {
    #[inline]
    pub(crate) fn u16(self, bytes: &[u8], at: usize) -> Option<u16> {
        let field = *bytes.get(at..)?.first_chunk::<2>()?;
        Some(if self == Self::Little { u16::from_le_bytes(field) } else { u16::from_be_bytes(field) })
    }

    #[inline]
    pub(crate) fn u32(self, bytes: &[u8], at: usize) -> Option<u32> {
        Some(self.of(*bytes.get(at..)?.first_chunk::<4>()?))
    }

    #[inline]
    pub(crate) fn of(self, field: [u8; 4]) -> u32 {
        if self == Self::Little { u32::from_le_bytes(field) } else { u32::from_be_bytes(field) }
    }

    #[inline]
    pub(crate) fn u64(self, bytes: &[u8], at: usize) -> Option<u64> {
        let field = *bytes.get(at..)?.first_chunk::<8>()?;
        Some(if self == Self::Little { u64::from_le_bytes(field) } else { u64::from_be_bytes(field) })
    }
}

/// In network byte order.
#[inline]
pub(crate) fn be16(bytes: &[u8], at: usize) -> Option<u16> {
    ByteOrder::Big.u16(bytes, at)
}

/// In network byte order.
#[inline]
pub(crate) fn be32(bytes: &[u8], at: usize) -> Option<u32> {
    ByteOrder::Big.u32(bytes, at)
}

saved_enum!(ByteOrder { Little, Big });
