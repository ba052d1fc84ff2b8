//! Tests: what is measured, from where, to where, when.

use std::collections::BTreeSet;
use std::time::Duration;

use document::{DocumentError, Key};
use model::spec::Family;
use plan::task::text::TaskText;
use serde::Deserialize;
use units::DataRate;

use crate::diagnostics::Diagnostics;

/// One test.
#[derive(Debug, Clone)]
pub struct Test {
    /// What it is called where results are shown.
    pub label: String,
    /// The host that asks.
    pub from: Point,
    /// The host that answers.
    pub to: Point,
    /// When it begins, by the clock of the network; when the one before it is over where it is [`None`].
    pub start: Option<Duration>,
    /// By which of its addresses the host that answers is asked; by its first where it is [`None`].
    pub family: Option<Family>,
    /// What is measured.
    pub kind: TestKind,
}

impl Test {
    /// Whether both hosts are asked and answer by their addresses in one overlay.
    #[must_use]
    pub fn is_in_an_overlay(&self) -> bool {
        self.from.overlay.is_some() && self.from.overlay == self.to.overlay
    }
}

/// A host as a test sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Point {
    /// Host, by its place in the file.
    pub host: usize,
    /// Its address in this overlay; its own where it is [`None`].
    pub overlay: Option<usize>,
}

pub use plan::task::Task as TestKind;
pub use plan::task::{Flow, Http, Ping};

/// What `[[tests]]` says besides what is measured.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct TestText {
    from: String,
    to: String,
    label: Option<String>,
    #[serde(default, deserialize_with = "units::duration::text::read_some")]
    start: Option<Duration>,
    #[serde(default, deserialize_with = "units::text::read_some")]
    expect: Option<DataRate>,
}

const OWN_KEYS: [&str; 4] = ["from", "to", "label", "start"];

impl TestText {
    pub(crate) fn settle(
        self,
        number: usize,
        task: &TaskText,
        families: &BTreeSet<Family>,
        diagnostics: &mut Diagnostics<'_>,
    ) -> Option<Test> {
        let key = Key::top("tests").nth(number);
        task.only_keys(&key, &OWN_KEYS, diagnostics.document());
        let from = point(&self.from, &key.at("from"), diagnostics);
        let to = point(&self.to, &key.at("to"), diagnostics);
        let kind = task.settle(&key, self.expect, diagnostics.document());
        let (from, to, kind) = (from?, to?, kind?);
        if from.host == to.host {
            diagnostics.complain(&key.at("to"), DocumentError::Keys("a test goes to another host"));
        }
        if task.family().is_some_and(|family| !families.contains(&family)) {
            diagnostics.complain(&key.at("family"), DocumentError::Keys("the network speaks no such family"));
        }
        let label = self.label.unwrap_or_else(|| format!("{} to {}", self.from, self.to));
        Some(Test { label, from, to, start: self.start, family: task.family(), kind })
    }
}

/// Reads `HOST` or `HOST.OVERLAY`.
fn point(text: &str, key: &Key, diagnostics: &mut Diagnostics<'_>) -> Option<Point> {
    let (host, overlay) = match text.split_once('.') {
        Some((host, overlay)) => (host, Some(overlay)),
        None => (text, None),
    };
    let host = diagnostics.host(key, host)?;
    let overlay = match overlay {
        Some(name) => Some(diagnostics.overlay(key, name)?),
        None => None,
    };
    Some(Point { host, overlay })
}

impl Test {
    /// How long it takes by itself; not known where it ends with an amount.
    #[must_use]
    pub fn length(&self) -> Option<Duration> {
        self.kind.length()
    }
}
