//! A trial: one policy at work on one cluster, real or modelled, and what both say side by side.
//!
//! * [`evenness`]: shares, spread, herd and catch-up from what each gateway had each second
//! * [`beside`]: memory of the processes of a real cluster, and how long deletions take there
//! * [`report`]: runs, and what they say, as a document
//! * [`agreement`]: model against cluster over repetitions, and policies against each other

pub mod agreement;
pub mod beside;
pub mod evenness;
pub mod report;
