//! Who may say what: keys, certificates, tokens, tickets.
//!
//! * [`secret`]: random bytes, and files that only their owner reads
//! * [`digest`]: SHA-256 of what is compared or pinned
//! * [`authority`]: the hub's certificate authority, which vouches for the hub and its agents
//! * [`token`]: what a person carries from the hub to an agent, once
//! * [`password`]: what a person signs in with
//! * [`role`]: what people may do
//! * [`ticket`]: a run that the hub permits, signed, for one agent, for a short time
//! * [`pin`]: TLS on both sides
//! * [`roots`]: authorities that servers of others are trusted by, and TLS to them
//! * [`verifier`]: servers that are trusted otherwise
//!
//! Everything is pure but [`secret`] and [`roots`], and salts and random passwords that come from it: time and keys are arguments.

pub mod authority;
pub mod digest;
pub mod password;
pub mod pin;
pub mod role;
pub mod roots;
pub mod secret;
pub mod ticket;
pub mod token;
pub mod verifier;
