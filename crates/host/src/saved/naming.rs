//! Which file holds the output of which program, by its name: as sosreport names them (`ethtool_-k_eth0`,
//! `ip_netns_exec_NAME_sysctl_-a`), or as people do (`ethtool -k eth0.txt`, `ethtool-g-eth0.out`, `sysctl-a`).

/// An output that is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Output {
    /// The namespace, where the program was run in another than that of the host.
    pub namespace: Option<String>,
    /// What it is.
    pub kind: OutputKind,
}

/// What an output is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OutputKind {
    /// `ethtool` with one of the options in [`OPTIONS`].
    Ethtool {
        /// One letter of [`OPTIONS`]: `k` for `ethtool -k`.
        option: char,
        /// Name of the interface that it was asked about.
        device: String,
    },
    /// `ethtool` with no option.
    Mode {
        /// Name of the interface that it was asked about.
        device: String,
    },
    /// `sysctl -a`.
    Sysctl,
    /// `ip -d link` or `ip -d address`.
    Link,
    /// `tc -s qdisc`.
    Qdisc {
        /// The device, where it was asked for one.
        device: Option<String>,
    },
}

/// The options of `ethtool` whose output is read.
pub const OPTIONS: [char; 8] = ['a', 'c', 'g', 'i', 'k', 'l', 'm', 'S'];

/// What the file at `path` holds; [`None`] where its name does not say.
#[must_use]
pub fn of(path: &str) -> Option<Output> {
    let (directory, file) = path.rsplit_once('/').unwrap_or(("", path));
    let namespace = directory.rsplit_once("namespaces/").map(|(_, name)| name.to_owned());
    let file = [".txt", ".out", ".log"].iter().find_map(|end| file.strip_suffix(end)).unwrap_or(file);
    // In a namespace the command begins with how it was entered.
    let file = match &namespace {
        Some(name) => file.strip_prefix(&format!("ip_netns_exec_{name}_")).unwrap_or(file),
        None => file,
    };
    Some(Output { namespace, kind: kind(file)? })
}

fn kind(file: &str) -> Option<OutputKind> {
    if let Some(rest) = file.strip_prefix("ethtool") {
        return of_ethtool(rest);
    }
    let words: Vec<&str> = file.split(SEPARATORS).filter(|word| !word.is_empty()).collect();
    match words.as_slice() {
        ["sysctl"] | ["sysctl", "a", ..] => Some(OutputKind::Sysctl),
        ["ip", rest @ ..] if rest.iter().all(|word| LINK_WORDS.contains(word)) && !rest.is_empty() => {
            Some(OutputKind::Link)
        }
        ["tc", rest @ ..] if rest.contains(&"qdisc") => {
            let device = rest.iter().skip_while(|word| **word != "dev").nth(1);
            Some(OutputKind::Qdisc { device: device.map(|device| (*device).to_owned()) })
        }
        _ => None,
    }
}

/// What stands behind `ethtool`: an option and a device, or a device alone.
fn of_ethtool(rest: &str) -> Option<OutputKind> {
    let words = rest.trim_start_matches(SEPARATORS);
    let between = &rest[..rest.len() - words.len()];
    let mut letters = words.chars();
    let (option, next) = (letters.next()?, letters.next());
    if next.is_some_and(|next| SEPARATORS.contains(&next)) {
        let device = letters.as_str().trim_start_matches(SEPARATORS);
        let known = OPTIONS.contains(&option) && !device.is_empty();
        return known.then(|| OutputKind::Ethtool { option, device: device.to_owned() });
    }
    // Behind a dash it would be an option of more letters.
    let is_device = !between.is_empty() && !between.contains('-') && next.is_some();
    is_device.then(|| OutputKind::Mode { device: words.to_owned() })
}

const SEPARATORS: [char; 3] = [' ', '_', '-'];

/// Words of the commands that show links with details, perhaps with statistics and addresses.
const LINK_WORDS: [&str; 8] = ["d", "s", "link", "address", "addr", "show", "a", "details"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outputs_are_known_as_sosreport_and_as_people_name_them() {
        let ethtool = |option, device: &str| OutputKind::Ethtool { option, device: device.to_owned() };
        let cases = [
            ("/sos_commands/networking/ethtool_-k_eth0", Some((None, ethtool('k', "eth0")))),
            ("/ethtool -g bond0.100.txt", Some((None, ethtool('g', "bond0.100")))),
            ("/ethtool-S-enp3s0f0", Some((None, ethtool('S', "enp3s0f0")))),
            ("/ethtool_-T_eth0", None),
            ("/sos_commands/networking/ethtool_ens1f0", Some((None, OutputKind::Mode { device: "ens1f0".to_owned() }))),
            ("/ethtool--show-fec_eth0", None),
            ("/ethtool", None),
            ("/ethtool_-k", None),
            ("/sos_commands/kernel/sysctl_-a", Some((None, OutputKind::Sysctl))),
            ("/sos_commands/networking/ip_-s_-d_link", Some((None, OutputKind::Link))),
            ("/sos_commands/networking/ip_route_show_table_all", None),
            ("/sos_commands/networking/tc_-s_qdisc_show", Some((None, OutputKind::Qdisc { device: None }))),
            ("/tc -s qdisc show dev eth0.txt", Some((None, OutputKind::Qdisc { device: Some("eth0".to_owned()) }))),
            (
                "/sos_commands/networking/namespaces/in gress/ip_netns_exec_in gress_ethtool_-k_eth1",
                Some((Some("in gress"), ethtool('k', "eth1"))),
            ),
        ];
        for (path, expected) in cases {
            let expected = expected.map(|(namespace, kind)| Output { namespace: namespace.map(str::to_owned), kind });
            assert_eq!(of(path), expected, "{path}");
        }
    }
}
