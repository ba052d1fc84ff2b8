//! Ways to balance. One policy is one file, and one line in [`ALL`]; what a policy is, [`definition`] says.

mod affinity_randomized;
mod best_of_two;
mod by_load;
mod connections;
pub mod definition;
mod inflight_cmsd;
mod least_inflight;
mod load_50_50;
mod load_60_40;
mod load_80_20;
mod oracle;
mod ping_skew;
mod random;
mod round_robin;
mod round_robin_failsafe;
mod static_weights;
mod three_probes;

use definition::Entry;

/// All policies, in the order of the account of RAL, then those to compare with.
pub const ALL: [Entry; 15] = [
    load_80_20::ENTRY,
    load_50_50::ENTRY,
    load_60_40::ENTRY,
    connections::ENTRY,
    ping_skew::ENTRY,
    round_robin::ENTRY,
    round_robin_failsafe::ENTRY,
    affinity_randomized::ENTRY,
    random::ENTRY,
    static_weights::ENTRY,
    best_of_two::ENTRY,
    inflight_cmsd::ENTRY,
    least_inflight::ENTRY,
    three_probes::ENTRY,
    oracle::ENTRY,
];

/// The policy of a name.
#[must_use]
pub fn find(name: &str) -> Option<&'static Entry> {
    ALL.iter().find(|entry| entry.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_weights_make_sense() {
        for (at, entry) in ALL.iter().enumerate() {
            assert!(ALL[..at].iter().all(|other| other.name != entry.name), "{}", entry.name);
            assert!(find(entry.name).is_some());
            (entry.make)().weights().check().unwrap();
        }
    }
}
