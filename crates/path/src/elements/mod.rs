//! The elements, one file each. What they model, with an example of each, stands in docs/path.md.
//!
//! | file | what it is on a real path |
//! |---|---|
//! | `port` | a queue and the transmitter behind it: the interface of a switch, a router or a host |
//! | `classes` | the same with a queue for each class of service |
//! | `cross` | other people's packets in the same queues |
//! | `shaper` | what comes faster than agreed waits |
//! | `policer` | what comes faster than agreed is dropped, or gets a worse class |
//! | `delay` | the way: how long it is, and how uneven |
//! | `loss` | packets that vanish, by chance or by rule |
//! | `reorder` | packets that are overtaken |
//! | `duplicate` | packets that come twice |
//! | `corrupt` | packets in which a bit is wrong |
//! | `mtu` | the largest packet, and whether anybody hears of larger ones |
//! | `firewall` | a middlebox that looks at each packet, with a small buffer before it |
//! | `conntrack` | a middlebox that forgets idle connections |
//! | `ecn` | a middlebox that meddles with congestion notification |
//! | `merger` | an adapter that merges segments where it should not |
//!
//! Another one is another file here, with its settings (`XSpec`, read by serde, with a `check`) and its state machine
//! (an [`Element`](crate::Element)), a line in this table and below, and a variant in [`crate::spec`]. `policer` is the
//! shortest to begin from.

mod classes;
mod conntrack;
mod corrupt;
mod cross;
mod delay;
mod duplicate;
mod ecn;
mod firewall;
mod loss;
mod merger;
mod mtu;
mod policer;
mod port;
mod reorder;
mod shaper;

pub use classes::{ClassSpec, ClassesSpec};
pub use conntrack::ConntrackSpec;
pub use corrupt::CorruptSpec;
pub use cross::{Burst, CrossSpec};
pub use delay::{DelaySpec, Order};
pub use duplicate::DuplicateSpec;
pub use ecn::EcnSpec;
pub use firewall::{FirewallSpec, Inspects};
pub use loss::LossSpec;
pub use merger::MergerSpec;
pub use mtu::{MtuSpec, Report};
pub use policer::PolicerSpec;
pub use port::PortSpec;
pub use reorder::ReorderSpec;
pub use shaper::ShaperSpec;

pub(crate) use classes::Classes;
pub(crate) use conntrack::Conntrack;
pub(crate) use corrupt::Corrupter;
pub(crate) use cross::Cross;
pub(crate) use delay::DelayLine;
pub(crate) use duplicate::Duplicator;
pub(crate) use ecn::EcnBox;
pub(crate) use firewall::Firewall;
pub(crate) use loss::Loss;
pub(crate) use merger::Merger;
pub(crate) use mtu::MtuLimit;
pub(crate) use policer::Policer;
pub(crate) use port::Port;
pub(crate) use reorder::Reorderer;
pub(crate) use shaper::Shaper;
