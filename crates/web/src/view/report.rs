//! The post-mortem of an incident.

use serde::{Deserialize, Serialize};

/// A post-mortem as its page shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReportView {
    /// The heading of the document.
    pub title: String,
    /// Markdown: what the record says, and what people have edited.
    pub text: String,
    /// Headings of the sections that stay as people have edited them.
    pub kept: Vec<String>,
}
