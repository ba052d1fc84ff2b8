//! What of a fix stands in files, and what no file can keep.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::product::Product;
use crate::fix::Target;
use crate::fix::plan::PlannedStep;

/// The blocks of a fix by product, and what no file can keep.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Lasting {
    /// Lines by product.
    pub lines: BTreeMap<Product, Vec<String>>,
    /// What is not kept.
    pub lost: Vec<Lost>,
}

/// What is gone after the next start of the host, whatever stands in files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Lost {
    /// What is lost, as the command that would set it.
    pub setting: String,
    /// Why, and what would keep it.
    pub reason: String,
}

impl Lasting {
    pub(super) fn keep(&mut self, product: Product, step: &PlannedStep, lines: &[String]) {
        let comment = (!step.rules.is_empty()).then(|| format!("# {}", step.rules.join(", ")));
        let lines: Vec<&String> = comment.iter().chain(lines).collect();
        // Root reads these files: what a plan or a host says must not begin a line of its own there.
        if let Some(refused) = lines.iter().find_map(|line| foreign::file::line(line).err()) {
            return self.lose(step, format!("it is not written into a file: {refused}"));
        }
        self.lines.entry(product).or_default().extend(lines.into_iter().cloned());
    }

    pub(super) fn lose(&mut self, step: &PlannedStep, reason: String) {
        let target = Target { namespace: "", link: step.link.as_deref().unwrap_or_default() };
        self.lost.push(Lost { setting: step.operation.command(&target), reason });
    }
}
