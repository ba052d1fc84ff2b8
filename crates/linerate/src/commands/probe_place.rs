//! Where a probe runs: in this namespace or in one that was named.

use anyhow::Context;
use linux::netns::{NetnsRef, with_netns};

use crate::cli::probe::WayArgs;
use crate::exit::{Complaint, Exit};

pub(super) fn within<T: Send>(way: &WayArgs, work: impl FnOnce() -> T + Send) -> anyhow::Result<T> {
    let Some(netns) = way.netns.as_deref() else { return Ok(work()) };
    let entered = NetnsRef::parse(netns).map_err(anyhow::Error::from);
    entered.and_then(|netns| with_netns(&netns, work).map_err(anyhow::Error::from)).with_context(|| {
        Complaint::new(Exit::Usage, format!("network namespace `{netns}` cannot be entered"))
            .hint("`ip netns list` and `lsns -t net` show those there are; a path or `pid:N` works as well")
    })
}
