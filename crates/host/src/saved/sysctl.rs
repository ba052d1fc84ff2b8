//! `sysctl -a`.

use std::collections::BTreeMap;

use model::host::fact::Missing;
use model::host::tracked::is_tracked;

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
            if let Some(key) = key.filter(|key| is_tracked(key)) {
                read.value.insert(key.to_owned(), Err(Missing::Denied));
            }
            continue;
        }
        match line.split_once('=') {
            Some((key, value)) if !key.trim().is_empty() && !key.trim().contains(char::is_whitespace) => {
                let key = key.trim();
                if is_tracked(key) {
                    read.value.insert(key.to_owned(), Ok(one_blank(value)));
                }
            }
            _ if line.trim().is_empty() => {}
            _ => read.note(number, "not `name = value`"),
        }
    }
    read
}
