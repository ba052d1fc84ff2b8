//! A policer of IOS, as `show policy-map interface` prints what it let pass and what it dropped.

use units::{ByteCount, DataRate};

use super::counted::PolicedTraffic;
use super::host_fact::HostFact;
use super::shown::{Found, Shown};

/// Reads `police:` and the lines below it.
pub(crate) fn read(lines: &[&str], _: &[&str], _: &mut Vec<String>) -> Option<Found> {
    let first = lines.first()?.trim();
    (first == "police:" || first.starts_with("police cir ")).then_some(())?;
    let block: Vec<&str> = lines.iter().take(MOST_LINES).map(|line| line.trim()).collect();
    let number = |after: &str, unit: &str| {
        block.iter().find_map(|line| {
            let rest = line.split_once(after)?.1;
            let (number, behind) = rest.trim_start().split_once(' ')?;
            behind.starts_with(unit).then(|| number.parse::<u64>().ok())?
        })
    };
    let rate = number("cir ", "bps")?;
    let passed = number("conformed ", "packets")?;
    let exceeded = number("exceeded ", "packets")?;
    let at = block.iter().position(|line| line.starts_with("exceeded "))?;
    let drops = block[at..].iter().take(2).any(|line| line.ends_with("drop") || line.contains("drop "));
    let policed = PolicedTraffic {
        rate: DataRate::from_bps(rate),
        burst: number("bc ", "bytes").map(ByteCount::new),
        passed,
        dropped: if drops { exceeded } else { 0 },
    };
    Some(Found { shows: vec![Shown::Host(HostFact::Policed(policed))], lines: at + 2 })
}

const MOST_LINES: usize = 10;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_policer_has_its_rate_its_burst_and_its_drops() {
        let text = "      police:\n          cir 10000000 bps, bc 15000 bytes\n        conformed 49629 packets, 73636296 bytes; actions:\n          transmit\n        \
                    exceeded 598 packets, 905372 bytes; actions:\n          drop\n        conformed 3000 bps, exceeded 0000 bps";
        let lines: Vec<&str> = text.lines().collect();
        let found = read(&lines, &[], &mut Vec::new()).unwrap();
        let Some(Shown::Host(HostFact::Policed(one))) = found.shows.first() else { panic!("{:?}", found.shows) };
        assert_eq!(
            (one.rate.bps(), one.burst.map(ByteCount::get), one.passed, one.dropped),
            (10_000_000, Some(15_000), 49_629, 598)
        );
        assert!(read(&lines[..2], &[], &mut Vec::new()).is_none());
    }
}
