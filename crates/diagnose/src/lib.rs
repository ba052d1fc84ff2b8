//! From evidence to explanation. Pure: a stored run goes in, a finding that can be printed, stored and checked comes out.
//!
//! * [`waterfall`]: where the line rate of a TCP run went, in named shares that add up
//! * [`balance`]: where the datagrams of a UDP run went, added up to the last one
//!
//! `docs/waterfall.md` and `docs/datagram-balance.md` explain both to users. Missing evidence is *unknown* with its
//! reason, never zero.

pub mod balance;
mod exact;
pub mod waterfall;
