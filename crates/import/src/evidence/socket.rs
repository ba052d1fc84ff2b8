//! A TCP socket as its kernel sees it.

use model::probe::download::FieldValue;

use super::counted::Switch;

/// A TCP socket of `ss -ti`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Socket {
    /// Address and port at the host that printed it.
    pub local: String,
    /// Address and port of the other end.
    pub peer: String,
    /// Congestion control of its sender, by the kernel's name.
    pub congestion_control: Option<String>,
    /// Whether both ends have a window scale, where the options are printed.
    pub window_scaling: Option<Switch>,
    /// What the kernel knows of it.
    pub fields: Vec<FieldValue>,
}
