//! What a person types, and what a person or a program reads.
//!
//! * [`errors`]: what cannot be done is said in one line, with the way out
//! * [`help`]: the pages of `--help`
//! * [`host`]: what is known of a host
//! * [`reading`]: results for programs, for monitoring systems, and out of the archive
//! * [`round`]: plans and the grids of rounds

mod errors;
mod help;
mod host;
mod reading;
mod round;
