//! The model of a cluster.
//!
//! * [`settings`]: what is assumed of gateways and of load, within [`bounds`]; [`faults`]: gateways that fail, lie, are silent or flap
//! * [`gateway`]: one gateway: transfers that share a NIC, memory, CPU; [`nic`]: who gets which rate; [`sensors`]: what its
//!   monitors show
//! * [`load`]: files of FTS links in a closed loop, deletions, day and night
//! * [`balancer`]: what the balancer knows, and when it hears of it
//! * [`run`]: all of it, step by step; [`outcome`]: what came of it; [`sampled`]: each gateway, each second
//!
//! Model: a fluid. Transfers have rates, not packets, and rates change at steps of [`run::STEP`].

pub mod balancer;
pub mod bounds;
pub mod faults;
pub mod gateway;
pub mod load;
pub mod nic;
pub mod outcome;
pub mod run;
pub mod sampled;
pub mod sensors;
pub mod settings;
