//! Peers that break the protocol, lie, fall silent or vanish: the other side names it, and goes on.
//!
//! * [`partner`]: a test partner in this process, with little patience
//! * [`visitor`]: a client that says what a script says
//! * [`messages`], [`vanishing`], [`data`]: what such clients do to the partner
//! * [`oracle`]: a server that says what a script says, and what it does to our client
#![allow(clippy::panic, clippy::unwrap_used)] // Helpers of tests fail like tests.

mod data;
mod messages;
mod oracle;
mod partner;
mod vanishing;
mod visitor;
