//! The command line of nuttcp (nuttcp 6.1.2 `main`; 8.2.2 adds to it).

use std::time::Duration;

use model::spec::{Direction, Dscp, Family, Limit, Protocol};
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
        if !word.starts_with('-') {
            // A second host would be the other end of a test between two others.
            match arguments.target {
                None => arguments.target = Some(word.clone()),
                Some(_) => arguments.odd.push(("one host".to_owned(), word.clone())),
            }
            continue;
        }
        let Some((option, attached)) = VALUED.iter().find_map(|option| Some((*option, word.strip_prefix(option)?)))
        else {
            flag(&mut arguments, word);
            continue;
        };
        let value = if attached.is_empty() { words.next().map(String::as_str) } else { Some(attached) };
        match value {
            Some(value) => with_value(&mut arguments, option, value),
            None => arguments.odd.push((format!("a value after {option}"), String::new())),
        }
    }
    arguments
}

fn flag(arguments: &mut Arguments, word: &str) {
    match word {
        "-u" => arguments.options.protocol = Some(Protocol::Udp),
        "-t" => arguments.options.direction = Some(Direction::Forward),
        "-r" => arguments.options.direction = Some(Direction::Reverse),
        "-4" => arguments.options.family = Some(Family::Ipv4),
        "-6" => arguments.options.family = Some(Family::Ipv6),
        _ if FLAGS.contains(&word) || word.starts_with("-f") || word.starts_with("-b") => {}
        _ => arguments.odd.push(("an option of nuttcp".to_owned(), word.to_owned())),
    }
}

fn with_value(arguments: &mut Arguments, option: &str, text: &str) {
    match option {
        "-T" => arguments.set(option, text, "a time", time(text).map(Limit::Time), |options| &mut options.limit),
        "-i" => arguments.set(option, text, "a time", time(text), |options| &mut options.interval),
        "-n" => arguments.set(option, text, "an amount", amount(text), |options| &mut options.limit),
        "-N" => arguments.set(option, text, "a number of streams", text.parse().ok(), |options| &mut options.streams),
        "-R" | "-Ri" => {
            if let Some(rate) = text.split('/').next().and_then(scaled_rate).filter(|rate| !rate.is_zero()) {
                arguments.options.rate = Some(rate);
            } else if text != "0" {
                arguments.odd.push((format!("a rate after {option}"), text.to_owned()));
            }
        }
        "-l" => arguments
            .set(option, text, "a size", scaled(text, 1024, 1).map(ByteCount::new), |options| &mut options.length),
        // In KB where no letter says otherwise.
        "-w" => {
            arguments.set(option, text, "a size", scaled(text, 1024, 1024).map(ByteCount::new), |options| {
                &mut options.window
            });
        }
        "-M" => {
            let mss = text.parse().ok().and_then(|bytes| Mss::new(bytes).ok());
            arguments.set(option, text, "a segment size", mss, |options| &mut options.mss);
        }
        "-c" => arguments.set(option, text, "a code point", code_point(text), |options| &mut options.dscp),
        "-xc" => {
            let cpu = text.split('/').next().and_then(|cpu| cpu.parse().ok());
            arguments.set(option, text, "a CPU", cpu, |options| &mut options.cpu);
        }
        "-I" => arguments.tag = Some(text.to_owned()),
        _ => {}
    }
}

/// In steps of 1000, in units of 1000 bit/s where no letter says otherwise.
fn scaled_rate(text: &str) -> Option<DataRate> {
    scaled(text, 1000, 1000).map(DataRate::from_bps)
}

fn time(text: &str) -> Option<Duration> {
    let (number, factor) = match text.strip_suffix(['m', 'M']) {
        Some(number) => (number, 60),
        None => text.strip_suffix(['h', 'H']).map_or((text, 1), |number| (number, 3_600)),
    };
    seconds(number)?.checked_mul(factor)
}

/// Buffers, or with a letter bytes.
fn amount(text: &str) -> Option<Limit> {
    match text.parse() {
        Ok(buffers) => Some(Limit::Blocks(buffers)),
        Err(_) => scaled(text, 1024, 1).map(ByteCount::new).map(Limit::Bytes),
    }
}

fn code_point(text: &str) -> Option<Dscp> {
    match text.strip_suffix(['t', 'T']) {
        Some(tos) => Dscp::new(tos.parse::<u8>().ok()? >> 2).ok(),
        None => Dscp::new(text.parse().ok()?).ok(),
    }
}

/// Options with a value, longer ones before their own beginnings.
const VALUED: [&str; 18] = [
    "--idle-data-timeout",
    "-xc",
    "-xP",
    "-Ri",
    "-ws",
    "-P",
    "-p",
    "-T",
    "-i",
    "-n",
    "-N",
    "-R",
    "-l",
    "-w",
    "-M",
    "-c",
    "-I",
    "-m",
];

const FLAGS: [&str; 15] =
    ["-o", "-v", "-vv", "-V", "-F", "-D", "-B", "-S", "-1", "-s", "-a", "-d", "-j", "--nofork", "--no3rdparty"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_follow_nuttcps_own_rules() {
        let line = "-r -T 2m -i0.5 -w256 -l32K -R50m -n 1000m -c 8t -fparse -br host";
        let arguments = read(&line.split_whitespace().map(str::to_owned).collect::<Vec<_>>());
        let options = arguments.options;
        assert_eq!(options.direction, Some(Direction::Reverse));
        assert_eq!(options.interval, Some(Duration::from_millis(500)));
        assert_eq!(options.window, Some(ByteCount::new(262_144)));
        assert_eq!(options.rate, Some(DataRate::from_bps(50_000_000)));
        assert_eq!(options.limit, Some(Limit::Bytes(ByteCount::new(1000 << 20))));
        assert_eq!(options.dscp.map(Dscp::get), Some(2));
        assert_eq!((arguments.target.as_deref(), arguments.odd.len()), (Some("host"), 0));
    }
}
