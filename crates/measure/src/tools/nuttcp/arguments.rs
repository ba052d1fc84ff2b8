//! A specification in nuttcp's words.

use model::spec::{Direction, Limit, Protocol, ReceiveMethod, SendMethod};
use units::ByteCount;

use crate::tools::command_line::{CommandLine, Unable, family, kilobytes};
use crate::tools::{ToolRequest, Version};

/// The program and its arguments.
///
/// # Errors
/// If this version of it cannot do what is asked for.
pub(super) fn arguments(request: &ToolRequest, version: Version) -> Result<Vec<String>, Unable> {
    let ToolRequest { spec, host, port, .. } = request;
    let unable = |option, why| Err(Unable { program: "nuttcp", option, why });
    for (cannot, option, why) in [
        (spec.direction == Direction::Bidirectional, "--bidir", "it tests one direction at a time"),
        (!spec.omit.is_zero(), "--omit", "it leaves nothing out"),
        (spec.pace.is_some(), "--pace", "it does not ask the kernel for pacing"),
        (spec.congestion_control.is_some(), "--cca", "it takes the sender's own congestion control"),
        (spec.place.bind.is_some(), "--bind", "it has no local address to choose"),
        (spec.place.device.is_some(), "--device", "it has no device to choose"),
        (!matches!(spec.send, SendMethod::Auto | SendMethod::Write), "--send", "it can only write"),
        (spec.receive == ReceiveMethod::Discard, "--receive", "it always copies"),
    ] {
        if cannot {
            return unable(option, why);
        }
    }
    let mut words = CommandLine(Vec::new());
    let pin = match spec.place.cpus.as_slice() {
        [] => None,
        [cpu] => Some(*cpu),
        _ => return unable("--cpu", "it is one process, on one CPU"),
    };
    // Before version 7 it cannot pin itself.
    if let Some(cpu) = pin.filter(|_| version.major < 7) {
        words.0.extend(["taskset".to_owned(), "-c".to_owned(), cpu.to_string()]);
    }
    words.flag("nuttcp");
    if let Some(cpu) = pin.filter(|_| version.major >= 7) {
        words.flag(&format!("-xc{cpu}"));
    }
    words.value("-P", port);
    words.flag("-fparse");
    if spec.protocol == Protocol::Udp {
        words.flag("-u");
    }
    if spec.direction == Direction::Reverse {
        words.flag("-r");
    }
    match spec.limit {
        Limit::Time(time) => words.value("-T", &time.as_secs_f64()),
        Limit::Bytes(bytes) => match kilobytes(bytes) {
            Some(amount) => words.value("-n", &format!("{amount}k")),
            None => return unable("--bytes", "it takes multiples of 1 KiB"),
        },
        Limit::Blocks(blocks) => words.value("-n", &blocks),
    }
    // With the option even one stream is reported without retransmissions.
    words.optional("-N", Some(spec.streams).filter(|streams| *streams > 1));
    match (spec.rate, spec.protocol) {
        (Some(rate), _) if rate.bps().is_multiple_of(1000) => words.value("-R", &(rate.bps() / 1000)),
        (Some(_), _) => return unable("--rate", "it takes multiples of 1 kbit/s"),
        // Without it nuttcp sends datagrams at 1 Mbit/s.
        (None, Protocol::Udp) => words.value("-R", &0),
        (None, Protocol::Tcp) => {}
    }
    words.optional("-M", spec.mss.map(|mss| mss.get()));
    if let Some(window) = spec.window {
        let Some(amount) = kilobytes(window) else { return unable("--window", "it takes multiples of 1 KiB") };
        words.value("-w", &amount);
        words.value("-ws", &amount);
    }
    words.optional("-c", spec.dscp.map(|dscp| dscp.get()));
    words.optional("-l", spec.length.map(ByteCount::get));
    words.0.extend(family(spec));
    words.value("-i", &spec.interval.as_secs_f64());
    words.flag(host);
    Ok(words.0)
}

#[cfg(test)]
mod tests {
    use model::spec::TestSpec;

    use super::*;

    fn line(spec: TestSpec, version: Version) -> String {
        let request = ToolRequest { tool: &super::super::Nuttcp, host: "dtn".to_owned(), port: 5201, spec };
        arguments(&request, version).map_or_else(|unable| unable.to_string(), |words| words.join(" "))
    }

    #[test]
    fn a_specification_in_nuttcps_words() {
        let mut spec = TestSpec { streams: 2, window: Some(ByteCount::new(4 << 20)), ..TestSpec::default() };
        spec.place.cpus = vec![3];
        let old = Version { major: 6, minor: 1, patch: 2 };
        assert_eq!(line(spec.clone(), old), "taskset -c 3 nuttcp -P 5201 -fparse -T 10 -N 2 -w 4096 -ws 4096 -i 1 dtn");
        let new = Version { major: 8, minor: 2, patch: 2 };
        assert!(line(spec.clone(), new).starts_with("nuttcp -xc3 -P 5201"));
        spec.congestion_control = Some("bbr".to_owned());
        assert!(line(spec, new).contains("cannot do `--cca`"));
    }
}
