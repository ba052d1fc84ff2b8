//! The command line of iperf3 (src/iperf_api.c `iperf_parse_arguments`, 3.21).

use std::time::Duration;

use model::spec::{Direction, Dscp, Family, Limit, Protocol, SendMethod};
use units::{ByteCount, DataRate, Mss};

use super::{Arguments, scaled};
use crate::quantity::seconds;

/// Reads the arguments after the program's name.
pub(crate) fn read(words: &[String]) -> Arguments {
    let mut arguments = Arguments::default();
    arguments.options.protocol = Some(Protocol::Tcp);
    arguments.options.direction = Some(Direction::Forward);
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let (option, attached) = split(word);
        if !option.starts_with('-') {
            arguments.odd.push(("an option".to_owned(), word.clone()));
        } else if TAKES_VALUE.contains(&option) {
            match attached.map(str::to_owned).or_else(|| words.next().cloned()) {
                Some(value) => with_value(&mut arguments, option, &value),
                // Whoever pastes a log takes the name of the host out.
                None if matches!(option, "-c" | "--client") => {}
                None => arguments.odd.push((format!("a value after {option}"), String::new())),
            }
        } else {
            flag(&mut arguments, option, attached);
        }
    }
    arguments
}

/// The option and the value written onto it: `-l8912`, `--length=8912`. Several flags may share a dash: `-uR`.
fn split(word: &str) -> (&str, Option<&str>) {
    if word.starts_with("--") {
        return word.split_once('=').map_or((word, None), |(option, value)| (option, Some(value)));
    }
    match word.char_indices().nth(2) {
        Some((cut, _)) if word.starts_with('-') => (&word[..cut], Some(&word[cut..])),
        _ => (word, None),
    }
}

fn flag(arguments: &mut Arguments, option: &str, attached: Option<&str>) {
    let options = &mut arguments.options;
    match option {
        "-u" | "--udp" => options.protocol = Some(Protocol::Udp),
        "-R" | "--reverse" => options.direction = Some(Direction::Reverse),
        "--bidir" => options.direction = Some(Direction::Bidirectional),
        "-Z" | "--zerocopy" => options.send = Some(SendMethod::Sendfile),
        "-4" | "--version4" => options.family = Some(Family::Ipv4),
        "-6" | "--version6" => options.family = Some(Family::Ipv6),
        _ if FLAGS.contains(&option) => {}
        _ => arguments.odd.push(("an option of iperf3".to_owned(), option.to_owned())),
    }
    if let Some(more) = attached {
        let (option, attached) = split_flags(more);
        flag(arguments, &option, attached);
    }
}

fn split_flags(more: &str) -> (String, Option<&str>) {
    let cut = more.chars().next().map_or(0, char::len_utf8);
    (format!("-{}", &more[..cut]), Some(&more[cut..]).filter(|rest| !rest.is_empty()))
}

fn with_value(arguments: &mut Arguments, option: &str, text: &str) {
    let bytes = || scaled(text, 1024, 1).map(ByteCount::new);
    let rate = || scaled(text.split('/').next()?, 1000, 1).map(DataRate::from_bps);
    match option {
        "-c" | "--client" => arguments.target = Some(text.to_owned()),
        "-T" | "--title" => arguments.tag = Some(text.to_owned()),
        "-t" | "--time" => {
            arguments.set(option, text, "seconds", seconds(text).map(Limit::Time), |options| &mut options.limit);
        }
        "-n" | "--bytes" => {
            arguments.set(option, text, "an amount", bytes().map(Limit::Bytes), |options| &mut options.limit);
        }
        "-k" | "--blockcount" => {
            arguments
                .set(option, text, "a count", scaled(text, 1024, 1).map(Limit::Blocks), |options| &mut options.limit);
        }
        "-O" | "--omit" => arguments.set(option, text, "seconds", seconds(text), |options| &mut options.omit),
        "-i" | "--interval" => {
            let spacing = seconds(text).filter(|spacing| *spacing > Duration::ZERO);
            if spacing.is_some() || text != "0" {
                arguments.set(option, text, "seconds", spacing, |options| &mut options.interval);
            }
        }
        "-P" | "--parallel" => {
            arguments.set(option, text, "a number of streams", text.parse().ok(), |options| &mut options.streams);
        }
        "-b" | "--bandwidth" | "--bitrate" => {
            // Zero is iperf3's word for no limit.
            if let Some(rate) = rate().filter(|rate| !rate.is_zero()) {
                arguments.options.rate = Some(rate);
            } else if text != "0" {
                arguments.odd.push((format!("a rate after {option}"), text.to_owned()));
            }
        }
        "--fq-rate" => arguments.set(option, text, "a rate", rate(), |options| &mut options.pace),
        "-l" | "--length" => {
            let size = size_at_start(arguments, option, text);
            arguments.set(option, text, "a size", size, |options| &mut options.length);
        }
        "-w" | "--window" => arguments.set(option, text, "a size", bytes(), |options| &mut options.window),
        "-M" | "--set-mss" => {
            let mss = text.parse().ok().and_then(|bytes| Mss::new(bytes).ok());
            arguments.set(option, text, "a segment size", mss, |options| &mut options.mss);
        }
        "-C" | "--congestion" | "--linux-congestion" => arguments.options.congestion_control = Some(text.to_owned()),
        "-S" | "--tos" => arguments.set(option, text, "a TOS byte", tos(text), |options| &mut options.dscp),
        "-B" | "--bind" => arguments.set(option, text, "an address", text.parse().ok(), |options| &mut options.bind),
        "--bind-dev" => arguments.options.device = Some(text.to_owned()),
        "-A" | "--affinity" => {
            let cpu = text.split(',').next().and_then(|cpu| cpu.parse().ok());
            arguments.set(option, text, "a CPU", cpu, |options| &mut options.cpu);
        }
        _ => {}
    }
}

