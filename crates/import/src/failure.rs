//! From a tool's complaint to a kind of failure.

use model::run::{Failure, FailureKind};

/// The failure that `text` reports. The words differ from version to version, so that parts of them decide.
pub(crate) fn failure(text: &str) -> Failure {
    let lower = text.to_lowercase();
    let kind = KINDS
        .iter()
        .find(|(parts, _)| parts.iter().any(|part| lower.contains(part)))
        .map_or(FailureKind::Local, |(_, kind)| *kind);
    Failure { kind, detail: text.trim().to_owned() }
}

/// The first that fits decides. Sources: iperf3's `iperf_strerror` (src/iperf_error.c, 3.12 and 3.21), nuttcp 6.1.2 and
/// 8.2.2 as run.
const KINDS: [(&[&str], FailureKind); 8] = [
    (&["busy running a test"], FailureKind::Busy),
    (&["interrupt - ", "interrupted"], FailureKind::Interrupted),
    (&["unable to bind", "unable to set", "address already in use", "permission denied", "option"], FailureKind::Local),
    (
        &[
            "unable to connect",
            "connection refused",
            "no route",
            "not known",
            "bad hostname",
            "unreachable",
            "timed out",
        ],
        FailureKind::Unreachable,
    ),
    (&["access denied", "authori", "authenti", "test duration valid", "over limit", "exceed"], FailureKind::Refused),
    (
        &[
            "closed unexpectedly",
            "has terminated",
            "reset by peer",
            "broken pipe",
            "unable to read",
            "unable to write",
            "lost",
        ],
        FailureKind::Lost,
    ),
    (&["unable to receive", "unable to send", "did not receive", "idle timeout"], FailureKind::Lost),
    (&["parameters", "cookie", "unexpected message", "protocol"], FailureKind::Protocol),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_wordings_of_a_failed_connection_are_one_kind() {
        for text in [
            "unable to connect to server: Connection refused",
            "unable to connect to server - server may have stopped running or use a different port, firewall issue, etc.: Connection refused",
            "bad hostname or address: Name or service not known: nosuch.invalid",
        ] {
            assert_eq!(failure(text).kind, FailureKind::Unreachable, "{text}");
        }
        assert_eq!(failure("the server is busy running a test. try again later").kind, FailureKind::Busy);
        assert_eq!(failure("interrupt - the client has terminated").kind, FailureKind::Interrupted);
        assert_eq!(failure("control socket has closed unexpectedly").kind, FailureKind::Lost);
        assert_eq!(failure("unable to set TCP_CONGESTION: No such file or directory").kind, FailureKind::Local);
    }
}
