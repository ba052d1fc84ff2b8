//! File servers and proxies, and clients and servers that behave well and badly towards them.
//!
//! * `running`: services that run beside a test
//! * `sharing`: who gets which request
//! * `strangers`: whoever breaks the rules

mod running;
mod sharing;
mod strangers;
