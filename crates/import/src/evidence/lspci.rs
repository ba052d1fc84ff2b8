//! The PCIe link of a NIC, as `lspci -vv` prints what it could be and what it is.

use units::DataRate;

use super::host_fact::{BusRate, HostFact};
use super::shown::{Found, Shown};
use crate::quantity::decimal;

/// Reads `LnkCap: … Speed 8GT/s, Width x4` and the `LnkSta:` below it.
pub(crate) fn read(lines: &[&str], before: &[&str], _: &mut Vec<String>) -> Option<Found> {
    let could = link(lines.first()?.trim().strip_prefix("LnkCap:")?)?;
    let (at, is) = lines
        .iter()
        .enumerate()
        .skip(1)
        .take(NEAR)
        .find_map(|(at, line)| Some((at, link(line.trim().strip_prefix("LnkSta:")?)?)))?;
    let slot = before.iter().rev().take(FAR).find_map(|line| {
        let slot = line.split_whitespace().next()?;
        let is_slot = slot.contains(':')
            && slot.contains('.')
            && slot.bytes().all(|byte| byte.is_ascii_hexdigit() || b":.".contains(&byte));
        is_slot.then(|| slot.to_owned())
    });
    let bus = BusRate {
        slot: slot.unwrap_or_else(|| "a NIC".to_owned()),
        available: is.rate,
        limited_by: (is.rate < could.rate)
            .then(|| format!("{} GT/s x{}, of {} GT/s x{}", is.speed, is.width, could.speed, could.width)),
        capable: Some(could.rate),
    };
    Some(Found { shows: vec![Shown::Host(HostFact::Bus(bus))], lines: at + 1 })
}

struct PciLink {
    speed: String,
    width: u64,
    rate: DataRate,
}

/// What is left behind the encoding: 8 of 10 bits up to 5 GT/s, 128 of 130 above (PCI Express Base Specification, 4.2).
fn link(rest: &str) -> Option<PciLink> {
    let speed = rest.split_once("Speed ")?.1.split_once("GT/s")?.0.to_owned();
    let width = rest.split_once("Width x")?.1;
    let width: u64 = width
        .split(|letter: char| !letter.is_ascii_digit())
        .next()?
        .parse()
        .ok()
        .filter(|width| (1..=32).contains(width))?;
    let raw = decimal(&speed)?.times(1_000_000_000)?.checked_mul(width)?;
    let bits = if raw / width <= 5_000_000_000 { raw / 10 * 8 } else { raw / 130 * 128 };
    Some(PciLink { speed, width, rate: DataRate::from_bps(bits) })
}

const NEAR: usize = 8;
const FAR: usize = 60;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_that_is_narrower_than_it_could_be_has_both_rates() {
        let lines = [
            "\t\tLnkCap:\tPort #0, Speed 8GT/s, Width x4, ASPM L0s L1, Exit Latency L0s unlimited, L1 unlimited",
            "\t\tLnkSta:\tSpeed 8GT/s, Width x1 (downgraded)",
        ];
        let found = read(&lines, &["05:00.0 Ethernet controller: Aquantia Corp. AQC107"], &mut Vec::new()).unwrap();
        let Some(Shown::Host(HostFact::Bus(bus))) = found.shows.first() else { panic!("{:?}", found.shows) };
        assert_eq!((bus.slot.as_str(), bus.available.bps() / 1_000_000), ("05:00.0", 7_876));
        assert_eq!(bus.capable.unwrap().bps() / 1_000_000, 31_507);
        assert!(read(&lines[..1], &[], &mut Vec::new()).is_none());
    }
}
