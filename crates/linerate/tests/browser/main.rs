//! Pages in a real browser: what they show is what their JSON says, whatever names hosts have.
//!
//! `LINERATE_PICTURES=DIR cargo test -p linerate --all-features --test browser` keeps a picture of each page in the folder: in light, in
//! dark, on a phone.
#![cfg(feature = "web")]
#![allow(clippy::panic, clippy::unwrap_used)] // Helpers of tests fail like tests.
#![allow(unreachable_pub, reason = "a test has no outside; `pub` says what the other files use")]

#[path = "../actors/mod.rs"]
#[allow(dead_code, reason = "other tests need other parts of it")]
mod actors;
#[cfg(feature = "hub")]
mod demonstration;
#[cfg(feature = "hub")]
mod first_time;
#[cfg(feature = "hub")]
mod hub;
#[cfg(feature = "hub")]
mod large;
#[cfg(feature = "ndt7")]
mod ndt7;
#[cfg(feature = "hub")]
mod network;
#[cfg(feature = "hub")]
mod openid;
mod pages;
#[cfg(feature = "hub")]
mod people;
mod running;
#[cfg(feature = "hub")]
mod strange;
#[cfg(feature = "hub")]
mod this_computer;
mod visit;
mod what_if;

use visit::Visit;
