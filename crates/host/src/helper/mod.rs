//! The privileged helper: the only part that changes settings.
//!
//! * [`client`]: asking it

pub mod client;

pub use client::{AskError, Client, Fixed};
