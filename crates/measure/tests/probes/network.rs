//! near ── r1 ── r2 ── far, four network namespaces of a test, in both families. They end with the test.
//!
//! | link | IPv4 | IPv6 |
//! |---|---|---|
//! | near .1, r1 .2 | 10.92.1.0/24 | fd92:1::/64 |
//! | r1 .1, r2 .2 | 10.92.2.0/24 | fd92:2::/64 |
//! | r2 .1, far .2 | 10.92.3.0/24 | fd92:3::/64 |

use std::io::Write;
use std::process::{Command, Stdio};
use std::time::Duration;

use linux::netns::{NetnsRef, with_netns};
use measure::echo::series::series;
use measure::stop::Stop;
use model::probe::echo::EchoSpec;

/// The far host in both families.
pub(crate) const FAR: [&str; 2] = ["10.92.3.2", "fd92:3::2"];
/// The routers as the near host meets them, in both families.
pub(crate) const ROUTERS: [[&str; 2]; 2] = [["10.92.1.2", "10.92.2.2"], ["fd92:1::2", "fd92:2::2"]];

const SCRIPT: &str = "
    set -eu
    mount -t tmpfs none /run
    # An address on trial could not be used for a second or two.
    trial=/proc/sys/net/ipv6/conf
    for host in near r1 r2 far; do
        ip netns add $host
        nsenter --net=/run/netns/$host sh -c \"echo 0 > $trial/all/accept_dad; echo 0 > $trial/default/accept_dad\"
        ip -n $host link set lo up
    done
    link() { # host device number, other device number, net
        ip link add $2 netns $1 type veth peer name $5 netns $4
        for end in $1/$2/$3 $4/$5/$6; do
            host=${end%%/*}; rest=${end#*/}; device=${rest%/*}; number=${rest#*/}
            ip -n $host addr add 10.92.$7.$number/24 dev $device
            ip -n $host addr add fd92:$7::$number/64 dev $device nodad
            ip -n $host link set $device up
        done
    }
    link near n1 1 r1 n1 2 1
    link r1 n2 1 r2 n2 2 2
    link r2 n3 1 far n3 2 3
    ip -n near route add default via 10.92.1.2
    ip -n near route add default via fd92:1::2
    ip -n far route add default via 10.92.3.1
    ip -n far route add default via fd92:3::1
    ip -n r1 route add 10.92.3.0/24 via 10.92.2.2
    ip -n r1 route add fd92:3::/64 via fd92:2::2
    ip -n r2 route add 10.92.1.0/24 via 10.92.2.1
    ip -n r2 route add fd92:1::/64 via fd92:2::1
";

/// Runs the test `name` of `module` again with `body`, as root of fresh user, mount and network namespaces with the
/// network in them.
pub(crate) fn in_network(module: &str, name: &str, body: impl FnOnce()) {
    const MARK: &str = "LINERATE_TEST_NETWORK";
    if std::env::var_os(MARK).is_some() {
        for router in ["r1", "r2"] {
            set(router, "net/ipv4/ip_forward", "1");
            set(router, "net/ipv6/conf/all/forwarding", "1");
        }
        wait_for_ipv6();
        return body();
    }
    let own = std::env::current_exe().unwrap();
    let module = module.split_once("::").map_or(module, |(_, within)| within);
    let script = format!("{SCRIPT}\nexec '{}' --exact {module}::{name} --nocapture", own.display());
    let mut command = Command::new("unshare");
    command.args(["--user", "--map-root-user", "--net", "--mount", "sh", "-c", &script]).env(MARK, "1");
    let ran = command.output().unwrap();
    let printed = String::from_utf8_lossy(&ran.stdout);
    assert!(
        ran.status.success() && printed.contains("1 passed"),
        "in the network (needs user namespaces, veth, nftables): {printed}\n{}",
        String::from_utf8_lossy(&ran.stderr)
    );
}

/// Waits until the kernel has taken note that the links are up, which it does up to a second after they are.
fn wait_for_ipv6() {
    let one = EchoSpec { count: 1, timeout: Duration::from_millis(100), ..EchoSpec::default() };
    let is_there = || on("near", || series(FAR[1], &one, &Stop::default())).summary.rtt.lost.get() == 0;
    assert!((0..600).any(|_| is_there()), "IPv6 does not work in the network after a minute");
}

/// Runs `work` in a host.
pub(crate) fn on<T: Send>(host: &str, work: impl FnOnce() -> T + Send) -> T {
    with_netns(&NetnsRef::parse(host).unwrap(), work).unwrap()
}

/// Sets a kernel setting of a host, by its path under /proc/sys.
pub(crate) fn set(host: &str, path: &str, value: &str) {
    on(host, || std::fs::write(format!("/proc/sys/{path}"), value)).unwrap();
}

/// Runs a tool in a host, and returns what it printed.
pub(crate) fn tool(host: &str, line: &str) -> String {
    on(host, || {
        let mut words = line.split_whitespace();
        let ran = Command::new(words.next().unwrap()).args(words).output().unwrap();
        assert!(ran.status.success(), "{line}: {}", String::from_utf8_lossy(&ran.stderr));
        String::from_utf8(ran.stdout).unwrap()
    })
}

/// Has nftables do something in a host: rules of one chain on a hook.
pub(crate) fn filter(host: &str, hook: &str, rules: &str) {
    on(host, || {
        let mut nft = Command::new("nft").args(["-f", "-"]).stdin(Stdio::piped()).spawn().unwrap();
        let table = format!("table inet test {{ chain {hook} {{ type filter hook {hook} priority 0\n{rules}\n}}\n}}");
        nft.stdin.take().unwrap().write_all(table.as_bytes()).unwrap();
        assert!(nft.wait().unwrap().success(), "{table}");
    });
}

/// The packets that the counter of a host has counted, of the only rule that has one.
pub(crate) fn counted(host: &str) -> u64 {
    let rules = tool(host, "nft list table inet test");
    let count = rules.split("counter packets ").nth(1).and_then(|rest| rest.split(' ').next());
    count.unwrap_or_else(|| panic!("no counter in {rules}")).parse().unwrap()
}
