//! Misconfigurations of the catalogue, each planted on a host of its own: the audit names it first, the fix mends it, the
//! undo brings every setting back to the byte, and the commands that `--dry-run` prints do exactly the same.

use crate::actors::world::World;

/// One misconfiguration.
struct Plant {
    /// The rule that names it.
    rule: &'static str,
    /// What is wanted of the host.
    asked: &'static str,
    /// What plants it. `$L` is this program, `$F` a folder.
    plant: &'static str,
}

const fn plant(rule: &'static str, asked: &'static str, plant: &'static str) -> Plant {
    Plant { rule, asked, plant }
}

const SYSCTLS: [Plant; 12] = [
    plant(
        "BUF-RMEM-BDP",
        "--role receiver --rtt 50ms --target-rate 10Gbit/s",
        "sysctl -qw net.ipv4.tcp_rmem='4096 131072 6291456'",
    ),
    plant(
        "BUF-WMEM-BDP",
        "--role sender --rtt 50ms --target-rate 10Gbit/s",
        "sysctl -qw net.ipv4.tcp_wmem='4096 16384 4194304'",
    ),
    plant("BUF-MODERATE", "--role receiver", "sysctl -qw net.ipv4.tcp_moderate_rcvbuf=0"),
    plant("BUF-WINSCALE", "--role vm-host --rtt 2ms", "sysctl -qw net.ipv4.tcp_window_scaling=0"),
    plant("BUF-NOTSENT", "--role sender --target-rate 25Gbit/s", "sysctl -qw net.ipv4.tcp_notsent_lowat=131072"),
    plant("TCP-ECN-ACTIVE", "--role sender", "sysctl -qw net.ipv4.tcp_ecn=1"),
    plant("TCP-ECN-FALLBACK", "--role vm-host", "sysctl -qw net.ipv4.tcp_ecn=1 net.ipv4.tcp_ecn_fallback=0"),
    plant("TCP-SACK", "--role vm-host --rtt 20ms", "sysctl -qw net.ipv4.tcp_sack=0"),
    plant("TCP-TIMESTAMPS", "--role vm-host --target-rate 10Gbit/s", "sysctl -qw net.ipv4.tcp_timestamps=0"),
    plant(
        "TCP-IDLE-RESTART",
        "--role vm-host --rtt 60ms --deadline 10s --persistent",
        "sysctl -qw net.ipv4.tcp_slow_start_after_idle=1",
    ),
    plant("TCP-PMTUD-OFF", "--role vm-host", "sysctl -qw net.ipv4.ip_no_pmtu_disc=1"),
    plant(
        "TCP-NETNS",
        "--role overlay-node",
        "mkfifo $F/hold $F/made; \
         { sleep infinity > $F/hold & unshare -n sh -c 'ip link set lo up; ip link add in type veth peer name out; \
           ip link set in up; ip link set out up; sysctl -qw net.ipv4.tcp_ecn=0 net.ipv4.tcp_mtu_probing=1; \
           echo > '$F'/made; read end' < $F/hold & }; read made < $F/made",
    ),
];

