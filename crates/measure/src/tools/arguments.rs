//! What a specification is in a program's words.

use std::time::Duration;

use model::spec::{Direction, Family, Limit, Protocol, ReceiveMethod, SendMethod, TestSpec};
use units::ByteCount;

use super::{Errand, Tool, Version};

/// A program cannot do what an option asks for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{program} cannot do `{option}`: {why}")]
pub struct Unable {
    /// The program.
    pub program: &'static str,
    /// The option of `linerate test`.
    pub option: &'static str,
    /// Why not.
    pub why: &'static str,
}

/// The program and its arguments.
///
/// # Errors
/// If the program cannot do what is asked for.
pub fn of(errand: &Errand, version: Version) -> Result<Vec<String>, Unable> {
    match errand.tool {
        Tool::Iperf3 => iperf3(errand, version),
        Tool::Nuttcp => nuttcp(errand, version),
    }
}

/// Arguments as they are put together.
struct Words(Vec<String>);

impl Words {
    fn flag(&mut self, option: &str) {
        self.0.push(option.to_owned());
    }

    fn value(&mut self, option: &str, value: &impl ToString) {
        self.0.extend([option.to_owned(), value.to_string()]);
    }

    fn optional(&mut self, option: &str, value: Option<impl ToString>) {
        if let Some(value) = value {
            self.value(option, &value);
        }
    }
}

fn iperf3(errand: &Errand, version: Version) -> Result<Vec<String>, Unable> {
    let Errand { spec, host, port, .. } = errand;
    let unable = |option, why| Err(Unable { program: "iperf3", option, why });
    let mut words = Words(vec!["iperf3".to_owned()]);
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
        _ => return unable("--cpu", "it pins all its streams to one processor"),
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

fn nuttcp(errand: &Errand, version: Version) -> Result<Vec<String>, Unable> {
    let Errand { spec, host, port, .. } = errand;
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
    let mut words = Words(Vec::new());
    let pin = match spec.place.cpus.as_slice() {
        [] => None,
        [cpu] => Some(*cpu),
        _ => return unable("--cpu", "it is one process, on one processor"),
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

fn family(spec: &TestSpec) -> Option<String> {
    spec.family.map(|family| match family {
        Family::Ipv4 => "-4".to_owned(),
        Family::Ipv6 => "-6".to_owned(),
    })
}

fn whole_seconds(time: Duration) -> Option<u64> {
    (time.subsec_nanos() == 0).then_some(time.as_secs())
}

fn kilobytes(bytes: ByteCount) -> Option<u64> {
    bytes.get().is_multiple_of(1024).then_some(bytes.get() / 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    const OLD: Version = Version { major: 3, minor: 12, patch: 0 };

    fn errand(tool: Tool, spec: TestSpec) -> Errand {
        Errand { tool, host: "dtn".to_owned(), port: 5201, spec }
    }

    fn line(tool: Tool, spec: TestSpec, version: Version) -> String {
        of(&errand(tool, spec), version).map_or_else(|unable| unable.to_string(), |words| words.join(" "))
    }

    #[test]
    fn a_specification_in_iperf3s_words() {
        let usual = line(Tool::Iperf3, TestSpec::default(), OLD);
        assert_eq!(usual, "iperf3 -c dtn -p 5201 -J -t 10 -P 1 -i 1 --connect-timeout 5000");
        let flood = TestSpec { protocol: Protocol::Udp, direction: Direction::Reverse, ..TestSpec::default() };
        assert!(line(Tool::Iperf3, flood, OLD).contains("-u -R -t 10 -P 1 -b 0"));
        let half = TestSpec { limit: Limit::Time(Duration::from_millis(1500)), ..TestSpec::default() };
        assert_eq!(line(Tool::Iperf3, half, OLD), "iperf3 cannot do `--time`: it takes whole seconds");
    }

    #[test]
    fn options_that_need_a_newer_iperf3_are_refused_by_name() {
        let discard = TestSpec { receive: ReceiveMethod::Discard, ..TestSpec::default() };
        assert!(line(Tool::Iperf3, discard.clone(), OLD).contains("`--receive`: only iperf3 3.19"));
        assert!(line(Tool::Iperf3, discard, SKIP_RX_COPY).contains("--skip-rx-copy"));
    }

    #[test]
    fn a_specification_in_nuttcps_words() {
        let mut spec = TestSpec { streams: 2, window: Some(ByteCount::new(4 << 20)), ..TestSpec::default() };
        spec.place.cpus = vec![3];
        let old = Version { major: 6, minor: 1, patch: 2 };
        assert_eq!(
            line(Tool::Nuttcp, spec.clone(), old),
            "taskset -c 3 nuttcp -P 5201 -fparse -T 10 -N 2 -w 4096 -ws 4096 -i 1 dtn"
        );
        let new = Version { major: 8, minor: 2, patch: 2 };
        assert!(line(Tool::Nuttcp, spec.clone(), new).starts_with("nuttcp -xc3 -P 5201"));
        spec.congestion_control = Some("bbr".to_owned());
        assert!(line(Tool::Nuttcp, spec, new).contains("cannot do `--cca`"));
    }
}
