//! Processes that die, strangers in crowds, and users who have seen enough.
//!
//! * [`crowds`]: a thousand connections at once
//! * [`dying`]: a peer that is not there, or not any more, or not what it should be
//! * [`keeping`]: what was measured is kept, whatever happens next

mod crowds;
mod dying;
mod keeping;
