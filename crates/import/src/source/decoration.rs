//! What loggers put before each line: times, the journal's host and program, names of pods and containers.

/// A line without what a logger has put before it. What is left may still be anything.
pub(super) fn undecorated(line: &str) -> &str {
    let blanks = line.len() - line.trim_start().len();
    let mut rest = &line[blanks..];
    let mut stamped = false;
    for _ in 0..MAX_DECORATIONS {
        let shorter = match rest.as_bytes().first() {
            Some(b'[') => bracketed(rest),
            Some(b'0'..=b'9') => time(rest),
            Some(letter) if letter.is_ascii_alphabetic() => {
                syslog_time(rest).or_else(|| container(rest)).or_else(|| stamped.then(|| program(rest))?)
            }
            _ => None,
        };
        let Some(shorter) = shorter else { break };
        // wget and tcpdump print the time themselves: `2022-08-19 11:01:42 (32.1 KB/s) - …`, `11:01:42.001 IP a.1 > b.2: …`.
        if shorter.starts_with('(') || is_packet(shorter) {
            return line;
        }
        (rest, stamped) = (shorter, true);
    }
    if stamped { rest } else { line }
}

/// `IP a.57798 > b.3632: Flags [.], …`, without `IP` as old ones print it.
fn is_packet(rest: &str) -> bool {
    let Some((from, rest)) = rest.split_once(" > ") else { return false };
    let from = from.strip_prefix("IP6 ").or_else(|| from.strip_prefix("IP ")).unwrap_or(from);
    let to = rest.split_once(": ").map_or("", |(to, _)| to);
    !to.is_empty() && ![from, to].iter().any(|end| end.contains(' ') || !end.contains('.'))
}

/// Whether each line begins with its number, as `cat -n`, editors and pages that show code put it there: numbers that go up by one, behind which
/// one and the same mark stands.
pub(super) fn are_numbered(text: &str) -> bool {
    let mut numbers = text.lines().map(|line| number(line).map(|(number, _)| number));
    let Some(Some(mut last)) = numbers.next() else { return false };
    let mut lines = 1;
    for number in numbers {
        if number != Some(last + 1) {
            return false;
        }
        last += 1;
        lines += 1;
    }
    lines >= FEWEST_NUMBERED
}

/// A text in which some lines that follow each other begin with their numbers, from 1 on, as a page shows a log between paragraphs; `None` where
/// there are none.
pub(super) fn without_numbers_of_part(text: &str) -> Option<String> {
    let lines: Vec<&str> = text.lines().collect();
    let first = lines.iter().position(|line| part_number(line).is_some_and(|(number, _)| number == 1))?;
    let own = (1..)
        .zip(&lines[first..])
        .take_while(|(number, line)| part_number(line).is_some_and(|(own, _)| own == *number));
    let count = own.count();
    // A list of steps has no rows of tests.
    let has_rows = lines[first..first + count].iter().any(|line| line.contains("] ") && line.contains("/sec"));
    (count >= FEWEST_NUMBERED && has_rows).then_some(())?;
    Some(lines.iter().enumerate().fold(String::with_capacity(text.len()), |mut all, (at, line)| {
        let is_own = (first..first + count).contains(&at);
        all.push_str(part_number(line).filter(|_| is_own).map_or(line, |(_, rest)| rest));
        all.push('\n');
        all
    }))
}

/// As `number`, where a number that has grown by a digit leaves one blank less.
fn part_number(line: &str) -> Option<(u64, &str)> {
    let rest = line.trim_start_matches(' ');
    let end = rest.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(rest.len());
    let (number, rest) = rest.split_at(end);
    let rest =
        if rest.is_empty() { rest } else { rest.strip_prefix([' ', '\t', ':', '|', '.'])?.trim_start_matches(' ') };
    Some((number.parse().ok()?, rest))
}

/// A text without the numbers of its lines.
pub(super) fn without_numbers(text: &str) -> String {
    text.lines().fold(String::with_capacity(text.len()), |mut all, line| {
        all.push_str(number(line).map_or(line, |(_, rest)| rest));
        all.push('\n');
        all
    })
}

/// `    17\t[  5] …`, `17: …`, `17| …`; an empty line has its number alone.
fn number(line: &str) -> Option<(u64, &str)> {
    let rest = line.trim_start_matches(' ');
    let end = rest.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(rest.len());
    let (number, rest) = rest.split_at(end);
    let rest = if rest.is_empty() {
        rest
    } else {
        ["\t", ": ", ":", "| ", " | ", "  "].into_iter().find_map(|mark| rest.strip_prefix(mark))?
    };
    Some((number.parse().ok()?, rest))
}

/// A list of a few points is none.
const FEWEST_NUMBERED: usize = 8;

