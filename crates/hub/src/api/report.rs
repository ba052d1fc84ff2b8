//! An incident as a post-mortem.

use serde::{Deserialize, Serialize};

/// The post-mortem of an incident, with what the record says now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ReportInfo {
    /// Which incident.
    pub id: String,
    /// The heading of the document.
    pub title: String,
    /// What the record says, in the order of the document.
    pub sections: Vec<SectionInfo>,
    /// The document as Markdown: the sections, and what people have edited at the hub.
    pub text: String,
    /// Headings of the sections that stay as people have edited them.
    pub kept: Vec<String>,
    /// What was measured.
    pub figures: Vec<FigureInfo>,
}

/// A section of what the record says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SectionInfo {
    /// By which it is found again in an edited document.
    pub key: String,
    /// Heading of the section.
    pub title: String,
    /// Markdown.
    pub text: String,
}

/// A picture of what was measured.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FigureInfo {
    /// The heading of the section, at the end of which it stands.
    pub section: String,
    /// In a line below it.
    pub caption: String,
    /// SVG.
    pub svg: String,
}

/// What somebody has made of a post-mortem.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ReportText {
    /// Which incident.
    pub id: String,
    /// Markdown, at most 200,000 bytes; empty, the hub forgets what was edited.
    pub text: String,
}
