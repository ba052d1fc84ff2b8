//! Packets as each CPU received them: `/proc/net/softnet_stat`.

use super::Anomaly;

/// Counters of one CPU (net/core/net-procfs.c of 6.18, `softnet_seq_show`). The kernel keeps 32 bits of each; they wrap.
///
/// They are of the whole host, whatever network namespace they are read in. A column the kernel lacks is absent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SoftnetCpu {
    /// Which CPU.
    pub cpu: usize,
    /// Packets processed.
    pub processed: u32,
    /// Packets dropped because the backlog was full (`net.core.netdev_max_backlog`).
    pub dropped: u32,
    /// How often the budget of a round ended with packets left (`net.core.netdev_budget`, `netdev_budget_usecs`).
    pub time_squeeze: u32,
    /// How often another CPU woke this one up to process packets (RPS).
    pub received_rps: Option<u32>,
    /// Packets dropped because one flow had more than its share (`net.core.flow_limit_cpu_bitmap`).
    pub flow_limit: Option<u32>,
    /// Packets in the backlog at the moment.
    pub backlog: Option<u32>,
}

/// Reads `/proc/net/softnet_stat`. Lines that do not fit are left out and listed.
#[must_use]
pub fn parse_softnet(text: &str) -> (Vec<SoftnetCpu>, Vec<Anomaly>) {
    let (mut cpus, mut anomalies) = (Vec::new(), Vec::new());
    for (index, line) in text.lines().enumerate() {
        let columns: Option<Vec<u32>> =
            line.split_whitespace().map(|column| u32::from_str_radix(column, 16).ok()).collect();
        match columns.as_deref() {
            Some([processed, dropped, time_squeeze, ..]) => {
                let column = |position: usize| columns.as_ref()?.get(position).copied();
                cpus.push(SoftnetCpu {
                    // Before 5.10 the line does not name its CPU; lines are of the online ones in order.
                    cpu: column(12).and_then(|cpu| usize::try_from(cpu).ok()).unwrap_or(index),
                    processed: *processed,
                    dropped: *dropped,
                    time_squeeze: *time_squeeze,
                    received_rps: column(9),
                    flow_limit: column(10),
                    backlog: column(11),
                });
            }
            Some(_) => anomalies.push(Anomaly { line: index + 1, reason: "fewer than three columns" }),
            None => anomalies.push(Anomaly { line: index + 1, reason: "a column that is no hexadecimal number" }),
        }
    }
    (cpus, anomalies)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_of_6_18_are_read() {
        let text = "0018c8af 00000005 00000002 00000000 00000000 00000000 00000000 00000000 00000000 0000000a 0000000b \
                    0000000c 00000003 00000000 00000000\n";
        let (cpus, anomalies) = parse_softnet(text);
        let expected = SoftnetCpu {
            cpu: 3,
            processed: 0x18_c8af,
            dropped: 5,
            time_squeeze: 2,
            received_rps: Some(10),
            flow_limit: Some(11),
            backlog: Some(12),
        };
        assert_eq!((cpus, anomalies), (vec![expected], vec![]));
    }

    #[test]
    fn older_kernel_has_fewer_columns() {
        let (cpus, _) = parse_softnet("1 2 3 0 0 0 0 0 0\n4 5 6 0 0 0 0 0 0\n");
        assert_eq!((cpus[1].cpu, cpus[1].processed, cpus[1].received_rps), (1, 4, None));
    }

    #[test]
    fn line_that_does_not_fit_is_listed() {
        let (cpus, anomalies) = parse_softnet("1 2\n\n1 2 z\n7 8 9\n");
        assert_eq!((cpus.len(), anomalies.len()), (1, 3));
    }
}
