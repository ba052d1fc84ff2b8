//! What gateways report of themselves, and what is wrong with them.
//!
//! * [`reading`]: one gateway at one moment, whatever reported it
//! * [`prometheus`]: metrics as text, and the JSON of its queries
//! * [`history`]: all readings of one gateway: rates, restarts, silence, contradictions
//! * [`sign`]: questions about them; [`observed`]: what is seen of them, as answers; `requests` and `occupancy` give those
//! * [`findings`]: herd, catch-up, slow gateway, memory, deletions, each with its evidence
//! * [`outlook`]: where a policy would send the next requests
//! * [`report`]: all of it as a document

pub mod findings;
pub mod history;
pub mod observed;
mod occupancy;
pub mod outlook;
pub mod prometheus;
pub mod reading;
pub mod report;
mod requests;
pub mod sign;
