//! `dd`: bytes over time, of files that may lie on the network or on a disk.

use std::time::Duration;

use model::measurement::Heading;
use units::{ByteCount, DataRate};

use super::host_fact::{DiskRate, HostFact};
use super::shown::{FileTransfer, Found, Shown, command_near};
use crate::proof::{Claim, half_digit};
use crate::quantity::{decimal, seconds};

/// Reads `387973120 bytes (388 MB, 370 MiB) copied, 171 s, 2.3 MB/s`, the last of several where `status=progress` printed them.
/// What it wrote of nothing that was read (`if=/dev/zero of=FILE`) is the rate of a disk.
pub(crate) fn read(lines: &[&str], before: &[&str], complaints: &mut Vec<String>) -> Option<Found> {
    let used = lines.iter().take(MAX_LINES).take_while(|line| copied(line).is_some()).count();
    let last = lines.get(used.checked_sub(1)?)?;
    let (claim, is_stopped) = copied(last)?;
    if !claim.holds() {
        complaints.push(format!("bytes of dd whose amount over its time, {}, is its rate", claim.computed()));
        return None;
    }
    if command_near(before, "dd").is_some_and(|words| writes_nothing_read(&words)) {
        let disk = DiskRate { written: claim.bytes, rate: claim.computed() };
        return Some(Found { shows: vec![Shown::Host(HostFact::Disk(disk))], lines: used });
    }
    let transfer = FileTransfer {
        tool: "dd",
        target: None,
        moved: claim.bytes,
        elapsed: claim.elapsed,
        rate: claim.computed(),
        is_whole: !is_stopped,
        heading: Heading::Inbound,
        retransmits: None,
        faults: 0,
        files: None,
        local: None,
    };
    Some(Found { shows: vec![Shown::Transfer(transfer)], lines: used })
}

/// `if=/dev/zero of=1GB_FILE bs=1M`, where the file is none of a network by its name.
fn writes_nothing_read(words: &[&str]) -> bool {
    let value = |key: &str| words.iter().find_map(|word| word.strip_prefix(key));
    let is_made_up = value("if=").is_some_and(|source| ["/dev/zero", "/dev/urandom"].contains(&source));
    let is_file = |file: &str| file != "/dev/null" && !MOUNTED.iter().any(|part| file.to_lowercase().contains(part));
    is_made_up && value("of=").is_some_and(is_file)
}

/// Parts of paths below which file systems of networks are mounted.
const MOUNTED: [&str; 8] = ["/mnt", "nfs", "/net/", "cifs", "smb", "lustre", "gpfs", "/volumes"];

/// A line a second, for a day.
const MAX_LINES: usize = 100_000;

/// What a line claims, and whether it was stopped. A sentence may stand before it.
fn copied(line: &str) -> Option<(Claim, bool)> {
    let (before, rest) = line.split_once(" copied, ")?;
    let amount = before.split_once(" bytes")?.0.rsplit(' ').next()?;
    let (time, number, step) = time_and_rate(rest)?;
    let elapsed = seconds(time).filter(|time| !time.is_zero())?;
    #[expect(clippy::cast_precision_loss, reason = "a power of ten")]
    let rate_within = half_digit(number) * step as f64 * 8.0;
    let claim = Claim {
        bytes: ByteCount::new(amount.parse().ok()?),
        bytes_within: 0.5,
        elapsed,
        elapsed_within: Duration::try_from_secs_f64(half_digit(time)).ok()?,
        rate: DataRate::from_bytes_per_second(decimal(number)?.times(step)?),
        rate_within,
    };
    Some((claim, line.contains("^C")))
}

/// `171 s, 2.3 MB/s` of coreutils, in units of 1000; `41.3 seconds, 24.8MB/s` of busybox, in units of 1024.
fn time_and_rate(rest: &str) -> Option<(&str, &str, u64)> {
    if let Some((time, rate)) = rest.split_once(" seconds, ") {
        let rate = rate.split_whitespace().next()?;
        let end = rate.find(|letter: char| letter.is_ascii_alphabetic())?;
        let step: u64 = match &rate[end..] {
            "B/s" => 1,
            "KB/s" => 1 << 10,
            "MB/s" => 1 << 20,
            "GB/s" => 1 << 30,
            _ => return None,
        };
        return Some((time, &rate[..end], step));
    }
    let (time, rate) = rest.split_once(" s, ")?;
    let mut words = rate.split_whitespace();
    let (number, unit) = (words.next()?, words.next()?);
    let step: u64 = match unit.trim_end_matches(['^', 'C', ',', '.']) {
        "B/s" => 1,
        "kB/s" => 1_000,
        "MB/s" => 1_000_000,
        "GB/s" => 1_000_000_000,
        _ => return None,
    };
    Some((time, number, step))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_of_nothing_is_the_rate_of_a_disk() {
        let line = "1073741824 bytes (1.0GB) copied, 40.000000 seconds, 25.6MB/s";
        let shown = |command: &str| read(&[line], &[command], &mut Vec::new()).map(|found| found.shows);
        let found = shown("# dd if=/dev/zero of=A_FILE bs=1G count=1");
        let Some([Shown::Host(HostFact::Disk(disk))]) = found.as_deref() else { panic!("{found:?}") };
        assert_eq!(disk.rate.bps(), 214_748_364);
        for command in [
            "# dd if=/dev/zero of=/dev/null bs=1G",
            "# dd if=/dev/zero of=/mnt/share/a bs=1G",
            "# dd if=/srv/A_FILE of=/dev/null",
        ] {
            assert!(matches!(shown(command).as_deref(), Some([Shown::Transfer(_)])), "{command}");
        }
    }

    #[test]
    fn amount_over_time_is_the_rate_or_the_line_is_none() {
        let read = |line: &str| {
            let mut complaints = Vec::new();
            let found = read(&[line], &[], &mut complaints);
            (found.map(|found| found.shows), complaints.len())
        };
        let (found, _) = read("e.g. 387973120 bytes (388 MB, 370 MiB) copied, 171 s, 2,3 MB/s^C,");
        let Some([Shown::Transfer(one)]) = found.as_deref() else { panic!("{found:?}") };
        assert_eq!((one.elapsed.as_secs(), one.rate.bps(), one.is_whole), (171, 18_150_789, false));
        let (found, _) = read("1073741824 bytes (1.1 GB) copied, 9.76 s, 110 MB/s");
        assert!(matches!(found.as_deref(), Some([Shown::Transfer(one)]) if one.is_whole));
        let (found, complaints) = read("1073741824 bytes (1.1 GB) copied, 9.76 s, 11 MB/s");
        assert!(found.is_none() && complaints == 1);
    }
}
