//! Two hosts and a router between them, as three network namespaces that a test makes and takes away.
//!
//! near (10.91.1.1) ── router (10.91.1.2 │ 10.91.2.2) ── far (10.91.2.1). A second path, with a delay, goes through a
//! VXLAN device in either host and a relay in the router: near 10.91.3.1, far 10.91.3.2. The next network of the process begins with 10.92.

use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::Duration;

use super::truth_delay::Relay;

/// The network of one test.
pub struct Network {
    /// Namespace of the near host.
    pub near: String,
    /// Namespace of the router.
    pub router: String,
    /// Namespace of the far host.
    pub far: String,
    /// What the addresses of this network begin with: the kernel's events of TCP are of the whole machine, and say only addresses.
    prefix: String,
    relay: Option<Relay>,
    _turn: Turn,
}

/// Who may use the CPUs meanwhile. A path that is slow leaves them idle most of the time, and a few of those disturb each other less
/// than one that nothing slows.
#[expect(dead_code, reason = "held, not read")]
enum Turn {
    Shared(RwLockReadGuard<'static, ()>),
    Alone(RwLockWriteGuard<'static, ()>),
}

static CPUS: RwLock<()> = RwLock::new(());
static NEXT: AtomicU32 = AtomicU32::new(0);

impl Network {
    /// Makes the three namespaces and their links, for a transfer that something keeps slow. Other tests have theirs meanwhile.
    pub fn new() -> Self {
        Self::in_turn(Turn::Shared(CPUS.read().unwrap_or_else(PoisonError::into_inner)))
    }

    /// The same for a transfer that takes what the CPUs have: no other network exists meanwhile.
    pub fn alone() -> Self {
        Self::in_turn(Turn::Alone(CPUS.write().unwrap_or_else(PoisonError::into_inner)))
    }

    fn in_turn(turn: Turn) -> Self {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = |host: &str| format!("truth-{host}-{}-{number}", std::process::id());
        let prefix = format!("10.{}", 91 + number % 100);
        let [near, router, far] = ["near", "router", "far"].map(name);
        let network = Self { near, router, far, prefix, relay: None, _turn: turn };
        for host in [&network.near, &network.router, &network.far] {
            tool(&format!("ip netns add {host}"));
            tool(&format!("ip -n {host} link set lo up"));
        }
        network.link(&network.near, 1, "to-near");
        network.link(&network.far, 2, "to-far");
        network.set(&network.router, "net.ipv4.ip_forward", "1");
        network
    }

    /// The same with a path that holds every packet for 10 ms.
    pub fn with_delay() -> Self {
        Self::with_delay_of(Duration::from_millis(10))
    }

    /// The same with a path that holds every packet for so long.
    pub fn with_delay_of(one_way: Duration) -> Self {
        let mut network = Self::new();
        let prefix = &network.prefix;
        for (host, number) in [(&network.near, 1), (&network.far, 2)] {
            tool(&format!(
                "ip -n {host} link add delayed type vxlan id 7 local {prefix}.{number}.1 remote {prefix}.{number}.2 dstport 4789"
            ));
            // The relay reads frames as bytes: a checksum left to the device would never be made.
            network.within(host, "ethtool -K delayed tx off");
            tool(&format!("ip -n {host} addr add {prefix}.3.{number}/24 dev delayed"));
            tool(&format!("ip -n {host} link set delayed mtu 1450 up"));
        }
        let hosts = [1, 2].map(|number| format!("{prefix}.{number}.1").parse().unwrap());
        network.relay = Some(Relay::start(&network.router, hosts, one_way));
        network
    }

    /// The address of the far host by the path with a delay.
    pub fn far_delayed(&self) -> String {
        format!("{}.3.2", self.prefix)
    }

    /// Arguments of a test of the direct path.
    pub fn to_far(&self, options: &str) -> String {
        format!("{}.2.1 {options}", self.prefix)
    }

    /// Arguments of a test of the path with a delay.
    pub fn to_far_delayed(&self, options: &str) -> String {
        format!("{} {options}", self.far_delayed())
    }

    fn link(&self, host: &str, number: u32, end: &str) {
        let (router, prefix) = (&self.router, &self.prefix);
        let gateway = format!("{prefix}.{number}.2");
        tool(&format!("ip link add dev0 netns {host} type veth peer name {end} netns {router}"));
        tool(&format!("ip -n {router} addr add {gateway}/24 dev {end}"));
        tool(&format!("ip -n {router} link set {end} up"));
        tool(&format!("ip -n {host} addr add {prefix}.{number}.1/24 dev dev0"));
        tool(&format!("ip -n {host} link set dev0 up"));
        tool(&format!("ip -n {host} route add default via {gateway}"));
    }

    /// Lets one CPU carry on what the devices of the direct way receive. A veth device hands packets to the CPU that sends them: one
    /// whose sender has moved overtakes what waits at the CPU before, and the sender takes that for loss, of which the network
    /// has none.
    pub fn keep_order(&self) {
        let steering = "for file in /sys/class/net/*/queues/rx-0/rps_cpus; do echo 1 > $file; done";
        for host in [&self.near, &self.router, &self.far] {
            output(Command::new("ip").args(["netns", "exec", host, "sh", "-c", steering]));
        }
    }

    /// Runs a tool in one of the namespaces.
    pub fn within(&self, host: &str, command: &str) -> String {
        tool(&format!("ip netns exec {host} {command}"))
    }

    /// Sets a kernel setting of one of the namespaces.
    pub fn set(&self, host: &str, name: &str, value: &str) {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", host, "sysctl", "-qw", &format!("{name}={value}")]);
        output(&mut command);
    }

    /// Drops five of a thousand large packets of `protocol` that pass the hook, and counts them. The protocol is that of
    /// the test: the two ends also talk to each other over TCP, and what they lose there is sent again.
    pub fn lose(&self, host: &str, hook: &str, protocol: &str) {
        self.within(host, "nft add table inet truth");
        self.nft(host, &format!("add chain inet truth losing {{ type filter hook {hook} priority 0; }}"));
        let large = format!("meta l4proto {protocol} meta length > 1000");
        self.nft(host, &format!("add rule inet truth losing {large} numgen random mod 1000 < 5 counter drop"));
    }

    /// Packets that [`lose`](Self::lose) has dropped.
    pub fn lost(&self, host: &str) -> u64 {
        let rules = self.within(host, "nft list table inet truth");
        let count = rules.split("counter packets ").nth(1).and_then(|rest| rest.split(' ').next());
        count.unwrap_or_else(|| panic!("no counter in {rules}")).parse().unwrap()
    }

    fn nft(&self, host: &str, rule: &str) {
        output(Command::new("ip").args(["netns", "exec", host, "nft", rule]));
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        self.relay.take();
        for host in [&self.near, &self.router, &self.far] {
            // It fails only where making it failed.
            let _ = Command::new("ip").args(["netns", "del", host]).status();
        }
    }
}

/// Runs a tool, and returns what it printed.
pub fn tool(line: &str) -> String {
    let mut words = line.split_whitespace();
    let mut command = Command::new(words.next().unwrap_or_default());
    output(command.args(words))
}

fn output(command: &mut Command) -> String {
    let ran = command.output();
    let ran =
        ran.unwrap_or_else(|error| panic!("{command:?} cannot be started ({error}); `scripts/setup test` installs it"));
    let error = String::from_utf8_lossy(&ran.stderr);
    assert!(
        ran.status.success(),
        "{command:?} failed; this test needs root and the kernel's veth, vxlan, tbf: {error}"
    );
    String::from_utf8_lossy(&ran.stdout).into_owned()
}
