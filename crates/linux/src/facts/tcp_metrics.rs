//! What TCP remembers of destinations (generic netlink family `tcp_metrics`).

use std::net::{IpAddr, Ipv4Addr};

use model::host::route::TcpMetrics;

use crate::Unavailable;
use crate::netlink::generic::GenericNetlink;
use crate::netlink::{Attribute, NetlinkError, value};

/// All destinations that TCP remembers in the namespace, up to [`MAX_ENTRIES`].
///
/// # Errors
/// Why they cannot be read.
pub fn read() -> Result<Vec<TcpMetrics>, Unavailable> {
    let mut family = GenericNetlink::open("tcp_metrics")?;
    let entries = family.dump(TCP_METRICS_CMD_GET, &[], |attributes| {
        let mut read = Entry::default();
        for attribute in attributes {
            read.take(&attribute?)?;
        }
        Ok(read)
    });
    let entries = entries.map_err(|error| error.unavailable(SOURCE))?;
    Ok(entries.into_iter().take(MAX_ENTRIES).filter_map(Entry::finish).collect())
}

/// How these facts are read.
pub const SOURCE: &str = "TCP_METRICS_CMD_GET";

/// A server of the public remembers tens of thousands; what is judged are a few partners.
pub const MAX_ENTRIES: usize = 1_024;

#[derive(Default)]
struct Entry {
    destination: Option<IpAddr>,
    source: Option<IpAddr>,
    values: [Option<u32>; VALUES],
}

impl Entry {
    fn take(&mut self, attribute: &Attribute<'_>) -> Result<(), NetlinkError> {
        match attribute.kind {
            ATTR_ADDR_IPV4 => self.destination = v4(attribute),
            ATTR_ADDR_IPV6 => self.destination = value::ip(attribute.value),
            ATTR_SADDR_IPV4 => self.source = v4(attribute),
            ATTR_SADDR_IPV6 => self.source = value::ip(attribute.value),
            ATTR_VALS => value::for_nested(attribute, |part| {
                if let Some(place) = self.values.get_mut(usize::from(part.kind)) {
                    *place = value::u32(part);
                }
                Ok(())
            })?,
            _ => {}
        }
        Ok(())
    }

    fn finish(self) -> Option<TcpMetrics> {
        let [_, rtt_ms, rttvar_ms, ssthresh, cwnd, reordering, rtt_us, rttvar_us] = self.values;
        // The kernel keeps eight times the round trip time, and four times its variation (iproute2, ip/tcp_metrics.c).
        let micros = |us: Option<u32>, ms: Option<u32>| us.or_else(|| ms.map(|ms| ms.saturating_mul(1_000)));
        Some(TcpMetrics {
            destination: self.destination?,
            source: self.source,
            rtt: micros(rtt_us, rtt_ms).map(|eighths| eighths / 8),
            rttvar: micros(rttvar_us, rttvar_ms).map(|quarters| quarters / 4),
            ssthresh,
            cwnd,
            reordering,
        })
    }
}

/// In the byte order of the network, as the kernel keeps it.
fn v4(attribute: &Attribute<'_>) -> Option<IpAddr> {
    attribute.value.first_chunk::<4>().map(|&bytes| Ipv4Addr::from(bytes).into())
}

// include/uapi/linux/tcp_metrics.h of 6.18
const TCP_METRICS_CMD_GET: u8 = 1;
const ATTR_ADDR_IPV4: u16 = 1;
const ATTR_ADDR_IPV6: u16 = 2;
const ATTR_VALS: u16 = 6;
const ATTR_SADDR_IPV4: u16 = 11;
const ATTR_SADDR_IPV6: u16 = 12;

/// `enum tcp_metric_index`, each one higher than there.
const VALUES: usize = 8;
