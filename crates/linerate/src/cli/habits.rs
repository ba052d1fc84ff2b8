//! Command lines of iperf3, ping and traceroute, as the fingers know them, put into linerate's own.
//!
//! Only a command line that names no command of linerate is translated: `linerate -c HOST -t 10`, `linerate -s`,
//! `linerate ping HOST`. There, and behind the same letters in `linerate test` and `linerate probe ping`, the numbers without
//! a unit mean what they mean to those programs (iperf3 3.18, iputils 2024): seconds; bits by thousands for `-b`; bytes by
//! 1024 for `-n`, `-l` and `-w`. An option of linerate that is written out wants its unit.

use std::ffi::OsString;

/// The command line with linerate's own words, and those to show to who typed the others.
pub fn translated(words: Vec<OsString>) -> (Vec<OsString>, Option<String>) {
    let texts: Option<Vec<&str>> = words.iter().map(|word| word.to_str()).collect();
    let Some(typed) = texts.as_ref().and_then(|texts| texts.get(1..)) else { return (words, None) };
    let (own, shown) = match (with_usual_units(typed), own_words(typed)) {
        (Some(own), _) => (own, None),
        (None, Some(own)) => {
            let shown = format!("linerate {}", own.join(" "));
            (own, Some(shown))
        }
        (None, None) => return (words, None),
    };
    (words.iter().take(1).cloned().chain(own.into_iter().map(OsString::from)).collect(), shown)
}

/// A command of linerate whose letters mean what those of another program do.
fn with_usual_units(typed: &[&str]) -> Option<Vec<String>> {
    let letters: Vec<(&str, Unit)> = IPERF3.into_iter().filter(|(option, _)| !option.starts_with("--")).collect();
    match typed {
        ["test", rest @ ..] => Some(begin(&["test"], with_units(rest, &letters))),
        ["probe", "ping", rest @ ..] => Some(begin(&["probe", "ping"], with_units(rest, &PING))),
        _ => None,
    }
}

fn own_words(typed: &[&str]) -> Option<Vec<String>> {
    match typed {
        ["ping", rest @ ..] => Some(begin(&["probe", "ping"], with_units(rest, &PING))),
        ["traceroute" | "tracepath" | "mtr", rest @ ..] => Some(begin(&["probe", "hops"], with_units(rest, &[]))),
        [first, ..] if first.starts_with('-') => of_iperf3(typed),
        _ => None,
    }
}

/// `-c HOST` and `-s` may stand anywhere among the options of iperf3.
fn of_iperf3(typed: &[&str]) -> Option<Vec<String>> {
    let mut rest = typed.to_vec();
    if let Some(at) = typed.iter().position(|word| matches!(*word, "-c" | "--client")) {
        rest.remove(at);
        // Without a host behind it clap says that one is needed.
        let host = (at < rest.len()).then(|| rest.remove(at).to_owned());
        let renamed = renamed(&rest);
        let rest: Vec<&str> = renamed.iter().map(String::as_str).collect();
        return Some(begin(&["test"], host.into_iter().chain(with_units(&rest, &IPERF3)).collect()));
    }
    let at = typed.iter().position(|word| matches!(*word, "-s" | "--server"))?;
    rest.remove(at);
    Some(begin(&["serve"], renamed(&rest)))
}

/// The options of iperf3 by the names that linerate has for them, without those that shape its text.
fn renamed(typed: &[&str]) -> Vec<String> {
    let mut own = Vec::new();
    let mut words = typed.iter().copied();
    while let Some(word) = words.next() {
        match word {
            "-V" | "--verbose" | "--forceflush" => {}
            "-f" | "--format" | "-T" | "--title" => drop(words.next()),
            "-S" | "--tos" => {
                let class = words.next().map(|tos| class_of(tos).unwrap_or_else(|| tos.to_owned()));
                own.extend(["--dscp".to_owned()].into_iter().chain(class));
            }
            "--connect-timeout" => {
                own.push(word.to_owned());
                let plain = |time: &str| time.bytes().all(|byte| byte.is_ascii_digit());
                own.extend(words.next().map(|time| if plain(time) { format!("{time}ms") } else { time.to_owned() }));
            }
            _ => match RENAMED.iter().find(|(theirs, _)| *theirs == word) {
                Some((_, ours)) => own.extend(ours.iter().map(|&word| word.to_owned())),
                None => own.push(word.to_owned()),
            },
        }
    }
    own
}

/// The DSCP in a byte of TOS, which is decimal, octal or hexadecimal; nothing where bits of ECN are set as well.
fn class_of(tos: &str) -> Option<String> {
    let byte = match tos.strip_prefix("0x").or_else(|| tos.strip_prefix("0X")) {
        Some(digits) => u8::from_str_radix(digits, 16).ok()?,
        None if tos.len() > 1 && tos.starts_with('0') => u8::from_str_radix(tos, 8).ok()?,
        None => tos.parse().ok()?,
    };
    (byte & 3 == 0).then(|| (byte >> 2).to_string())
}

const RENAMED: [(&str, &[&str]); 14] = [
    ("-J", &["--json"]),
    ("-Z", &["--send", "sendfile"]),
    ("--zerocopy", &["--send", "sendfile"]),
    ("--bitrate", &["--rate"]),
    ("--bandwidth", &["--rate"]),
    ("--parallel", &["--streams"]),
    ("--blockcount", &["--blocks"]),
    ("--set-mss", &["--mss"]),
    ("--congestion", &["--cca"]),
    ("--fq-rate", &["--pace"]),
    ("--bind-dev", &["--device"]),
    ("--version4", &["--ipv4"]),
    ("--version6", &["--ipv6"]),
    ("--one-off", &["--once"]),
];

