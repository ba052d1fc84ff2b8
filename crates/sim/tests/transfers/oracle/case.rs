//! A case as testdata/oracle/cases.txt has it, and the transfers that the simulator is asked for.

use std::collections::HashMap;
use std::time::Duration;

use path::{ElementSpec, PathElement, Seed};
use sim::Kernel;
use sim::receiver::ReceiverSpec;
use sim::sender::{Amount, Pacing, SenderSpec};
use sim::shared::{Shared, Transfer};
use units::{ByteCount, DataRate, Mtu, Percent};

pub(crate) struct Case {
    pub(crate) name: String,
    kernel: Kernel,
    settings: HashMap<String, String>,
}

impl Case {
    pub(crate) fn read(block: &str) -> Self {
        let line = block.lines().find_map(|line| line.strip_prefix("case ")).unwrap();
        let settings = line.split(' ').map(|word| word.split_once('=').unwrap());
        let settings: HashMap<String, String> = settings.map(|(key, value)| (key.into(), value.into())).collect();
        let kernel = block.lines().find_map(|line| line.strip_prefix("kernel ")).unwrap().parse().unwrap();
        Self { name: settings["name"].clone(), kernel, settings }
    }

    fn text(&self, key: &str) -> Option<&str> {
        self.settings.get(key).map(String::as_str)
    }

    fn number(&self, key: &str, usual: u64) -> u64 {
        self.text(key).map_or(usual, |value| value.parse().unwrap())
    }

    /// `fit`, or `apart`: not looked at while a model is changed.
    pub(crate) fn set(&self) -> &str {
        self.text("set").unwrap()
    }

    pub(crate) fn algorithm(&self) -> &str {
        self.text("cca").unwrap()
    }

    pub(crate) fn rtt(&self) -> Duration {
        Duration::from_millis(self.number("rtt", 100))
    }

    pub(crate) fn time(&self) -> Duration {
        Duration::from_secs(self.number("secs", 10))
    }

    /// Whether which packets are lost is drawn, so that two runs of a kernel differ.
    pub(crate) fn is_random(&self) -> bool {
        self.text("loss").is_some_and(|loss| loss.starts_with("netrand"))
    }

    pub(crate) fn transfers(&self, seed: u64) -> Shared {
        let transfer = Transfer {
            sender: self.sender(),
            receiver: self.receiver(),
            amount: Amount::Time(self.time()),
            start: Duration::ZERO,
        };
        let flows = usize::try_from(self.number("flows", 1)).unwrap();
        Shared {
            forward: self.forward(),
            reverse: elements(&format!("{{ delay = {{ time = \"{}ms\" }} }}", self.rtt().as_millis())),
            transfers: vec![transfer; flows],
            seed: Seed(seed),
            time_limit: Duration::from_secs(600),
            sample_every: Duration::from_millis(50),
        }
    }

    fn sender(&self) -> SenderSpec {
        let mtu = Mtu::new(u32::try_from(self.number("mtu", 1_500)).unwrap()).unwrap();
        let linux = SenderSpec::linux(self.algorithm().parse().unwrap(), mtu);
        SenderSpec {
            initial_window: u32::try_from(self.number("initcwnd", 10)).unwrap(),
            buffer: ByteCount::new(self.number("wmem", 32 << 20)),
            adapter_rate: DataRate::from_bps(self.number("nic", 100_000) * 1_000),
            pacing: if self.text("fq").is_some() { Pacing::Fq } else { Pacing::Algorithm },
            ecn: true,
            kernel: self.kernel,
            ..linux
        }
    }

    fn receiver(&self) -> ReceiverSpec {
        ReceiverSpec {
            buffer_default: ByteCount::new(self.number("rmem_default", 131_072)),
            buffer: ByteCount::new(self.number("rmem", 64 << 20)),
            // Nothing merges segments in the guest: 1,448 bytes of each 2,304 that they take, and a little less.
            window_percent: if self.kernel >= Kernel::V6_6 {
                Percent::of::<60>()
            } else {
                self.kernel.window_percent()
            },
            ..ReceiverSpec::linux()
        }
    }

    /// As the guest builds it: a policer, `tbf` with the queue and with the burst's traffic in it, losses.
    fn forward(&self) -> Vec<PathElement> {
        let mut chain = Vec::new();
        if let Some((rate, burst)) = self.text("police").and_then(|police| police.split_once(',')) {
            // The kernel's policer counts packets without the header of Ethernet, ours with it.
            let wire = |bytes: &str| bytes.parse::<u64>().unwrap() * 1_514 / 1_500;
            let (rate, burst) = (wire(rate), wire(burst));
            chain.push(format!("{{ policer = {{ rate = \"{rate}kbit/s\", burst = \"{burst}B\" }} }}"));
        }
        chain.push(self.bottleneck());
        match self.text("loss").and_then(|loss| loss.split_once(',')) {
            Some(("determ", every)) => chain.push(format!("{{ loss = {{ every-nth = {every} }} }}")),
            Some((_, one_in)) => {
                let share = 1.0 / one_in.parse::<f64>().unwrap();
                chain.push(format!("{{ loss = {{ random = {share} }} }}"));
            }
            None => {}
        }
        elements(&chain.join(", "))
    }

    fn bottleneck(&self) -> String {
        let (rate, mtu) = (self.number("rate", 20_000), self.number("mtu", 1_500));
        let limit = self.number("queue", 250_000);
        let queue = match self.text("marks").and_then(|marks| marks.split_once(',')) {
            Some((target, interval)) => {
                let ecn = self.text("ecn") != Some("no");
                format!("{{ codel = {{ target = \"{target}ms\", interval = \"{interval}ms\", ecn = {ecn} }} }}")
            }
            None => format!("{{ bytes = \"{limit}B\" }}"),
        };
        let burst = self.text("burst").map(|burst| {
            let [start, rate, length, bytes]: [u64; 4] =
                burst.split(',').map(|number| number.parse().unwrap()).collect::<Vec<_>>().try_into().unwrap();
            // The burst counts from the start of iperf3, whose connection of control takes six RTTs.
            let rtt_ms = units::duration::millis(self.rtt());
            let start = start + rtt_ms - 6 * rtt_ms;
            format!(
                "cross = {{ packet-bytes = {}, bursts = [{{ rate = \"{rate}kbit/s\", start = \"{start}ms\", length = \"{length}ms\" }}] }}",
                bytes + 42
            )
        });
        match burst {
            // The limit of `tbf` counts the packet that waits for tokens, that of a port not the one that is being sent.
            Some(cross) => {
                let bytes = limit - mtu - 14;
                format!("{{ port = {{ rate = \"{rate}kbit/s\", queue = {{ bytes = \"{bytes}B\" }}, {cross} }} }}")
            }
            None => {
                let bucket = mtu + 200;
                format!("{{ shaper = {{ rate = \"{rate}kbit/s\", burst = \"{bucket}B\", queue = {queue} }} }}")
            }
        }
    }
}

fn elements(text: &str) -> Vec<PathElement> {
    #[derive(serde::Deserialize)]
    struct Elements {
        chain: Vec<ElementSpec>,
    }
    let read: Elements = toml::from_str(&format!("chain = [{text}]")).unwrap_or_else(|error| panic!("{text}: {error}"));
    read.chain.into_iter().map(PathElement::from).collect()
}
