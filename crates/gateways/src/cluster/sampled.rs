//! What each gateway has each second, of the model as of a real cluster.

use serde::{Deserialize, Serialize};

/// All gateways over time.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Sampled {
    /// Moments, seconds from the start, rising.
    pub moments: Vec<Moment>,
}

/// All gateways at a moment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Moment {
    /// Seconds from the start.
    pub at_s: f64,
    /// Each gateway, in the balancer's order.
    pub gateways: Vec<GatewaySample>,
}

/// One gateway at a moment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct GatewaySample {
    /// Transfers in flight.
    pub in_flight: u64,
    /// Transfers that were sent to it so far.
    pub begun: u64,
    /// Bytes that it has moved so far, as a number of the model's settings.
    pub moved_bytes: f64,
}
