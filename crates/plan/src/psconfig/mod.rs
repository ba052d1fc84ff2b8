//! The template of perfSONAR's psConfig, read and written: the JSON file in which a mesh of perfSONAR hosts is described
//! (perfsonar/psconfig, doc/psconfig-schema.json).
//!
//! What has no counterpart on the other side is told as a [`Remark`], never dropped in silence.
//!
//! * `read`: addresses, groups and tasks as hosts, groups and tests; `between`: groups; `spec`: tests
//! * `write`: the way back; `spec_of`: tests
//! * `template`: what is read or made; `entries`: tables of it; `remark`: what has no counterpart
//! * `values`: durations of ISO 8601 and numbers with SI prefixes

mod between;
mod entries;
mod read;
mod remark;
mod spec;
mod spec_of;
mod template;
mod values;
mod write;

use crate::plan::Plan;
pub use remark::Remark;
pub(crate) use template::LONGEST_TEMPLATE;
pub use template::{Exported, Imported, TemplateError};

impl Plan {
    /// Reads a psConfig template; `file` stands for it in complaints and remarks.
    ///
    /// # Errors
    /// See [`TemplateError`].
    pub fn from_psconfig(file: &str, bytes: &[u8]) -> Result<Imported, TemplateError> {
        read::template(file, bytes)
    }

    /// Writes a psConfig template.
    #[must_use]
    pub fn to_psconfig(&self) -> Exported {
        write::template(self)
    }
}
