//! All facts of a host at one moment.
//!
//! * [`live`]: read from the running kernel, by netlink, /proc and /sys
//! * [`drops`]: what it drops, interval by interval, and what goes together with it
//! * [`learnt`]: what its connections show of its transfers
//! * [`saved`]: read from outputs that somebody saved: of `ethtool`, `sysctl`, `ip` and `tc`, or a sosreport
//! * [`provenance`]: which file sets a value at boot, and which of several wins
//! * [`recorded`]: facts of hardware that a lab host does not have
//! * [`fix`]: steps that change settings, applied and taken back
//! * [`helper`]: the privileged part that does it, and asking it
//! * [`persist`]: files that keep a fix over the next start
//! * [`watch`]: what changes, entered in the change log
//! * [`files`]: files of a system, on disk or held in memory
//!
//! What the facts mean is decided elsewhere.

pub mod digest;
pub mod drops;
pub mod files;
pub mod fix;
pub mod helper;
pub mod learnt;
pub mod live;
pub mod persist;
pub mod provenance;
pub mod recorded;
pub mod saved;
pub mod watch;
