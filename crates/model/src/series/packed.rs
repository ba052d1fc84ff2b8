//! The packed form of samples: how they are stored and sent, at a few bytes for a row of all fields.
//!
//! `docs/formats/samples-packed.md` describes the bytes. The idea: the counters of a TCP connection say the same thing
//! many times over (bytes, segments, time busy), so each column is predicted from others where that helps, and only
//! what the prediction missed is kept, as planes of bytes that zstd then compresses. A column that never changes and a
//! column that is always predicted rightly cost nothing but their header.
//!
//! * `digits`: rates to three significant digits, as small numbers
//! * `residual`: differences, and the planes of bytes that hold them
//! * `predict`: one column from others
//! * `table` and `write`: from samples to bytes
//! * `body` and `read`: from bytes to samples, with no trust in the bytes

mod body;
mod digits;
mod layout;
mod predict;
mod read;
mod residual;
mod table;
mod write;

use self::write::Effort;
use crate::series::RunSamples;

pub use body::{Limits, UnpackError};
pub use digits::three_digits;
pub use read::{Unpacked, read};

/// Packs `samples`.
///
/// Everything is kept exactly, except that [`Field::PacingRate`](super::field::Field::PacingRate) and
/// [`Field::DeliveryRate`](super::field::Field::DeliveryRate) are rounded by [`three_digits`]. A column that is not as
/// long as its stream's times holds no samples of the stream and is left out; of probes, only those with all three
/// entries are kept.
#[must_use]
pub fn pack(samples: &RunSamples) -> Vec<u8> {
    write::pack(samples, Effort::ForStorage)
}

/// Packs `samples` for a peer that reads them at once: as [`pack`] does, in a tenth of its time and a fifth more bytes.
#[must_use]
pub fn pack_for_transfer(samples: &RunSamples) -> Vec<u8> {
    write::pack(samples, Effort::ForTransfer)
}

/// Reads what [`pack`] wrote, within [`Limits::RECEIVED`]; columns that only newer versions know are left out.
///
/// # Errors
/// If `bytes` are not packed samples of a known version, are damaged or cut short, or promise more than the limits.
pub fn unpack(bytes: &[u8]) -> Result<RunSamples, UnpackError> {
    read(bytes, &Limits::RECEIVED).map(|unpacked| unpacked.samples)
}
