//! The control protocol: iperf3's, byte for byte, with linerate's additions in one extra key that iperf3 ignores.
//!
//! Nothing here touches a socket. Bytes go in, messages come out, so the same code is driven by real connections, by
//! tests on scripted bytes and by the fuzzers.
//!
//! * [`signal`]: the one-byte state changes
//! * [`cookie`]: the 37 bytes that name a test
//! * [`inbox`]: received bytes, cut into messages under limits
//! * [`params`], [`results`]: the two JSON exchanges
//! * [`extension`]: what two linerates say to each other besides
//! * [`client`], [`server`]: each side's part of the dialogue, and what it may hear when
//!
//! Reference: iperf 3.12 to 3.21 sources (src/iperf_api.h, iperf_client_api.c, iperf_server_api.c), as observed on the
//! wire. The normative text of linerate's additions is docs/formats/wire.md.

pub mod client;
pub mod cookie;
pub mod extension;
pub mod inbox;
mod lenient;
pub mod limits;
pub mod params;
pub mod results;
pub mod server;
pub mod signal;
