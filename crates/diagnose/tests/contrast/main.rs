//! Which setting separates bad hosts from good ones: the four machines of an incident of 2022, and made ones.
#![allow(clippy::unwrap_used)] // Helpers of tests fail like tests.

mod history;
mod machines;
mod made;
