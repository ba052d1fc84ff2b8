//! What is known of a host, for people.

pub mod audit;
mod parts;
pub mod snapshot;
