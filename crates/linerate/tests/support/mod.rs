//! What truth tests stand on: networks with planted causes, and the program between their hosts.

pub mod truth_cgroup;
pub mod truth_delay;
pub mod truth_network;
pub mod truth_program;
pub mod truth_transfer;
