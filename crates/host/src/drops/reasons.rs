//! Packets that the kernel dropped, by its reason (`skb:kfree_skb`, with reasons since Linux 5.17).

use std::collections::BTreeMap;

use linux::Unavailable;
use linux::tracepoint::{Field, Tracepoint};
use model::host::drops::{ReasonCount, Reasons};

/// Counts packets by reason, of the whole host.
pub(super) struct ReasonCounter {
    pub(super) events: Tracepoint,
    reason: Field,
    protocol: Option<Field>,
    counts: BTreeMap<(u64, u64), u64>,
}

impl ReasonCounter {
    pub(super) fn open() -> Result<Self, Unavailable> {
        let events = Tracepoint::open("skb/kfree_skb")?;
        let reason = events.format().field("reason").ok_or_else(|| Unavailable {
            what: "reason of skb/kfree_skb".to_owned(),
            reason: linux::Reason::Unsupported,
        })?;
        let protocol = events.format().field("protocol");
        Ok(Self { events, reason, protocol, counts: BTreeMap::new() })
    }

    pub(super) fn drain(&mut self) {
        let Self { events, reason, protocol, counts } = self;
        events.drain(|event| {
            let event = event.bytes;
            let protocol = protocol.and_then(|field| field.number(event)).unwrap_or(0);
            if let Some(reason) = reason.number(event) {
                *counts.entry((reason, protocol)).or_default() += 1;
            }
        });
    }

    pub(super) fn take(&mut self) -> Reasons {
        self.drain();
        let format = self.events.format();
        let count = |((reason, protocol), packets): ((u64, u64), u64)| ReasonCount {
            reason: format.word("reason", reason).map_or_else(|| reason.to_string(), ToOwned::to_owned),
            ethertype: u16::try_from(protocol).ok().filter(|&protocol| protocol != 0),
            packets,
        };
        let packets = std::mem::take(&mut self.counts).into_iter().map(count).collect();
        Reasons { packets, missed: self.events.take_lost() }
    }
}
