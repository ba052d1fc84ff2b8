//! What a file consists of: records, and what may be wrong with them.

/// The largest record that is read; `tcpdump` stores at most 256 KiB of a packet.
pub const MAX_RECORD_BYTES: usize = 1 << 20;

/// One packet as the file has it.
#[derive(Debug, Clone, Copy)]
pub struct Packet<'a> {
    /// Its number, from 1, as Wireshark counts frames.
    pub frame: u64,
    /// Nanoseconds since 1970, as the file says.
    pub time_ns: i64,
    /// What was stored of it.
    pub bytes: &'a [u8],
    /// Its length on the wire, from the link header on.
    pub wire_bytes: u32,
    /// The link layer (`LINKTYPE_` of tcpdump.org).
    pub link: u16,
    /// The interface of a pcapng file, from 0.
    pub interface: u32,
}

/// Why a file cannot be read on. What came before it has been read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FileError {
    /// The first bytes are those of no known format.
    #[error("byte 0: neither pcap nor pcapng: the file starts with {found:02x?}")]
    UnknownFormat {
        /// The first four bytes.
        found: [u8; 4],
    },
    /// A format that is known and not read.
    #[error("byte 0: {name} is not read; convert it with `editcap -F pcapng`")]
    UnsupportedFormat {
        /// The format's name.
        name: &'static str,
    },
    /// A record or block whose length cannot be.
    #[error("byte {offset}, after frame {frame}: {what} of {found} bytes; at most {limit} are possible")]
    Length {
        /// Where the record starts in the uncompressed file.
        offset: u64,
        /// The last frame that was read.
        frame: u64,
        /// What has the length.
        what: &'static str,
        /// The length that the file states.
        found: u64,
        /// The largest that could be true.
        limit: u64,
    },
    /// A packet of an interface that no block describes.
    #[error("byte {offset}, after frame {frame}: a packet of interface {found}, of which there are {limit}")]
    Interface {
        /// Where the block starts.
        offset: u64,
        /// The last frame that was read.
        frame: u64,
        /// The interface that the packet names.
        found: u64,
        /// How many interfaces the section has described.
        limit: u64,
    },
    /// The file ends inside a record.
    #[error("byte {offset}, after frame {frame}: the file ends {missing} within a record")]
    Cut {
        /// Where the record starts.
        offset: u64,
        /// The last frame that was read.
        frame: u64,
        /// How many bytes of the record there are.
        missing: String,
    },
}

/// Packets that the capturing host says it lost, as far as the file states it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DropCounts {
    /// By interfaces (`isb_ifdrop`).
    pub interface: u64,
    /// By the operating system (`isb_osdrop`).
    pub system: u64,
    /// Between two packets of the file (`epb_dropcount`).
    pub between: u64,
}

/// How far a file has been read.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Position {
    /// Bytes of the file before the next record.
    pub(crate) offset: u64,
    /// The last packet's number.
    pub(crate) frame: u64,
    /// Bytes that are passed over without being looked at.
    pub(crate) skip: u64,
}

/// What became of a record.
pub(crate) enum Step<'a> {
    /// More bytes are needed.
    More,
    /// So many bytes hold a packet.
    Packet(usize, Packet<'a>),
    /// So many bytes hold something else.
    Other(usize),
}

saved!(Position { offset, frame, skip });
saved!(DropCounts { interface, system, between });
