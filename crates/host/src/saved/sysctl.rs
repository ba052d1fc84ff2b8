//! `sysctl -a`.

use std::collections::BTreeMap;

use model::host::fact::Missing;
use model::host::tracked::{SYSCTLS, is_tracked};

use super::Read;
use crate::provenance::sysctl_d::one_blank;

/// The tracked sysctls, each with its value or why there is none.
#[must_use]
pub fn read(text: &str) -> Read<BTreeMap<String, Result<String, Missing>>> {
    let mut read = Read::<BTreeMap<String, Result<String, Missing>>>::default();
    for (number, line) in (1..).zip(text.lines()) {
        if let Some(said) = line.strip_prefix("sysctl: ") {
            // Such as: permission denied on key 'net.ipv4.tcp_fastopen_key'
            let key = said.strip_prefix("permission denied on key '").and_then(|rest| rest.split('\'').next());
            if let Some(key) = key.filter(|key| is_read(key)) {
                read.value.insert(key.to_owned(), Err(Missing::Denied));
            }
            continue;
        }
        match line.split_once('=') {
            Some((key, value)) if !key.trim().is_empty() && !key.trim().contains(char::is_whitespace) => {
                let key = key.trim();
                if is_read(key) {
                    read.value.insert(key.to_owned(), Ok(one_blank(value)));
                }
            }
            _ if line.trim().is_empty() => {}
            _ => read.note(number, "not `name = value`"),
        }
    }
    read
}

/// Whether a snapshot of a running host holds it as well: `all` and `default` are no interfaces, so that of those it has what is
/// named for itself.
fn is_read(key: &str) -> bool {
    let is_of_none = key.contains(".conf.all.") || key.contains(".conf.default.");
    if is_of_none { SYSCTLS.binary_search(&key).is_ok() } else { is_tracked(key) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_running_host_is_not_asked_for_is_no_difference_to_it() {
        let text = "net.ipv6.conf.all.mtu = 1280\nnet.ipv6.conf.all.forwarding = 1\nnet.ipv6.conf.eth0.mtu = 1500\n\
                    sysctl: permission denied on key 'net.ipv6.conf.default.mtu'\n";
        let keys: Vec<String> = read(text).value.into_keys().collect();
        assert_eq!(keys, ["net.ipv6.conf.all.forwarding", "net.ipv6.conf.eth0.mtu"]);
    }
}
