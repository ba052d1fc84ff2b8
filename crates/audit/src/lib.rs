//! Rules over snapshots of hosts: what costs rate, why, and the reversible fix.
//!
//! Pure: a host's facts and what is wanted of it go in, a [`Report`] comes out. Start at [`audit`].
//!
//! * [`fact`]: facts as a tree, with reasons for those that are missing
//! * [`vocabulary`]: the names of facts, what they mean, where they are read
//! * [`scope`]: the facts of a host, a namespace, a device, a route
//! * [`profile`]: what is wanted of the host: role, rate, round-trip time
//! * [`settings`]: what somebody sets, in one flat list
//! * [`compare`]: one host at two times, or several hosts, by their settings
//! * [`inputs`]: what is known besides: peers, baseline, tests, the path
//! * [`expression`]: conditions in CEL
//! * [`rule`]: rules as data
//! * [`fix`]: operations with their commands and their undo, plans
//! * [`persist`]: what keeps a fix over the next start
//! * [`report`]: the answer
//!
//! A missing fact is never a pass: the rule is unknown, and says what is missing.

mod ask;
pub mod compare;
pub mod expression;
pub mod fact;
pub mod fix;
pub mod inputs;
pub mod page;
pub mod persist;
pub mod profile;
mod project;
pub mod report;
pub mod rule;
pub mod scope;
pub mod settings;
pub mod vocabulary;

pub use ask::{Case, Keep, audit};
pub use inputs::Inputs;
pub use profile::Profile;
pub use report::Report;
pub use rule::Rules;
