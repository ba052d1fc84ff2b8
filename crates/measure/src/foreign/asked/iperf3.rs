//! The command line of iperf3 (src/iperf_api.c `iperf_parse_arguments`, 3.21).

use std::time::Duration;

use model::spec::{Direction, Dscp, Family, Limit, Protocol, SendMethod};
use units::{ByteCount, DataRate, Mss};

use super::{Wish, scaled};
use crate::foreign::quantity::seconds;

/// Reads the arguments after the program's name.
pub(crate) fn read(words: &[String]) -> Wish {
    let mut wish = Wish::default();
    wish.asked.protocol = Some(Protocol::Tcp);
    wish.asked.direction = Some(Direction::Forward);
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let (option, attached) = split(word);
        if !option.starts_with('-') {
            wish.odd.push(("an option".to_owned(), word.clone()));
        } else if TAKES_VALUE.contains(&option) {
            match attached.map(str::to_owned).or_else(|| words.next().cloned()) {
                Some(value) => with_value(&mut wish, option, &value),
                None => wish.odd.push((format!("a value after {option}"), String::new())),
            }
        } else {
            flag(&mut wish, option, attached);
        }
    }
    wish
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

fn flag(wish: &mut Wish, option: &str, attached: Option<&str>) {
    let asked = &mut wish.asked;
    match option {
        "-u" | "--udp" => asked.protocol = Some(Protocol::Udp),
        "-R" | "--reverse" => asked.direction = Some(Direction::Reverse),
        "--bidir" => asked.direction = Some(Direction::Bidirectional),
        "-Z" | "--zerocopy" => asked.send = Some(SendMethod::Sendfile),
        "-4" | "--version4" => asked.family = Some(Family::Ipv4),
        "-6" | "--version6" => asked.family = Some(Family::Ipv6),
        _ if FLAGS.contains(&option) => {}
        _ => wish.odd.push(("an option of iperf3".to_owned(), option.to_owned())),
    }
    if let Some(more) = attached {
        let (option, attached) = split_flags(more);
        flag(wish, &option, attached);
    }
}

fn split_flags(more: &str) -> (String, Option<&str>) {
    let cut = more.chars().next().map_or(0, char::len_utf8);
    (format!("-{}", &more[..cut]), Some(&more[cut..]).filter(|rest| !rest.is_empty()))
}

fn with_value(wish: &mut Wish, option: &str, text: &str) {
    let bytes = || scaled(text, 1024, 1).map(ByteCount::new);
    let rate = || scaled(text.split('/').next()?, 1000, 1).map(DataRate::from_bps);
    match option {
        "-c" | "--client" => wish.target = Some(text.to_owned()),
        "-T" | "--title" => wish.tag = Some(text.to_owned()),
        "-t" | "--time" => wish.set(option, text, "seconds", seconds(text).map(Limit::Time), |asked| &mut asked.limit),
        "-n" | "--bytes" => wish.set(option, text, "an amount", bytes().map(Limit::Bytes), |asked| &mut asked.limit),
        "-k" | "--blockcount" => {
            wish.set(option, text, "a count", scaled(text, 1024, 1).map(Limit::Blocks), |asked| &mut asked.limit);
        }
        "-O" | "--omit" => wish.set(option, text, "seconds", seconds(text), |asked| &mut asked.omit),
        "-i" | "--interval" => {
            let spacing = seconds(text).filter(|spacing| *spacing > Duration::ZERO);
            if spacing.is_some() || text != "0" {
                wish.set(option, text, "seconds", spacing, |asked| &mut asked.interval);
            }
        }
        "-P" | "--parallel" => {
            wish.set(option, text, "a number of streams", text.parse().ok(), |asked| &mut asked.streams);
        }
        "-b" | "--bandwidth" | "--bitrate" => {
            // Zero is iperf3's word for no limit.
            if let Some(rate) = rate().filter(|rate| !rate.is_zero()) {
                wish.asked.rate = Some(rate);
            } else if text != "0" {
                wish.odd.push((format!("a rate after {option}"), text.to_owned()));
            }
        }
        "--fq-rate" => wish.set(option, text, "a rate", rate(), |asked| &mut asked.pace),
        "-l" | "--length" => {
            let size = size_at_start(wish, option, text);
            wish.set(option, text, "a size", size, |asked| &mut asked.length);
        }
        "-w" | "--window" => wish.set(option, text, "a size", bytes(), |asked| &mut asked.window),
        "-M" | "--set-mss" => {
            let mss = text.parse().ok().and_then(|bytes| Mss::new(bytes).ok());
            wish.set(option, text, "a segment size", mss, |asked| &mut asked.mss);
        }
        "-C" | "--congestion" | "--linux-congestion" => wish.asked.congestion_control = Some(text.to_owned()),
        "-S" | "--tos" => wish.set(option, text, "a TOS byte", tos(text), |asked| &mut asked.dscp),
        "-B" | "--bind" => wish.set(option, text, "an address", text.parse().ok(), |asked| &mut asked.bind),
        "--bind-dev" => wish.asked.device = Some(text.to_owned()),
        "-A" | "--affinity" => {
            let cpu = text.split(',').next().and_then(|cpu| cpu.parse().ok());
            wish.set(option, text, "a processor", cpu, |asked| &mut asked.cpu);
        }
        _ => {}
    }
}

/// iperf3 reads a size up to the first strange letter, as people find out who forget a space: `-l8912-T`.
fn size_at_start(wish: &mut Wish, option: &str, text: &str) -> Option<ByteCount> {
    let end = text.find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '.').unwrap_or(text.len());
    if end < text.len() {
        wish.odd.push((format!("a size after {option}; what follows it is left out"), text.to_owned()));
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

const TAKES_VALUE: [&str; 56] = [
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

    fn wish(line: &str) -> Wish {
        read(&line.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn sizes_are_powers_of_two_and_rates_of_ten() {
        let asked = wish("-c h -b1000m -l 64K -n 13G -w 4M --fq-rate 2.5G -M 1400 -S 0xb8").asked;
        assert_eq!(asked.rate, Some(DataRate::from_bps(1_000_000_000)));
        assert_eq!(asked.length, Some(ByteCount::new(65_536)));
        assert_eq!(asked.limit, Some(Limit::Bytes(ByteCount::new(13 << 30))));
        assert_eq!(asked.pace, Some(DataRate::from_bps(2_500_000_000)));
        assert_eq!(asked.dscp.map(Dscp::get), Some(46));
    }

    #[test]
    fn a_forgotten_space_is_told() {
        let wish = wish("-c h -l8912-T s2 -uR");
        assert_eq!(wish.asked.length, Some(ByteCount::new(8912)));
        assert_eq!((wish.asked.protocol, wish.asked.direction), (Some(Protocol::Udp), Some(Direction::Reverse)));
        let found: Vec<&str> = wish.odd.iter().map(|(_, found)| found.as_str()).collect();
        assert_eq!(found, ["8912-T", "s2"]);
    }

    #[test]
    fn strange_options_are_told() {
        assert_eq!(wish("-c h --turbo -t soon -P").odd.len(), 3);
    }
}
