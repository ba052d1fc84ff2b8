//! What CPUs did: `sar -u`, `mpstat`, `vmstat`, and the first lines of `top`.

use super::host_fact::{CpuShares, HostFact};
use super::shown::{Found, Shown};
use crate::quantity::hundredths;

/// Reads a table with the titles `CPU … %idle`, and the line `Linux … (host) …` above it.
pub(crate) fn sar(lines: &[&str], _: &[&str], _: &mut Vec<String>) -> Option<Found> {
    let host = lines.first().and_then(|line| host_of(line));
    let mut used = 0;
    if host.is_some() {
        used = 1 + lines[1..].iter().take(2).take_while(|line| line.trim().is_empty()).count();
    }
    let titles = lines.get(used).and_then(|line| titles(line))?;
    used += 1;
    let mut shares = CpuShares { host, ..CpuShares::default() };
    for line in lines[used..].iter().take(MAX_ROWS) {
        let words: Vec<&str> = line.split_whitespace().collect();
        if !words.is_empty() && titles_again(&words, &titles) {
            used += 1;
            continue;
        }
        let Some((cpu, values)) = row(&words, titles.len()) else { break };
        used += 1;
        // The last row is of all before it.
        if words.first().is_some_and(|first| first.ends_with(':') && !first.contains(|c: char| c.is_ascii_digit())) {
            continue;
        }
        let of = |names: &[&str]| {
            titles.iter().position(|title| names.contains(title)).and_then(|at| values.get(at).copied())
        };
        let (steal, idle, softirq) = (of(&["%steal"]), of(&["%idle"]), of(&["%soft"]));
        let waits = of(&["%iowait"]);
        if cpu == "all" {
            shares.add(steal, idle, softirq);
            shares.waits_for_disk = shares.waits_for_disk.max(waits);
        } else {
            shares.idle_of_one = least(shares.idle_of_one, idle);
        }
    }
    finished(shares, used)
}

/// A day of a row a second.
const MAX_ROWS: usize = 100_000;

/// `Linux 5.14.0-362.el9.x86_64 (dtn1) 05/14/24 _x86_64_ (4 CPU)`.
fn host_of(line: &str) -> Option<String> {
    let rest = line.trim().strip_prefix("Linux ")?;
    line.contains("CPU)").then_some(())?;
    let (host, _) = rest.split_once('(')?.1.split_once(')')?;
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_');
    (!host.is_empty() && host.len() <= 253 && host.bytes().all(plain)).then(|| host.to_owned())
}

fn titles(line: &str) -> Option<Vec<&str>> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let at = words.iter().position(|word| *word == "CPU")?;
    let titles = words[at + 1..].to_vec();
    (at <= 2 && titles.contains(&"%idle") && titles.iter().all(|title| title.starts_with('%'))).then_some(titles)
}

fn titles_again(words: &[&str], titles: &[&str]) -> bool {
    words.ends_with(titles)
}

/// The CPU of a row, and its values.
fn row<'a>(words: &[&'a str], columns: usize) -> Option<(&'a str, Vec<u32>)> {
    let at = words.len().checked_sub(columns + 1)?;
    (at <= 2).then_some(())?;
    let cpu = words[at];
    (cpu == "all" || cpu.parse::<u16>().is_ok()).then_some(())?;
    let values: Option<Vec<u32>> = words[at + 1..].iter().map(|word| hundredths(word)).collect();
    Some((cpu, values?))
}

fn least(known: Option<u32>, new: Option<u32>) -> Option<u32> {
    known.into_iter().chain(new).min()
}

impl CpuShares {
    fn add(&mut self, steal: Option<u32>, idle: Option<u32>, softirq: Option<u32>) {
        self.readings = self.readings.saturating_add(1);
        self.steal = self.steal.into_iter().chain(steal).max();
        self.idle = least(self.idle, idle);
        self.softirq = self.softirq.into_iter().chain(softirq).max();
    }
}

fn finished(shares: CpuShares, lines: usize) -> Option<Found> {
    (shares.idle.is_some() || shares.idle_of_one.is_some())
        .then(|| Found { shows: vec![Shown::Host(HostFact::Cpu(shares))], lines })
}

/// Reads the titles ` r  b   swpd … us sy id wa st` and the rows below.
pub(crate) fn vmstat(lines: &[&str], _: &[&str], _: &mut Vec<String>) -> Option<Found> {
    let titles: Vec<&str> = lines.first()?.split_whitespace().collect();
    (titles.starts_with(&["r", "b"]) && titles.contains(&"id") && titles.contains(&"us")).then_some(())?;
    let values = |line: &&str| {
        let values: Option<Vec<u64>> = line.split_whitespace().map(|word| word.parse().ok()).collect();
        values.filter(|values| values.len() == titles.len())
    };
    let rows: Vec<Vec<u64>> = lines[1..].iter().take(MAX_ROWS).map_while(values).collect();
    // The first row is of all the time since the host started, where others follow.
    let own = if rows.len() > 1 { &rows[1..] } else { &rows[..] };
    let mut shares = CpuShares::default();
    for row in own {
        let of = |name: &str| {
            let value = titles.iter().position(|title| *title == name).and_then(|at| row.get(at))?;
            u32::try_from(*value).ok().filter(|value| *value <= 100).map(|value| value * 100)
        };
        shares.add(of("st"), of("id"), None);
        shares.waits_for_disk = shares.waits_for_disk.max(of("wa"));
    }
    finished(shares, 1 + rows.len())
}

