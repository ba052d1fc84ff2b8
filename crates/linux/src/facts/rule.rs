//! Routing policy rules (`RTM_GETRULE`), in the words of `ip rule`.

use std::fmt;

use super::route_socket;
use crate::netlink::{Attribute, NetlinkError, attributes, value};
use crate::{Reason, Unavailable};

/// One rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PolicyRule {
    /// Rules with a lower number come first.
    pub priority: u32,
    /// Which packets it is for: `from 10.0.0.7 iif eth0`.
    pub selector: String,
    /// What is done with them: `lookup main`, `blackhole`.
    pub action: String,
}

impl fmt::Display for PolicyRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.priority, self.selector)
    }
}

/// All rules of IPv4 and IPv6 in the namespace.
///
/// # Errors
/// Why they cannot be read.
pub fn read() -> Result<Vec<PolicyRule>, Unavailable> {
    let mut rules = Vec::new();
    for family in [libc::AF_INET, libc::AF_INET6] {
        let mut request = [0; FIB_RULE_HDR_LEN];
        request[0] = u8::try_from(family).unwrap_or_default();
        let dump = route_socket(SOURCE)?.dump(RTM_GETRULE, &request, parse);
        match dump.map_err(|error| error.unavailable(SOURCE)) {
            Ok(found) => rules.extend(found),
            // A kernel without IPv6, or without policy routing, has no rules.
            Err(Unavailable { reason: Reason::Unsupported, .. }) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(rules)
}

/// How these facts are read.
pub const SOURCE: &str = "RTM_GETRULE";

fn parse(message: &[u8]) -> Result<PolicyRule, NetlinkError> {
    let Some(&[family, to, from, tos, table, _, _, action, ..]) = message.first_chunk::<FIB_RULE_HDR_LEN>() else {
        return Err(NetlinkError::Malformed { offset: 0, reason: "a rule that is cut short" });
    };
    let mut parts = Parts { table: table.into(), ..Parts::default() };
    for attribute in attributes(message, FIB_RULE_HDR_LEN) {
        parts.take(&attribute?);
    }
    let inverted = value::word(message, FLAGS).unwrap_or_default() & FIB_RULE_INVERT != 0;
    let mut selector = String::from(if inverted { "not from " } else { "from " });
    selector.push_str(&parts.from.map_or_else(|| "all".to_owned(), |address| format!("{address}/{from}")));
    if let Some(address) = &parts.to {
        selector.push_str(&format!(" to {address}/{to}"));
    }
    if tos != 0 {
        selector.push_str(&format!(" tos {tos:#x}"));
    }
    for (word, text) in [("iif", &parts.input), ("oif", &parts.output)] {
        if let Some(text) = text {
            selector.push_str(&format!(" {word} {text}"));
        }
    }
    if let Some(mark) = parts.mark {
        let mask = parts.mask.filter(|&mask| mask != u32::MAX).map(|mask| format!("/{mask:#x}")).unwrap_or_default();
        selector.push_str(&format!(" fwmark {mark:#x}{mask}"));
    }
    if i32::from(family) == libc::AF_INET6 {
        selector.push_str(" inet6");
    }
    Ok(PolicyRule { priority: parts.priority, selector, action: parts.action(action) })
}

#[derive(Default)]
struct Parts {
    from: Option<std::net::IpAddr>,
    to: Option<std::net::IpAddr>,
    input: Option<String>,
    output: Option<String>,
    mark: Option<u32>,
    mask: Option<u32>,
    priority: u32,
    table: u32,
    target: u32,
    suppressed: Option<u32>,
}

impl Parts {
    fn take(&mut self, attribute: &Attribute<'_>) {
        let number = value::u32(attribute);
        match attribute.kind {
            FRA_DST => self.to = value::ip(attribute.value),
            FRA_SRC => self.from = value::ip(attribute.value),
            FRA_IIFNAME => self.input = Some(value::text(attribute)),
            FRA_OIFNAME => self.output = Some(value::text(attribute)),
            FRA_GOTO => self.target = number.unwrap_or_default(),
            FRA_PRIORITY => self.priority = number.unwrap_or_default(),
            FRA_FWMARK => self.mark = number,
            FRA_FWMASK => self.mask = number,
            FRA_TABLE => self.table = number.unwrap_or(self.table),
            FRA_SUPPRESS_PREFIXLEN => self.suppressed = number.filter(|&length| length != u32::MAX),
            _ => {}
        }
    }

    fn action(&self, action: u8) -> String {
        let suppressed = self.suppressed.map(|length| format!(" suppress_prefixlength {length}")).unwrap_or_default();
        match action {
            FR_ACT_TO_TBL => format!("lookup {}{suppressed}", table_name(self.table)),
            FR_ACT_GOTO => format!("goto {}", self.target),
            FR_ACT_NOP => "nop".to_owned(),
            FR_ACT_BLACKHOLE => "blackhole".to_owned(),
            FR_ACT_UNREACHABLE => "unreachable".to_owned(),
            FR_ACT_PROHIBIT => "prohibit".to_owned(),
            other => format!("action {other}"),
        }
    }
}

/// Names of ip-rule(8).
fn table_name(table: u32) -> String {
    match table {
        253 => "default".to_owned(),
        254 => "main".to_owned(),
        255 => "local".to_owned(),
        other => other.to_string(),
    }
}

// include/uapi/linux/fib_rules.h, rtnetlink.h of 6.18
const RTM_GETRULE: u16 = 34;
const FIB_RULE_HDR_LEN: usize = 12;
const FLAGS: usize = 8;
const FIB_RULE_INVERT: u32 = 2;
const FRA_DST: u16 = 1;
const FRA_SRC: u16 = 2;
const FRA_IIFNAME: u16 = 3;
const FRA_GOTO: u16 = 4;
const FRA_PRIORITY: u16 = 6;
const FRA_FWMARK: u16 = 10;
const FRA_SUPPRESS_PREFIXLEN: u16 = 14;
const FRA_TABLE: u16 = 15;
const FRA_FWMASK: u16 = 16;
const FRA_OIFNAME: u16 = 17;
const FR_ACT_TO_TBL: u8 = 1;
const FR_ACT_GOTO: u8 = 2;
const FR_ACT_NOP: u8 = 3;
const FR_ACT_BLACKHOLE: u8 = 6;
const FR_ACT_UNREACHABLE: u8 = 7;
const FR_ACT_PROHIBIT: u8 = 8;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::netlink::Request;

    #[test]
    fn a_rule_reads_as_ip_prints_it() {
        let mut message = Request::new(&[2, 0, 32, 0, 0, 0, 0, FR_ACT_TO_TBL, 0, 0, 0, 0]);
        message.put(FRA_SRC, &[10, 0, 0, 7]).put_text(FRA_IIFNAME, "eth0").put_u32(FRA_PRIORITY, 32_765);
        message.put_u32(FRA_FWMARK, 16).put_u32(FRA_FWMASK, 255).put_u32(FRA_TABLE, 100);
        let rule = parse(message.bytes()).unwrap();
        assert_eq!(rule.to_string(), "32765 from 10.0.0.7/32 iif eth0 fwmark 0x10/0xff");
        assert_eq!(rule.action, "lookup 100");
        assert!(parse(&[0; 4]).is_err());
    }
}
