//! The command that repeats a test, as a person would type it.
//!
//! A round starts its tests by commands that leave nothing to chance: all defaults, times in nanoseconds, an archive of its own. Whoever
//! repeats one by hand wants what makes it this test, and nothing of where a round keeps its files.

/// A command of a run as words for a terminal; none where there is nothing to repeat.
pub fn command(words: &[String]) -> Option<String> {
    let program = words.first()?.rsplit('/').next()?;
    let mut typed = vec![program.to_owned()];
    let mut rest = words.iter().skip(1).map(String::as_str).filter(is_plain).peekable();
    while let Some(word) = rest.next() {
        if OF_ROUNDS.contains(&word) {
            continue;
        }
        if OF_ROUNDS_WITH_VALUE.contains(&word) {
            rest.next();
            continue;
        }
        if rest.peek().is_some_and(|value| DEFAULTS.contains(&(word, value))) {
            rest.next();
            continue;
        }
        typed.push(shorter(word));
    }
    (typed.len() > 1).then(|| typed.join(" "))
}

/// Words with spaces come from others, and a terminal would take them for several.
fn is_plain(word: &&str) -> bool {
    !word.is_empty() && !word.contains(char::is_whitespace)
}

/// An exact number of a small unit in the largest unit that has it whole.
fn shorter(word: &str) -> String {
    let number = |unit: &str| word.strip_suffix(unit)?.parse::<u64>().ok().filter(|number| *number > 0);
    for (unit, larger) in LARGER_UNITS {
        if let Some(number) = number(unit) {
            let whole = larger.iter().find(|(factor, _)| number % factor == 0);
            return whole.map_or_else(|| word.to_owned(), |(factor, name)| format!("{}{name}", number / factor));
        }
    }
    word.to_owned()
}

/// What only a round asks for.
const OF_ROUNDS: [&str; 1] = ["--json"];
/// The same with a value: where it is kept, how long is waited, how often is sampled.
const OF_ROUNDS_WITH_VALUE: [&str; 6] =
    ["--wait", "--archive", "--interval", "--sample-every", "--probe-every", "--connect-timeout"];
/// What is so without being said.
const DEFAULTS: [(&str, &str); 4] = [("--send", "auto"), ("--receive", "auto"), ("--omit", "0ns"), ("--streams", "1")];
/// Units in which a round writes, and larger ones with how many of it they are, the largest first.
const LARGER_UNITS: [(&str, &[(u64, &str)]); 3] = [
    ("ns", &[(1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "us")]),
    ("bit/s", &[(1_000_000_000, "Gbit/s"), (1_000_000, "Mbit/s"), (1_000, "kbit/s")]),
    ("B", &[(1_000_000_000, "GB"), (1_000_000, "MB"), (1_000, "kB")]),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(command: &str) -> Option<String> {
        super::command(&command.split(' ').map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn a_test_of_a_round_is_repeated_by_what_makes_it_this_test() {
        let of_round = "/opt/bin/linerate test 10.0.3.1 --json --wait 0s --port 5201 --time 7000000000ns --streams 1 --omit 0ns \
                        --pace 150000000bit/s --send auto --receive auto --interval 1000000000ns --sample-every 10000000ns \
                        --probe-every 10000000ns --connect-timeout 5000000000ns --expect 500000000bit/s --archive /tmp/x/runs.db";
        let person = "linerate test 10.0.3.1 --port 5201 --time 7s --pace 150Mbit/s --expect 500Mbit/s";
        assert_eq!(typed(of_round).as_deref(), Some(person));
    }

    #[test]
    fn what_a_person_typed_stays() {
        for command in ["linerate test dtn -R -P 4 -C cubic", "iperf3 -c dtn -t 10", "linerate test dtn --bytes 1001B"]
        {
            assert_eq!(typed(command).as_deref(), Some(command));
        }
        assert_eq!(command(&[]), None);
    }
}