/// A row of numbers without what a person has written behind it: `… sender   <--- while the backup runs`, `… 211 retrans  <- 12 s`.
pub(super) fn without_remark(line: &str) -> &str {
    // A row has a rate; most have none of the letters that begin a remark, which is found out fast.
    if !line.bytes().any(|byte| matches!(byte, b'<' | b'#' | b'!' | b'(' | 0xe2)) || !is_row(line) {
        return line;
    }
    let arrow = ARROWS.iter().filter_map(|arrow| line.find(arrow)).min();
    let rest = arrow.map_or(line, |at| &line[..at]).trim_end();
    // `(4.6%)`, `(nan%)` and `(omitted)` are the tool's own.
    let own = |inside: &str| inside == "omitted" || inside.ends_with('%') || !inside.contains(char::is_alphabetic);
    let inside = rest.strip_suffix(')').and_then(|rest| rest.rsplit_once(" ("));
    match inside {
        Some((before, inside)) if !own(inside) => before.trim_end(),
        _ if arrow.is_some() => rest,
        _ => line,
    }
}

fn is_row(line: &str) -> bool {
    let start = line.trim_start();
    (start.starts_with('[') && line.contains("/sec")) || (line.contains(" MB /") && line.contains(" Mbps"))
}

const ARROWS: [&str; 7] = [" <-", " <<", " <=", " \u{2190}", " # ", " !!", "\t<-"];

/// A time, a zone or level, a program, a stream of a container.
const MAX_DECORATIONS: usize = 4;
/// The longest time within brackets, and the longest name.
const LONGEST: usize = 64;

/// One blank or tabulator belongs to the logger; more of them are the tool's own columns.
fn without_blank(rest: &str) -> Option<&str> {
    if rest.is_empty() { Some(rest) } else { rest.strip_prefix([' ', '\t']) }
}

/// `[2024-02-12 10:00:01] `, `[Mon Feb 12 10:00:01 2024] `, `[1707732000.123456] `, `[pod/client-x7j2k/iperf3] `.
fn bracketed(line: &str) -> Option<&str> {
    let (inside, rest) = line.get(1..)?.split_once(']')?;
    (inside.len() <= LONGEST).then_some(())?;
    let is_pod = ["pod/", "job/", "deployment/"].iter().any(|kind| inside.starts_with(kind));
    let digits = inside.bytes().filter(u8::is_ascii_digit).count();
    let is_time = digits >= 4
        && inside.contains(':')
        && inside.bytes().all(|byte| byte.is_ascii_alphanumeric() || b" :.,+-/".contains(&byte));
    let is_epoch = digits >= 10 && inside.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    (is_pod || is_time || is_epoch).then(|| without_blank(rest))?
}

/// `2024-02-12T10:00:00.123Z `, `2024-02-12 10:00:00,123 `, `10:00:01 `, and what CRI puts behind: `stdout F `.
fn time(line: &str) -> Option<&str> {
    let (first, mut rest) = word(line)?;
    if is_date(first) {
        match first.split_once('T') {
            Some((_, clock)) => is_clock(clock).then_some(())?,
            None => {
                let (clock, after) = word(rest)?;
                is_clock(clock).then_some(())?;
                rest = after;
            }
        }
    } else if !is_clock(first) {
        return None;
    }
    let streams = ["stdout F", "stderr F", "stdout P", "stderr P"];
    let behind = streams.iter().find_map(|stream| rest.strip_prefix(stream));
    Some(behind.and_then(without_blank).unwrap_or(rest))
}

/// `Feb 12 10:00:00 `.
fn syslog_time(line: &str) -> Option<&str> {
    let (month, rest) = word(line)?;
    MONTHS.contains(&month).then_some(())?;
    let (day, rest) = word(rest.trim_start())?;
    day.parse::<u8>().ok().filter(|day| (1..=31).contains(day))?;
    let (clock, rest) = word(rest)?;
    is_clock(clock).then_some(rest)
}

/// `dtn1 iperf3[2211]: `, as the journal has it behind a time.
fn program(line: &str) -> Option<&str> {
    let (before, rest) = line.split_once(": ").or_else(|| Some((line.strip_suffix(':')?, "")))?;
    let (host, program) = before.split_once(' ')?;
    let plain = |text: &str| {
        !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._/()@".contains(&byte))
    };
    let name = program.split_once('[').map_or(program, |(name, number)| {
        if number.strip_suffix(']').is_some_and(|number| number.parse::<u32>().is_ok()) { name } else { "" }
    });
    (before.len() <= LONGEST && plain(host) && plain(name) && program.contains('[')).then_some(rest)
}

/// `client_1  | `, as docker compose has it.
fn container(line: &str) -> Option<&str> {
    let (name, rest) = line.split_once(" | ")?;
    let name = name.trim_end();
    let numbered = name.rsplit_once(['_', '-']).is_some_and(|(_, number)| number.parse::<u16>().is_ok());
    (numbered && name.len() <= LONGEST && !name.contains(' ')).then_some(rest)
}

fn word(line: &str) -> Option<(&str, &str)> {
    let end = line.find([' ', '\t']).unwrap_or(line.len());
    let (word, rest) = line.split_at(end);
    (!word.is_empty()).then_some((word, without_blank(rest)?))
}

/// `2024-02-12`, also with a time behind it.
fn is_date(word: &str) -> bool {
    let date = word.split('T').next().unwrap_or(word);
    let parts: Vec<&str> = date.split(['-', '/']).collect();
    parts.len() == 3 && parts[0].len() == 4 && parts.iter().all(|part| part.parse::<u16>().is_ok())
}

