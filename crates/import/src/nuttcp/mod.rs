//! The output of nuttcp.
//!
//! * [`row`]: lines with numbers for people, token by token
//! * [`fragments`]: rows that a slide has broken into columns
//! * [`pairs`]: lines of `-fparse`
//! * [`text`]: the other lines: verbose ones, errors

pub(crate) mod fragments;
mod numbers;
pub(crate) mod pairs;
pub(crate) mod row;
pub(crate) mod text;

pub(crate) use numbers::Numbers;
