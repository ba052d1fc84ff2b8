//! Outputs of `ethtool`.
//!
//! * [`mode`] is without an option
//! * [`features`] is `-k`
//! * [`module`] is `-m`
//! * [`tables`] are `-g`, `-l`, `-c`, `-a`
//! * [`driver`] is `-i`, and `-S`

pub mod driver;
pub mod features;
pub mod mode;
pub mod module;
pub mod tables;
