//! What the bytes of a packed form mean.

/// What every packed form starts with.
pub(super) const MAGIC: [u8; 4] = *b"LRSP";

/// Version of the format; the byte after [`MAGIC`].
pub(super) const VERSION: u8 = 1;

/// Ids of columns that are no fields. Fields have their index in `Field::ALL`.
pub(super) mod id {
    /// The time of each row.
    pub(in super::super) const TIME: u16 = 0xffff;
    /// The number of each row, from zero; only predictions use it.
    pub(in super::super) const ROW: u16 = 0xfffe;
    /// No column.
    pub(in super::super) const NONE: u16 = 0xfffd;
    /// In the table of probes: round trips. Zero is an absent one, the rest is moved up by one.
    pub(in super::super) const PROBE_RTT: u16 = 0;
    /// In the table of probes: ways there. Zero is an absent one, the rest is zigzag and moved up by one.
    pub(in super::super) const PROBE_THERE: u16 = 1;
}

/// What the rows of a table are; the table's first byte.
pub(super) mod kind {
    pub(in super::super) const STREAM: u8 = 0;
    pub(in super::super) const PROBES: u8 = 1;
}

/// How a column was made; the bits of its form byte.
pub(super) mod form {
    /// How often neighbours were subtracted: 0, 1 or 2.
    pub(in super::super) const ORDER: u8 = 0b011;
    /// The values are codes of [`super::super::digits`].
    pub(in super::super) const THREE_DIGITS: u8 = 0b100;
}

/// 1 MiB: a reader needs no more than this, whatever a frame claims.
pub(super) const WINDOW_LOG: u32 = 20;
