//! The rules as data: each fires on one host and passes on another, and is never passed by a host that does not say.

mod cases;
mod incidents;
mod page;
mod support;
