//! From evidence to explanation. Pure: a stored run goes in, a finding that can be printed, stored and checked comes out.
//!
//! * [`waterfall`]: where the line rate of a TCP run went, in named shares that add up
//! * [`balance`]: where the datagrams of a UDP run went, added up to the last one
//! * [`explained`]: a run with both of these, as one document
//! * [`signs`]: what can be seen of a flow
//! * [`statements`]: what each piece of evidence says by itself
//! * [`causes`]: the catalogue of what can be wrong
//! * [`diagnosis`]: what is wrong with what a round tested, ranked
//! * [`gateways`]: what is wrong with storage gateways behind a balancer
//! * [`next`]: which test would tell most between what may be wrong
//! * [`grid`]: how much of what it should do each pair of a round does
//! * [`locate`]: which host, segment or attribute explains the bad pairs of a round
//! * [`along`]: at which hop a way becomes bad
//! * [`proof`]: whether a change between two rounds has fixed what suffered
//! * [`contrast`]: which setting separates bad hosts from good ones, and which change came before a rate changed
//! * [`score`]: how good diagnoses are, held against what was planted
//!
//! `docs/localisation.md`, `docs/waterfall.md` and `docs/datagram-balance.md` explain them to users. Missing evidence is
//! *unknown* with its reason, never zero.

pub mod along;
pub mod balance;
pub mod causes;
pub mod contrast;
pub mod diagnosis;
mod exact;
pub mod explained;
pub mod gateways;
pub mod grid;
mod grown_queue;
pub mod learn;
pub mod locate;
pub mod next;
pub mod proof;
pub mod score;
pub mod signs;
mod silence;
pub mod statements;
mod swallowed;
pub mod waterfall;
mod wires;
