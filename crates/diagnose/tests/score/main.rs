//! A diagnosis held against the truth, and many of them as a score.
#![allow(clippy::unwrap_used, clippy::panic)]

mod counting;
mod judging;
mod made;
