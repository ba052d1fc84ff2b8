//! Scripts and styles, compiled in: the program is one file, and a page fetches nothing from elsewhere.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::sync::LazyLock;

use flate2::Compression;
use sha2::{Digest, Sha256};

use crate::exchange::{Coding, Policy, Response, gzip};

/// A file that pages need.
struct Asset {
    path: &'static str,
    body: &'static [u8],
}

macro_rules! assets {
    ($($path:literal,)*) => {
        const ASSETS: &[Asset] = &[$(Asset { path: $path, body: include_bytes!(concat!("../assets/", $path)) },)*];
    };
}

assets! {
    "index.html",
    "icon.svg",
    "style.css",
    "app.js",
    "dom.js",
    "units.js",
    "session.js",
    "grid.js",
    "plot.js",
    "svg.js",
    "pages/overview.js",
    "pages/demonstration.js",
    "pages/round.js",
    "pages/why.js",
    "pages/progress.js",
    "pages/run.js",
    "pages/pair.js",
    "pages/host.js",
    "pages/incident.js",
    "pages/report.js",
    "pages/plan.js",
    "pages/people.js",
    "pages/network.js",
    "pages/what-if.js",
    "pages/downloads.js",
    "pages/this-computer.js",
    "ndt7.js",
    "vendor/uPlot.iife.min.js",
    "vendor/uPlot.min.css",
    "vendor/uPlot.LICENSE",
}

/// The shell of every page.
pub(crate) fn shell(coding: Coding) -> Response {
    named("index.html", coding).unwrap_or(Response {
        status: 500,
        media: "text/plain",
        body: Cow::Borrowed(b"no pages"),
        tag: None,
        coding: Coding::Identity,
        policy: Policy::Page,
    })
}

/// A file by its path under `/assets/`. Paths are names in a table: none leads out of it.
pub(crate) fn named(path: &str, coding: Coding) -> Option<Response> {
    let place = ASSETS.iter().position(|asset| asset.path == path)?;
    let asset = &ASSETS[place];
    let media = match asset.path.rsplit('.').next() {
        Some("html") => "text/html; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("svg") => "image/svg+xml",
        Some("js") => "text/javascript; charset=utf-8",
        _ => "text/plain; charset=utf-8",
    };
    let stored = STORED.get(place)?;
    let (body, tag) = match coding {
        Coding::Identity => (asset.body, stored.tag.clone()),
        // Of the same file in another form a browser keeps another copy.
        Coding::Gzip => (stored.gzip.as_slice(), stored.tag.replacen('"', "\"gzip-", 1)),
    };
    Some(Response { status: 200, media, body: Cow::Borrowed(body), tag: Some(tag), coding, policy: Policy::Page })
}

/// What is worked out of a file once.
struct Stored {
    tag: String,
    gzip: Vec<u8>,
}

static STORED: LazyLock<Vec<Stored>> = LazyLock::new(|| {
    let stored = |asset: &Asset| Stored { tag: tag(asset.body), gzip: gzip(asset.body, Compression::best()) };
    ASSETS.iter().map(stored).collect()
});

fn tag(body: &[u8]) -> String {
    let mut tag = String::from("\"");
    for byte in Sha256::digest(body).iter().take(12) {
        let _ = write!(tag, "{byte:02x}");
    }
    tag.push('"');
    tag
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a first visit loads: the limit of docs/dashboard.md.
    #[test]
    fn all_pages_together_weigh_less_than_300_kb() {
        let weight: usize = ASSETS.iter().map(|asset| asset.body.len()).sum();
        assert!(weight < 300_000, "{weight} bytes");
    }

    #[test]
    fn no_file_names_another_host_or_writes_markup() {
        for asset in ASSETS.iter().filter(|asset| !asset.path.starts_with("vendor/")) {
            let text = String::from_utf8_lossy(asset.body);
            for forbidden in
                ["http://", "https://", "innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval("]
            {
                let is_there = text.replace("http://www.w3.org/", "").contains(forbidden);
                assert!(!is_there, "{} has {forbidden}", asset.path);
            }
        }
    }

    #[test]
    fn every_module_that_a_script_imports_is_compiled_in() {
        for asset in ASSETS.iter().filter(|asset| asset.path.ends_with(".js") && !asset.path.starts_with("vendor/")) {
            let text = String::from_utf8_lossy(asset.body);
            for line in text.lines().filter(|line| line.starts_with("import ")) {
                let from = line.split('"').nth(1).unwrap();
                let path = from.strip_prefix("/assets/").unwrap_or_else(|| panic!("{}: {from}", asset.path));
                assert!(named(path, Coding::Identity).is_some(), "{} imports {from}", asset.path);
            }
        }
    }
}
