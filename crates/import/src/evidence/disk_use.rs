//! `iostat -x`: how much of the time each disk is busy.

use units::DataRate;

use super::counted::DiskUse;
use super::host_fact::HostFact;
use super::shown::{Found, Shown};
use crate::quantity::decimal;

/// Reads a table with the titles `Device … %util`, whatever stands in between in this version, and of it the busiest disk.
pub(crate) fn read(lines: &[&str], _: &[&str], _: &mut Vec<String>) -> Option<Found> {
    let titles: Vec<&str> = lines.first()?.split_whitespace().collect();
    let is_table =
        titles.first().is_some_and(|title| title.trim_end_matches(':') == "Device") && titles.contains(&"%util");
    is_table.then_some(())?;
    let mut busiest: Option<DiskUse> = None;
    let mut used = 1;
    for line in lines[1..].iter().take(MAX_ROWS) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let is_row = words.len() == titles.len() && words[1..].iter().all(|word| decimal(word).is_some());
        if !is_row {
            break;
        }
        used += 1;
        let of = |names: &[&str]| {
            let at = titles.iter().position(|title| names.contains(title))?;
            words.get(at).and_then(|word| decimal(word))
        };
        let rate = |names: [&str; 2]| {
            let step = [1 << 20, 1 << 10];
            let known = names.into_iter().zip(step).find_map(|(name, step)| of(&[name])?.times(step));
            known.map(DataRate::from_bytes_per_second)
        };
        let busy =
            of(&["%util"]).and_then(|part| u32::try_from(part.times(100)?).ok()).filter(|part| *part <= 10_100)?;
        let disk = DiskUse {
            device: (*words.first()?).to_owned(),
            busy,
            reads: rate(["rMB/s", "rkB/s"]),
            writes: rate(["wMB/s", "wkB/s"]),
        };
        if busiest.as_ref().is_none_or(|known| known.busy < disk.busy) {
            busiest = Some(disk);
        }
    }
    Some(Found { shows: vec![Shown::Host(HostFact::DiskUse(busiest?))], lines: used })
}

/// Disks of a large server.
const MAX_ROWS: usize = 1_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_busiest_disk_of_each_version_is_read() {
        let new = "Device            r/s     w/s     rMB/s     wMB/s   w_await aqu-sz  %util\nsda              0,00   77,40      0,00     38,61    \
                   412,73  31,94  99,87\nmd2              0,20   79,60      0,00     38,61     0,00   0,00   0,00\nprose";
        let old = "Device:         rrqm/s   wrqm/s     r/s     w/s    rkB/s    wkB/s  svctm  %util\nsda               0.00     2.20    0.00   77.40     \
                   0.00 39536.64  12.90  99.87";
        for text in [new, old] {
            let lines: Vec<&str> = text.lines().collect();
            let found = read(&lines, &[], &mut Vec::new()).expect(text);
            let [Shown::Host(HostFact::DiskUse(disk))] = found.shows.as_slice() else { panic!("{:?}", found.shows) };
            assert_eq!((disk.device.as_str(), disk.busy), ("sda", 9_987));
            assert_eq!(disk.writes.map(|rate| rate.bps() / 1_000_000), Some(323));
        }
    }
}
