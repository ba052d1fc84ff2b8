//! Who takes part in a test: linerate, iperf3 and uiperf3, each as a client and as a server.
//!
//! * [`linerate`]: this program
//! * [`iperf3`]: the program whose protocol it speaks
//! * [`uiperf3`]: another program that speaks it
//! * `chromium`: a browser
//! * `openid_provider`: by whom people sign in at a hub
//! * [`process`]: what they are: processes that are waited for, and that never outlive their test
//! * [`shell`]: a shell on a host of namespaces
//! * [`world`]: a host made of namespaces, with a shell in it
//! * [`network`]: three such hosts at one switch

#[cfg(feature = "web")]
pub mod chromium;
pub mod iperf3;
pub mod linerate;
pub mod network;
#[cfg(feature = "hub")]
pub mod openid_provider;
pub mod process;
pub mod shell;
pub mod uiperf3;
pub mod world;

use std::path::PathBuf;

/// A file that `scripts/setup test` brings from the registries of Python and npm.
#[track_caller]
pub fn from_registry(file: &str) -> PathBuf {
    let data = std::env::var_os("XDG_DATA_HOME").map(PathBuf::from);
    let home = || PathBuf::from(std::env::var_os("HOME").unwrap_or_default()).join(".local/share");
    let path = data.unwrap_or_else(home).join("linerate-tests").join(file);
    assert!(path.exists(), "{} is missing: run scripts/setup test", path.display());
    path
}
