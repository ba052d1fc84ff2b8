//! Tests towards every hop of a way.

use std::net::IpAddr;

use serde::{Deserialize, Serialize};

use super::echo::EchoSeries;
use super::hops::Trace;
use super::path_mtu::PathMtu;
use crate::run::Run;

/// A way, and what was found towards each hop that has an address.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Along {
    /// Hops as traced before the echoes.
    pub trace: Trace,
    /// The hops, the nearest first.
    pub hops: Vec<HopTests>,
}

/// What was found towards one hop.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HopTests {
    /// Which hop, from 1.
    pub number: u8,
    /// Address from which the hop answered.
    pub address: IpAddr,
    /// Round trips and losses.
    pub echo: EchoSeries,
    /// The largest packet that it answers.
    pub path_mtu: PathMtu,
    /// A flow to it, where a test partner answers there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub there: Option<Box<Run>>,
    /// A flow from it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub back: Option<Box<Run>>,
}
