//! A TCP socket as its kernel sees it.

use model::probe::download::FieldValue;

/// A TCP socket of `ss -ti`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Socket {
    /// Address and port at the host that printed it.
    pub local: String,
    /// Address and port of the other end.
    pub peer: String,
    /// Congestion control of its sender, by the kernel's name.
    pub congestion_control: Option<String>,
    /// What the kernel knows of it.
    pub fields: Vec<FieldValue>,
}
