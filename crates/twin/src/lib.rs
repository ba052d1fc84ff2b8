//! Scenarios in virtual time: the same files that the lab plays between kernels, played by the simulator over the same
//! elements of paths. What comes of it is the same [`Round`](model::round::Round), in a fraction of a second, without
//! rights, devices or a quiet machine.
//!
//! * [`mod@play`]: the whole, from a scenario to its round
//! * [`fidelity`]: whether a virtual play tells what a live one told
//! * [`effect`]: which tests each fault makes complain
//! * [`generate`]: incidents that nobody wrote, drawn from a seed
//! * `network`: hosts as they are set at a moment, paths between them, and what everybody has counted
//! * `flow`: tests over TCP and UDP
//! * `probes`: echoes, path MTU, hops, downloads
//! * `hosts`: the facts that a host would tell of itself
//!
//! The same scenario and the same seed give the same round on every machine. `Model:` marks what is simpler than a
//! kernel.

mod convert;
pub mod effect;
pub mod fidelity;
mod flow;
pub mod generate;
mod hosts;
mod network;
pub mod play;
mod probes;

pub use play::{Play, play};
