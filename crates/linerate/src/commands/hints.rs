//! What to do next after a run that failed.

use measure::tools::Tool;
use model::run::{Failure, FailureKind};

/// The ways out, by the kind of failure. `tool` ran the test where linerate did not itself.
pub fn hints(failure: &Failure, target: &str, tool: Option<Tool>) -> Vec<String> {
    match failure.kind {
        FailureKind::Unreachable if is_about_the_name(&failure.detail) => vec![about_the_name(target)],
        FailureKind::Unreachable if failure.detail.contains(NO_ADDRESS_OF) => {
            vec!["leave out what asks for that family: --ipv4, --ipv6, or the address of --bind".to_owned()]
        }
        FailureKind::Unreachable if has_no_route(&failure.detail) => vec![
            format!("this host has no route to it: `ip route get {target}` says what the kernel would do"),
            "--bind, --device and --netns choose another way out".to_owned(),
        ],
        FailureKind::Unreachable => vec![
            format!("is {} running on {target}?", server(tool)),
            "a firewall that drops instead of refusing looks like silence".to_owned(),
        ],
        FailureKind::Busy if tool.is_some() => vec!["the peer runs one test at a time; try again later".to_owned()],
        FailureKind::Busy => vec!["--wait 10min waits longer in a linerate's queue; an iperf3 has none".to_owned()],
        FailureKind::Lost if failure.detail.contains(ENDED_BY_PEER) => vec![
            "a server ends a test that takes longer than it allows (`linerate serve --max-time`), and when it is stopped itself".to_owned(),
        ],
        FailureKind::Lost
        | FailureKind::Refused
        | FailureKind::Protocol
        | FailureKind::Local
        | FailureKind::Interrupted => Vec::new(),
    }
}

/// The same where nothing has to run on the other host but its kernel.
pub fn of_echoes(failure: &Failure, target: &str) -> Vec<String> {
    let is_known =
        is_about_the_name(&failure.detail) || failure.detail.contains(NO_ADDRESS_OF) || has_no_route(&failure.detail);
    match failure.kind {
        FailureKind::Unreachable if !is_known => vec![
            "a firewall that drops echoes looks like a host that is down; `linerate test` and `linerate probe http` send none".to_owned(),
        ],
        _ => hints(failure, target, None),
    }
}

/// After a run that broke off and is kept.
pub const UNTIL_THEN: &str = "what was measured until then is kept: `linerate runs show last`";

/// How a test is told that its server ended: the protocol has no word for the reason.
const ENDED_BY_PEER: &str = "the peer ended the test";

/// What must run on the peer.
fn server(tool: Option<Tool>) -> &'static str {
    tool.map_or("`linerate serve` or `iperf3 -s`", |tool| tool.server())
}

/// How a name without an address is told: by linerate, by the C library to iperf3, and by nuttcp.
const NO_SUCH_NAME: [&str; 4] =
    ["does not resolve to an address", "name or service not known", "bad hostname", "name resolution"];

/// How a name is told that has addresses of the other family only.
const NO_ADDRESS_OF: &str = "` has no IP";

/// The kernel's words for ENETUNREACH and EHOSTUNREACH, in whoever's mouth.
fn has_no_route(detail: &str) -> bool {
    let detail = detail.to_lowercase();
    ["network is unreachable", "no route to host", "host is unreachable"].iter().any(|words| detail.contains(words))
}

fn is_about_the_name(detail: &str) -> bool {
    let detail = detail.to_lowercase();
    NO_SUCH_NAME.iter().any(|words| detail.contains(words))
}

fn about_the_name(target: &str) -> String {
    match split_port(target) {
        Some((host, port)) => format!("the port is not part of the name: `linerate test {host} --port {port}`"),
        None => format!("is `{target}` spelled right? `getent hosts {target}` asks this host's resolver, DNS included"),
    }
}

/// `host:5201` or `[::1]:5201`. An IPv6 address without brackets has no port.
fn split_port(target: &str) -> Option<(&str, u16)> {
    let (host, port) = target.rsplit_once(':')?;
    let bare = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    let host = bare.or_else(|| (!host.is_empty() && !host.contains(':')).then_some(host))?;
    Some((host, port.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unreachable(detail: &str, target: &str, tool: Option<Tool>) -> String {
        hints(&Failure { kind: FailureKind::Unreachable, detail: detail.to_owned() }, target, tool).join("\n")
    }

    #[test]
    fn a_name_that_no_resolver_knows_is_about_the_name() {
        for detail in [
            "`dtn1.example` does not resolve to an address: failed to lookup address information: Name or service not known",
            "unable to connect to server: Name or service not known",
            "nuttcp-t: bad hostname or address: Name or service not known: dtn1.example",
            "unable to connect to server: Temporary failure in name resolution",
        ] {
            let said = unreachable(detail, "dtn1.example", None);
            assert!(said.contains("is `dtn1.example` spelled right?"), "{said}");
            assert!(!said.contains("serve"), "{said}");
        }
    }

    #[test]
    fn a_port_in_the_name_is_told_where_it_belongs() {
        for (target, right) in [("dtn1:5202", "dtn1 --port 5202"), ("[::1]:5201", "::1 --port 5201")] {
            let said = unreachable(&format!("`{target}` does not resolve to an address"), target, None);
            assert!(said.contains(&format!("`linerate test {right}`")), "{said}");
        }
        for target in ["::1", "dtn1", "dtn1:", "dtn1:http", ":5201", "dtn1:70000"] {
            assert_eq!(split_port(target), None, "{target}");
        }
    }

    #[test]
    fn a_name_of_the_other_family_is_about_the_option() {
        assert!(unreachable("`dtn1` has no IPv6 address", "dtn1", None).starts_with("leave out"));
    }

    #[test]
    fn a_network_without_a_route_is_about_the_route() {
        let said = unreachable("cannot connect to 192.0.2.1:5201: Network is unreachable (os error 101)", "dtn1", None);
        assert!(said.contains("`ip route get dtn1`") && !said.contains("serve"), "{said}");
    }

    #[test]
    fn echoes_need_no_server() {
        let said = |detail: &str| {
            of_echoes(&Failure { kind: FailureKind::Unreachable, detail: detail.to_owned() }, "dtn1").join("\n")
        };
        let silent = said("dtn1 does not answer echoes");
        assert!(silent.contains("a firewall") && !silent.contains("serve"), "{silent}");
        assert!(said("`dtn1` does not resolve to an address").starts_with("is `dtn1` spelled right?"));
    }

    #[test]
    fn each_program_has_its_own_server() {
        let said = |tool| unreachable("connection refused", "dtn1", tool);
        assert!(said(measure::tools::named("nuttcp")).starts_with("is `nuttcp -S` running on dtn1?"));
        assert!(said(measure::tools::named("iperf3")).contains("`iperf3 -s`"));
        assert!(said(None).contains("`linerate serve`"));
    }
}
