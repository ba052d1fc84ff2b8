//! Two namespaces with TAP devices, and a modelled path between them in real time.

use anyhow::Context;
use lab::relay::report::Report;
use lab::relay::{Options, Relay, Wire};
use linux::netns::{NetnsRef, with_netns};
use linux::tap::Tap;
use path::{ElementSpec, Seed};

use super::far::{FAR, Far, NEAR};

/// Has something done over a wire with these elements there and back. Returns that, and what the relay did.
pub(super) fn over<T>(
    elements: [Vec<ElementSpec>; 2],
    options: &Options,
    work: impl FnOnce(&Far) -> anyhow::Result<T>,
) -> anyhow::Result<(T, Report)> {
    let far = Far::start()?;
    let taps = [Tap::open(NEAR.0)?, with_netns(&NetnsRef::Pid(far.id()), || Tap::open(FAR.0))??];
    far.address_both()?;
    enlarge_buffers()?;
    with_netns(&NetnsRef::Pid(far.id()), enlarge_buffers)??;
    let stages = elements.map(|chain| chain.into_iter().map(Into::into).collect());
    let wire = Wire { name: "bench".to_owned(), taps, stages, reporters: Default::default(), seed: Seed(1) };
    let relay = Relay::start(vec![wire], linux::clock::now(), options)?;
    let done = work(&far)?;
    let (report, _) = relay.stop();
    Ok((done, report))
}

/// What both buffers of a connection begin with, and may grow to: what 10 Gbit/s over 50 ms need, and as much again for
/// what the kernel adds.
pub(super) const BUFFERS: (u64, u64) = (16 << 20, 1 << 30);

fn enlarge_buffers() -> anyhow::Result<()> {
    for name in ["tcp_rmem", "tcp_wmem"] {
        set(name, &format!("4096 {} {}", BUFFERS.0, BUFFERS.1))?;
    }
    Ok(())
}

/// Sets a setting of TCP in this namespace.
pub(super) fn set(name: &str, value: &str) -> anyhow::Result<()> {
    let path = format!("/proc/sys/net/ipv4/{name}");
    std::fs::write(&path, value).with_context(|| format!("{path} cannot be written"))
}
