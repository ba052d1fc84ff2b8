//! The privileged helper: the only part that changes settings.
//!
//! * [`server`]: who listens, and the timer that takes a fix back which nobody confirms
//! * `connection`: one caller; `line`: one question, with limits on size and time
//! * [`policy`]: who may ask; `socket`: where they ask
//! * [`client`]: asking; [`reach()`]: finding a helper, or starting one

pub mod client;
mod connection;
mod line;
pub mod policy;
pub mod reach;
pub mod server;
mod socket;

pub use client::{AskError, Client, Fixed, Greeting};
pub use policy::Policy;
pub use reach::{LookError, ReachError, Reached, look, reach};
pub use server::{Options, ServeError, Server};

use std::path::PathBuf;

/// Where the helper of the system listens.
pub const SYSTEM_SOCKET: &str = "/run/linerate/helper.sock";

/// Where the journal of the system is.
pub const SYSTEM_STATE: &str = "/var/lib/linerate/fixes";

/// Where the journal of this user is: that of the system for root of the machine, else below `$XDG_STATE_HOME`. Root of a
/// user namespace is not root of the machine. Hosts of a lab name one of their own in `LINERATE_FIXES`.
#[must_use]
pub fn default_state() -> PathBuf {
    let set = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    if let Some(named) = set("LINERATE_FIXES") {
        return named;
    }
    if is_root_of_the_machine() {
        return SYSTEM_STATE.into();
    }
    let base = set("XDG_STATE_HOME").or_else(|| set("HOME").map(|home| home.join(".local/state")));
    base.unwrap_or_else(|| "/var/lib".into()).join("linerate/fixes")
}

/// Where the helper that a caller has started for itself listens.
#[must_use]
pub fn own_socket(state: &std::path::Path) -> PathBuf {
    state.join("helper.sock")
}

fn is_root_of_the_machine() -> bool {
    // The first user namespace maps all users to themselves (user_namespaces(7)).
    let map = std::fs::read_to_string("/proc/self/uid_map").unwrap_or_default();
    let whole = map.split_whitespace().eq(["0", "0", "4294967295"]);
    whole && linux::namespaces::rights::user() == 0
}
