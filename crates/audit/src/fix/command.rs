//! The command that a person would type for an operation.

use foreign::shell::{word, words};

use super::{Operation, mask};

/// Where an operation takes place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Target<'a> {
    /// The namespace; empty for the host's own.
    pub namespace: &'a str,
    /// Name of the device; empty for what is of no device.
    pub link: &'a str,
}

impl Target<'_> {
    /// A command as it is typed for this namespace.
    pub(in crate::fix) fn inside(&self, command: &str) -> String {
        match self.namespace {
            "" => command.to_owned(),
            path if path.starts_with('/') => format!("nsenter --net={} {command}", word(path)),
            of_process if of_process.starts_with("pid:") => {
                format!("nsenter --net=/proc/{}/ns/net {command}", word(&of_process["pid:".len()..]))
            }
            name => format!("ip netns exec {} {command}", word(name)),
        }
    }

    /// A line for a shell, as it is typed where /sys shows this namespace. That of `nsenter` alone shows the old one.
    pub(in crate::fix) fn in_its_sysfs(&self, line: &str) -> String {
        let quoted = |line: &str| word(line).into_owned();
        match self.namespace {
            "" => line.to_owned(),
            name if !name.starts_with('/') && !name.starts_with("pid:") => {
                self.inside(&format!("sh -c {}", quoted(line)))
            }
            _ => self.inside(&format!("unshare -m sh -c {}", quoted(&format!("mount -t sysfs sysfs /sys && {line}")))),
        }
    }
}

/// What `htb` may send at once where nobody says it: a millisecond, as the helper has it. What `tc` works out by itself is one
/// packet where the clock is fine (iproute2 6.1, tc/q_htb.c, htb_parse_class_opt), which no fast sender keeps up with.
fn burst(options: &str) -> String {
    let bits = |name: &str| {
        let value = options.split_whitespace().skip_while(|word| *word != name).nth(1)?;
        value.strip_suffix("bit")?.parse::<u64>().ok()
    };
    let millisecond = |bits: u64| (bits / 8 / 1_000).max(LEAST_BURST);
    match bits("rate") {
        Some(rate) if !options.contains("burst") => {
            let ceil = bits("ceil").unwrap_or(rate);
            format!(" burst {}b cburst {}b", millisecond(rate), millisecond(ceil))
        }
        _ => String::new(),
    }
}

/// One frame of Ethernet and what surrounds it, as the helper has it (`linux::set`).
const LEAST_BURST: u64 = 1_600;

/// Writes the mask of the CPUs to each receive queue.
fn steering(link: &str, cpus: &str) -> String {
    let mask = mask::of_list(cpus).unwrap_or_else(|| word(cpus).into_owned());
    format!("for queue in /sys/class/net/{link}/queues/rx-*; do echo {mask} > $queue/rps_cpus; done")
}

impl Operation<String> {
    /// The command; advice is its own text. Every name and value in it is one word to a shell, whoever wrote it.
    #[must_use]
    pub fn command(&self, target: &Target<'_>) -> String {
        let link = word(target.link);
        let plain = match self {
            Self::Sysctl { key, value } => format!("sysctl -w {}", assignment(key, value)),
            Self::Route { to, metrics } => {
                let to = word(to);
                format!("ip route change {to} (all attributes that `ip route show {to}` lists) {}", words(metrics))
            }
            Self::Mtu { bytes } => format!("ip link set dev {link} mtu {}", word(bytes)),
            Self::TxQueueLength { packets } => format!("ip link set dev {link} txqueuelen {}", word(packets)),
            Self::LargestAggregate { bytes } => {
                let bytes = word(bytes);
                format!("ip link set dev {link} gso_ipv4_max_size {bytes} gro_ipv4_max_size {bytes}")
            }
            Self::BondHash { policy } => format!("ip link set dev {link} type bond xmit_hash_policy {}", word(policy)),
            Self::Qdisc { parent, kind, handle, options } => {
                let parent = if parent == "root" { parent.clone() } else { format!("parent {}", word(parent)) };
                let handle = handle.as_ref().map(|handle| format!(" handle {}", word(handle))).unwrap_or_default();
                let options = options.as_ref().map(|options| format!(" {}", words(options))).unwrap_or_default();
                format!("tc qdisc replace dev {link} {parent}{handle} {}{options}", word(kind))
            }
            Self::Class { parent, class, options } => {
                let (parent, class, asked) = (word(parent), word(class), words(options));
                format!("tc class replace dev {link} parent {parent} classid {class} {asked}{}", burst(options))
            }
            Self::NoQdisc {} => format!("tc qdisc del dev {link} root"),
            Self::Advice { text, .. } => return text.clone(),
            Self::Steering { cpus } => return target.in_its_sysfs(&steering(&link, cpus)),
            _ => return self.ethtool(&link).map_or_else(|| self.of_the_host(&link), |command| target.inside(&command)),
        };
        target.inside(&plain)
    }

