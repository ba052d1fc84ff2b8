//! Questions about gateways, each with a few answers: the signs by which `diagnose` tells causes apart.

use serde::{Deserialize, Serialize};

/// An answer to a question about a gateway, or about all of them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Observed {
    /// The gateway; absent where the answer is of all of them together.
    pub gateway: Option<String>,
    /// The question, by its name in docs/causes.md.
    pub sign: String,
    /// One of the states of the sign.
    pub state: String,
    /// In a sentence with the numbers.
    pub says: String,
}

/// A question with its answers. The first answer is what a gateway without a fault shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GatewaySign {
    /// Name in causes and JSON, unique among signs.
    pub name: &'static str,
    /// States that it can have, the usual one first.
    pub states: &'static [&'static str],
}

/// Whether one gateway gets most of the requests between reports, another one in the next interval.
pub const REQUESTS: GatewaySign = GatewaySign { name: "gateway-requests", states: &["spread", "one-at-a-time"] };
/// What a gateway got after a time without requests.
pub const AFTER_PAUSE: GatewaySign = GatewaySign { name: "gateway-after-pause", states: &["its-share", "nearly-all"] };
/// Requests per capacity beside the others.
pub const SHARE: GatewaySign = GatewaySign { name: "gateway-share", states: &["alike", "more", "less"] };
/// Transfers in flight per capacity beside the others.
pub const TRANSFERS: GatewaySign = GatewaySign { name: "gateway-transfers", states: &["alike", "more", "less"] };
/// The rate of a transfer beside the others'.
pub const TRANSFER_RATE: GatewaySign = GatewaySign { name: "gateway-transfer-rate", states: &["alike", "slower"] };
/// How much of its NIC's rate a gateway moves.
pub const NIC: GatewaySign = GatewaySign { name: "gateway-nic", states: &["free", "full"] };
/// How full the memory of the service is.
pub const MEMORY: GatewaySign =
    GatewaySign { name: "gateway-memory-use", states: &["below", "near-limit", "restarted"] };
/// How long deletions take beside the fastest gateway.
pub const DELETIONS: GatewaySign = GatewaySign { name: "gateway-deletion-time", states: &["alike", "slow"] };

/// All questions, in the order in which they are answered.
pub const ALL: [GatewaySign; 8] = [REQUESTS, AFTER_PAUSE, SHARE, TRANSFERS, TRANSFER_RATE, NIC, MEMORY, DELETIONS];

impl GatewaySign {
    /// An answer about a gateway, or about all.
    ///
    /// # Panics
    /// Where the sign has no such state, which is an error of this crate.
    pub(super) fn is(self, state: &str, gateway: Option<&str>, says: String) -> Observed {
        assert!(self.states.contains(&state), "{} has no state {state}", self.name);
        Observed { gateway: gateway.map(str::to_owned), sign: self.name.to_owned(), state: state.to_owned(), says }
    }
}

impl Observed {
    /// Whether it is that answer to that question.
    #[must_use]
    pub fn is_of(&self, sign: GatewaySign, state: &str) -> bool {
        self.sign == sign.name && self.state == state
    }
}
