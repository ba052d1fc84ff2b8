//! Retransmissions of one device, as the kernel reports each with its time.

use std::collections::HashMap;
use std::net::IpAddr;
use std::time::Duration;

use linux::bpf::meter::epoch;
use linux::{Unavailable, links};
use passive::bursts::retransmits::RetransmitTimes;

use crate::tcp_events::RetransmitWatch;

/// When TCP of this namespace retransmits by one device.
pub(super) struct DeviceRetransmits {
    events: RetransmitWatch,
    device: String,
    /// Whether what goes between two addresses, this host's first, leaves by the device.
    known: HashMap<[IpAddr; 2], bool>,
    pub(super) times: RetransmitTimes,
    /// Events that the kernel could not keep.
    pub(super) lost: u64,
}

impl DeviceRetransmits {
    /// Takes events from here on.
    ///
    /// # Errors
    /// As those of [`RetransmitWatch::open`].
    pub(super) fn open(device: &str) -> Result<Self, Unavailable> {
        let events = RetransmitWatch::open()?;
        Ok(Self {
            events,
            device: device.to_owned(),
            known: HashMap::new(),
            times: RetransmitTimes::default(),
            lost: 0,
        })
    }

    /// Notes what was retransmitted since the last call, in buckets of this length.
    pub(super) fn take(&mut self, bucket: Duration) {
        let Self { events, device, known, times, lost } = self;
        *lost += events.drain(|ends, at| {
            let pair = [ends.local, ends.peer].map(|end| end.ip().to_canonical());
            if known.len() >= MOST_PAIRS {
                known.clear();
            }
            if *known.entry(pair).or_insert_with(|| leaves_by(device, pair)) {
                times.note(epoch(at, bucket));
            }
        });
    }
}

/// Whether a segment with these addresses leaves by a device of this namespace: events are of the whole host, and name neither.
///
/// Model: it leaves by the device that carries its own address; by loopback where the peer's address is carried here as well.
fn leaves_by(device: &str, [local, peer]: [IpAddr; 2]) -> bool {
    // Where devices cannot be listed nothing is known.
    let carrier = |address| links::carrying(address).ok().flatten();
    let Some(own) = carrier(local) else { return false };
    if carrier(peer).is_some() { device == LOOPBACK } else { own.name == device }
}

/// Further ones are looked up anew.
const MOST_PAIRS: usize = 4_096;
const LOOPBACK: &str = "lo";
