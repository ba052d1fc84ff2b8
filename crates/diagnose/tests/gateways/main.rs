//! Storage gateways: faults planted into the model of a cluster, and what is bad in a status.
#![allow(clippy::unwrap_used)]

mod bad;
mod planted;
mod world;
