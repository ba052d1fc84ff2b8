//! Arguments as they are put together, and what several programs write alike.

use std::time::Duration;

use model::spec::{Family, TestSpec};
use units::ByteCount;

/// A program cannot do what an option asks for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{program} cannot do `{option}`: {why}")]
pub struct Unable {
    /// Name of the program, such as `iperf3`.
    pub program: &'static str,
    /// The option of `linerate test`.
    pub option: &'static str,
    /// Why not.
    pub why: &'static str,
}

/// Arguments as they are put together.
pub(super) struct CommandLine(pub(super) Vec<String>);

impl CommandLine {
    pub(super) fn flag(&mut self, option: &str) {
        self.0.push(option.to_owned());
    }

    pub(super) fn value(&mut self, option: &str, value: &impl ToString) {
        self.0.extend([option.to_owned(), value.to_string()]);
    }

    pub(super) fn optional(&mut self, option: &str, value: Option<impl ToString>) {
        if let Some(value) = value {
            self.value(option, &value);
        }
    }
}

pub(super) fn family(spec: &TestSpec) -> Option<String> {
    spec.family.map(|family| match family {
        Family::Ipv4 => "-4".to_owned(),
        Family::Ipv6 => "-6".to_owned(),
    })
}

pub(super) fn whole_seconds(time: Duration) -> Option<u64> {
    (time.subsec_nanos() == 0).then_some(time.as_secs())
}

pub(super) fn kilobytes(bytes: ByteCount) -> Option<u64> {
    bytes.get().is_multiple_of(1024).then_some(bytes.get() / 1024)
}
