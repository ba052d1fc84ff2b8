//! XRootD's summary monitoring: what `xrd.report` sends by UDP and `xrdfs HOST query stats a` prints.

use roxmltree::{Document, Node, ParsingOptions};

use super::Read;

/// A document of one server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Summary {
    /// Who sent it: host and port, as it says.
    pub source: String,
    /// When it was made, seconds since 1970.
    pub at_s: u64,
    /// Since when the server runs, seconds since 1970.
    pub since_s: u64,
    /// Connections that are open.
    pub connections: u64,
    /// Connections so far.
    pub connections_so_far: u64,
    /// Bytes received so far.
    pub received: u64,
    /// Bytes sent so far.
    pub sent: u64,
    /// Requests that failed so far, where it says so.
    pub errors: Option<u64>,
    /// Requests that were refused by scheduling limits: jobs that had no thread.
    pub threads_lacking: Option<u64>,
    /// Jobs that wait for a thread.
    pub queued: Option<u64>,
    /// CPU time used so far, microseconds.
    pub cpu_us: Option<u64>,
    /// Memory of its buffers, bytes: what transfers hold, less what the program itself takes.
    pub buffer_bytes: Option<u64>,
    /// Requests that were told to wait so far.
    pub delayed: Option<u64>,
}

/// Bytes of one document; a server sends a datagram each.
const LONGEST: usize = 65_536;

/// Reads documents that follow each other, with anything between them.
#[must_use]
pub fn read(text: &str) -> Read<Summary> {
    let mut read = Read::default();
    let mut rest = text;
    let mut number = 0;
    while let Some(start) = rest.find("<statistics") {
        number += 1;
        rest = &rest[start..];
        let Some(end) = rest.find("</statistics>") else {
            read.wrong(format!("document {number}: it has no end"));
            break;
        };
        let (document, after) = rest.split_at(end + "</statistics>".len());
        rest = after;
        match document_of(document) {
            Ok(summary) => read.keep(summary),
            Err(why) => read.wrong(format!("document {number}: {why}")),
        }
    }
    holes(&mut read);
    read
}

fn document_of(text: &str) -> Result<Summary, String> {
    if text.len() > LONGEST {
        return Err(format!("{} bytes, and a datagram has at most {LONGEST}", text.len()));
    }
    let options = ParsingOptions { allow_dtd: false, nodes_limit: 10_000, ..ParsingOptions::default() };
    let document = Document::parse_with_options(text, options).map_err(|error| error.to_string())?;
    let root = document.root_element();
    let attribute = |name: &str| root.attribute(name).ok_or_else(|| format!("<statistics> has no `{name}`"));
    let seconds = |name: &str| attribute(name)?.parse().map_err(|_| format!("`{name}` is no time"));
    let source = attribute("src")?;
    if source.len() > 256 {
        return Err("`src` is no host and port".to_owned());
    }
    let link =
        part(root, "link").ok_or("it has no statistics of links; `xrd.report` sends them with `all` or `link`")?;
    let needed = |name: &str| number(link, name).ok_or_else(|| format!("links have no `{name}`"));
    let processor = part(root, "proc");
    let used = |name: &str| {
        let node = child(processor?, name)?;
        Some(number(node, "s")?.checked_mul(1_000_000)?.saturating_add(number(node, "u").unwrap_or(0)))
    };
    Ok(Summary {
        source: source.to_owned(),
        at_s: seconds("tod")?,
        since_s: seconds("tos")?,
        connections: needed("num")?,
        connections_so_far: needed("tot")?,
        received: needed("in")?,
        sent: needed("out")?,
        errors: part(root, "xrootd").and_then(|node| number(node, "err")),
        threads_lacking: part(root, "sched").and_then(|node| number(node, "tlimr")),
        queued: part(root, "sched").and_then(|node| number(node, "inq")),
        buffer_bytes: part(root, "buff").and_then(|node| number(node, "mem")),
        delayed: part(root, "xrootd").and_then(|node| number(node, "dly")),
        cpu_us: used("usr").zip(used("sys")).map(|(user, system)| user.saturating_add(system)),
    })
}

fn part<'a>(root: Node<'a, 'a>, id: &str) -> Option<Node<'a, 'a>> {
    root.children().find(|node| node.has_tag_name("stats") && node.attribute("id") == Some(id))
}

fn child<'a>(node: Node<'a, 'a>, name: &str) -> Option<Node<'a, 'a>> {
    node.children().find(|node| node.has_tag_name(name))
}

fn number(node: Node<'_, '_>, name: &str) -> Option<u64> {
    child(node, name)?.text()?.trim().parse().ok()
}

/// Names counters that go back without a restart, and times that do.
fn holes(read: &mut Read<Summary>) {
    let mut last: std::collections::BTreeMap<String, Summary> = std::collections::BTreeMap::new();
    let mut found = Vec::new();
    for record in &read.records {
        if let Some(before) = last.insert(record.source.clone(), record.clone()) {
            let source = &record.source;
            if record.at_s < before.at_s {
                found.push(format!("{source}: time goes backwards at {}", record.at_s));
            } else if record.since_s != before.since_s {
                found.push(format!("{source}: restarted at {}", record.since_s));
            } else if record.sent < before.sent || record.received < before.received {
                found.push(format!("{source}: counters go back at {} without a restart", record.at_s));
            }
        }
    }
    found.into_iter().for_each(|one| read.wrong(one));
}

/// What moved between two documents of one server, bytes per second; [`None`] where they are not of one life of it.
#[must_use]
pub fn rate(before: &Summary, after: &Summary) -> Option<f64> {
    let is_one_life = before.source == after.source && before.since_s == after.since_s;
    let seconds = after.at_s.checked_sub(before.at_s).filter(|seconds| *seconds > 0 && is_one_life)?;
    let moved = after.sent.checked_sub(before.sent)?.checked_add(after.received.checked_sub(before.received)?)?;
    #[expect(clippy::cast_precision_loss, reason = "bytes of one interval, shown with three digits")]
    let rate = moved as f64 / seconds as f64;
    Some(rate)
}
