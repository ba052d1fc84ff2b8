//! Tables of the packet filter nftables: how many chains and rules, and what base chains do by default. Takes
//! `CAP_NET_ADMIN`.

use std::collections::BTreeMap;

use crate::Unavailable;
use crate::netlink::{Attribute, Netlink, NetlinkError, attributes, value};

/// What one table holds, without the counters of its rules.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FilterTable {
    /// Base chains, each with its policy: `input drop`.
    pub base_chains: Vec<String>,
    /// Chains that others jump to.
    pub other_chains: usize,
    /// Rules of all chains.
    pub rules: usize,
    /// The handle of the newest rule; a rule that is replaced gets a new one.
    pub newest_rule: u64,
}

/// The tables of the namespace by family and name: `inet filter`.
///
/// # Errors
/// Why they cannot be read.
pub fn read() -> Result<BTreeMap<String, FilterTable>, Unavailable> {
    let ask = || {
        let mut netlink = Netlink::open(netlink_sys::protocols::NETLINK_NETFILTER)?;
        let any_family = [0; NFGENMSG_LEN];
        let names = netlink.dump(message(NFT_MSG_GETTABLE), &any_family, |message| Ok(table_of(message)))?;
        let mut tables: BTreeMap<String, FilterTable> =
            names.into_iter().flatten().map(|name| (name, FilterTable::default())).collect();
        for (table, chain) in netlink.dump(message(NFT_MSG_GETCHAIN), &any_family, chain)?.into_iter().flatten() {
            let table = tables.entry(table).or_default();
            match chain {
                Some(base) => table.base_chains.push(base),
                None => table.other_chains += 1,
            }
        }
        for (table, handle) in netlink.dump(message(NFT_MSG_GETRULE), &any_family, rule)?.into_iter().flatten() {
            let table = tables.entry(table).or_default();
            table.rules += 1;
            table.newest_rule = table.newest_rule.max(handle);
        }
        Ok(tables)
    };
    ask().map_err(|error: NetlinkError| error.unavailable(SOURCE))
}

/// How these facts are read.
pub const SOURCE: &str = "NFT_MSG_GETTABLE";

const fn message(of_nftables: u16) -> u16 {
    (NFNL_SUBSYS_NFTABLES << 8) | of_nftables
}

/// Whether a message of netfilter is one of nftables.
pub(crate) const fn is_of_nftables(kind: u16) -> bool {
    kind >> 8 == NFNL_SUBSYS_NFTABLES
}

/// The table that a table, chain or rule is of: its name is the first attribute of each.
fn table_of(message: &[u8]) -> Option<String> {
    let name = find(message, NFTA_TABLE)?;
    Some(format!("{} {}", family_name(*message.first()?), value::text(&name)))
}

/// A chain, with name and policy where it is a base chain.
fn chain(message: &[u8]) -> Result<Option<(String, Option<String>)>, NetlinkError> {
    let policy =
        find(message, NFTA_CHAIN_POLICY).and_then(|policy| policy.value.try_into().ok().map(u32::from_be_bytes));
    let name = find(message, NFTA_CHAIN_NAME).map(|name| value::text(&name)).unwrap_or_default();
    let base = policy.map(|policy| format!("{name} {}", if policy == NF_DROP { "drop" } else { "accept" }));
    Ok(table_of(message).map(|table| (table, base)))
}

fn rule(message: &[u8]) -> Result<Option<(String, u64)>, NetlinkError> {
    let handle =
        find(message, NFTA_RULE_HANDLE).and_then(|handle| handle.value.try_into().ok().map(u64::from_be_bytes));
    Ok(table_of(message).map(|table| (table, handle.unwrap_or_default())))
}

fn find(message: &[u8], kind: u16) -> Option<Attribute<'_>> {
    attributes(message, NFGENMSG_LEN).filter_map(Result::ok).find(|attribute| attribute.kind == kind)
}

/// Names of nft(8) (`NFPROTO_*`, include/uapi/linux/netfilter.h).
fn family_name(family: u8) -> String {
    match family {
        1 => "inet".to_owned(),
        2 => "ip".to_owned(),
        3 => "arp".to_owned(),
        5 => "netdev".to_owned(),
        7 => "bridge".to_owned(),
        10 => "ip6".to_owned(),
        other => other.to_string(),
    }
}

// include/uapi/linux/netfilter/nfnetlink.h, nf_tables.h of 6.18
const NFNL_SUBSYS_NFTABLES: u16 = 10;
const NFGENMSG_LEN: usize = 4;
const NFT_MSG_GETTABLE: u16 = 1;
const NFT_MSG_GETCHAIN: u16 = 4;
const NFT_MSG_GETRULE: u16 = 7;
const NFTA_TABLE: u16 = 1;
const NFTA_CHAIN_NAME: u16 = 3;
const NFTA_CHAIN_POLICY: u16 = 5;
const NFTA_RULE_HANDLE: u16 = 3;
const NF_DROP: u32 = 0;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::netlink::Request;

    #[test]
    fn chains_and_rules_belong_to_their_table() {
        let mut base = Request::new(&[1, 0, 0, 0]);
        base.put_text(NFTA_TABLE, "filter").put_text(NFTA_CHAIN_NAME, "input").put(NFTA_CHAIN_POLICY, &[0; 4]);
        assert_eq!(chain(base.bytes()).unwrap(), Some(("inet filter".to_owned(), Some("input drop".to_owned()))));
        let mut of_chain = Request::new(&[2, 0, 0, 0]);
        of_chain.put_text(NFTA_TABLE, "nat").put(NFTA_RULE_HANDLE, &[0, 0, 0, 0, 0, 0, 1, 0]);
        assert_eq!(rule(of_chain.bytes()).unwrap(), Some(("ip nat".to_owned(), 256)));
        assert_eq!((rule(&[]).unwrap(), chain(&[2, 0]).unwrap()), (None, None));
    }
}
