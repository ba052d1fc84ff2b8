//! Real traffic that was watched, for people.

pub mod bursts;
pub mod flows;
pub mod int;
pub mod prometheus;
pub mod transfers;
