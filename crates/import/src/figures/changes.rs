//! Commands that change something between two measurements: an offload, a qdisc, an MTU, a setting of the kernel, a service.

use super::layout::ProseLine;
use super::things::marks;
use super::{Aspects, Figure, FigureSource, FigureValue, layout};

/// The change that a line makes, with the command as its name.
pub(super) fn of(line: &ProseLine) -> Option<Figure> {
    let command = command(&line.text)?;
    let words = layout::lower(&layout::words_of(&command));
    let of = Aspects { name: Some(command), marks: marks(&words), ..Aspects::default() };
    Some(Figure { line: line.number, value: FigureValue::Changed, of, source: FigureSource::Text })
}

/// The command of a line, without its prompt, `sudo` and the remark behind it.
fn command(text: &str) -> Option<String> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let at = words.iter().take(MOST_BEFORE).position(|word| is_command(word.trim_start_matches(PROMPTS)))?;
    // What stands before it is a prompt, and no sentence that speaks of the command.
    let before = words[..at].iter().rev().find(|word| !matches!(**word, "sudo" | "doas" | "time" | "&&"));
    let is_typed = before.is_none_or(|word| word.ends_with(['$', '#', '>', ']']));
    let remark = words[at..].iter().skip(1).position(|word| word.starts_with('#') || *word == "|");
    let mut own: Vec<&str> = words[at..remark.map_or(words.len(), |remark| at + 1 + remark)].to_vec();
    own[0] = own[0].trim_start_matches(PROMPTS);
    (is_typed && changes(&own)).then(|| own.join(" "))
}

const MOST_BEFORE: usize = 6;
const PROMPTS: [char; 3] = ['$', '#', '>'];

fn is_command(word: &str) -> bool {
    COMMANDS.contains(&word.rsplit('/').next().unwrap_or(word))
        || POWERSHELL.iter().any(|begin| word.starts_with(begin))
}

const COMMANDS: [&str; 20] = [
    "ethtool",
    "sysctl",
    "ip",
    "ifconfig",
    "tc",
    "iptables",
    "ip6tables",
    "nft",
    "systemctl",
    "service",
    "netsh",
    "iw",
    "cpupower",
    "modprobe",
    "echo",
    "pfctl",
    "uci",
    "nmcli",
    "rmmod",
    "mount",
];
const POWERSHELL: [&str; 4] = ["Set-Net", "Disable-Net", "Enable-Net", "Set-VM"];

/// Whether it sets something, rather than shows it.
fn changes(words: &[&str]) -> bool {
    let has = |known: &[&str]| words.iter().skip(1).any(|word| known.contains(word));
    let name = words[0].rsplit('/').next().unwrap_or(words[0]);
    // A server of tests that is started again, and caches of files, change nothing for a test.
    let is_other =
        words.iter().any(|word| word.contains("iperf") || word.contains("nuttcp") || word.contains("drop_caches"));
    words.len() > 1
        && !is_other
        && match name {
            "ethtool" => {
                words.len() > 3
                    && has(&[
                        "-K",
                        "-G",
                        "-A",
                        "-C",
                        "-L",
                        "-s",
                        "-N",
                        "-X",
                        "--offload",
                        "--features",
                        "--set-ring",
                        "--pause",
                        "--coalesce",
                        "--set-eee",
                    ])
            }
            "sysctl" => has(&["-w", "--write"]) || words[1..].iter().any(|word| word.contains('=')),
            "ip" => words.len() > 4 && has(&["set", "replace", "change", "add", "del"]),
            "ifconfig" => has(&["mtu", "down", "up", "media", "-tso", "-lro", "-txcsum", "-rxcsum"]),
            "tc" => has(&["add", "del", "delete", "replace", "change"]),
            "iptables" | "ip6tables" => has(&["-A", "-I", "-D", "-F", "-t"]),
            "nft" => has(&["add", "insert", "delete", "flush"]),
            "systemctl" | "service" => has(&["stop", "start", "restart", "disable", "enable"]),
            "netsh" => has(&["set"]),
            "iw" => has(&["set"]),
            "cpupower" => has(&["frequency-set", "idle-set"]),
            "modprobe" | "rmmod" => true,
            "echo" => words.iter().any(|word| word.contains("/proc/sys/") || word.contains("/sys/")),
            "pfctl" => has(&["-d", "-e", "-F", "-f"]),
            "uci" | "nmcli" => has(&["set", "modify"]),
            "mount" => words.iter().any(|word| word.contains("remount")),
            _ => true,
        }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_line(text: &str) -> Option<String> {
        of(&ProseLine { number: 1, text: text.to_owned() }).and_then(|figure| figure.of.name)
    }

    #[test]
    fn a_command_that_sets_something_is_a_change_and_one_that_shows_or_a_sentence_is_none() {
        let says = "core@node-a ~ $ sudo ethtool -K vxlan.calico tx-checksum-ip-generic off";
        assert_eq!(of_line(says).as_deref(), Some("ethtool -K vxlan.calico tx-checksum-ip-generic off"));
        assert_eq!(
            of_line("# sysctl -w net.ipv4.tcp_rmem='4096 131072 67108864'  # now").as_deref(),
            Some("sysctl -w net.ipv4.tcp_rmem='4096 131072 67108864'")
        );
        assert_eq!(of_line("ip link set dev eth0 mtu 1400").as_deref(), Some("ip link set dev eth0 mtu 1400"));
        assert_eq!(of_line("ethtool -k eth0 | grep checksum"), None);
        assert_eq!(of_line("ip -d link show vxlan.calico"), None);
        assert_eq!(of_line("I ran ethtool -K eth0 tso off yesterday"), None);
        assert_eq!(of_line("sysctl net.ipv4.tcp_rmem"), None);
    }
}
