//! OWAMP (RFC 4656) and TWAMP (RFC 5357) in open mode: bytes to messages and back, schedules, and what packets show.
//!
//! Everything is a function of bytes or of records; sockets, clocks and random bits belong to the caller.
//!
//! * [`time`]: NTP time and intervals
//! * [`estimate`]: how wrong the clock of a timestamp may be
//! * [`packet`]: test packets, those of STAMP included
//! * [`control`]: messages of the control connection
//! * [`schedule`]: when a session's packets are due
//! * [`session`]: their names
//! * [`record`]: what a receiver noted of each packet
//! * [`one_way`], [`two_way`]: loss, delay and reordering of a session

pub mod control;
pub mod estimate;
mod fields;
pub mod one_way;
pub mod packet;
pub mod record;
pub mod schedule;
pub mod session;
pub mod time;
pub mod two_way;
