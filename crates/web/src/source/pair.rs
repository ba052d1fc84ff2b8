//! One host sending to another.

/// One host sending to another.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Pair {
    /// The host that sends.
    pub from: String,
    /// The host that receives.
    pub to: String,
    /// The network that they met in; their usual addresses where it is absent.
    pub network: Option<String>,
}
