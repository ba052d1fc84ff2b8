//! All queueing disciplines and classes of a device, read whole and made again.
//!
//! A discipline is made again from the options that the kernel gave (`TCA_OPTIONS`), with its own number. Where reading
//! and writing them differ in the kernel, they are translated here. What could not be made again is refused when it is
//! read, not when it is to be put back: filters, tables of sizes, kinds for which nobody has tried it.

use model::host::fix::captured::{Node, NodeKind};

use super::{SetError, hex, unhex};
use crate::netlink::change::{CREATE, REPLACE};
use crate::netlink::{Netlink, NetlinkError, Request, attributes, value};
use crate::qdisc::{INGRESS, ROOT};

/// The disciplines and classes of the device with the number `index`, parents before children; not those for what is
/// received.
///
/// # Errors
/// [`SetError::Irreversible`] where something in the tree could not be made again.
pub fn read(index: u32) -> Result<Vec<Node>, SetError> {
    let mut netlink = open()?;
    let mut nodes = Vec::new();
    for (request, what) in [(RTM_GETQDISC, NodeKind::Qdisc), (RTM_GETTCLASS, NodeKind::Class)] {
        let dumped = netlink.dump(request, tcmsg(index, 0, 0).bytes(), |message| parse(message, what));
        let found = dumped.map_err(|error| error.unavailable("qdiscs"))?;
        nodes.extend(found.into_iter().filter(|raw| raw.index == index && raw.node.parent != INGRESS));
    }
    // Most classes come with their discipline: those of `mq`, the flows of `fq_codel`.
    nodes.retain(|raw| raw.node.what == NodeKind::Qdisc || raw.node.kind == "htb");
    let tree: Vec<Node> = nodes.iter().map(|raw| raw.node.clone()).collect();
    if is_default(&tree) {
        return Ok(tree);
    }
    for raw in &nodes {
        reversible(raw)?;
        // Those of a class are of the class only.
        if has_filters(&mut netlink, index, raw.node.handle)? {
            return Err(SetError::irreversible(named(&raw.node), "it has filters, which would be lost"));
        }
    }
    Ok(tree)
}

/// Makes the tree again as [`read`] has found it. What is there goes.
///
/// # Errors
/// What the kernel says.
pub fn write(index: u32, tree: &[Node]) -> Result<(), SetError> {
    let mut netlink = open()?;
    remove(&mut netlink, index)?;
    if is_default(tree) {
        return Ok(());
    }
    let mut rest: Vec<&Node> = tree.iter().filter(|node| node.handle != 0).collect();
    let mut made = vec![ROOT];
    while !rest.is_empty() {
        let ready = rest.iter().position(|node| is_ready(node, &made, tree));
        let Some(place) = ready else {
            return Err(SetError::irreversible(format!("{} nodes of the tree", rest.len()), "their parent is missing"));
        };
        let node = rest.remove(place);
        make(&mut netlink, index, node)?;
        made.push(node.handle);
    }
    Ok(())
}

/// Takes away what is there, so that the kernel puts in its default.
pub(super) fn remove(netlink: &mut Netlink, index: u32) -> Result<(), SetError> {
    match netlink.change(RTM_DELQDISC, 0, tcmsg(index, 0, ROOT).bytes()) {
        // It has the default already.
        Err(error) if matches!(error.errno(), Some(libc::ENOENT | libc::EINVAL)) => Ok(()),
        outcome => outcome.map_err(SetError::netlink("remove the qdisc")),
    }
}

pub(super) fn open() -> Result<Netlink, SetError> {
    let open = || {
        let mut netlink = Netlink::open(netlink_sys::protocols::NETLINK_ROUTE)?;
        netlink.explain_refusals()?;
        Ok(netlink)
    };
    open().map_err(SetError::netlink("open a socket for qdiscs"))
}

/// `struct tcmsg`, include/uapi/linux/rtnetlink.h.
pub(super) fn tcmsg(index: u32, handle: u32, parent: u32) -> Request {
    let mut request = Request::new(&[0; TCMSG_LEN]);
    request.set_u32(4, index).set_u32(8, handle).set_u32(12, parent);
    request
}

