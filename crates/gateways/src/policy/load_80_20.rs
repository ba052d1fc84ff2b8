//! RAL's setting before the data challenge.

use super::by_load::ByLoad;
use super::definition::{Entry, Needs};
use crate::cmsd::load::Weights;

pub(super) const ENTRY: Entry = Entry {
    name: "load-80-20",
    about: "cmsd by load: 80 % load average, 20 % CPU",
    needs: Needs::Configuration,
    make: || Box::new(ByLoad(Weights { runq: 80, cpu: 20, ..NONE })),
};

const NONE: Weights = Weights { runq: 0, cpu: 0, mem: 0, pag: 0, net: 0 };