/// Reads `%Cpu(s):  1.0 us, 49.0 sy, …`, also of each CPU, and busybox's `CPU:   1% usr  49% sys …`.
pub(crate) fn top(lines: &[&str], _: &[&str], _: &mut Vec<String>) -> Option<Found> {
    let mut shares = CpuShares::default();
    let mut used = 0;
    for line in lines.iter().take(MAX_CPUS) {
        let Some((title, values)) = line.trim().split_once(':') else { break };
        let title = title.trim();
        let number = ["%Cpu", "Cpu", "CPU"].into_iter().find_map(|cpu| title.strip_prefix(cpu));
        let is_one = number.is_some_and(|number| number.trim().parse::<u16>().is_ok());
        if !is_one && !matches!(title, "%Cpu(s)" | "Cpu(s)" | "CPU") {
            break;
        }
        let (steal, idle, softirq) =
            (after(values, &["st"]), after(values, &["id", "idle"]), after(values, &["si", "sirq"]));
        if idle.is_none() {
            break;
        }
        if is_one {
            shares.idle_of_one = least(shares.idle_of_one, idle);
            shares.softirq_of_one = shares.softirq_of_one.max(softirq);
        } else {
            shares.add(steal, idle, softirq);
            shares.waits_for_disk = shares.waits_for_disk.max(after(values, &["wa", "io"]));
        }
        used += 1;
    }
    // The titles and the first processes stand below; lines that may be another output's are left to their readers.
    let processes = lines[used..].iter().take(PROCESSES).filter_map(|line| soft_interrupts(line)).max();
    shares.softirq_of_one = shares.softirq_of_one.max(processes);
    finished(shares, used)
}

/// `   12 root  20  0  0  0  0 R  93.2  0.0  43:47.43 ksoftirqd/0`: of one CPU, in hundredths of a percent.
fn soft_interrupts(line: &str) -> Option<u32> {
    let words: Vec<&str> = line.split_whitespace().collect();
    words.last()?.starts_with("ksoftirqd/").then_some(())?;
    hundredths(words.get(words.len().checked_sub(4)?)?)
}

/// Lines below the CPUs' in which busy processes stand.
const PROCESSES: usize = 24;
/// More than `top` has lines for.
const MAX_CPUS: usize = 1024;

/// The number before a word: `49.0 sy`, `49.0%sy`, `49% sys`.
fn after(values: &str, names: &[&str]) -> Option<u32> {
    let words: Vec<&str> =
        values.split([' ', '%', '\t']).map(|word| word.trim_end_matches(',')).filter(|word| !word.is_empty()).collect();
    let at = words.iter().position(|word| names.contains(word))?;
    words.get(at.checked_sub(1)?).and_then(|number| hundredths(number))
}

#[cfg(test)]
mod tests {
    use super::*;

    type Reader = fn(&[&str], &[&str], &mut Vec<String>) -> Option<Found>;

    fn shares(read: Reader, text: &str) -> CpuShares {
        let lines: Vec<&str> = text.lines().collect();
        let found = read(&lines, &[], &mut Vec::new()).unwrap_or_else(|| panic!("{text}"));
        match &found.shows[0] {
            Shown::Host(HostFact::Cpu(shares)) => shares.clone(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn each_tool_has_its_columns() {
        let text = "Linux 6.1.0 (vm7) 	05/14/24 	_x86_64_	(4 CPU)\n\n       CPU     %user     %nice   %system   %iowait    %steal     %idle\n\
                           all      3.11      0.00     21.40      0.02     46.83     28.64\n\
                           all      1,20      0,00      4,02      0,04      1,10     93,64\n\
                    Average:        all      0.00      0.00      0.00      0.00     99.00      1.00\n";
        let sar = shares(sar, text);
        assert_eq!(
            (sar.host.as_deref(), sar.readings, sar.steal, sar.idle),
            (Some("vm7"), 2, Some(4_683), Some(2_864))
        );
        let text = "CPU    %usr   %nice    %sys %iowait    %irq   %soft  %steal  %guest  %gnice   %idle\n\
                    all    1.00    0.00    2.00    0.00    0.00   12.00    0.00    0.00    0.00   85.00\n\
                      0    0.00    0.00    2.00    0.00    0.00   98.00    0.00    0.00    0.00    0.00\n";
        let mpstat = shares(super::sar, text);
        assert_eq!((mpstat.softirq, mpstat.idle, mpstat.idle_of_one), (Some(1_200), Some(8_500), Some(0)));
        let text = " r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st\n\
                     1  0      0 100000  1000 100000    0    0     1     1    1    1  1  1 97  0  1\n\
                     9  0      0 100000  1000 100000    0    0     0     0 9000 9000  2 60  3  0 35\n";
        let vmstat = shares(vmstat, text);
        assert_eq!((vmstat.readings, vmstat.steal, vmstat.idle), (1, Some(3_500), Some(300)));
        for text in [
            "%Cpu(s):  1.0 us, 49.0 sy,  0.0 ni,  2.0 id,  0.0 wa,  0.0 hi, 48.0 si,  0.0 st",
            "CPU:   1% usr  49% sys   0% nic   2% idle   0% io   0% irq  48% sirq",
        ] {
            let top = shares(top, text);
            assert_eq!((top.idle, top.softirq), (Some(200), Some(4_800)), "{text}");
        }
    }
}
