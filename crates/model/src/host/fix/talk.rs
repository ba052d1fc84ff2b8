//! What is said to the privileged helper, and what it says: one JSON document a line, question and answer in turn.

use serde::{Deserialize, Serialize};

use super::Step;
use super::captured::Difference;
use super::journal::{Entry, FixId};

/// The version of this language; the helper says which it speaks.
pub const VERSION: u32 = 1;

/// Longest line of either side.
pub const LONGEST_LINE: usize = 1 << 20;

/// Most steps of one fix.
pub const MOST_STEPS: usize = 256;

/// Longest reason.
pub const LONGEST_REASON: usize = 1_024;

/// Longest time that a fix may wait to be confirmed: a day.
pub const LONGEST_WAIT_S: u32 = 86_400;

/// What a caller asks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Question {
    /// Who is there.
    Hello {},
    /// What would change, without changing it: old values as they are now.
    Preview {
        /// Steps in the order in which they are applied.
        steps: Vec<Step>,
    },
    /// Apply all steps, or none.
    Apply(Order),
    /// Keep a fix. Only a connection that was made after the fix was applied can say this.
    Confirm {
        /// Which.
        fix: FixId,
    },
    /// Take a fix back.
    Undo {
        /// Which; the last that holds where it is absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        fix: Option<FixId>,
        /// What to do where somebody else has changed the same settings since.
        #[serde(default)]
        others: Others,
    },
    /// The journal, the newest fix last.
    List {},
}

impl Question {
    /// Reads one, without the end of its line.
    ///
    /// # Errors
    /// The answer to what is too long or not understood.
    pub fn read(line: &[u8]) -> Result<Self, Refusal> {
        let refusal = |reason: String| Refusal { kind: RefusalKind::Invalid, reason, hints: Vec::new() };
        if line.len() > LONGEST_LINE {
            return Err(refusal(format!("a question has up to {LONGEST_LINE} bytes")));
        }
        let question: Self =
            serde_json::from_slice(line).map_err(|error| refusal(format!("not a question: {error}")))?;
        if let Self::Apply(Order { confirm_within_s: Some(wait), .. }) = &question
            && !(1..=LONGEST_WAIT_S).contains(wait)
        {
            return Err(refusal(format!("a fix waits 1 to {LONGEST_WAIT_S} s to be confirmed, not {wait}")));
        }
        Ok(question)
    }
}

/// A fix as it is asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Order {
    /// The steps, in order.
    pub steps: Vec<Step>,
    /// Why, for the journal.
    pub reason: String,
    /// After how long it is taken back unless it is confirmed; absent where it needs no confirmation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confirm_within_s: Option<u32>,
}

/// What becomes of changes that somebody else has made to the same settings since.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Others {
    /// They stay: the undo is refused.
    #[default]
    Keep,
    /// They are overwritten.
    Overwrite,
}

/// What the helper says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Answer {
    /// It is here.
    Hello {
        /// [`VERSION`].
        version: u32,
        /// Program and version of the helper.
        software: String,
        /// The user it runs as.
        uid: u32,
        /// The number of the network namespace in which steps happen that name none.
        namespace_inode: u64,
    },
    /// The present values of what a fix would touch.
    Preview {
        /// By setting; `new` is absent.
        settings: Vec<Difference>,
    },
    /// A fix as it stands now.
    Fix {
        /// Its entry in the journal.
        entry: Box<Entry>,
        /// What it has changed.
        changes: Vec<Difference>,
    },
    /// Entries of the journal that the caller may see.
    Journal {
        /// The newest last.
        entries: Vec<Entry>,
        /// Files that should be entries and cannot be read, each with the reason.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        unreadable: Vec<String>,
    },
    /// It is not done.
    Refused(Refusal),
}

/// Why something is not done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Refusal {
    /// In one word.
    pub kind: RefusalKind,
    /// In a sentence.
    pub reason: String,
    /// Ways out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hints: Vec<String>,
}

/// Why something is not done, in one word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum RefusalKind {
    /// The question is not understood, or a value in it is refused.
    Invalid,
    /// The caller may not ask.
    Denied,
    /// Another fix waits to be confirmed.
    Busy,
    /// There is no such fix, namespace or device.
    Absent,
    /// The kernel or driver cannot do it.
    Unsupported,
    /// The kernel refused a step; what came before it is undone.
    Failed,
    /// The old values are not all back.
    Stuck,
    /// Somebody else has changed the same settings since.
    Changed,
}