/// Whether the kernel put in all of it by itself.
fn is_default(tree: &[Node]) -> bool {
    tree.iter().find(|node| node.parent == ROOT).is_none_or(|root| root.handle == 0)
}

/// A class hangs on a class or on its discipline; a discipline hangs on a class, which may come with its discipline.
fn is_ready(node: &Node, made: &[u32], tree: &[Node]) -> bool {
    match node.what {
        // A class that hangs on nothing is one of its discipline.
        NodeKind::Class if node.parent == ROOT => made.contains(&(node.handle & MAJOR)),
        NodeKind::Class => made.contains(&node.parent),
        NodeKind::Qdisc => {
            let comes_along = !tree.iter().any(|other| other.what == NodeKind::Class && other.handle == node.parent);
            made.contains(&node.parent) || comes_along && made.contains(&(node.parent & MAJOR))
        }
    }
}

fn make(netlink: &mut Netlink, index: u32, node: &Node) -> Result<(), SetError> {
    let what = format!("make {} {} again", node.kind, number(node.handle));
    let mut request = tcmsg(index, node.handle, node.parent);
    request.put_text(TCA_KIND, &node.kind);
    if let Some(options) = &node.options {
        let options =
            unhex(options).ok_or_else(|| SetError::irreversible(what.as_str(), "its options are no bytes"))?;
        request.put(TCA_OPTIONS, &writable(&node.kind, options));
    }
    let message = if node.what == NodeKind::Class { RTM_NEWTCLASS } else { RTM_NEWQDISC };
    netlink.change(message, CREATE | REPLACE, request.bytes()).map_err(SetError::netlink(what))
}

/// Options as they are written, from those that are read.
fn writable(kind: &str, mut options: Vec<u8>) -> Vec<u8> {
    let times: &[u16] = match kind {
        "fq_codel" => &[1, 3, 7],
        "codel" => &[1, 3, 5],
        _ => &[],
    };
    let found: Vec<_> = attributes(&options, 0).filter_map(Result::ok).map(|part| (part.kind, part.offset)).collect();
    for (attribute, offset) in found {
        let Some(word) = value::word(&options, offset) else { continue };
        let written = match kind {
            // Read with its minor version (net/sched/sch_htb.c, htb_dump), written without (htb_init).
            "htb" if attribute == TCA_HTB_INIT && word > 0xffff => word >> 16,
            _ if times.contains(&attribute) => codel_time(word),
            _ => continue,
        };
        options[offset..offset + 4].copy_from_slice(&written.to_ne_bytes());
    }
    options
}

/// The time that reads back as `shown` µs: the kernel keeps it in units of 1024 ns (include/net/codel.h, CODEL_SHIFT).
fn codel_time(shown: u32) -> u32 {
    let reads_back = |micros: u32| ((u64::from(micros) * 1_000) >> 10 << 10) / 1_000;
    (shown..=shown.saturating_add(2)).find(|&micros| reads_back(micros) == u64::from(shown)).unwrap_or(shown)
}

/// A node as the kernel gives it.
struct Raw {
    index: u32,
    node: Node,
    has_size_table: bool,
}

fn parse(message: &[u8], what: NodeKind) -> Result<Raw, NetlinkError> {
    let word = |offset| value::word(message, offset).unwrap_or_default();
    let mut node = Node { what, kind: String::new(), handle: word(8), parent: word(12), options: None };
    let mut has_size_table = false;
    for attribute in attributes(message, TCMSG_LEN) {
        let attribute = attribute?;
        match attribute.kind {
            TCA_KIND => node.kind = value::text(&attribute),
            TCA_OPTIONS if !attribute.value.is_empty() => node.options = Some(hex(attribute.value)),
            TCA_STAB => has_size_table = true,
            _ => {}
        }
    }
    if node.kind == "htb" {
        node.options = node.options.map(|options| without_count(&options, what));
    }
    Ok(Raw { index: word(4), node, has_size_table })
}

/// Options of `htb` without the packets that it has sent directly, which are a count (`struct tc_htb_glob`).
fn without_count(options: &str, what: NodeKind) -> String {
    let Some(mut bytes) = unhex(options).filter(|_| what == NodeKind::Qdisc) else { return options.to_owned() };
    let place = attributes(&bytes, 0).filter_map(Result::ok).find(|part| part.kind == TCA_HTB_INIT);
    if let Some(part) = place.filter(|part| part.value.len() >= 20) {
        let offset = part.offset + 16;
        bytes[offset..offset + 4].fill(0);
    }
    hex(&bytes)
}

