//! The elements, one file each.
//!
//! | file | what it is on a real path |
//! |---|---|
//! | `port` | a queue and the transmitter behind it: the interface of a switch, a router or a host |
//! | `cross` | other people's packets in the same queue |
//! | `delay` | the way: how long it is, and how uneven |
//! | `loss` | packets that vanish, by chance or by rule |

mod cross;
mod delay;
mod loss;
mod port;

pub use cross::{Burst, CrossSpec};
pub use delay::{DelaySpec, Order};
pub use loss::LossSpec;
pub use port::PortSpec;

pub(crate) use delay::DelayLine;
pub(crate) use loss::Loss;
pub(crate) use port::Port;
