//! From evidence to explanation. Pure: a stored run goes in, a finding that can be printed, stored and checked comes out.
//!
//! * [`waterfall`]: where the line rate of a TCP run went, in named shares that add up
//! * [`balance`]: where the datagrams of a UDP run went, added up to the last one
//! * [`contrast`]: which setting separates bad hosts from good ones, which change preceded a change of the rate
//! * [`locate`]: which host, segment or attribute explains the bad pairs of a round
//!
//! `docs/localisation.md`, `docs/waterfall.md` and `docs/datagram-balance.md` explain them to users. Missing evidence is
//! *unknown* with its reason, never zero.

pub mod balance;
pub mod contrast;
mod exact;
pub mod locate;
pub mod waterfall;
