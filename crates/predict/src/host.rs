//! Settings of a host, from its snapshot.

use std::net::IpAddr;

use model::host::interface::Interface;
use model::host::namespace::Namespace;
use model::host::route::Route;
use model::host::{BufferSizes, TcpBuffers};
use units::{ByteCount, DataRate};

use crate::case::End;

/// The network namespace that an end was in: the one that has its address, or else that of the whole host.
pub(crate) fn namespace<'a>(end: &End<'a>) -> Option<&'a Namespace> {
    let facts = end.facts?;
    let has_it = |namespace: &&Namespace| {
        let addresses = namespace.addresses.value().map(Vec::as_slice).unwrap_or_default();
        addresses.iter().any(|address| Some(address.address) == end.address)
    };
    facts.namespaces.iter().find(has_it).or_else(|| facts.own())
}

/// The buffers of TCP: of the moment of the run, or else of the snapshot.
pub(crate) fn buffers(end: &End<'_>) -> Option<TcpBuffers> {
    end.identity.tcp.or_else(|| {
        let namespace = namespace(end)?;
        let sizes = |autotuned: &str, asked: &str| {
            let numbers: Vec<u64> = numbers(namespace, autotuned)?;
            let [least, first, most] = <[u64; 3]>::try_from(numbers).ok()?.map(ByteCount::new);
            let most_asked = numbers_of_one(namespace, asked);
            Some(BufferSizes { least, first, most, most_asked })
        };
        Some(TcpBuffers {
            receive: sizes("net.ipv4.tcp_rmem", "net.core.rmem_max")?,
            send: sizes("net.ipv4.tcp_wmem", "net.core.wmem_max")?,
        })
    })
}

fn numbers(namespace: &Namespace, key: &str) -> Option<Vec<u64>> {
    namespace.sysctl(key)?.split_whitespace().map(|number| number.parse().ok()).collect()
}

fn numbers_of_one(namespace: &Namespace, key: &str) -> Option<ByteCount> {
    numbers(namespace, key)?.first().copied().map(ByteCount::new)
}

/// The congestion control of a host where nobody asks for another.
pub(crate) fn congestion_control(end: &End<'_>) -> Option<String> {
    namespace(end)?.sysctl("net.ipv4.tcp_congestion_control").map(str::to_owned)
}

/// The route of the main table towards an address: that with the longest prefix.
pub(crate) fn route<'a>(end: &End<'a>, towards: Option<IpAddr>) -> Option<&'a Route> {
    let routes = namespace(end)?.routes.value()?;
    let towards = towards?;
    let leading = routes.iter().filter(|route| route.is_in_main_table());
    let matching = leading.filter_map(|route| Some((prefix(&route.destination, towards)?, route)));
    matching.max_by_key(|(length, _)| *length).map(|(_, route)| route)
}

/// The length of a prefix such as `10.0.0.0/8`, if it holds the address.
fn prefix(destination: &str, address: IpAddr) -> Option<u8> {
    let (network, length) = destination.split_once('/')?;
    let (network, length): (IpAddr, u8) = (network.parse().ok()?, length.parse().ok()?);
    let same = match (network, address) {
        (IpAddr::V4(network), IpAddr::V4(address)) => {
            let differ = (network.to_bits() ^ address.to_bits()).leading_zeros();
            differ >= u32::from(length)
        }
        (IpAddr::V6(network), IpAddr::V6(address)) => {
            let differ = (network.to_bits() ^ address.to_bits()).leading_zeros();
            differ >= u32::from(length)
        }
        _ => false,
    };
    same.then_some(length)
}

/// The number that a route has for a metric such as `initcwnd`.
pub(crate) fn metric(route: &Route, name: &str) -> Option<u32> {
    let value = route.metrics.get(name)?;
    value.strip_prefix("lock ").unwrap_or(value).parse().ok()
}

/// The interface by which an end sends to an address, with those that it rests on.
pub(crate) fn interface<'a>(end: &End<'a>, towards: Option<IpAddr>) -> Option<&'a Interface> {
    let name = route(end, towards)?.interface.as_deref()?;
    namespace(end)?.interface(name)
}

/// The speed of the adapter by which an end sends to an address.
///
/// Model: an interface that rests on another has the speed of that one.
pub(crate) fn adapter(end: &End<'_>, towards: Option<IpAddr>) -> Option<DataRate> {
    let mut interface = interface(end, towards)?;
    let namespace = namespace(end)?;
    for _ in 0..MOST_STACKED {
        let link = interface.link.value();
        let Some(lower) = link.and_then(|link| link.lower.as_deref()) else { break };
        let Some(below) = namespace.interface(lower) else { break };
        interface = below;
    }
    interface.reported_speed()
}

/// Whether the qdisc `fq` sends what an end sends to an address.
pub(crate) fn has_fq(end: &End<'_>, towards: Option<IpAddr>) -> Option<bool> {
    let disciplines = interface(end, towards)?.qdiscs.value()?;
    Some(disciplines.iter().any(|discipline| discipline.kind == "fq"))
}

/// A VLAN on a bond on an adapter is three; more than these are a loop.
const MOST_STACKED: usize = 8;
