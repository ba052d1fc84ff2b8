//! The catalogue of causes: its page, and what it says of rounds made for the purpose.
#![allow(clippy::unwrap_used, clippy::panic, clippy::cast_possible_truncation, clippy::cast_sign_loss)] // Numbers made for the purpose fit.

mod allowed;
mod datagrams;
mod examined;
mod learning;
mod lone;
mod page;
mod shown;
mod sizes;
mod unjudged;
mod ways;
mod weighing;
mod world;
