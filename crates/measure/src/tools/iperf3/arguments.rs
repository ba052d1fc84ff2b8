//! A specification in iperf3's words.

use std::time::Duration;

use model::spec::{Direction, Limit, Protocol, ReceiveMethod, SendMethod};
use units::ByteCount;

use crate::tools::command_line::{CommandLine, Unable, family, whole_seconds};
use crate::tools::{ToolRequest, Version};

/// The program and its arguments.
///
/// # Errors
/// If this version of it cannot do what is asked for.
pub(super) fn arguments(request: &ToolRequest, version: Version) -> Result<Vec<String>, Unable> {
    let ToolRequest { spec, host, port, .. } = request;
    let unable = |option, why| Err(Unable { program: "iperf3", option, why });
    let mut words = CommandLine(vec!["iperf3".to_owned()]);
    words.value("-c", host);
    words.value("-p", port);
    words.flag("-J");
    if spec.protocol == Protocol::Udp {
        words.flag("-u");
    }
    match spec.direction {
        Direction::Forward => {}
        Direction::Reverse => words.flag("-R"),
        Direction::Bidirectional => words.flag("--bidir"),
    }
    match spec.limit {
        Limit::Time(time) => match whole_seconds(time) {
            Some(seconds) => words.value("-t", &seconds),
            None => return unable("--time", "it takes whole seconds"),
        },
        Limit::Bytes(bytes) => words.value("-n", &bytes.get()),
        Limit::Blocks(blocks) => words.value("-k", &blocks),
    }
    match whole_seconds(spec.omit) {
        Some(0) => {}
        Some(seconds) => words.value("-O", &seconds),
        None => return unable("--omit", "it takes whole seconds"),
    }
    words.value("-P", &spec.streams);
    match (spec.rate, spec.protocol) {
        (Some(rate), _) => words.value("-b", &rate.bps()),
        // Without it iperf3 sends datagrams at 1 Mbit/s.
        (None, Protocol::Udp) => words.value("-b", &0),
        (None, Protocol::Tcp) => {}
    }
    words.optional("--fq-rate", spec.pace.map(|rate| rate.bps()));
    words.optional("-C", spec.congestion_control.as_ref());
    words.optional("-M", spec.mss.map(|mss| mss.get()));
    words.optional("-w", spec.window.map(ByteCount::get));
    words.optional("-S", spec.dscp.map(|dscp| u16::from(dscp.get()) << 2));
    words.optional("-l", spec.length.map(ByteCount::get));
    match spec.send {
        SendMethod::Auto | SendMethod::Write => {}
        SendMethod::Sendfile if spec.protocol == Protocol::Tcp => words.flag("-Z"),
        SendMethod::Sendfile | SendMethod::Splice | SendMethod::Zerocopy => {
            return unable("--send", "it can only write, or with TCP sendfile");
        }
    }
    match spec.receive {
        ReceiveMethod::Auto | ReceiveMethod::Copy => {}
        ReceiveMethod::Discard if version < SKIP_RX_COPY => {
            return unable("--receive", "only iperf3 3.19 and later can");
        }
        // Its count of datagrams' bytes is wrong then, up to 3.21 at least (esnet/iperf issue 2075).
        ReceiveMethod::Discard if spec.protocol == Protocol::Udp => {
            return unable("--receive", "it miscounts datagrams");
        }
        ReceiveMethod::Discard => words.flag("--skip-rx-copy"),
    }
    words.0.extend(family(spec));
    words.optional("-B", spec.place.bind);
    words.optional("--bind-dev", spec.place.device.as_ref());
    match spec.place.cpus.as_slice() {
        [] => {}
        [cpu] => words.value("-A", &cpu),
        _ => return unable("--cpu", "it pins all its streams to one CPU"),
    }
    if spec.interval < LEAST_INTERVAL {
        return unable("--interval", "it reports every 100 ms or slower");
    }
    words.value("-i", &spec.interval.as_secs_f64());
    words.value("--connect-timeout", &spec.connect_timeout.as_millis());
    Ok(words.0)
}

/// `--skip-rx-copy` came with 3.19.
const SKIP_RX_COPY: Version = Version { major: 3, minor: 19, patch: 0 };
/// iperf3's `MIN_INTERVAL` (src/iperf.h, 3.21).
const LEAST_INTERVAL: Duration = Duration::from_millis(100);

#[cfg(test)]
mod tests {
    use model::spec::TestSpec;

    use super::*;

    const OLD: Version = Version { major: 3, minor: 12, patch: 0 };

    fn line(spec: TestSpec, version: Version) -> String {
        let request = ToolRequest { tool: &super::super::Iperf3, host: "dtn".to_owned(), port: 5201, spec };
        arguments(&request, version).map_or_else(|unable| unable.to_string(), |words| words.join(" "))
    }

    #[test]
    fn a_specification_in_iperf3s_words() {
        let usual = line(TestSpec::default(), OLD);
        assert_eq!(usual, "iperf3 -c dtn -p 5201 -J -t 10 -P 1 -i 1 --connect-timeout 5000");
        let flood = TestSpec { protocol: Protocol::Udp, direction: Direction::Reverse, ..TestSpec::default() };
        assert!(line(flood, OLD).contains("-u -R -t 10 -P 1 -b 0"));
        let half = TestSpec { limit: Limit::Time(Duration::from_millis(1500)), ..TestSpec::default() };
        assert_eq!(line(half, OLD), "iperf3 cannot do `--time`: it takes whole seconds");
    }

    #[test]
    fn options_that_need_a_newer_iperf3_are_refused_by_name() {
        let discard = TestSpec { receive: ReceiveMethod::Discard, ..TestSpec::default() };
        assert!(line(discard.clone(), OLD).contains("`--receive`: only iperf3 3.19"));
        assert!(line(discard, SKIP_RX_COPY).contains("--skip-rx-copy"));
    }
}
