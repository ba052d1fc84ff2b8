//! What runs on hosts of a lab beside test partners: file servers over HTTP, and proxies in front of them.
//!
//! * [`files`]: a server of generated files
//! * [`proxy`]: deals requests out to several servers in turn, and passes a share of them on to others
//! * [`deal`]: who gets which request
//! * [`listener`]: where connections come in, and what is heard of each
//!
//! Plain threads, one a connection; each connection carries one request. No file is ever held as a whole.

mod connection;
pub mod deal;
pub mod files;
pub mod listener;
pub mod proxy;

pub use listener::{Exchange, Limits, OpenError, Passage, ServiceListener};
