//! The command line of iperf2 (src/Settings.cpp, 2.0.5 to 2.2.1), most of which iperf3 has kept.

use model::spec::Protocol;

use super::{Arguments, iperf3};

/// Reads the arguments after the program's name.
pub(crate) fn read(words: &[String]) -> Arguments {
    let mut own = Vec::new();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        match word.as_str() {
            "-r"
            | "-d"
            | "-e"
            | "--tradeoff"
            | "--dualtest"
            | "--enhanced"
            | "--trip-times"
            | "--realtime"
            | "-z"
            | "--tcp-drain"
            | "--tcp-write-prefetch"
            | "--sum-only"
            | "--histograms"
            | "--no-connect-sync" => {}
            "-y" | "--reportstyle" | "-L" | "-x" | "-T" | "--ttl" => {
                words.next();
            }
            // The device may stand behind the address: `-B 192.0.2.1%eth0`.
            "-B" | "--bind" => {
                own.push(word.clone());
                own.extend(words.next().map(|bound| bound.split('%').next().unwrap_or(bound).to_owned()));
            }
            // `-Z cubic` is iperf3's `-C cubic`.
            "-Z" | "--linux-congestion" => own.push("-C".to_owned()),
            _ => own.push(word.clone()),
        }
    }
    let mut arguments = iperf3::read(&own);
    if arguments.options.rate.is_some() {
        arguments.options.protocol = Some(Protocol::Udp);
    }
    for (expected, _) in &mut arguments.odd {
        *expected = expected.replace("an option of iperf3", "an option of iperf");
    }
    arguments
}
