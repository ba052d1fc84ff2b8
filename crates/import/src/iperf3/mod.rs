//! The output of iperf3.
//!
//! * [`documents`]: JSON, one object or one event a line, with whatever stands around it
//! * [`json`]: one object
//! * [`text`]: one line for people; [`row`]: those with numbers

pub(crate) mod documents;
pub(crate) mod json;
mod json_rows;
mod object;
pub(crate) mod row;
pub(crate) mod text;
