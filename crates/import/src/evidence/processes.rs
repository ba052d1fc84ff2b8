//! Processes as `top` lists them: a program that has all of one CPU.

use super::counted::BusyProgram;
use super::host_fact::HostFact;
use super::shown::{Found, Shown};
use crate::quantity::decimal;

/// Reads the titles `PID USER … %CPU … COMMAND` and the processes below them.
pub(crate) fn read(lines: &[&str], before: &[&str], _: &mut Vec<String>) -> Option<Found> {
    let titles: Vec<&str> = lines.first()?.split_whitespace().collect();
    (titles.first() == Some(&"PID") && titles.last() == Some(&"COMMAND")).then_some(())?;
    let at = titles.iter().position(|title| *title == "%CPU")?;
    // busybox counts all CPUs together; its titles have the share of memory in one word.
    let is_busybox = titles.contains(&"%VSZ") || titles.contains(&"STAT");
    let rows: Vec<Vec<&str>> = lines[1..]
        .iter()
        .take(MAX_ROWS)
        .map(|line| line.split_whitespace().collect::<Vec<_>>())
        .take_while(|words| words.first().is_some_and(|pid| pid.parse::<u32>().is_ok()) && words.len() > at)
        .collect();
    (!rows.is_empty()).then_some(())?;
    let shares: Vec<(u32, &str)> = rows.iter().filter_map(|words| share(words, [at, titles.len()])).collect();
    let busy = shares.iter().max_by_key(|(share, _)| *share);
    let idle = before.iter().rev().take(NEAR).find_map(|line| idle(line));
    let fact = busy.and_then(|(share, name)| {
        let cpus = if is_busybox { whole_cpus(*share, idle)? } else { 1 };
        (is_busybox || *share >= FULL).then(|| BusyProgram { name: (*name).to_owned(), share: *share, cpus })
    });
    let shows = fact.map(|fact| Shown::Host(HostFact::BusyProgram(fact))).into_iter().collect();
    Some(Found { shows, lines: 1 + rows.len() })
}

/// The share of a process, and its name. A name may have blanks in it, and what stands before the share none but in the state of busybox (`S <`).
fn share<'a>(words: &[&'a str], [at, columns]: [usize; 2]) -> Option<(u32, &'a str)> {
    let (share, name) = [at, at + 1].into_iter().find_map(|at| {
        let word = words.get(at)?;
        let share = decimal(word.strip_suffix('%').unwrap_or(word))?.times(100)?;
        // Above one CPU are several threads.
        let share = u32::try_from(share).ok().filter(|share| *share <= 1_000_000)?;
        let name = words.get(at + (columns - 1 - at.min(columns - 1)).max(1))?;
        Some((share, *name))
    })?;
    // A kernel's thread has its CPU behind a slash: `[ksoftirqd/0]`, `kworker/u4:3+kcryptd`.
    let bare = name.trim_matches(['[', ']']);
    let name = if bare.starts_with('/') { bare.rsplit('/').next().unwrap_or(bare) } else { bare };
    Some((share, name))
}

/// The number of CPUs of whose time such a share is one: a half, a quarter, an eighth, where the others are idle.
fn whole_cpus(share: u32, idle: Option<u32>) -> Option<u32> {
    let idle = idle?;
    [2_u32, 4, 8, 16].into_iter().find(|cpus| {
        let one = 10_000 / cpus;
        // A program that waits for others has less, and rounding is to whole percents.
        share.abs_diff(one) <= 100 && idle + share <= 10_000 && idle * 3 >= 10_000 / cpus
    })
}

/// `CPU:  27% usr   5% sys   0% nic  63% idle`.
fn idle(line: &str) -> Option<u32> {
    let rest = line.trim().strip_prefix("CPU:")?;
    let (before, _) = rest.split_once("% idle")?;
    before.split_whitespace().last()?.parse::<u32>().ok().filter(|idle| *idle <= 100).map(|idle| idle * 100)
}

const MAX_ROWS: usize = 200;
const NEAR: usize = 5;
/// Hundredths of a percent of one CPU.
const FULL: u32 = 9_500;

#[cfg(test)]
mod tests {
    use super::*;

    fn busy(before: &[&str], text: &str) -> Option<(String, u32, u32)> {
        let lines: Vec<&str> = text.lines().collect();
        let found = read(&lines, before, &mut Vec::new())?;
        match found.shows.first()? {
            Shown::Host(HostFact::BusyProgram(one)) => Some((one.name.clone(), one.share, one.cpus)),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_program_that_has_a_cpu_is_seen_by_both_kinds_of_top() {
        let procps = "  PID USER      PR  NI    VIRT    RES    SHR S  %CPU %MEM     TIME+ COMMAND\n 1422 root      20   0   43.2m  18.9m   9.1m R  97.3  0.5  \
                      22:10.07 flanneld\n    3 root      20   0       0      0      0 S   3.3  0.0   0:41.90 ksoftirqd/0";
        assert_eq!(busy(&[], procps), Some(("flanneld".to_owned(), 9_730, 1)));
        let busybox = "  PID  PPID USER     STAT   VSZ %VSZ %CPU COMMAND\n 1911  1260 root     R     1164   0%  25% /usr/sbin/dropbear -F -P x\n 1913  1911 root     S     \
                       3304   1%   5% rsync --server";
        let before = ["CPU:  27% usr   5% sys   0% nic  63% idle   0% io   0% irq   4% sirq", "Load average: 1.19"];
        assert_eq!(busy(&before, busybox), Some(("dropbear".to_owned(), 2_500, 4)));
        assert_eq!(busy(&[], &procps.replace("97.3", "47.3")), None);
        assert_eq!(busy(&[], "PID of the COMMAND"), None);
    }
}
