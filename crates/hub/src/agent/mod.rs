//! The other side: joins, asks for work, runs tests within its own limits, spools and delivers.
//!
//! * [`url`]: where a hub is
//! * [`connection`]: requests to it, over one connection that is kept
//! * [`directory`]: what an agent has on disk: key, certificate, settings
//! * [`join`]: how it gets its certificate
//! * [`options`], [`run`]: an agent while it runs: its threads
//! * [`shared`]: what they share
//! * [`calendar`]: the hub's time, by which tickets are judged and results are dated
//! * [`spool`]: records on its disk until the hub has them
//! * [`deliver`], [`watch`], [`transfers`]: delivery, the host's change log, what its transfers reach
//! * [`journal`]: leases on its disk, from the hub's word to its acknowledgement of the result
//! * [`ask`]: requests for work, and what comes of the answers
//! * [`carrying`], [`light`], [`serving`]: a heavy run, light tests, the other end of somebody's run
//! * [`guard`]: what it permits, whatever tickets say
//! * `metrics`: what it counts for Prometheus
//! * [`backoff`]: how long it waits for a hub that is not there

pub mod ask;
pub mod backoff;
pub mod calendar;
pub mod carrying;
pub mod connection;
pub mod deliver;
pub mod directory;
pub mod guard;
pub mod join;
pub mod journal;
pub mod light;
mod metrics;
pub mod options;
pub mod run;
pub mod serving;
pub mod shared;
pub mod spool;
pub mod transfers;
pub mod url;
pub mod watch;
