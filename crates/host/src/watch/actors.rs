//! Who made a change: the last who acted on just that, as far as anybody was told.

use std::collections::BTreeMap;
use std::fs;

use audit::settings::Key;
use linux::monitor::{FileEventDetail, SeenProcess};
use model::host::change::{ActingProcess, Actor};
use units::WallTime;

use super::besides;
use super::events::{Act, By, On};

/// Who acted in one namespace.
#[derive(Debug, Default)]
pub(super) struct Acts {
    /// In the order in which they did.
    pub(super) acts: Vec<Act>,
    /// Names of devices by their number, of before and after.
    pub(super) devices: BTreeMap<u32, String>,
    /// Whether writers of files are told.
    pub(super) tells: Option<FileEventDetail>,
}

/// Who, and when; no time where it did not come with an event.
pub(super) struct Found {
    pub(super) actor: Actor,
    pub(super) at: Option<WallTime>,
}

impl Acts {
    /// Who made a change of this setting.
    pub(super) fn of(&self, key: &Key) -> Found {
        let on_this = || self.acts.iter().rev().filter(|act| self.is_on(&act.on, key));
        let told = on_this().find(|act| act.by != By::Untold);
        let act = told.or_else(|| on_this().next()).or_else(|| self.side_effect(key)).or_else(|| self.with_device(key));
        if let Some(act) = act {
            return Found { actor: self.actor(&act.by, &act.on), at: Some(act.at) };
        }
        Found { actor: Actor::Unknown { reason: "no event came".to_owned() }, at: None }
    }

    fn is_on(&self, on: &On, key: &Key) -> bool {
        let is_device = |index: &u32| self.devices.get(index).map(String::as_str) == key.device.as_deref();
        match (on, key.group()) {
            (On::Sysctl(name), "sysctl") => key.as_sysctl().is_some_and(|sysctl| sysctl == *name),
            (On::Queues(device), "queues") => key.device.as_deref() == Some(device.as_str()),
            (On::Interrupts, "irq") | (On::Processors, "cpu") | (On::Route, "route") => true,
            (On::Rule, besides::RULE) | (On::Nftables, besides::NFTABLES) => true,
            (On::Qdisc(index), "qdisc") | (On::Address(index), besides::ADDRESS) => is_device(index),
            (On::Driver(index), group) => is_device(index) && !OF_OTHERS.contains(&group) && group != "link",
            (On::Device(index), group) => is_device(index) && !OF_OTHERS.contains(&group),
            _ => false,
        }
    }

    /// One sysctl may change others: that of all devices those of each. Only if nobody else wrote to any.
    fn side_effect(&self, key: &Key) -> Option<&Act> {
        let mut writes = self.acts.iter().filter(|act| matches!(act.on, On::Sysctl(_)));
        let first = writes.next().filter(|_| key.as_sysctl().is_some())?;
        writes.all(|other| pid(&other.by) == pid(&first.by)).then_some(first)
    }

    /// What a device has of other kinds comes with it: a new MTU is a new one for IPv6.
    fn with_device(&self, key: &Key) -> Option<&Act> {
        let name = key.device.as_deref()?;
        self.acts.iter().rev().find(|act| {
            let (On::Device(index) | On::Driver(index)) = &act.on else { return false };
            self.devices.get(index).is_some_and(|device| device == name)
        })
    }

    fn actor(&self, by: &By, on: &On) -> Actor {
        match by {
            By::Seen(process) => Actor::Process(named(process)),
            By::Ended(pid) => Actor::Process(ActingProcess { pid: *pid, ..ActingProcess::default() }),
            By::Untold => Actor::Unknown { reason: self.why_untold(on).to_owned() },
        }
    }

    fn why_untold(&self, on: &On) -> &'static str {
        match on {
            On::Driver(_) => "drivers do not tell who",
            On::Device(_) => "devices do not tell who",
            On::Qdisc(_) | On::Route | On::Address(_) | On::Rule | On::Nftables => "ended before it was seen",
            _ if self.tells == Some(FileEventDetail::FileAndWriter) => "not visible from here",
            _ => "told to root only",
        }
    }
}

