//! Members and cells in few words.

use diagnose::locate::cell::{Cell, Layer, Quality, Symptom};
use diagnose::locate::explanation::Located;
use diagnose::locate::{Topology, locate};
use model::round::{Endpoint, Member};

pub(crate) fn member(name: &str, attributes: &[(&str, &str)]) -> Member {
    let attributes = attributes.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    Member { attributes, ..Member::named(name) }
}

pub(crate) fn end(host: &str, network: Option<&str>) -> Endpoint {
    Endpoint { host: host.to_owned(), network: network.map(str::to_owned) }
}

pub(crate) fn cell(from: &str, to: &str, part: f64) -> Cell {
    Cell { from: end(from, None), to: end(to, None), quality: Quality::measured(part), way: Vec::new() }
}

pub(crate) fn goodput(cells: Vec<Cell>) -> Layer {
    Layer { symptom: Symptom::Goodput, cells }
}

pub(crate) fn of_members(layer: &Layer, members: &[Member]) -> Located {
    locate(layer, Topology { members, segments: &[] })
}

/// Whether a page shows what is printed, set off by four spaces.
pub(crate) fn is_shown(page: &str, printed: &str) -> bool {
    let block: String = printed.trim_end().lines().map(|line| format!("    {line}\n")).collect();
    page.contains(&block)
}
