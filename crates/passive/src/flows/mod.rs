//! TCP connections of a host, from walks over the kernel's table, exact requests and last words.
//!
//! * [`reading`]: what one look at a connection tells
//! * [`table`]: all connections, by the kernel's cookie
//! * [`evidence`]: a watched transfer as a run with samples, so that the waterfall's rules judge it
//! * [`beside`]: what transfers say beside a test or another transfer
//! * [`limit`]: what limits a connection
//! * [`talkers`]: who moved most
//! * [`rates`]: what transfers reached with each peer over some minutes
//!
//! * [`finish`]: from readings to a transfer
//! * [`span`]: a part of a connection's life
//!
//! Inside: `connection` is one connection, `series` its readings in bounded memory, `loss` a
//! loss that it noticed.

pub mod beside;
mod connection;
pub mod evidence;
pub mod finish;
pub mod limit;
mod loss;
pub mod rates;
pub mod reading;
mod series;
pub mod span;
pub mod table;
pub mod talkers;
#[cfg(test)]
mod tests;

pub use connection::ClosedFirst;
