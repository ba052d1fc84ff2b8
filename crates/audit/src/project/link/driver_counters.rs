//! Counters that drivers name as they like.

use std::collections::BTreeMap;

use crate::fact::Fact;
use crate::project::value::{int, map, unsupported};

pub(super) fn facts(counters: &BTreeMap<String, u64>) -> Fact {
    let unnamed = || unsupported("this driver counts no such thing, or under a name that is not known here");
    let sum = |names: &[&str]| {
        let found: Vec<u64> = names.iter().filter_map(|name| counters.get(*name)).copied().collect();
        if found.is_empty() { unnamed() } else { int(found.iter().sum::<u64>()) }
    };
    let queues = queue_packets(counters);
    map([
        ("no_buffer", sum(&NO_BUFFER)),
        ("tx_queue_stopped", sum(&TX_QUEUE_STOPPED)),
        ("fec_uncorrectable", sum(&FEC_UNCORRECTABLE)),
        ("rx_queue_packets", if queues.is_empty() { unnamed() } else { Fact::List(queues) }),
    ])
}

/// Packets of each receive queue, by number: `rx_queue_3_packets` (ixgbe, ice, i40e since 5.x), `rx3_packets` (mlx5,
/// virtio_net before 6.9), `rx-3.packets` (i40e).
fn queue_packets(counters: &BTreeMap<String, u64>) -> Vec<Fact> {
    let mut queues: Vec<(u32, u64)> = counters
        .iter()
        .filter_map(|(name, &count)| {
            let name = name.strip_suffix("_packets").or_else(|| name.strip_suffix(".packets"))?;
            let number = ["rx_queue_", "rx-", "rx"].iter().find_map(|prefix| name.strip_prefix(prefix))?;
            Some((number.parse().ok()?, count))
        })
        .collect();
    queues.sort_unstable();
    queues.into_iter().map(|(_, count)| int(count)).collect()
}

/// mlx5, e1000e and igb, ixgbe, i40e and ice.
const NO_BUFFER: [&str; 4] = ["rx_out_of_buffer", "rx_no_buffer_count", "rx_no_dma_resources", "port.rx_discards"];
/// mlx5, mlx4, ixgbe and igb.
const TX_QUEUE_STOPPED: [&str; 3] = ["tx_queue_stopped", "queue_stopped", "tx_restart_queue"];
/// mlx5, bnxt_en, ice.
const FEC_UNCORRECTABLE: [&str; 3] =
    ["rx_pcs_symbol_err_phy", "rx_fec_uncorrectable_blocks", "fec_uncorrectable_blocks"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queues_are_found_under_the_names_of_several_drivers() {
        for pattern in ["rx_queue_N_packets", "rxN_packets", "rx-N.packets"] {
            let names = [10, 2, 0].map(|number: u64| (pattern.replace('N', &number.to_string()), number));
            let counters = BTreeMap::from(names);
            assert_eq!(Fact::List(queue_packets(&counters)).to_string(), "[0 2 10]", "{pattern}");
        }
        assert_eq!(queue_packets(&BTreeMap::from([("rx_packets".to_owned(), 7)])), []);
    }
}
