//! Counters of the protocols: `/proc/net/snmp`, `/proc/net/snmp6` and `/proc/net/netstat`.

use std::collections::BTreeMap;

/// Counters by group and name, such as `("Tcp", "RetransSegs")`. Whatever names a kernel has are kept.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ProtocolCounters {
    values: BTreeMap<(String, String), i128>,
    anomalies: Vec<Anomaly>,
}

/// A line that could not be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {reason}")]
pub struct Anomaly {
    /// Which line, from 1.
    pub line: usize,
    /// What is wrong with it.
    pub reason: &'static str,
}

impl ProtocolCounters {
    /// Reads the form of `/proc/net/snmp` and `/proc/net/netstat`: for each group a line of names and one of values.
    /// What does not fit this form is left out and listed among the anomalies.
    #[must_use]
    pub fn parse_pairs(text: &str) -> Self {
        let mut counters = Self::default();
        let mut lines = text.lines().enumerate();
        while let (Some((index, names)), Some((_, values))) = (lines.next(), lines.next()) {
            if let Err(reason) = counters.add_pair(names, values) {
                counters.anomalies.push(Anomaly { line: index + 1, reason });
            }
        }
        if text.lines().count() % 2 == 1 {
            counters.anomalies.push(Anomaly { line: text.lines().count(), reason: "names without values" });
        }
        counters
    }

    /// Reads the form of `/proc/net/snmp6`: one name and value a line. The group is what the name begins with: `Ip6`,
    /// `Icmp6`, `Udp6`, `UdpLite6`.
    #[must_use]
    pub fn parse_list(text: &str) -> Self {
        let mut counters = Self::default();
        for (index, line) in text.lines().enumerate() {
            if let Err(reason) = counters.add_line(line) {
                counters.anomalies.push(Anomaly { line: index + 1, reason });
            }
        }
        counters
    }

    /// The counter `name` of `group`. `None` where the kernel does not have it, and for settings below zero.
    #[must_use]
    pub fn get(&self, group: &str, name: &str) -> Option<u64> {
        u64::try_from(*self.values.get(&(group.to_owned(), name.to_owned()))?).ok()
    }

    /// As [`get`](Self::get), also for settings below zero: `Tcp` `MaxConn` is -1 where there is no limit.
    #[must_use]
    pub fn get_signed(&self, group: &str, name: &str) -> Option<i64> {
        i64::try_from(*self.values.get(&(group.to_owned(), name.to_owned()))?).ok()
    }

    /// All counters as group, name and value, ordered. Settings below zero are left out.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str, u64)> {
        self.values.iter().filter_map(|((group, name), &value)| Some((&**group, &**name, u64::try_from(value).ok()?)))
    }

    /// Whether nothing could be read.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// The lines that could not be read.
    #[must_use]
    pub fn anomalies(&self) -> &[Anomaly] {
        &self.anomalies
    }

    fn add_pair(&mut self, names: &str, values: &str) -> Result<(), &'static str> {
        let (group, names) = names.split_once(':').ok_or("a line of names without a group")?;
        let (same, values) = values.split_once(':').ok_or("a line of values without a group")?;
        if group != same {
            return Err("names and values of different groups");
        }
        if names.split_whitespace().count() != values.split_whitespace().count() {
            return Err("names and values of different number");
        }
        for (name, value) in names.split_whitespace().zip(values.split_whitespace()) {
            self.insert(group, name, value)?;
        }
        Ok(())
    }

    fn add_line(&mut self, line: &str) -> Result<(), &'static str> {
        let mut parts = line.split_whitespace();
        let (Some(name), Some(value)) = (parts.next(), parts.next()) else { return Err("not a name and a value") };
        let split = name.find('6').ok_or("a name that does not begin with a protocol")? + 1;
        let (group, name) = name.split_at_checked(split).ok_or("a name that does not begin with a protocol")?;
        self.insert(group, name, value)
    }

    fn insert(&mut self, group: &str, name: &str, value: &str) -> Result<(), &'static str> {
        let unsigned = value.parse::<u64>().map(i128::from);
        let value =
            unsigned.or_else(|_| value.parse::<i64>().map(i128::from)).map_err(|_| "a value that is no number")?;
        self.values.insert((group.to_owned(), name.to_owned()), value);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lines of `/proc/net/snmp` of Linux 6.18.44, `IcmpMsg` and the tail of `Udp` cut off.
    const SNMP: &str = "\
Tcp: RtoAlgorithm RtoMin RtoMax MaxConn ActiveOpens PassiveOpens AttemptFails EstabResets CurrEstab InSegs OutSegs RetransSegs InErrs OutRsts InCsumErrors
Tcp: 1 200 120000 -1 234 62 0 86 0 13460 10760 8 0 86 0
Udp: InDatagrams NoPorts InErrors OutDatagrams RcvbufErrors
Udp: 501 0 194 605 194
";

    #[test]
    fn counters_are_found_by_group_and_name() {
        let counters = ProtocolCounters::parse_pairs(SNMP);
        assert_eq!(counters.get("Tcp", "RetransSegs"), Some(8));
        assert_eq!(counters.get("Udp", "RcvbufErrors"), Some(194));
        assert_eq!(counters.get("Udp", "RetransSegs"), None);
        assert_eq!(counters.iter().count(), 19);
        assert!(counters.anomalies().is_empty());
    }

    #[test]
    fn missing_limit_is_below_zero_and_no_counter() {
        let counters = ProtocolCounters::parse_pairs(SNMP);
        assert_eq!((counters.get("Tcp", "MaxConn"), counters.get_signed("Tcp", "MaxConn")), (None, Some(-1)));
    }

    #[test]
    fn largest_counter_is_kept() {
        let counters = ProtocolCounters::parse_pairs("X: a\nX: 18446744073709551615\n");
        assert_eq!(counters.get("X", "a"), Some(u64::MAX));
    }

    #[test]
    fn line_that_does_not_fit_is_listed_and_the_rest_is_read() {
        let text = "A: x y\nA: 1\nB: x\nC: 1\nD: x\nD: one\nUdp: InErrors\nUdp: 5\nE: x\n";
        let counters = ProtocolCounters::parse_pairs(text);
        assert_eq!(counters.get("Udp", "InErrors"), Some(5));
        assert_eq!(counters.anomalies().iter().map(|anomaly| anomaly.line).collect::<Vec<_>>(), [1, 3, 5, 9]);
    }

    #[test]
    fn list_of_ipv6_is_grouped_by_protocol() {
        let text = "Ip6InReceives   \t3\nIcmp6OutMsgs\t14\nUdpLite6InErrors 1\nnonsense\nIp6InNoECTPkts -\n";
        let counters = ProtocolCounters::parse_list(text);
        assert_eq!(counters.get("Ip6", "InReceives"), Some(3));
        assert_eq!(counters.get("Icmp6", "OutMsgs"), Some(14));
        assert_eq!(counters.get("UdpLite6", "InErrors"), Some(1));
        assert_eq!(counters.anomalies().len(), 2);
    }
}