    fn ethtool(&self, link: &str) -> Option<String> {
        Some(match self {
            Self::Feature { name, on } => format!("ethtool -K {link} {} {}", word(name), switch(*on)),
            Self::Rings { rx, tx } => {
                let rx = rx.as_ref().map(|rx| format!(" rx {}", word(rx))).unwrap_or_default();
                let tx = tx.as_ref().map(|tx| format!(" tx {}", word(tx))).unwrap_or_default();
                format!("ethtool -G {link}{rx}{tx}")
            }
            Self::Channels { combined } => format!("ethtool -L {link} combined {}", word(combined)),
            Self::Coalesce { adaptive } => {
                format!("ethtool -C {link} adaptive-rx {0} adaptive-tx {0}", switch(*adaptive))
            }
            Self::Pause { rx, tx } => format!("ethtool -A {link} rx {} tx {}", switch(*rx), switch(*tx)),
            Self::Eee { on } => format!("ethtool --set-eee {link} eee {}", switch(*on)),
            Self::Autonegotiation { on } => format!("ethtool -s {link} autoneg {}", switch(*on)),
            Self::Spread { queues } => format!("ethtool -X {link} equal {}", word(queues)),
            _ => return None,
        })
    }

    fn of_the_host(&self, link: &str) -> String {
        match self {
            Self::Interrupts { cpus } => format!(
                "for irq in $(ls /sys/class/net/{link}/device/msi_irqs); do \
                 echo {} > /proc/irq/$irq/smp_affinity_list; done",
                word(cpus)
            ),
            Self::Governor { name } => {
                format!(
                    "for cpu in /sys/devices/system/cpu/cpu*/cpufreq; do echo {} > $cpu/scaling_governor; done",
                    word(name)
                )
            }
            Self::Smt { on } => format!("echo {} > /sys/devices/system/cpu/smt/control", switch(*on)),
            // It closes those that take as long as it is told, and longer.
            Self::IdleStates { longest_exit_us } => format!("cpupower idle-set -D {}", longest_exit_us + 1),
            Self::BootParameter { add } => format!("grubby --update-kernel=ALL --args={}, then reboot", word(add)),
            Self::StopService { unit } => format!("systemctl disable --now {}", word(unit)),
            Self::Module { name } => {
                let name = word(name);
                format!("modprobe {name} && echo {name} > /etc/modules-load.d/{name}.conf")
            }
            _ => String::new(),
        }
    }
}

/// `key=value` as one word, with the quotes that people use around blanks.
fn assignment(key: &str, value: &str) -> String {
    let both = format!("{key}={value}");
    if value.contains(' ') && foreign::shell::is_harmless(&both) {
        return format!("{key}=\"{value}\"");
    }
    word(&both).into_owned()
}

pub(in crate::fix) fn switch(on: bool) -> &'static str {
    if on { "on" } else { "off" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_name_the_namespace_and_the_device() {
        let text = str::to_owned;
        let own = Target { namespace: "", link: "eth0" };
        let docker = Target { namespace: "/run/docker/netns/ingress_sbox", link: "eth0" };
        let rmem = Operation::Sysctl { key: text("net.ipv4.tcp_rmem"), value: text("4096 131072 536870912") };
        assert_eq!(rmem.command(&own), "sysctl -w net.ipv4.tcp_rmem=\"4096 131072 536870912\"");
        assert!(rmem.command(&docker).starts_with("nsenter --net=/run/docker/netns/ingress_sbox sysctl -w "));
        let rings = Operation::Rings { rx: Some(text("8192")), tx: None };
        assert_eq!(rings.command(&own), "ethtool -G eth0 rx 8192");
        let steering = Operation::Steering { cpus: text("0-3,32") };
        assert_eq!(
            steering.command(&own),
            "for queue in /sys/class/net/eth0/queues/rx-*; do echo 00000001,0000000f > $queue/rps_cpus; done"
        );
        assert!(steering.command(&docker).starts_with(
            "nsenter --net=/run/docker/netns/ingress_sbox unshare -m sh -c 'mount -t sysfs sysfs /sys && for queue"
        ));
        let shaper = Operation::Qdisc {
            parent: text("root"),
            kind: text("htb"),
            handle: Some(text("1:")),
            options: Some(text("default 1")),
        };
        assert_eq!(shaper.command(&own), "tc qdisc replace dev eth0 root handle 1: htb default 1");
        assert_eq!(
            Operation::Feature { name: text("rx-gro-hw"), on: false }.command(&Target { namespace: "vpn", ..own }),
            "ip netns exec vpn ethtool -K eth0 rx-gro-hw off"
        );
    }
}
