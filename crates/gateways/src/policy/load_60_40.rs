//! What RAL tried next: no load average, which lags, but numbers that jump.

use super::by_load::ByLoad;
use super::definition::{Entry, Needs};
use crate::cmsd::load::Weights;

pub(super) const ENTRY: Entry = Entry {
    name: "load-60-40",
    about: "cmsd by load: 60 % network, 40 % CPU",
    needs: Needs::Configuration,
    make: || Box::new(ByLoad(Weights { net: 60, cpu: 40, ..NONE })),
};

const NONE: Weights = Weights { runq: 0, cpu: 0, mem: 0, pag: 0, net: 0 };
