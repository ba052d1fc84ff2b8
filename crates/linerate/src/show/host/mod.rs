//! What is known of a host, for people.

pub mod audit;
pub mod diff;
pub mod drops;
pub mod fix;
pub mod log;
mod parts;
pub mod snapshot;
