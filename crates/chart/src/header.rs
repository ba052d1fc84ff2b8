//! The words around the panels.

/// Title, explanation and footer of a picture.
#[derive(Debug, Clone)]
pub(crate) struct Header {
    pub(crate) title: String,
    pub(crate) lines: Vec<String>,
    pub(crate) footer: String,
    pub(crate) made_by: String,
}
