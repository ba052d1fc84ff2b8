//! One test, from the first connection to the exchanged results.
//!
//! * [`client`]: the side that asks
//! * [`part`]: what both sides do alike: prepare the streams, watch them, gather what they did
//! * [`drain`]: what is on the way when the senders stop
//! * [`assemble`]: from what was gathered to a measurement
//! * [`omit`]: leaving out the start, as an iperf3 does
//! * [`live`]: progress while a test runs
//! * [`failure`]: what can go wrong, and what kind of failure it is

pub mod assemble;
pub mod client;
pub mod drain;
pub mod failure;
pub mod live;
pub mod omit;
pub mod part;
