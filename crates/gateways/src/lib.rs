//! A cluster of storage gateways behind a balancer.
//!
//! * [`cmsd`]: how XRootD's cluster manager chooses, exactly
//! * [`policy`]: ways to balance, one file each
//! * [`cluster`]: gateways, transfers, deletions and tests in virtual time, and what comes of a run
//! * [`experiment`]: many runs, and what they say together
//! * [`trial`]: a real cluster and the model of it side by side
//! * [`status`]: what gateways report, and what is wrong with them
//! * [`calibrate`]: settings from a site's own records
//!
//! Nothing here owns a thread, a file or a clock: the same settings, policy and seed give the same run.

pub mod calibrate;
pub mod cluster;
pub mod cmsd;
pub mod experiment;
pub mod policy;
pub mod status;
pub mod trial;

/// The documents that are printed as JSON, each with the name of its schema.
#[cfg(feature = "schema")]
#[must_use]
pub fn schemas() -> Vec<(&'static str, schemars::Schema)> {
    vec![
        ("gateways.schema.json", schemars::schema_for!(experiment::report::Report)),
        ("gateways-lab.schema.json", schemars::schema_for!(trial::report::LabReport)),
        ("gateways-status.schema.json", schemars::schema_for!(status::report::StatusReport)),
    ]
}