const DEVICES: [Plant; 9] = [
    plant("TCP-MTU-PROBING", "--role vm-host", "ip link set west mtu 9000 && ip link set east mtu 9000"),
    plant(
        "MTU-CHAIN",
        "--role vm-host",
        "ip link add br0 type bridge && ip link set br0 mtu 1450 && ip link set br0 mtu 1500 && ip link set west mtu 1400 master br0",
    ),
    plant("NIC-TSO-OFF", "--role sender", "record && ethtool -K west tx-tcp-segmentation off"),
    plant("NIC-GRO-OFF", "--role receiver", "record && ethtool -K west rx-gro off"),
    plant(
        "NIC-TUNNEL-SEG",
        "--role vm-host",
        "record && ip link add vx0 mtu 1450 type vxlan id 42 local 192.0.2.1 remote 192.0.2.2 dstport 4789 dev west && \
         ip link set vx0 up && ethtool -K west tx-udp_tnl-segmentation off",
    ),
    plant(
        "QD-LEFTOVER",
        "--role vm-host --baseline $F/better-days.json",
        "record && $L host snapshot --json --out $F/better-days.json > /dev/null && \
         tc qdisc add dev west root handle 7: tbf rate 100mbit burst 32kb limit 300000",
    ),
    plant(
        "PATH-RPFILTER",
        "--role vm-host",
        "record && ip link add north type veth peer name south && ip link set south up && ip address add 198.51.100.1/24 dev north && ip link set north up && \
         ip route add default via 192.0.2.2 && ip route add default via 198.51.100.2 metric 50 && \
         sysctl -qw net.ipv4.conf.west.rp_filter=1 net.ipv4.conf.all.rp_filter=0",
    ),
    plant(
        "TCP-INITCWND",
        "--role sender --rtt 50ms --target-rate 10Mbit/s --deadline 600ms",
        "ip route add default via 192.0.2.2 dev west src 192.0.2.1 metric 7 initcwnd 2 rto_min 100ms",
    ),
    plant(
        "SITE-TXQLEN",
        "--role vm-host --rules $F/rules",
        "record && ip link set west txqueuelen 100 && tc qdisc add dev west root pfifo limit 77",
    ),
];

/// A pair of devices, facts that make the one of them hardware, and rules of a site's own.
const FURNISHED: &str = "ip link add west numtxqueues 2 numrxqueues 2 type veth peer name east; ip link set west up; \
    ip link set east up; ip address add 192.0.2.1/24 dev west; mkdir $F/rules; \
    printf '[interfaces.west]\\nbus = { model = \"15b3:1019\" }\\ndriver = { name = \"ixgbe\" }\\n' > \
    $F/recorded.toml; \
    record() { export LINERATE_RECORDED_FACTS=$F/recorded.toml; }";

const SITE_RULES: &str = r#"
[[rule]]
id = "SITE-TXQLEN"
title = "The transmit queue is shorter than the site's"
category = "pacing"
severity = "critical"
per = "nic"
condition = 'link.txqlen < 10000'
why = "This site sends bursts."
fix = [{ tx-queue-length = { packets = "10000" } }]
disruption = "none"
sources = ["LAB"]

[[rule]]
id = "SITE-RPS"
title = "One processor does all the work"
category = "cpu"
severity = "high"
per = "nic"
condition = 'queues.steered == 0'
why = "This site steers in software."
fix = [{ steering = { cpus = "0" } }]
disruption = "none"
sources = ["LAB"]
"#;

/// Rules of what all hosts of one machine share.
const OF_THE_MACHINE: [&str; 3] = ["CPU-STEAL", "TIME-", "STOR-"];

fn all_of(plants: &[Plant]) {
    for plant in plants {
        let mut world = World::new();
        named_mended_and_back(&mut world, plant);
    }
}

fn named_mended_and_back(world: &mut World, plant: &Plant) {
    world.run(FURNISHED);
    std::fs::write(world.folder.path().join("rules/site.toml"), SITE_RULES).unwrap();
    world.run(plant.plant);
    let mut planted = world.audit(plant.asked).findings;
    // What is wrong with the clock, the disks or the CPUs of the machine that runs the tests was not planted.
    planted.retain(|each| !OF_THE_MACHINE.iter().any(|group| each.rule.starts_with(group)));
    let first = planted.first().unwrap_or_else(|| panic!("{}: nothing was found", plant.rule));
    assert_eq!(first.rule, plant.rule, "{:?}", planted.iter().map(|each| &each.rule).collect::<Vec<_>>());
    // Other namespaces are left alone unless they are asked for.
    let whose = if plant.rule == "TCP-NETNS" { " --all-netns" } else { "" };
    there_and_back(world, &format!("{} {}{whose}", plant.rule, plant.asked), |world| {
        let after = world.audit(plant.asked);
        let left = after.findings.iter().map(|each| &each.rule).chain(after.unknown.iter().map(|each| &each.rule));
        assert_eq!(left.filter(|rule| *rule == plant.rule).count(), 0, "{} is not fixed", plant.rule);
    });
}

