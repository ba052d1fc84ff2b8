//! Runs as JSON and CSV, and JSON back.
//!
//! * [`json`]: everything, for other programs and other archives
//! * [`csv`]: tables, for spreadsheets and plots

pub mod csv;
pub mod json;

pub use json::{Export, read_export, write_export};