fn reversible(raw: &Raw) -> Result<(), SetError> {
    let node = &raw.node;
    if raw.has_size_table {
        return Err(SetError::irreversible(named(node), "it has a table of sizes, which the kernel does not tell"));
    }
    if !MADE_AGAIN.contains(&node.kind.as_str()) {
        let known = MADE_AGAIN.join(", ");
        return Err(SetError::irreversible(named(node), format!("only {known} are known to come back as they were")));
    }
    Ok(())
}

fn has_filters(netlink: &mut Netlink, index: u32, handle: u32) -> Result<bool, SetError> {
    if handle == 0 {
        return Ok(false);
    }
    match netlink.dump(RTM_GETTFILTER, tcmsg(index, 0, handle).bytes(), |_| Ok(())) {
        Ok(found) => Ok(!found.is_empty()),
        // A kind that takes no filters.
        Err(error) if matches!(error.errno(), Some(libc::EINVAL | libc::EOPNOTSUPP)) => Ok(false),
        Err(error) => Err(SetError::Unavailable(error.unavailable("filters"))),
    }
}

fn named(node: &Node) -> String {
    let what = if node.what == NodeKind::Class { "class" } else { "qdisc" };
    format!("the {what} {} {}", node.kind, number(node.handle))
}

fn number(handle: u32) -> String {
    format!("{:x}:{:x}", handle >> 16, handle & 0xffff)
}

/// Kinds whose options, written as they are read, make the same discipline. A test shows it of each that its kernel has.
/// For kernels without `fq`, `codel` and `fq_codel` it was looked up that what they tell (`fq_dump`, `codel_dump`,
/// `fq_codel_dump` in net/sched/sch_*.c of 6.18) is what they take (`fq_change`, `codel_change`, `fq_codel_change`).
const MADE_AGAIN: [&str; 10] =
    ["noqueue", "pfifo_fast", "pfifo", "bfifo", "mq", "tbf", "htb", "fq_codel", "codel", "fq"];

const MAJOR: u32 = 0xffff_0000;

// include/uapi/linux/rtnetlink.h and pkt_sched.h of 6.18
pub(super) const RTM_NEWQDISC: u16 = 36;
const RTM_DELQDISC: u16 = 37;
const RTM_GETQDISC: u16 = 38;
pub(super) const RTM_NEWTCLASS: u16 = 40;
const RTM_GETTCLASS: u16 = 42;
const RTM_GETTFILTER: u16 = 46;
const TCMSG_LEN: usize = 20;
pub(super) const TCA_KIND: u16 = 1;
pub(super) const TCA_OPTIONS: u16 = 2;
const TCA_STAB: u16 = 8;
pub(super) const TCA_HTB_INIT: u16 = 2;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_so_that_they_read_back() {
        // 5 ms and 100 ms are shown as these.
        assert_eq!((codel_time(4_999), codel_time(99_999)), (5_000, 100_000));
        for shown in [0, 1, 999, 4_999, 99_999, 1_000_000] {
            let kept = (u64::from(codel_time(shown)) * 1_000) >> 10;
            let back = (kept << 10) / 1_000;
            // Not every number can be shown; one that is shown is shown again.
            assert!(back == u64::from(shown) || codel_time(shown) == shown, "{shown}");
        }
    }

    #[test]
    fn version_of_htb_is_written_without_its_minor_part_and_its_count_is_no_setting() {
        let mut request = Request::new(&[]);
        let fields = [0x3_0011u32, 10, 1, 0, 77].map(u32::to_ne_bytes).concat();
        request.put(TCA_HTB_INIT, &fields);
        let kept = unhex(&without_count(&hex(request.bytes()), NodeKind::Qdisc)).unwrap();
        assert_eq!(value::word(&kept, 4 + 16), Some(0));
        let written = writable("htb", kept);
        assert_eq!((value::word(&written, 4), value::word(&written, 8)), (Some(3), Some(10)));
    }
}