fn pid(by: &By) -> Option<u32> {
    match by {
        By::Seen(process) => Some(process.pid),
        By::Ended(pid) => Some(*pid),
        By::Untold => None,
    }
}

fn named(process: &SeenProcess) -> ActingProcess {
    ActingProcess {
        pid: process.pid,
        program: process.program.clone().or_else(|| process.name.clone()),
        command_line: process.command_line.clone(),
        user: process.user.map(user_name),
        login: process.login.map(user_name),
    }
}

/// Groups of a device's settings of which other events tell.
const OF_OTHERS: [&str; 5] = ["qdisc", "queues", "irq", "sysctl", besides::ADDRESS];

/// The name of a user, or the number where it has none here. Users of a directory service are numbers.
#[must_use]
pub fn user_name(id: u32) -> String {
    let users = fs::read_to_string("/etc/passwd").unwrap_or_default();
    name_in(&users, id).map_or_else(|| id.to_string(), str::to_owned)
}

/// The name in a line `name:password:number:…` (passwd(5)).
fn name_in(users: &str, id: u32) -> Option<&str> {
    users.lines().find_map(|line| {
        let mut fields = line.split(':');
        let (name, number) = (fields.next()?, fields.nth(1)?);
        (number.parse() == Ok(id)).then_some(name)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn by(pid: u32) -> By {
        By::Seen(SeenProcess { pid, name: Some("x".to_owned()), ..SeenProcess::default() })
    }

    fn act(on: On, by: By) -> Act {
        Act { on, by, at: WallTime::from_unix_nanos(5) }
    }

    fn who(acts: &Acts, key: &str) -> Option<u32> {
        match acts.of(&key.parse().unwrap()).actor {
            Actor::Process(process) => Some(process.pid),
            Actor::Unknown { .. } => None,
        }
    }

    #[test]
    fn the_last_who_wrote_just_that_did_it() {
        let sysctl = |name: &str| On::Sysctl(name.to_owned());
        let acts = vec![
            act(sysctl("net.ipv4.tcp_ecn"), by(1)),
            act(sysctl("net.ipv4.tcp_ecn"), by(2)),
            act(sysctl("net.ipv4.conf.eth0.rp_filter"), By::Ended(3)),
            act(On::Queues("eth0".to_owned()), by(4)),
            act(On::Qdisc(7), By::Untold),
            act(On::Qdisc(7), by(5)),
            act(On::Driver(7), By::Untold),
        ];
        let devices = [(7, "eth0".to_owned())].into();
        let acts = Acts { acts, devices, tells: Some(FileEventDetail::FileAndWriter) };
        assert_eq!(who(&acts, "net.ipv4.tcp_ecn"), Some(2));
        assert_eq!(who(&acts, "eth0: net.ipv4.conf.*.rp_filter"), Some(3));
        assert_eq!(who(&acts, "eth0: queues.rps-cpus"), Some(4));
        assert_eq!(who(&acts, "eth0: qdisc.root"), Some(5));
        assert_eq!(who(&acts, "eth0: feature.rx-gro"), None);
        assert_eq!(who(&acts, "net.ipv4.tcp_sack"), None, "several wrote, and nobody to this");
        assert_eq!(who(&acts, "eth1: qdisc.root"), None);
        let driver = acts.of(&"eth0: feature.rx-gro".parse().unwrap());
        assert!(matches!(driver.actor, Actor::Unknown { reason } if reason.starts_with("drivers")));
    }

    #[test]
    fn what_one_write_changes_besides_is_the_same_writers() {
        let all = act(On::Sysctl("net.ipv6.conf.all.disable_ipv6".to_owned()), by(9));
        let acts = Acts { acts: vec![all], ..Acts::default() };
        assert_eq!(who(&acts, "eth0: net.ipv6.conf.*.disable_ipv6"), Some(9));
        assert_eq!(who(&acts, "eth0: link.mtu"), None);
    }

    #[test]
    fn users_have_names_where_the_host_knows_them() {
        let users = "root:x:0:0:root:/root:/bin/sh\nbroken\nann:x:1000:100::/srv/ann:/bin/sh\n";
        assert_eq!((name_in(users, 1_000), name_in(users, 7)), (Some("ann"), None));
    }
}
