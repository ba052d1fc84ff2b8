//! What RAL tried when all gateways were loaded.

use super::by_load::ByLoad;
use super::definition::{Entry, Needs};
use crate::cmsd::load::Weights;

pub(super) const ENTRY: Entry = Entry {
    name: "load-50-50",
    about: "cmsd by load: 50 % load average, 50 % network",
    needs: Needs::Configuration,
    make: || Box::new(ByLoad(Weights { runq: 50, net: 50, ..NONE })),
};

const NONE: Weights = Weights { runq: 0, cpu: 0, mem: 0, pag: 0, net: 0 };
