//! What is wrong with gateways, by the names of docs/causes.md. `diagnose` weighs the same observations against each other.

use serde::{Deserialize, Serialize};

use super::observed::{AFTER_PAUSE, DELETIONS, MEMORY, NIC, Observed, REQUESTS, TRANSFER_RATE, TRANSFERS};

/// Something that is wrong.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Finding {
    /// Its name in docs/causes.md: herd, catch-up, slow gateway, more than its capacity, memory, deletions.
    pub cause: String,
    /// The gateway; absent where it is of all of them.
    pub gateway: Option<String>,
    /// What was seen, with its numbers.
    pub evidence: String,
}

/// Everything that is wrong, by what was observed.
#[must_use]
pub fn of(observed: &[Observed]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for one in observed {
        let cause = if one.is_of(REQUESTS, "one-at-a-time") {
            "gateway-herd"
        } else if one.is_of(AFTER_PAUSE, "nearly-all") {
            "gateway-catch-up"
        } else if one.is_of(TRANSFER_RATE, "slower") {
            findings.extend(slow(one, observed));
            continue;
        } else if one.is_of(MEMORY, "near-limit") || one.is_of(MEMORY, "restarted") {
            "gateway-memory"
        } else if one.is_of(DELETIONS, "slow") {
            "gateway-deletions"
        } else {
            continue;
        };
        findings.push(finding(cause, one, one.says.clone()));
    }
    findings
}

/// Transfers that are slow where the NIC is full are too many; where it is not, or not known to be, the gateway is slow. One that
/// has fewer than the others was given little on purpose.
fn slow(rate: &Observed, observed: &[Observed]) -> Option<Finding> {
    let of = |name: &str| observed.iter().find(|one| one.gateway == rate.gateway && one.sign == name);
    let transfers = of(TRANSFERS.name).filter(|one| one.state != "less")?;
    let cause = match of(NIC.name) {
        Some(nic) if nic.state == "full" => "gateway-over-capacity",
        _ => "gateway-slow",
    };
    Some(finding(cause, rate, format!("{}, {}", transfers.says, rate.says)))
}

fn finding(cause: &str, observed: &Observed, evidence: String) -> Finding {
    Finding { cause: cause.to_owned(), gateway: observed.gateway.clone(), evidence }
}

#[cfg(test)]
mod tests {
    use super::super::history::History;
    use super::super::observed;
    use super::super::reading::Reading;
    use super::*;
    use crate::cluster::bounds::small;

    /// Gateways with these requests in each interval of 3 s.
    fn begun(of: &[&[f64]]) -> Vec<History> {
        let history = |(number, counts): (usize, &&[f64])| {
            let mut total = 0.0;
            let mut readings = vec![Reading { begun: Some(0.0), ..Reading::default() }];
            for (at, count) in counts.iter().enumerate() {
                total += count;
                readings.push(Reading { at_s: 3.0 * small(at + 1), begun: Some(total), ..Reading::default() });
            }
            History { gateway: format!("gw{}", number + 1), capacity: None, readings }
        };
        of.iter().enumerate().map(history).collect()
    }

    fn found(histories: &[History]) -> Vec<Finding> {
        of(&observed::of(histories))
    }

    fn causes(histories: &[History]) -> Vec<String> {
        found(histories).into_iter().map(|finding| finding.cause).collect()
    }

    #[test]
    fn all_to_one_and_then_to_another_is_a_herd_and_evenly_is_none() {
        let herd = begun(&[&[9.0, 0.0, 0.0, 9.0, 1.0], &[1.0, 9.0, 1.0, 0.0, 9.0], &[0.0, 1.0, 9.0, 1.0, 0.0]]);
        assert_eq!(causes(&herd)[0], "gateway-herd");
        let even = begun(&[&[3.0, 4.0, 3.0, 3.0, 4.0], &[3.0, 3.0, 4.0, 3.0, 3.0], &[4.0, 3.0, 3.0, 4.0, 3.0]]);
        assert_eq!(causes(&even), [] as [String; 0]);
        // One that always gets most is no herd: it may be the largest.
        let large = begun(&[&[9.0; 5], &[1.0; 5], &[1.0; 5]]);
        assert!(!causes(&large).contains(&"gateway-herd".to_owned()));
    }

    #[test]
    fn nothing_and_then_everything_is_a_count_that_catches_up() {
        let back = begun(&[&[0.0, 0.0, 10.0, 3.0], &[5.0, 5.0, 0.0, 3.0], &[5.0, 5.0, 0.0, 4.0]]);
        let found = found(&back);
        let found = found.iter().find(|one| one.cause == "gateway-catch-up").unwrap();
        assert_eq!(found.gateway.as_deref(), Some("gw1"));
        assert!(found.evidence.contains("nothing for 6 s, then 100 %"), "{}", found.evidence);
    }

    #[test]
    fn memory_deletions_and_a_slow_gateway_are_named_with_their_numbers() {
        let mut histories = begun(&[&[3.0], &[3.0], &[3.0], &[3.0]]);
        for (number, history) in histories.iter_mut().enumerate() {
            let is_bad = number == 2;
            for (at, reading) in history.readings.iter_mut().enumerate() {
                reading.in_flight = Some(if is_bad { 60.0 } else { 20.0 });
                reading.moved_bytes = Some(small(at) * 1e9);
                reading.memory_bytes = Some(if is_bad { 9e9 } else { 3e9 });
                reading.memory_limit_bytes = Some(1e10);
                reading.deletion_s = Some(if is_bad { 4.2 } else { 1.0 });
            }
        }
        assert_eq!(causes(&histories), ["gateway-slow", "gateway-memory", "gateway-deletions"]);
        assert!(found(&histories).iter().all(|one| one.gateway.as_deref() == Some("gw3")));
    }

    #[test]
    fn what_is_not_known_is_no_finding() {
        let silent = vec![History { gateway: "gw".to_owned(), capacity: None, readings: Vec::new() }; 4];
        assert_eq!(observed::of(&silent), []);
        assert_eq!(found(&silent), []);
    }
}