/// iperf3 reads a size up to the first strange letter, as people find out who forget a space: `-l8912-T`.
fn size_at_start(arguments: &mut Arguments, option: &str, text: &str) -> Option<ByteCount> {
    let end = text.find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '.').unwrap_or(text.len());
    if end < text.len() {
        arguments.odd.push((format!("a size after {option}; what follows it is left out"), text.to_owned()));
    }
    scaled(&text[..end], 1024, 1).map(ByteCount::new)
}

/// The code point in a TOS byte, which iperf3 reads in C's notation.
fn tos(text: &str) -> Option<Dscp> {
    let byte = match text.strip_prefix("0x") {
        Some(hexadecimal) => u8::from_str_radix(hexadecimal, 16).ok()?,
        None => text.parse::<u8>().ok()?,
    };
    Dscp::new(byte >> 2).ok()
}

const TAKES_VALUE: [&str; 65] = [
    "-c",
    "--client",
    "-p",
    "--port",
    "-f",
    "--format",
    "-i",
    "--interval",
    "-I",
    "--pidfile",
    "-F",
    "--file",
    "-A",
    "--affinity",
    "-B",
    "--bind",
    "--bind-dev",
    "--logfile",
    "--timestamp-format",
    "--rcv-timeout",
    "--snd-timeout",
    "--cport",
    "--nstreams",
    "-b",
    "--bandwidth",
    "--bitrate",
    "--pacing-timer",
    "--fq-rate",
    "-t",
    "--time",
    "-n",
    "--bytes",
    "-k",
    "--blockcount",
    "-l",
    "--length",
    "-P",
    "--parallel",
    "-w",
    "--window",
    "-M",
    "--set-mss",
    "-C",
    "--congestion",
    "--linux-congestion",
    "-S",
    "--tos",
    "--dscp",
    "-L",
    "--flowlabel",
    "-X",
    "--xbind",
    "-O",
    "--omit",
    "-T",
    "--title",
    "--connect-timeout",
    "--extra-data",
    "--username",
    "--rsa-public-key-path",
    "--rsa-private-key-path",
    "--authorized-users-path",
    "--time-skew-threshold",
    "--idle-timeout",
    "--server-bitrate-limit",
];

const FLAGS: [&str; 25] = [
    "-V",
    "--verbose",
    "-J",
    "--json",
    "--json-stream",
    "--json-stream-full-output",
    "-d",
    "--debug",
    "-s",
    "--server",
    "-1",
    "--one-off",
    "-D",
    "--daemon",
    "-N",
    "-m",
    "--no-delay",
    "--sctp",
    "--mptcp",
    "--get-server-output",
    "--timestamps",
    "--forceflush",
    "--udp-counters-64bit",
    "--repeating-payload",
    "--dont-fragment",
];

#[cfg(test)]
mod tests {
    use super::*;

    fn arguments(line: &str) -> Arguments {
        read(&line.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn sizes_are_powers_of_two_and_rates_of_ten() {
        let options = arguments("-c h -b1000m -l 64K -n 13G -w 4M --fq-rate 2.5G -M 1400 -S 0xb8").options;
        assert_eq!(options.rate, Some(DataRate::from_bps(1_000_000_000)));
        assert_eq!(options.length, Some(ByteCount::new(65_536)));
        assert_eq!(options.limit, Some(Limit::Bytes(ByteCount::new(13 << 30))));
        assert_eq!(options.pace, Some(DataRate::from_bps(2_500_000_000)));
        assert_eq!(options.dscp.map(Dscp::get), Some(46));
    }

    #[test]
    fn options_of_newer_versions_take_their_value() {
        let arguments = arguments("-c h --connect-timeout 3000 --extra-data x -t 5");
        assert!(arguments.odd.is_empty(), "{:?}", arguments.odd);
        assert_eq!(arguments.options.limit, Some(Limit::Time(Duration::from_secs(5))));
    }

    #[test]
    fn a_forgotten_space_is_told() {
        let arguments = arguments("-c h -l8912-T s2 -uR");
        assert_eq!(arguments.options.length, Some(ByteCount::new(8912)));
        assert_eq!(
            (arguments.options.protocol, arguments.options.direction),
            (Some(Protocol::Udp), Some(Direction::Reverse))
        );
        let found: Vec<&str> = arguments.odd.iter().map(|(_, found)| found.as_str()).collect();
        assert_eq!(found, ["8912-T", "s2"]);
    }

    #[test]
    fn strange_options_are_told() {
        assert_eq!(arguments("-c h --turbo -t soon -P").odd.len(), 3);
    }
}
