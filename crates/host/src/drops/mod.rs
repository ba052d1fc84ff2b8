//! What a host drops, interval by interval, and what goes together with it.
//!
//! * [`watch`]: intervals of this host, as they pass
//! * [`totals`]: all counters that say that something went wrong; [`kinds`] says which those are
//! * [`increase`]: how much they grew, over wraps and resets
//! * `reasons`, `frames`, `retransmits`: packets by the kernel's reason, frames by VLAN, segments by peer
//! * [`lines`]: intervals that somebody recorded
//! * [`together`]: hosts side by side; [`explain`]: which frames are those that are dropped
//!
//! What is not known is told as such; a counter that cannot be read is not zero.

pub mod explain;
mod frames;
pub mod increase;
pub mod kinds;
pub mod lines;
mod reasons;
mod retransmits;
pub mod series;
mod sockets;
pub mod together;
pub mod totals;
pub mod watch;