fn begin(command: &[&str], rest: Vec<String>) -> Vec<String> {
    command.iter().map(|&word| word.to_owned()).chain(rest).collect()
}

/// The options with units behind those of their numbers that have none.
fn with_units(typed: &[&str], units: &[(&str, Unit)]) -> Vec<String> {
    let mut before: Option<Unit> = None;
    let mut own = Vec::new();
    for word in typed {
        let unit = before.take();
        own.push(unit.and_then(|unit| unit.put(word)).unwrap_or_else(|| (*word).to_owned()));
        before = units.iter().find(|(option, _)| option == word).map(|(_, unit)| *unit);
    }
    own
}

/// What a number without a unit means.
#[derive(Clone, Copy)]
enum Unit {
    Seconds,
    /// `1G` is 10^9.
    BitRate,
    /// `1G` is 2^30.
    Bytes,
}

impl Unit {
    /// The number with its unit; nothing where it has one, or is no number.
    fn put(self, word: &str) -> Option<String> {
        let digits = word.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        let _number: f64 = digits.parse().ok()?;
        let letter = word.get(digits.len()..)?.to_ascii_uppercase();
        let unit = match (self, letter.as_str()) {
            (Self::Seconds, "") => "s",
            (Self::BitRate, "") => "bit/s",
            (Self::BitRate, "K") => "kbit/s",
            (Self::BitRate, "M") => "Mbit/s",
            (Self::BitRate, "G") => "Gbit/s",
            (Self::Bytes, "") => "B",
            (Self::Bytes, "K") => "KiB",
            (Self::Bytes, "M") => "MiB",
            (Self::Bytes, "G") => "GiB",
            _ => return None,
        };
        Some(format!("{digits}{unit}"))
    }
}

const IPERF3: [(&str, Unit); 15] = [
    ("-t", Unit::Seconds),
    ("--time", Unit::Seconds),
    ("-i", Unit::Seconds),
    ("--interval", Unit::Seconds),
    ("-O", Unit::Seconds),
    ("--omit", Unit::Seconds),
    ("-b", Unit::BitRate),
    ("--rate", Unit::BitRate),
    ("--pace", Unit::BitRate),
    ("-n", Unit::Bytes),
    ("--bytes", Unit::Bytes),
    ("-l", Unit::Bytes),
    ("--length", Unit::Bytes),
    ("-w", Unit::Bytes),
    ("--window", Unit::Bytes),
];

const PING: [(&str, Unit); 2] = [("-i", Unit::Seconds), ("-s", Unit::Bytes)];

#[cfg(test)]
mod tests {
    use super::*;

    fn own(typed: &str) -> Option<String> {
        let words = ["linerate"].into_iter().chain(typed.split(' ')).map(OsString::from).collect();
        translated(words).1
    }

    #[test]
    fn what_iperf3_users_type_is_understood() {
        for (typed, meant) in [
            ("-c dtn -t 10", "linerate test dtn -t 10s"),
            ("-t 10 -c dtn -P 4 -R", "linerate test dtn -t 10s -P 4 -R"),
            ("--client dtn -u -b 1G -l 1400", "linerate test dtn -u -b 1Gbit/s -l 1400B"),
            ("-c dtn -n 2.5G -w 4M -i 0.5", "linerate test dtn -n 2.5GiB -w 4MiB -i 0.5s"),
            ("-s -p 5202 -1", "linerate serve -p 5202 -1"),
            ("-c", "linerate test"),
            ("-c dtn -J -t 10", "linerate test dtn --json -t 10s"),
            (
                "-c dtn -V -f m -Z --bitrate 1G --parallel 4",
                "linerate test dtn --send sendfile --rate 1Gbit/s --streams 4",
            ),
            ("-c dtn -S 0x20 --connect-timeout 3000", "linerate test dtn --dscp 8 --connect-timeout 3000ms"),
            ("-c dtn --tos 040 --fq-rate 900M", "linerate test dtn --dscp 8 --pace 900Mbit/s"),
            ("-c dtn -S 0x21", "linerate test dtn --dscp 0x21"),
            ("-s -J --one-off", "linerate serve --json --once"),
        ] {
            assert_eq!(own(typed).as_deref(), Some(meant), "{typed}");
        }
    }

    #[test]
    fn numbers_behind_the_options_of_a_test_mean_what_they_mean_to_iperf3() {
        let words = "linerate test dtn -t 10 -b 900M -l 1400 --bytes 4M".split(' ').map(OsString::from).collect();
        let (own, shown) = translated(words);
        let own: Vec<_> = own.iter().filter_map(|word| word.to_str()).collect();
        assert_eq!(own.join(" "), "linerate test dtn -t 10s -b 900Mbit/s -l 1400B --bytes 4M", "written out");
        assert_eq!(shown, None);
    }

    #[test]
    fn what_ping_users_type_is_understood() {
        assert_eq!(
            own("ping -c 3 -i 0.2 dtn -s 1472").as_deref(),
            Some("linerate probe ping -c 3 -i 0.2s dtn -s 1472B")
        );
        assert_eq!(own("mtr dtn -6").as_deref(), Some("linerate probe hops dtn -6"));
    }

    #[test]
    fn units_that_were_typed_stay_and_so_do_the_commands_of_linerate() {
        assert_eq!(own("-c dtn -t 10s -b 1Gbit/s").as_deref(), Some("linerate test dtn -t 10s -b 1Gbit/s"));
        for typed in ["test dtn -t 10s", "--help", "-q runs list", "probe ping dtn -c 3"] {
            assert_eq!(own(typed), None, "{typed}");
        }
    }
}
