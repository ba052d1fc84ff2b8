//! The command that takes an operation back, from the values of the snapshot.

use foreign::shell::word;

use super::command::switch;
use super::{Operation, Target};
use crate::fact::{Fact, Path, Segment};
use crate::scope::Scope;

impl Operation<String> {
    /// The command that restores what the snapshot shows; nothing where the old value is not known or there is nothing to
    /// take back.
    #[must_use]
    pub fn undo(&self, scope: &Scope<'_>, target: &Target<'_>) -> Option<String> {
        let was = |root: &str, keys: &[&str]| old(scope, root, keys);
        let back = match self {
            Self::Sysctl { key, .. } => Self::Sysctl { key: key.clone(), value: was("sysctl", &[key])? },
            Self::Feature { name, .. } => {
                Self::Feature { name: name.clone(), on: was("nic", &["features", name, "on"])? == "true" }
            }
            Self::Rings { rx, tx } => Self::Rings {
                rx: rx.as_ref().and_then(|_| was("nic", &["rings", "rx"])),
                tx: tx.as_ref().and_then(|_| was("nic", &["rings", "tx"])),
            },
            Self::Channels { .. } => Self::Channels { combined: was("nic", &["channels", "combined"])? },
            Self::Coalesce { .. } => {
                let usecs = was("nic", &["coalesce", "rx_usecs"])?;
                let adaptive = Self::Coalesce { adaptive: was("nic", &["coalesce", "adaptive_rx"])? == "true" };
                return Some(format!("{} rx-usecs {}", adaptive.command(target), word(&usecs)));
            }
            Self::Pause { .. } => {
                Self::Pause { rx: was("nic", &["pause", "rx"])? == "true", tx: was("nic", &["pause", "tx"])? == "true" }
            }
            Self::Autonegotiation { .. } => Self::Autonegotiation { on: was("nic", &["autoneg"])? == "true" },
            Self::Mtu { .. } => Self::Mtu { bytes: was("link", &["mtu"])? },
            Self::TxQueueLength { .. } => Self::TxQueueLength { packets: was("link", &["txqlen"])? },
            Self::LargestAggregate { .. } => Self::LargestAggregate { bytes: was("link", &["gso_ipv4_max_bytes"])? },
            Self::BondHash { .. } => Self::BondHash { policy: was("link", &["bond_hash"])? },
            Self::Governor { .. } => {
                Self::Governor { name: was("cpu", &["governors"])?.trim_matches(['[', ']']).to_owned() }
            }
            Self::Advice { undo, .. } => return undo.clone(),
            other => return other.fixed_undo(target),
        };
        Some(back.command(target))
    }

    fn fixed_undo(&self, target: &Target<'_>) -> Option<String> {
        let link = word(target.link);
        Some(match self {
            Self::Qdisc { .. } | Self::Class { .. } | Self::NoQdisc {} => {
                format!("make the qdiscs of {link} again as the snapshot has them")
            }
            Self::Route { to, .. } => format!("ip route replace {} (the whole route as the snapshot has it)", word(to)),
            Self::Eee { on } => Self::Eee { on: !on }.command(target),
            Self::Smt { on } => format!("echo {} > /sys/devices/system/cpu/smt/control", switch(!on)),
            Self::Spread { .. } => target.inside(&format!("ethtool -X {link} default")),
            Self::Interrupts { .. } => format!("write the saved smp_affinity_list of each interrupt of {link}"),
            Self::Steering { .. } => format!("write the saved rps_cpus of each queue of {link}"),
            Self::IdleStates { .. } => "cpupower idle-set -E".to_owned(),
            Self::BootParameter { add } => {
                format!("grubby --update-kernel=ALL --remove-args={}, then reboot", word(add))
            }
            Self::StopService { unit } => format!("systemctl enable --now {}", word(unit)),
            Self::Module { name } => format!("rm /etc/modules-load.d/{}.conf", word(name)),
            _ => return None,
        })
    }
}

fn old(scope: &Scope<'_>, root: &str, keys: &[&str]) -> Option<String> {
    let segments = keys.iter().map(|key| Segment::Key((*key).to_owned())).collect();
    let fact = scope.fact(&Path { root: root.to_owned(), segments }).ok()?;
    Some(match fact {
        Fact::List(list) => list.iter().map(ToString::to_string).collect::<Vec<_>>().join(" "),
        single => single.to_string(),
    })
}
