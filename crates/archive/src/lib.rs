//! Where runs are kept: SQLite, one row a run and one packed block of samples.
//!
//! * [`location`]: which file, and who may read it
//! * [`schema`]: its tables, and how older ones are brought up to date
//! * `digest`, [`check`]: checksums of rows, and a check of all of them
//! * [`spill`]: runs that the archive cannot take now
//! * [`fault`]: what SQLite's errors mean for a person
//! * [`store`]: putting runs in, reading and removing them
//! * [`list`]: runs without their contents; `names`: values in columns as they are in JSON
//! * [`resolve`]: from what a person types to one run
//! * [`changes`]: the change log of hosts
//! * [`snapshots`]: snapshots of hosts
//! * [`rounds`]: whole plans, run once
//! * [`running`]: rounds that are not kept yet, from their journals
//! * [`transfers`]: transfers of real applications that were watched
//! * [`export`]: runs as JSON and CSV, and JSON back
//!
//! A run is on disk when [`Archive::store`](store) returns. Several processes may have one archive open.
//! `docs/formats/archive.md` describes the file.

pub mod changes;
pub mod check;
mod digest;
pub mod export;
pub mod fault;
pub mod list;
pub mod location;
mod names;
pub mod resolve;
pub mod rounds;
pub mod running;
pub mod schema;
pub mod snapshots;
pub mod spill;
pub mod store;
pub mod transfers;

pub use list::Filter;
pub use store::Archive;
