//! Quantities of networks as types, with arithmetic that is physics and a text form that carries its unit.
//!
//! * [`DataRate`]: bits per second, `10Gbit/s`
//! * [`ByteCount`], [`PacketCount`]: amounts, `4MiB`
//! * [`Mss`], [`Mtu`]: sizes of segments and frames
//! * [`Percent`]: parts of a whole in hundredths, `75 %`
//! * [`MonoTime`], [`WallTime`]: instants on two clocks that are never mixed
//! * [`duration`]: `209ms`, and serde forms whose field names say the unit
//! * [`text`]: the text forms of the others in files
//!
//! A bare number is refused wherever a quantity is read: `4M` may mean bits, bytes, 10^6 or 2^20, and has cost
//! people days. `M` is always 10^6, `Mi` is always 2^20.

mod bytes;
pub mod duration;
mod parse;
mod percent;
mod rate;
mod size;
pub mod text;
mod time;

pub use bytes::{ByteCount, PacketCount};
pub use parse::ParseError;
pub use percent::{Percent, PercentError};
pub use rate::DataRate;
pub use size::{Mss, Mtu, SizeError};
pub use time::{MonoTime, WallTime};