/// The fix and its undo, then the commands for both: all four end in the same two states.
fn there_and_back(world: &mut World, asked: &str, check: impl FnOnce(&mut World)) {
    let planted = world.settings();
    let shown = world.fix(&format!("{asked} --dry-run"));
    assert_eq!(world.settings(), planted, "{asked}: --dry-run changes nothing");

    world.fix(&format!("{asked} --yes"));
    let fixed = world.settings();
    assert_ne!(fixed, planted, "{asked}");
    check(world);
    world.run("$L host undo");
    assert_eq!(world.settings(), planted, "{asked}: the undo brings all back");

    for command in shown.commands.iter().flat_map(|commands| &commands.apply) {
        world.run(command);
    }
    assert_eq!(world.settings(), fixed, "{asked}: the commands do what the fix does");
    for index in &shown.undo_order {
        let undo = shown.commands[*index].undo.as_ref();
        let undo = undo.unwrap_or_else(|| panic!("{asked}: no command takes it back"));
        undo.iter().for_each(|command| drop(world.run(command)));
    }
    assert_eq!(world.settings(), planted, "{asked}: the commands take it back");
}

#[test]
fn sysctls_are_named_mended_and_brought_back_to_the_byte() {
    all_of(&SYSCTLS);
}

#[test]
fn devices_and_routes_are_named_mended_and_brought_back_to_the_byte() {
    all_of(&DEVICES);
}

#[test]
fn steering_is_named_mended_and_brought_back_to_the_byte() {
    // The kernel lets only root of the machine write it (net/core/net-sysfs.c, store_rps_map).
    let Some(mut world) = World::of_the_machine() else {
        return eprintln!("left out: writing rps_cpus takes root");
    };
    let plant = plant("SITE-RPS", "--role vm-host --rules $F/rules", "record && ip link set west txqueuelen 10000");
    named_mended_and_back(&mut world, &plant);
}

#[test]
fn a_shaper_is_made_in_three_steps_by_us_and_by_the_commands() {
    let mut world = World::new();
    world.run(FURNISHED);
    let plan = "[[steps]]\nlink = \"west\"\n\
                operation = { qdisc = { parent = \"root\", kind = \"htb\", handle = \"1:\", options = \"default 1\" } }\n\
                [[steps]]\nlink = \"west\"\n\
                operation = { class = { parent = \"1:\", class = \"1:1\", options = \"htb rate 900000000bit\" } }\n\
                [[steps]]\nlink = \"west\"\n\
                operation = { qdisc = { parent = \"1:1\", kind = \"pfifo\", options = \"limit 500\" } }\n";
    std::fs::write(world.folder.path().join("plan.toml"), plan).unwrap();
    let before = world.settings();
    world.fix("$F/plan.toml --yes");
    let made = ["qdisc", "class"].map(|what| world.run(&format!("tc {what} show dev west")));
    assert!(made[0].contains("htb 1: root") && made[1].contains("rate 900Mbit"), "{made:?}");
    world.run("$L host undo");
    assert_eq!(world.settings(), before);
    let shown = world.fix("$F/plan.toml --dry-run");
    shown.commands.iter().flat_map(|commands| &commands.apply).for_each(|command| drop(world.run(command)));
    // The kernel numbers what nobody numbers.
    let without_number = |text: &str| {
        let words = text.split_whitespace().filter(|word| !word.ends_with(':') || *word == "1:");
        words.collect::<Vec<_>>().join(" ")
    };
    let typed = ["qdisc", "class"].map(|what| world.run(&format!("tc {what} show dev west")));
    assert_eq!(typed.each_ref().map(|text| without_number(text)), made.each_ref().map(|text| without_number(text)));
    world.run(&shown.commands[0].undo.as_ref().unwrap().join("; "));
    assert_eq!(world.settings(), before);
}
