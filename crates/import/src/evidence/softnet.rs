//! `/proc/net/softnet_stat`: what each CPU received, dropped for want of room, and left for later.

use super::host_fact::{HostFact, ReceivingCpus};
use super::shown::{Found, Shown};

/// Reads a line for each CPU of at least nine hexadecimal numbers of eight digits (`softnet_seq_show`, net/core/net-procfs.c).
pub(crate) fn read(lines: &[&str], _: &[&str], _: &mut Vec<String>) -> Option<Found> {
    row(lines.first()?)?;
    let own = lines.iter().take(MAX_CPUS).take_while(|line| row(line).is_some() || is_cut_out(line));
    let own: Vec<Option<[u64; 3]>> = own.map(|line| row(line)).collect();
    let used = own.iter().rposition(Option::is_some)? + 1;
    let rows: Vec<[u64; 3]> = own.into_iter().flatten().collect();
    let received = || rows.iter().map(|[received, ..]| *received);
    let busiest = (0..rows.len()).max_by_key(|cpu| rows[*cpu][0])?;
    let fact = ReceivingCpus {
        cpus: u32::try_from(rows.len()).ok()?,
        received: received().sum(),
        busiest: u32::try_from(busiest).ok()?,
        by_busiest: rows[busiest][0],
        squeezed_of_busiest: rows[busiest][2],
        dropped: rows.iter().map(|[_, dropped, _]| *dropped).sum(),
    };
    (rows.len() > 1 && fact.received > 0)
        .then(|| Found { shows: vec![Shown::Host(HostFact::Receiving(fact))], lines: used })
}

fn row(line: &str) -> Option<[u64; 3]> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let is_number = |word: &&str| word.len() == 8 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    (words.len() >= LEAST_COLUMNS && words.iter().all(is_number)).then_some(())?;
    let number = |at: usize| u64::from_str_radix(words[at], 16).ok();
    Some([number(0)?, number(1)?, number(2)?])
}

/// Where a person has left lines out.
fn is_cut_out(line: &str) -> bool {
    matches!(line.trim(), "..." | "…")
}

const MAX_CPUS: usize = 8_192;
const LEAST_COLUMNS: usize = 9;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_busiest_cpu_and_what_it_left_are_read() {
        let text = "00001000 00000000 00000010 00000000 00000000 00000000 00000000 00000000 00000000 00000000\n\
                    00000100 00000002 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000\n\
                    some prose";
        let lines: Vec<&str> = text.lines().collect();
        let found = read(&lines, &[], &mut Vec::new()).expect("two CPUs");
        let [Shown::Host(HostFact::Receiving(cpus))] = found.shows.as_slice() else { panic!("{:?}", found.shows) };
        assert_eq!((found.lines, cpus.cpus, cpus.received), (2, 2, 0x1100));
        assert_eq!((cpus.busiest, cpus.by_busiest, cpus.squeezed_of_busiest, cpus.dropped), (0, 0x1000, 0x10, 2));
        assert!(read(&lines[1..], &[], &mut Vec::new()).is_none(), "one line is anything");
    }
}
