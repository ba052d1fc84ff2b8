//! `/proc/interrupts`: which CPUs handle the interrupts of a NIC.

use super::host_fact::HostFact;
use super::shown::{Found, Shown};
use crate::signatures::{SignatureFact, SignatureWeight};

/// Reads the titles `CPU0 CPU1 …` and the rows of queues below.
pub(crate) fn read(lines: &[&str], _: &[&str], _: &mut Vec<String>) -> Option<Found> {
    lines.first()?.trim_start().starts_with("CPU").then_some(())?;
    let titles: Vec<&str> = lines.first()?.split_whitespace().collect();
    let is_titles =
        titles.len() >= 2 && titles.iter().enumerate().all(|(at, title)| cpu(title).is_some_and(|cpu| cpu >= at));
    is_titles.then_some(())?;
    let mut used = 1;
    let mut sums: Vec<u64> = vec![0; titles.len()];
    let mut names: Vec<&str> = Vec::new();
    for line in lines[1..].iter().take(MAX_ROWS) {
        let Some((counts, name)) = row(line, titles.len()) else { break };
        used += 1;
        if is_of_nic(name) {
            names.push(name);
            for (sum, count) in sums.iter_mut().zip(counts) {
                *sum = sum.saturating_add(count);
            }
        }
    }
    let all = sums.iter().fold(0_u64, |sum, one| sum.saturating_add(*one));
    let (busiest, most) = sums.iter().enumerate().max_by_key(|(_, count)| **count)?;
    (!names.is_empty() && all >= MANY).then_some(())?;
    let cpu = titles[busiest];
    let (queues, name) = (names.len(), names[0]);
    let is_one = most.saturating_mul(100) >= all.saturating_mul(NEARLY_ALL) && titles.len() >= 2;
    let fact = if is_one && queues >= 2 {
        SignatureFact {
            weight: SignatureWeight::Fault,
            says: format!(
                "{most} of {all} interrupts of the {queues} queues of a NIC of {{host}} ({name} and so on) were handled by {cpu} alone, of {} CPUs: \
                 what it receives is no faster than that CPU; spread them (irqbalance, `/proc/irq/N/smp_affinity`)",
                titles.len()
            ),
        }
    } else {
        SignatureFact {
            weight: SignatureWeight::Fact,
            says: format!(
                "the interrupts of a NIC of {{host}} ({name}, {queues} of them): {cpu} handled {most} of {all}"
            ),
        }
    };
    Some(Found { shows: vec![Shown::Host(HostFact::Signature(fact))], lines: used })
}

fn cpu(title: &str) -> Option<usize> {
    title.strip_prefix("CPU")?.parse().ok()
}

/// ` 98:  812201123   0   PCI-MSI 524288-edge   eth0-TxRx-0`: counts, and who asked for it.
fn row<'a>(line: &'a str, cpus: usize) -> Option<(Vec<u64>, &'a str)> {
    let (_, rest) = line.split_once(':')?;
    let words: Vec<&'a str> = rest.split_whitespace().collect();
    let counts: Option<Vec<u64>> = words.get(..cpus)?.iter().map(|word| word.parse().ok()).collect();
    Some((counts?, words.last().copied().unwrap_or_default()))
}

fn is_of_nic(name: &str) -> bool {
    let lower = name.to_lowercase();
    ["txrx", "-rx", "-tx", "mlx5_comp", "mlx4-", "-input", "-output", "rx-", "eth", "ens", "enp", "eno"]
        .iter()
        .any(|part| lower.contains(part))
}

/// A host that has just started.
const MANY: u64 = 10_000;
/// In a hundred.
const NEARLY_ALL: u64 = 95;
const MAX_ROWS: usize = 4096;

#[cfg(test)]
mod tests {
    use super::*;

    fn said(text: &str) -> Option<SignatureFact> {
        let lines: Vec<&str> = text.lines().collect();
        match read(&lines, &[], &mut Vec::new())?.shows.pop()? {
            Shown::Host(HostFact::Signature(fact)) => Some(fact),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn queues_of_which_one_cpu_handles_all_are_a_fault() {
        let all_on_one =
            "      CPU0   CPU1\n 98: 812201 0 PCI-MSI 1-edge eth0-TxRx-0\n 99: 798123 3 PCI-MSI 2-edge eth0-TxRx-1\n";
        assert_eq!(said(all_on_one).map(|fact| fact.weight), Some(SignatureWeight::Fault));
        let spread =
            "      CPU0   CPU1\n 98: 812201 0 PCI-MSI 1-edge eth0-TxRx-0\n 99: 3 798123 PCI-MSI 2-edge eth0-TxRx-1\n";
        assert_eq!(said(spread).map(|fact| fact.weight), Some(SignatureWeight::Fact));
        assert_eq!(said("      CPU0   CPU1\n  8: 812201 0 IO-APIC 8-edge rtc0\n"), None);
    }
}