/// `10:00:01`, `10:00:01.123456+01:00`, `10:00:01,123Z`.
fn is_clock(word: &str) -> bool {
    let bytes = word.as_bytes();
    bytes.len() >= 8
        && bytes.len() <= LONGEST
        && [2, 5].iter().all(|at| bytes[*at] == b':')
        && [0, 1, 3, 4, 6, 7].iter().all(|at| bytes[*at].is_ascii_digit())
        && bytes[8..].iter().all(|byte| byte.is_ascii_digit() || b".,:+-Z".contains(byte))
}

const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

#[cfg(test)]
mod tests {
    use super::{are_numbered, undecorated, without_numbers, without_numbers_of_part, without_remark};

    #[test]
    fn numbers_of_lines_are_taken_off_where_all_lines_have_them() {
        let rows = ["iperf Done.", "", "[  5]   0.00-1.00   sec  1.13 GBytes"].repeat(3);
        for mark in ["\t", ": ", "  "] {
            let numbered = |line: (usize, &&str)| format!("{:>4}{mark}{}\n", line.0 + 8, line.1);
            let text: String = rows.iter().enumerate().map(numbered).collect();
            assert!(are_numbered(&text), "{text}");
            assert_eq!(without_numbers(&text).lines().collect::<Vec<_>>(), rows);
            assert!(!are_numbered(&text.replace("  10", "  11")), "a list of numbers");
        }
        assert!(!are_numbered("1: a\n2: b\n"));
        let part: String = (1..=10)
            .map(|number| format!("{number:<3}[  5]   0.00-1.00   sec  1.13 GBytes  9.73 Gbits/sec\n"))
            .collect();
        let text = without_numbers_of_part(&format!("Look:\n{part}end\n")).unwrap();
        assert!(text.starts_with("Look:\n[  5]   0.00") && text.ends_with("Gbits/sec\nend\n"));
        assert!(without_numbers_of_part("1. first\n2. then\n").is_none());
    }

    #[test]
    fn what_loggers_put_before_a_line_is_taken_off() {
        let row = "[  5]   0.00-1.00   sec  1.13 GBytes  9.73 Gbits/sec";
        for before in [
            "[2024-02-12 10:00:01] ",
            "[10:00:01.123] ",
            "[Mon Feb 12 10:00:01 2024] ",
            "[1707732000.123456] ",
            "[pod/iperf3-client-x7j2k/iperf3] ",
            "2024-02-12T10:00:00.123456789Z stdout F ",
            "2024-02-12 10:00:00,123 ",
            "10:00:01 ",
            "Feb 12 10:00:00 dtn1 iperf3[2211]: ",
            "client_1  | ",
            "client-1  | 10:00:01 ",
        ] {
            assert_eq!(undecorated(&format!("{before}{row}")), row, "{before}");
        }
    }

    #[test]
    fn remarks_behind_a_row_are_taken_off() {
        for row in [
            "[  4]   0.00-5.00   sec  1.23 GBytes  2.11 Gbits/sec    0             sender",
            "   77.8750 MB /   1.00 sec =  653.2 Mbps   211 retrans",
            "[  5]   0.00-10.00  sec   239 MBytes   200 Mbits/sec  0.021 ms  8390/181279 (4.6%)  receiver",
            "[  5]   0.00-1.00   sec   239 MBytes   200 Mbits/sec  0.021 ms  0/0 (nan%)",
            "[  5]   0.00-1.00   sec   239 MBytes   200 Mbits/sec    0   1.2 MBytes       (omitted)",
        ] {
            assert_eq!(without_remark(row), row);
            for behind in [
                "   <--- while the backup runs!",
                "     <- 12 s",
                "  (sin backup)",
                " # slow",
                "     <<<<",
                "  \u{2190} here (again)",
            ] {
                assert_eq!(without_remark(&format!("{row}{behind}")), row, "{behind}");
            }
        }
        for line in ["see <- this", "10 MB / s (about)", "[ ID] Interval  Transfer (all)"] {
            assert_eq!(without_remark(line), line);
        }
    }

    #[test]
    fn lines_of_tools_stay() {
        for line in [
            "[  5]   0.00-1.00   sec  1.13 GBytes  9.73 Gbits/sec",
            "[SUM]   0.00-1.00   sec  1.13 GBytes  9.73 Gbits/sec",
            "[ ID] Interval           Transfer     Bitrate         Retr  Cwnd",
            "2022-08-19 11:01:42 (32.1 KB/s) - 'member.fits' saved [3355443/3355443]",
            "    1.1875 MB /   1.00 sec =    9.9615 Mbps    12 retrans",
            "Time: Tue, 24 Nov 2026 12:00:05 GMT",
            "Thu Jul 6 23:43:15 2023 [  5] local",
            "May the path be with you",
            "64 bytes from 192.0.2.1: icmp_seq=1 ttl=64 time=0.045 ms",
        ] {
            assert_eq!(undecorated(line), line);
        }
    }
}
