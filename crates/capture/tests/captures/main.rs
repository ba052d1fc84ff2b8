//! Captures written by hand, read back.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod damage;
mod ends;
mod files;
mod held;
mod index;
mod lacking;
mod layers;
mod live;
mod long_path;
mod pcapng;
mod slow_handshake;
mod support;
mod transfers;
mod writers;
