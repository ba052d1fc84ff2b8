//! What each page shows, as JSON: `docs/formats/web.md`.
//!
//! * [`overview`]: lists of rounds, runs and hosts
//! * [`report`]: the post-mortem of an incident
//! * [`round`]: what there is to see of a round
//! * [`progress`]: where a round is that is measured at this moment
//! * [`matrix`]: a grid in few bytes, for the screen
//! * [`network`]: hosts, routers and links, with the suspect part marked
//! * [`cell`]: one pair of a round in full
//! * [`samples`]: the samples of a run, thinned to what a screen can show
//! * [`pair`]: the history of one pair, with its changes of level
//! * [`incident`]: an incident with its time line
//! * [`what_if`]: a transfer simulated with other settings, beside what was measured
//! * [`downloads`]: files fetched over time, by site and server
//! * [`host`]: facts, findings and changes of a host
//! * [`peers`]: a host beside those of its kind

pub mod cell;
pub mod downloads;
pub mod host;
pub mod incident;
pub mod matrix;
pub mod network;
pub mod overview;
pub mod pair;
pub mod peers;
pub mod progress;
pub mod report;
pub mod round;
pub mod samples;
pub mod what_if;
