//! What a network path does to packets.
//!
//! One direction of a path is a [`Chain`] of elements: ports with queues, delay, policers, loss, firewalls. Each is one
//! state machine on an explicit clock, in one file of [`elements`]. Who drives a chain decides which clock that is: the
//! lab lets real packets of real kernels through in real time, the simulator its own in virtual time. Both get the same
//! drops at the same instants for the same arrivals and the same seed.
//!
//! * [`Train`]: packets of one flow behind each other, the unit in which they are offered
//! * [`Chain`]: elements one behind the other, with what changes and when
//! * [`Grain`]: how exact it has to be
//! * [`Watcher`]: the driver's side: who is told what became of each packet
//! * [`Element`], [`Outlet`]: what an element is given, and what it may say
//! * [`reason`]: why a packet was dropped, marked, delayed or changed
//! * [`spec`]: elements as they are written in files
//! * [`buffer`]: queues with their disciplines, which several elements share
//! * [`summary`]: what a chain amounts to: bottleneck, queue, delay, loss
//! * [`tally`]: what each element did, counted

mod bucket;
pub mod buffer;
mod chain;
mod element;
pub mod elements;
mod grain;
mod outlet;
mod picker;
pub mod random;
pub mod reason;
pub mod spec;
pub mod summary;
pub mod tally;
mod train;
mod transmitter;

pub use chain::{Chain, Change, ElementIndex, PathElement, Presence, Span};
pub use element::Element;
pub use grain::Grain;
pub use outlet::{Outlet, QueueStay, Watcher};
pub use random::Seed;
pub use spec::{ElementSpec, SpecError};
pub use tally::Tally;
pub use train::{Ecn, Edits, FlowHash, FrameId, PacketKind, Spacing, Train};
