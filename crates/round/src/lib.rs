//! A plan carried out: each test started at the hosts that it is about, however they are reached, and what was found
//! brought home.
//!
//! * [`carrier`]: how a program is started at a host: here, in a namespace, by ssh
//! * [`process`], [`clock`]: what it is listened to by, of this machine or simulated
//! * [`program`]: such a program, until it ends or is ended, and what it printed
//! * [`facts`]: what a linerate at a host says of itself, and of its host
//! * [`task`]: one test between two hosts
//! * [`leader`]: a round, all tests of a plan each in its turn
//!
//! Whoever measures is a program at the host itself; this crate only starts it and listens. A host that cannot be reached
//! is a finding with its reason, never an error that ends the others.

pub mod carrier;
pub mod clock;
pub mod facts;
pub mod leader;
pub mod process;
pub mod program;
pub mod task;
