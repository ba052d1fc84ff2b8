//! Bursts: maximal runs of buckets in which more than a part of the line rate passed (Zhang and others, "High-resolution
//! measurement of data center microbursts", IMC 2017, and Millisampler, IMC 2022, have half of it).
//!
//! * [`tick`]: what passed in one bucket
//! * [`flows`]: packets of which the beginning is known, to the flows of a burst
//! * [`finder`]: buckets of one direction in order of time, to bursts and distributions
//! * [`retransmits`]: retransmissions, put into the buckets of their time
//! * [`around`]: the buckets around each drop
//!
//! Inside: `queue` is the buffer that a slower link would have needed, `steps` rates over time in bounded memory.

pub mod around;
pub mod finder;
pub mod flows;
mod heat;
mod queue;
pub mod retransmits;
mod steps;
#[cfg(test)]
mod tests;
pub mod tick;
